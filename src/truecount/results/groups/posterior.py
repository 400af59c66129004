"""The answer for many groups: joint draws of the true share of every class in every group."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from truecount import _check
from truecount._types import FloatArray, Name
from truecount.counts.groups import Groups
from truecount.counts.weights import effective_groups
from truecount.errors import InputError
from truecount.inference import convergence
from truecount.inference.group_draws import Convergence, GroupDraws
from truecount.inference.run import Status
from truecount.models import LabelShift
from truecount.reading.names import group_name
from truecount.results.by_class import ByClass, unknown_class
from truecount.results.export.frame import Backend, to_frame
from truecount.results.export.provenance import Origin
from truecount.results.finding import Finding
from truecount.results.groups import export, storage
from truecount.results.groups.borrowing import borrowed_shares, own_shares
from truecount.results.groups.contrast import Contrast, Ranks, group_weights, ranks_of, ratio_of
from truecount.results.groups.leave_one_out import LeaveOneOut, leave_one_out
from truecount.results.groups.summary import GroupSummary, Questions, summarize_groups
from truecount.results.groups.table import group_tables, group_text
from truecount.results.raters import RaterRates
from truecount.results.summary import Kind, Target, interval_of, realized_shares, require_realizable, sd_of


@dataclass(frozen=True, eq=False, kw_only=True)
class GroupPosterior:
    """Joint draws of the prevalence of every class in every group.

    The n-th draws of all groups belong together, with one confusion, so that differences and ranks are right draw by
    draw.

    Parameters
    ----------
    draws
        What the engine returned.
    data, model
        What it was made from.
    findings
        What to know before relying on it.
    origin
        What it was asked for with.
    raters
        Error rates of raters and their agreement, where labels may be wrong; else None.
    """

    draws: GroupDraws
    data: Groups
    model: LabelShift
    findings: Sequence[Finding]
    origin: Origin
    raters: RaterRates | None = None

    @property
    def groups(self) -> tuple[Any, ...]:
        """Names of the groups, in the order of every result."""
        return self.data.groups

    @property
    def classes(self) -> tuple[Name, ...]:
        """Names of the classes, in the order of every result."""
        return self.data.classes

    @property
    def prevalence(self) -> FloatArray:
        """Shape (draws, groups, classes): equally weighted draws, chain after chain."""
        return self.draws.prevalence

    @property
    def confusion(self) -> FloatArray:
        """Shape (draws, classes, outputs): draws of P(output | class).

        Shape (draws, groups, classes, outputs) under `Varying`.
        """
        return self.draws.confusion

    @property
    def spread(self) -> FloatArray:
        """Shape (draws, log-ratios): standard deviation between groups; for two classes, of the logit of the first."""
        return self.draws.spread

    @property
    def confusion_spread(self) -> FloatArray:
        """Shape (draws, classes): standard deviation of each learned row's log-ratios between studies and groups.

        It has no columns where the confusion does not vary.
        """
        return self.draws.row_spread

    @cached_property
    def mean(self) -> FloatArray:
        """Shape (groups, classes)."""
        mean: FloatArray = self.prevalence.mean(axis=0)
        return mean

    @cached_property
    def sd(self) -> FloatArray:
        """Shape (groups, classes)."""
        return sd_of(self.prevalence)

    def interval(self, level: float = 0.95, *, kind: str = "equal-tailed") -> FloatArray:
        """Return the interval that holds `level` of the draws, shape (groups, classes, 2)."""
        return interval_of(self.prevalence, _check.level(level), _check.one_of("kind", kind, ("equal-tailed", "hdi")))

    @cached_property
    def effective_draws(self) -> FloatArray:
        """Shape (groups, classes): the effective sample size of every share."""
        return self._of_every_share(convergence.effective_fast)

    @cached_property
    def rhat(self) -> FloatArray:
        """Shape (groups, classes): rank-normalised split R-hat of every share."""
        return self._of_every_share(convergence.rhat_of_many_chains)

    def _of_every_share(self, measure: Callable[[FloatArray, int], FloatArray]) -> FloatArray:
        """Return a measure of the draws of each share; the two of two classes have the same."""
        number = 1 if len(self.classes) == 2 else len(self.classes)
        flat = self.prevalence[:, :, :number].reshape(len(self.prevalence), -1)
        found = measure(flat, self.draws.chains).reshape(-1, number)
        return np.broadcast_to(found, self.mean.shape)

    @cached_property
    def convergence(self) -> tuple[Convergence, ...]:
        """R-hat and effective sample size of spread, centre, confusion and prevalence, the worst of each."""
        shares = Convergence("prevalence", float(self.rhat.max()), float(self.effective_draws.min()))
        return (*replace(self.draws, prevalence=self.prevalence[:, :0]).convergence(), shares)

    @property
    def status(self) -> Status:
        """``"ok"``; ``"not-converged"``, for R-hat above 1.01 or few effective draws; or ``"no-answer"``.

        There is no answer where some R-hat is above 1.1.
        """
        worst = max((each.rhat for each in self.convergence), default=1.0)
        fewest = min((each.effective for each in self.convergence), default=np.inf)
        if not worst <= convergence.RHAT_MOST:
            return "no-answer"
        is_ok = worst <= convergence.RHAT_LIMIT and fewest >= convergence.FEWEST_EFFECTIVE
        return "ok" if is_ok else "not-converged"

    @property
    def has_answer(self) -> bool:
        """Whether the chains agree enough to be summarised."""
        return self.status != "no-answer"

    @property
    def counted(self) -> FloatArray | None:
        """Shape (groups, classes): shares by plain counting; None where a class is no output."""
        if not set(self.classes) <= set(self.data.outputs):
            return None
        items = self.data.unlabeled.sum(axis=1, keepdims=True)
        chosen = self.data.unlabeled[:, [self.data.outputs.index(name) for name in self.classes]]
        return np.asarray(np.divide(chosen, items, out=np.full(chosen.shape, np.nan), where=items > 0))

    @cached_property
    def own(self) -> FloatArray:
        """Shape (groups, classes): the estimate of each group by its own items alone, given the mean confusion.

        It is the adjusted count kept between 0 and 1; NaN for a group without items.
        """
        return own_shares(effective_groups(self.data)[1], self.confusion.mean(axis=0))

    @cached_property
    def borrowed(self) -> FloatArray:
        """Shape (groups,): how much of what is known of a group comes from the others, from 0 to 1.

        0 where its own items determine its prevalence, 1 where it has none; 0 throughout under `Independent`.
        """
        return borrowed_shares(self.data, self.model, self.draws)

    def realized(self, group: Any) -> FloatArray:
        """Return draws of the share of each class among a group's own items, shape (draws, classes).

        Given a draw, the class of each item with output k is drawn from P(class | output k).
        """
        at = self.data.index(group)
        if not self.data.unlabeled[at].any():
            needed = "realized shares are those of a group's own unlabelled items"
            raise InputError("target", f"is realized, and {group!r} has no items", needed, "Ask for the population's")
        require_realizable(self.data[group])
        rows = self.confusion[:, at] if self.confusion.ndim == 4 else self.confusion
        rng = np.random.default_rng([self.origin.seed, at, *b"realized"])
        return realized_shares(self.prevalence[:, at], rows, self.data.unlabeled[at], rng)

    def leave_one_out(self) -> LeaveOneOut:
        """Return how well the other groups predict each group's items, pooled and independent."""
        return leave_one_out(self.data, self.model, self.draws, self.origin.seed)

    @cached_property
    def between(self) -> FloatArray:
        """Shape (draws, classes): standard deviation of the share between these groups, weighed alike."""
        between: FloatArray = self.prevalence.std(axis=1)
        return between

    def shares(self, group: Any) -> FloatArray:
        """Return the draws of one group, shape (draws, classes)."""
        return self.prevalence[:, self.data.index(group)]

    def difference(self, first: Any, second: Any) -> Contrast:
        """Return how much larger each class is in the first group than in the second."""
        return self._contrast(f"{group_name(first)} − {group_name(second)}", self.shares(first) - self.shares(second))

    def ratio(self, first: Any, second: Any) -> Contrast:
        """Return the ratio of each class's share in the first group to that in the second."""
        name = f"{group_name(first)} / {group_name(second)}"
        return self._contrast(name, ratio_of(self.shares(first), self.shares(second)), equal=1.0)

    def total(self, weights: Mapping[Any, float] | None = None) -> Contrast:
        """Return the shares of all groups together: ``Σ N_g π_g / Σ N_g``, draw by draw.

        Parameters
        ----------
        weights
            How large each group is; by default as large as its unlabelled items are many, and all alike if there are
            none.
        """
        sizes = group_weights(self.data) if weights is None else self._sizes(weights)
        draws = np.einsum("dgc,g->dc", self.prevalence, sizes / sizes.sum())
        return self._contrast("all groups", draws, equal=None)

    def _sizes(self, weights: Mapping[Any, float]) -> FloatArray:
        _check.instance_of("weights", weights, Mapping, "Pass {group: size, ...}")
        for group in self.groups:
            if group not in weights:
                raise InputError("weights", f"lack the group {group!r}", "every group needs a size", "Add it, or 0")
        sizes = np.array([weights[group] for group in self.groups], dtype=float)
        if not (np.isfinite(sizes).all() and (sizes >= 0).all() and sizes.sum() > 0):
            raise InputError("weights", f"are {sizes.tolist()}", "sizes are 0 or more, and not all 0", "Check them")
        return sizes

    def change(self, baseline: Any) -> dict[Any, Contrast]:
        """Return the difference of every other group from a baseline."""
        self.data.index(baseline)
        return {group: self.difference(group, baseline) for group in self.groups if group != baseline}

    def ranks(self, name: Name) -> Ranks:
        """Return ranks of the groups by the share of a class, draw by draw."""
        return ranks_of(self.groups, self._of_class(name), self.origin.seed)

    def above(self, name: Name, threshold: float) -> dict[Any, float]:
        """Return the probability that a class's share lies above a threshold, group by group."""
        return dict(zip(self.groups, map(float, (self._of_class(name) > threshold).mean(axis=0)), strict=True))

    def probability(self, event: Callable[[Mapping[Any, Mapping[Name, FloatArray]]], Any]) -> float:
        """Return the probability of an event about several groups.

        ``lambda share: share["A"]["pass"] > share["B"]["pass"]``
        """
        by_group = {
            group: ByClass(zip(self.classes, self.prevalence[:, at].T, strict=True))
            for at, group in enumerate(self.groups)
        }
        return float(np.mean(event(by_group)))

    def _of_class(self, name: Name) -> FloatArray:
        if name not in self.classes:
            raise unknown_class("class", f"is {name!r}", name, self.classes)
        return self.prevalence[:, :, self.classes.index(name)]

    def summary(
        self,
        level: float = 0.95,
        *,
        kind: Kind = "equal-tailed",
        target: Target = "population",
        questions: Questions | None = None,
    ) -> GroupSummary:
        """Return the numbers that tables, JSON, pages and pictures are made from, without draws.

        Parameters
        ----------
        level, kind, target
            Of the intervals, as in `Posterior.interval`.
        questions
            What else is asked: the class of interest, pairs to compare, a baseline, thresholds.
        """
        asked = (level, kind, target) if questions is None else None
        if asked not in self._summaries:
            found = summarize_groups(self, level=level, kind=kind, target=target, questions=questions or Questions())
            if asked is None:
                return found
            self._summaries[asked] = found
        return self._summaries[asked]

    @cached_property
    def _summaries(self) -> dict[Any, GroupSummary]:
        """The summaries that were asked for without questions, which tables, JSON and frames share."""
        return {}

    def to_dict(
        self, level: float = 0.95, *, kind: Kind = "equal-tailed", target: Target = "population"
    ) -> dict[str, Any]:
        """Return the summary as plain values, schema ``truecount.estimates/2``."""
        return export.to_dict(self.summary(level, kind=kind, target=target), self.data)

    def to_frame(
        self,
        level: float = 0.95,
        *,
        kind: Kind = "equal-tailed",
        target: Target = "population",
        backend: Backend | None = None,
    ) -> Any:
        """Return a data frame with a row for each group and class, of pandas, polars or pyarrow."""
        return to_frame(export.rows_of(self.summary(level, kind=kind, target=target)), backend)

    def to_text(
        self,
        *,
        level: float = 0.95,
        kind: Kind = "equal-tailed",
        target: Target = "population",
        questions: Questions | None = None,
    ) -> str:
        """Return the tables that are printed, with other intervals, or what else is asked; as in `summary`."""
        return group_text(self.summary(level, kind=kind, target=target, questions=questions))

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything, draws too, to one ``.npz`` file, whole or not at all."""
        storage.save(self, path)

    @staticmethod
    def load(path: str | PathLike[str]) -> "GroupPosterior":
        """Read what `save` wrote."""
        return GroupPosterior(**storage.read(path))

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return "".join(table.to_html() for table in group_tables(self.summary()))

    def _contrast(self, name: str, draws: FloatArray, *, equal: float | None = 0.0) -> Contrast:
        return Contrast(name=name, draws=draws, classes=self.classes, equal=equal)
