"""The answer: draws of the true share of every class, and what may be asked of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from truecount import _check
from truecount._log_sum import softmax
from truecount._types import FloatArray, Name
from truecount.counts import Counts
from truecount.errors import InputError
from truecount.inference import convergence
from truecount.inference.draws import Draws, dirichlet
from truecount.inference.importance.resample import effective_share
from truecount.inference.run import Run, Status
from truecount.models import LabelShift, Model, Prior
from truecount.results.by_class import ByClass, unknown_class
from truecount.results.export import storage, values
from truecount.results.export.frame import Backend, to_frame
from truecount.results.export.provenance import Origin, provenance_of
from truecount.results.finding import Finding
from truecount.results.raters import RaterRates
from truecount.results.summary import (
    Kind,
    Look,
    Summary,
    Target,
    interval_of,
    realized_shares,
    require_realizable,
    tabulate,
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Posterior:
    """Draws of the prevalence of every class in the unlabelled population.

    Parameters
    ----------
    draws
        What the engine returned.
    counts, model
        What it was made from.
    findings
        What to know before relying on it.
    origin
        What it was asked for with: seed, engine, version.
    raters
        Error rates of raters and their agreement, where labels may be wrong; else None.
    """

    draws: Draws
    counts: Counts
    model: Model
    findings: Sequence[Finding]
    origin: Origin
    raters: RaterRates | None = None

    @property
    def classes(self) -> tuple[Name, ...]:
        """Names of the classes, in the order of every result."""
        return self.counts.classes

    @property
    def prior(self) -> Prior:
        """The prior of prevalence and confusion, which only `LabelShift` has."""
        if not isinstance(self.model, LabelShift):
            needed = "only label shift has a prior of prevalence and confusion"
            raise InputError("model", f"is {self.model!r:.60}", needed, "Use posterior.model.given_output")
        return self.model.prior

    @property
    def run(self) -> Run:
        """How the draws were made: the engine, why that one, what it did, and a status."""
        return self.draws.run

    @property
    def provenance(self) -> dict[str, Any]:
        """How the answer was made, as plain values for export; read `run`, `origin` and `model` instead."""
        return provenance_of(self.origin, self.run, self.model)

    @property
    def status(self) -> Status:
        """``"ok"``; ``"not-converged"``, which a finding explains; or ``"no-answer"``, for R-hat above 1.1."""
        return self.run.status

    @property
    def has_answer(self) -> bool:
        """Whether the chains agree enough to be summarised: R-hat of every class is 1.1 or less.

        Where they do not, tables, JSON, pages and pictures say so in place of numbers. The draws are there to look at.
        """
        return self.status != "no-answer"

    def place(self, name: Name) -> int:
        """Return the position of a class."""
        if name not in self.classes:
            raise unknown_class("class", f"is {name!r}", name, self.classes)
        return self.classes.index(name)

    def by_size(self, target: Target = "population") -> tuple[Name, ...]:
        """Return the classes, the one with the largest mean first."""
        order = np.argsort(-self.shares(target).mean(axis=0), kind="stable")
        return tuple(self.classes[place] for place in order)

    @property
    def prevalence(self) -> FloatArray:
        """Shape (draws, classes): equally weighted draws, chain after chain; each row sums to one."""
        return self.draws.prevalence

    @property
    def confusion(self) -> FloatArray:
        """Shape (kept, classes, outputs): draws of P(output | class), thinned so that they weigh at most 64 MB."""
        return self.draws.confusion

    @property
    def chains(self) -> int:
        """How many chains the draws come from; independent draws count as one."""
        return self.draws.chains or 1

    @property
    def is_independent(self) -> bool:
        """Whether the draws are independent of each other, with no chain to converge."""
        return self.draws.chains is None

    @cached_property
    def labeled_prevalence(self) -> FloatArray:
        """Shape (draws, classes): prevalence behind the labelled sample, ``Dir(1 + labelled items)``.

        It is independent of the rest. Weighted items count at their effective size.
        """
        items, squares = self.counts.labeled.sum(axis=1), self.counts.labeled_squares
        shrinkage = 1.0 if squares is None else items.sum() / squares.sum()
        return dirichlet(self.random("labeled"), 1.0 + shrinkage * items, (len(self.prevalence),))

    @cached_property
    def realized(self) -> FloatArray:
        """Shape (kept, classes): the share of each class in this finite sample, not the population behind them.

        Given a draw, the class of each item with output k is drawn from P(class | output k); from scores, the class of
        each item from P(class | its scores).
        """
        require_realizable(self.counts)
        if self.draws.realized is not None:
            return self.draws.realized
        prevalence, items = self.prevalence[:: self.draws.stride], self.counts.unlabeled
        return realized_shares(prevalence, self.confusion, items, self.random("realized"))

    @cached_property
    def predicted(self) -> FloatArray:
        """Shape (kept, outputs): unlabelled items by output, simulated once for each draw of the confusion.

        There are as many items as unlabelled ones, weighted ones at their effective size. They are a picture and no
        test: the posterior has already seen the outputs that it predicts.
        """
        items = round(float(self.counts.effective.unlabeled.sum()))
        outputs = np.einsum("dl,dlk->dk", self.prevalence[:: self.draws.stride], self.confusion)
        simulated = self.random("predictive").multinomial(items, outputs / outputs.sum(axis=1, keepdims=True))
        return np.asarray(simulated, dtype=np.float64)

    def shares(self, target: Target = "population") -> FloatArray:
        """Shape (draws, classes): draws of `prevalence`, or of the share `realized` in this finite sample."""
        _check.one_of("target", target, ("population", "realized"))
        return self.prevalence if target == "population" else self.realized

    @cached_property
    def mean(self) -> FloatArray:
        """Posterior mean of each class, shape (classes,)."""
        mean: FloatArray = self.prevalence.mean(axis=0)
        return mean

    @cached_property
    def median(self) -> FloatArray:
        """Posterior median of each class, shape (classes,)."""
        return np.quantile(self.prevalence, 0.5, axis=0)

    @cached_property
    def sd(self) -> FloatArray:
        """Posterior standard deviation of each class, shape (classes,)."""
        sd: FloatArray = self.prevalence.std(axis=0, ddof=1)
        return sd

    def interval(
        self, level: float = 0.95, *, kind: Kind = "equal-tailed", target: Target = "population"
    ) -> FloatArray:
        """Return the interval that holds `level` of the posterior, class by class.

        Parameters
        ----------
        level
            Share of the posterior inside, above 0 and below 1.
        kind
            ``"equal-tailed"`` leaves as much below as above; ``"hdi"`` is the shortest.
        target
            ``"population"`` behind the unlabelled items, or ``"realized"``, this finite sample.

        Returns
        -------
        Shape (classes, 2): lower and upper end.

        Notes
        -----
        Each class is taken alone: all intervals together hold the truth less often than `level`.
        """
        return self._interval_and_median(Look(level=level, kind=kind, target=target))[0].copy()

    @cached_property
    def _intervals(self) -> dict[Look, tuple[FloatArray, FloatArray]]:
        """Intervals and medians that were asked for: a page asks for the same ones five times."""
        return {}

    def _interval_and_median(self, look: Look) -> tuple[FloatArray, FloatArray]:
        """Sort the draws once for both, where both are quantiles."""
        if look not in self._intervals:
            draws, level = self.shares(look.target), look.level
            lower, median, upper = np.quantile(
                np.sort(draws, axis=0), [(1 - level) / 2, 0.5, (1 + level) / 2], axis=0, overwrite_input=True
            )
            is_central = look.kind == "equal-tailed"
            ends = np.column_stack([lower, upper]) if is_central else interval_of(draws, level, look.kind)
            self._intervals[look] = np.clip(ends, 0.0, 1.0), median  # between draws of 1, rounding
        return self._intervals[look]

    def summary(self, level: float = 0.95, *, kind: Kind = "equal-tailed", target: Target = "population") -> Summary:
        """Return the numbers of the answer, class by class, from which tables, JSON, pages and pictures are made.

        Parameters
        ----------
        level, kind, target
            As in `interval`.
        """
        interval, median = map(np.copy, self._interval_and_median(Look(level=level, kind=kind, target=target)))
        draws = self.shares(target)
        is_population, unknown = target == "population", np.full(len(self.classes), np.nan)
        mean, sd = (self.mean, self.sd) if is_population else (draws.mean(axis=0), draws.std(axis=0, ddof=1))
        effective = self.effective_draws if is_population else np.minimum(self.effective_draws, len(draws))
        return Summary(
            classes=self.classes,
            level=level,
            kind=kind,
            target=target,
            counted=self.counts.counted,
            mean=mean if self.has_answer else unknown,
            median=median if self.has_answer else unknown,
            sd=sd if self.has_answer else unknown,
            interval=interval if self.has_answer else np.full_like(interval, np.nan),
            effective_draws=effective,
            mcse=self.mcse if is_population else sd / np.sqrt(effective),
            rhat=self.rhat,
        )

    def probability(self, event: Callable[[Mapping[Name, FloatArray]], Any]) -> float:
        """Return the posterior probability of an event.

        Parameters
        ----------
        event
            Takes the draws by class name and says of each whether the event holds, as in
            ``posterior.probability(lambda share: share["pass"] > 0.8)``.
        """
        if not callable(event):
            remedy = f"Pass lambda share: share[{self.classes[0]!r}] > 0.2"
            raise InputError("event", f"is {event!r:.60}", "it must be a function of the draws by class name", remedy)
        shares = ByClass(zip(self.classes, self.prevalence.T, strict=True))
        holds = np.asarray(event(shares))
        if holds.shape != (len(self.prevalence),) or holds.dtype != bool:
            raise InputError(
                "event",
                f"gave {holds.dtype} of shape {holds.shape}",
                "it must say True or False for every draw",
                "Compare with > or <, and join with & or |",
            )
        return float(holds.mean())

    @property
    def effective_draws(self) -> FloatArray:
        """Effective number of draws of each class, shape (classes,)."""
        return self.draws.effective

    @property
    def rhat(self) -> FloatArray | None:
        """Rank-normalised split R-hat of each class, shape (classes,); None for independent draws."""
        return self.draws.rhat

    @cached_property
    def mcse(self) -> FloatArray:
        """Monte Carlo standard error of each mean, shape (classes,)."""
        if self.is_independent:
            error: FloatArray = self.sd / np.sqrt(self.effective_draws)
            return error
        return convergence.mcse(self.prevalence, self.chains)

    @cached_property
    def diagnostics(self) -> Mapping[str, Any]:
        """How far the draws can be trusted, by name; the arrays have shape (classes,).

        For chains ``rhat``, ``mean``, ``bulk`` and ``tail`` (effective draws for the mean, for the middle of the ranks
        and for the 5 and 95 % quantiles) and ``mcse``. For independent draws ``effective``, ``mcse``,
        ``effective_share`` (of the weighted pool that they were resampled from) and ``pareto_k`` (the tail of its
        weights; below ½ their mean has a variance).
        """
        if not self.is_independent:
            effective = convergence.effective_by_kind(self.prevalence, self.chains)
            return {"rhat": self.rhat, **effective, "mcse": self.mcse}
        weights = self.draws.log_weights
        return {
            "effective": self.effective_draws,
            "mcse": self.mcse,
            "effective_share": 1.0 if weights is None else effective_share(softmax(weights)),
            "pareto_k": None if weights is None else convergence.pareto_k(weights),
        }

    def to_arviz(self) -> Any:
        """Return the draws as ArviZ's own container (extra ``arviz``)."""
        return values.to_arviz(self)

    def to_dict(
        self, *, level: float = 0.95, kind: Kind = "equal-tailed", target: Target = "population"
    ) -> dict[str, Any]:
        """Return the summary as plain values, schema ``truecount.estimate/1``."""
        return values.to_dict(self, Look(level=level, kind=kind, target=target))

    def to_frame(
        self,
        level: float = 0.95,
        *,
        kind: Kind = "equal-tailed",
        target: Target = "population",
        backend: Backend | None = None,
    ) -> Any:
        """Return a data frame with a row for each class, of pandas, polars or pyarrow."""
        return to_frame(values.rows_of(self, Look(level=level, kind=kind, target=target)), backend)

    def to_text(
        self,
        *,
        level: float = 0.95,
        kind: Kind = "equal-tailed",
        target: Target = "population",
        classes: Sequence[Name] | None = None,
    ) -> str:
        """Return the table that is printed, of some classes or in another order.

        Parameters
        ----------
        level, kind, target
            As in `interval`.
        classes
            Which classes, in this order, such as ``["pass"]`` or ``posterior.by_size()``; all by default.
        """
        return tabulate(self, Look(level=level, kind=kind, target=target), classes=classes).to_text()

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to one ``.npz`` file; what stood there before is replaced only when the new one is whole."""
        storage.save(self, path)

    @staticmethod
    def load(path: str | PathLike[str]) -> "Posterior":
        """Read what `save` wrote."""
        return Posterior(**storage.read(path))

    def random(self, purpose: str) -> np.random.Generator:
        """Return random numbers of its own for each purpose."""
        return np.random.default_rng([self.origin.seed, *purpose.encode()])

    def __repr__(self) -> str:
        told = tabulate(self).to_text()
        return told if self.raters is None else f"{told}\n\n{self.raters!r}"

    def _repr_html_(self) -> str:
        return tabulate(self).to_html()
