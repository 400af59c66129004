"""Priors of prevalence and confusion."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any

import numpy as np

from truecount import _check
from truecount._advice import Advice, named_rows
from truecount._types import BoolArray, FloatArray, Name
from truecount._wording import nearest, own_outputs, quoted
from truecount.counts import Counts
from truecount.errors import InputError
from truecount.models.learned import Learned, learned_rows
from truecount.models.published import MeanInterval, Pert, published_row

LEAST, MOST = 1e-9, 1e9
"""Concentrations beyond these are no belief but a rounding error away from an absent class, or from certainty."""
NAMED_ROWS = ("flat", "sparse")
LEARNED, AUTO = "learned", "auto"
MANY_CLASSES, MOSTLY_RARE = 6, 20
"""Classes from which on, by default, the prior of the rows and that of the prevalence are learned.

``docs/guides/priors.md`` says what was measured.
"""


@dataclass(frozen=True, slots=True)
class Diagonal:
    """Rows that lean towards the output called like the class."""

    strength: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "strength", _concentration("strength", self.strength))


@dataclass(frozen=True, slots=True)
class Prior:
    """Dirichlet priors of the prevalence and of each class's row of the confusion.

    Parameters
    ----------
    prevalence
        Concentration of the prevalence: a number for all classes, one number a class, a mapping by class name, or
        ``"learned"``: one number for all classes, which the unlabelled items decide. Below 1 most classes are rare.
        ``"auto"`` is 1, and learned where there are 20 classes or more.
    confusion
        Concentration of the rows P(output | class): a number for all cells; ``"flat"`` (1, the paper's), ``"sparse"``
        (1/K, which weighs one label a class however many outputs there are) or ``"learned"``, a prior that all rows
        share and whose weight the labels decide; a mapping by class name; or a matrix. ``"auto"`` is flat, and learned
        where there are six classes or more, or several classifiers.
    known
        Rows of the confusion that are known, NaN in those to be learned; see `known_confusion`.

    Notes
    -----
    A flat row prior weighs K labels in every class. With few labels and many outputs it drowns the data. Learned rows
    weigh what the labels show: ``even`` labels spread over all outputs and ``own`` on the output called like the class
    (none where outputs are not the classes); both are unknown, and the posterior is an average over them.

    Examples
    --------
    >>> Prior(prevalence={"fail": 2, "pass": 1}, confusion="sparse")
    Prior(prevalence={'fail': 2, 'pass': 1}, confusion='sparse', known=None)
    """

    prevalence: float | str | Sequence[float] | Mapping[Any, float] = AUTO
    confusion: float | str | Mapping[Any, Any] | Sequence[Any] | Diagonal = AUTO
    known: tuple[tuple[float, ...], ...] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "prevalence", _share_concentrations(self.prevalence))
        object.__setattr__(self, "confusion", _row_concentrations(self.confusion))
        if self.known is not None:
            object.__setattr__(self, "known", _known_rows(self.known))

    @classmethod
    def diagonal(cls, strength: float, *, prevalence: Any = AUTO) -> "Prior":
        """Rows worth one label spread over all outputs, and `strength` more on the output called like the class."""
        return cls(prevalence, Diagonal(strength))

    @classmethod
    def known_confusion(cls, matrix: Any, *, prevalence: Any = AUTO, confusion: Any = AUTO) -> "Prior":
        """Rows P(output | class) that are known, such as a published sensitivity; a row of NaN is learned.

        >>> Prior.known_confusion([[0.89, 0.11], [0.04, 0.96]]).known
        ((0.89, 0.11), (0.04, 0.96))
        """
        return cls(prevalence, confusion, known=matrix)

    def resolved(self, counts: Counts) -> "Prior":
        """Return the prior that ``"auto"`` means for as many classes as these counts have."""
        number = len(counts.classes)
        is_learned = number >= MANY_CLASSES or counts.combinations is not None
        return self._decided(LEARNED if number >= MOSTLY_RARE else 1.0, LEARNED if is_learned else 1.0)

    @property
    def fixed(self) -> "Prior":
        """The prior with flat numbers for ``"auto"``, for what needs fixed concentrations, such as a mode."""
        return self._decided(1.0, 1.0)

    def _decided(self, prevalence: float | str, confusion: float | str) -> "Prior":
        if AUTO not in (self.prevalence, self.confusion):
            return self
        prevalence = prevalence if self.prevalence == AUTO else self.prevalence  # type: ignore[assignment]
        return Prior(prevalence, confusion if self.confusion == AUTO else self.confusion, known=self.known)

    @classmethod
    def published(
        cls, rates: Mapping[Any, Any], *, outputs: Iterable[Any] | None = None, prevalence: Any = 1.0
    ) -> "Prior":
        """Rows by published rates with ranges, such as a sensitivity and a specificity.

        Parameters
        ----------
        rates
            Maps each class to the rate of the output called like it, a `Pert` or a `MeanInterval`; or to a
            concentration, such as 1, where nothing was published.
        outputs
            Names of the outputs, where they are not the classes; those beside a class's own share the rest evenly.
        prevalence
            Concentration of the prevalence.

        Examples
        --------
        >>> prior = Prior.published({"positive": Pert(0.85, 0.7, 0.95), "negative": 1})
        >>> {output: round(labels, 1) for output, labels in prior.confusion["positive"].items()}
        {'positive': 50.3, 'negative': 9.5}
        """
        _check.instance_of("rates", rates, Mapping, "Pass {class: Pert(likely, low, high), ...}")
        names = list(rates) if outputs is None else list(outputs)
        rows = {}
        for name, rate in rates.items():
            if isinstance(rate, Pert | MeanInterval) and (name not in names or len(names) < 2):
                needed = "a published rate is that of the output called like its class"
                raise InputError("rates", f"name {name!r}, which is no output", needed, "Name the outputs: outputs=...")
            is_rate = isinstance(rate, Pert | MeanInterval)
            rows[name] = published_row(rate, name, names) if is_rate else dict.fromkeys(names, rate)
        return cls(prevalence, rows)

    def prevalence_for(self, counts: Counts) -> FloatArray:
        """Shape (classes,): concentration of the prevalence; 1 where it is learned, which takes a density."""
        if self.prevalence in (LEARNED, AUTO):
            return np.ones(len(counts.classes))
        return one_for_each("prevalence", self.prevalence, counts.classes, "class")

    def confusion_for(self, counts: Counts) -> FloatArray:
        """Shape (classes, outputs): concentration of the confusion rows; its mean given the labels, where learned."""
        shape, value = counts.labeled.shape, self.resolved(counts).confusion
        if (learned := self.learned_rows_for(counts)) is not None:
            return learned.reference_rows
        if isinstance(value, Diagonal):
            return _diagonal(value.strength, counts)
        if isinstance(value, str):
            return np.full(shape, {"flat": 1.0, "sparse": 1.0 / shape[1]}[value])
        if isinstance(value, Mapping):
            _require_same_names("confusion", value, counts.classes, "class")
            return np.array(
                [one_for_each("confusion", value[name], counts.outputs, "output") for name in counts.classes]
            )
        return filled("confusion", value, shape, "Give a row for each class, a column for each output")

    def learned_rows_for(self, counts: Counts) -> Learned | None:
        """Return the prior of the rows that the labels decide; None where it is fixed."""
        if self.resolved(counts).confusion != LEARNED:
            return None
        several = counts.combinations
        own = [
            own_outputs(name, counts.outputs) if several is None else several.unanimous(name) for name in counts.classes
        ]
        is_known = np.asarray(~np.isnan(self.known_for(counts)[:, 0]))
        return learned_rows(counts.effective.labeled, own if all(own) else None, is_known)

    def known_for(self, counts: Counts) -> FloatArray:
        """Shape (classes, outputs): known rows, NaN elsewhere."""
        shape = counts.labeled.shape
        if self.known is None:
            return np.full(shape, nan)
        return filled("known", self.known, shape, "Give a row for each class, a column for each output")

    def needs_labels(self, counts: Counts) -> bool:
        """Whether some row is neither known nor has a fixed prior worth more than a flat one, such as a published rate.

        Rows that all classes share tell nothing of them either, however much they are worth.
        """
        known = self.known_for(counts)
        is_learned = np.isnan(known[:, 0])
        if not is_learned.any():
            return False
        if self.resolved(counts).confusion == LEARNED:
            return True
        rows = self.confusion_for(counts)
        means = np.where(is_learned[:, None], rows / rows.sum(axis=1, keepdims=True), known)
        return not (rows[is_learned] > 1).any(axis=1).all() or np.allclose(means, means[0])

    def has_given_row(self, counts: Counts) -> BoolArray:
        """Whether the prior of each class's row was given by itself and prefers some output, as a published rate does.

        Shape (classes,). Rows that follow a rule, such as those of `Prior.diagonal`, are not given by themselves.
        """
        if isinstance(self.confusion, str | float | int | Diagonal):
            return np.zeros(len(counts.classes), bool)
        rows = self.confusion_for(counts)
        return np.asarray((rows.max(axis=1) > 1) & (rows.max(axis=1) > rows.min(axis=1)))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        confusion: Any = (
            {"diagonal": self.confusion.strength} if isinstance(self.confusion, Diagonal) else self.confusion
        )
        known = None if self.known is None else [None if np.isnan(row[0]) else list(row) for row in self.known]
        return {"prevalence": self.prevalence, "confusion": confusion, "known": known}


def require_prior(prior: object) -> None:
    """Refuse what is no prior, such as the name of one."""
    is_named = isinstance(prior, str) and prior in (*NAMED_ROWS, LEARNED)
    remedy = f"Pass Prior(confusion={prior!r})" if is_named else "Pass Prior(prevalence=..., confusion=...)"
    _check.instance_of("prior", prior, Prior, remedy)


def _concentration(argument: str, value: Any) -> float:
    number = _check.plain_name(value)
    if isinstance(number, bool) or not isinstance(number, int | float) or not LEAST <= number <= MOST:
        raise InputError(
            argument,
            f"holds {number!r:.60}",
            f"a prior's concentration must be a number above 0, from {LEAST:g} to {MOST:g}",
            "Use 1 for a flat prior",
        )
    return number


def concentrations(argument: str, value: Any) -> Any:
    """Return numbers, tuples of them or mappings, which do not change with what they were made from."""
    if isinstance(value, Mapping):
        return {_check.plain_name(name): concentrations(argument, entry) for name, entry in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Iterable) and not isinstance(value, str):
        return tuple(concentrations(argument, entry) for entry in value)
    return _concentration(argument, value)


def _share_concentrations(value: Any) -> Any:
    is_named = isinstance(value, str) and value in (LEARNED, AUTO)
    return value if is_named else concentrations("prevalence", value)


def _row_concentrations(value: Any) -> Any:
    if isinstance(value, str):
        return _check.one_of("confusion", value, (*NAMED_ROWS, LEARNED, AUTO))
    return value if isinstance(value, Diagonal) else concentrations("confusion", value)


def _require_same_names(argument: str, found: Iterable[Any], needed: Sequence[Name], kind: str) -> None:
    rule = f"it must name every {kind}: {quoted(needed)}"
    named = set(found)
    lacking = {str(name): name for name in needed if name not in named}
    for name in sorted(named - set(needed), key=str):
        meant = nearest(str(name), lacking)
        remedy = f"Perhaps you meant {lacking[meant]!r}" if meant else "Name each one once"
        raise InputError(argument, f"names {name!r}, which is no {kind}", rule, remedy)
    for name in lacking.values():
        raise InputError(argument, f"does not name {name!r}", rule, "Name each one once")


def one_for_each(argument: str, value: Any, names: Sequence[Name], kind: str) -> FloatArray:
    """Return a number for each name, from one number, a sequence or a mapping by name."""
    if isinstance(value, Mapping):
        _require_same_names(argument, value, names, kind)
        value = [value[name] for name in names]
    return filled(argument, value, (len(names),), f"Give one number for each {kind}")


def filled(argument: str, value: Any, shape: tuple[int, ...], remedy: str) -> FloatArray:
    """Return `value` as an array of this shape; one number fills it."""
    array = _numbers(argument, value)
    if array.ndim and array.shape != shape:
        raise InputError(argument, f"has shape {array.shape}", f"these counts need {shape}", remedy)
    return np.full(shape, array)


def _numbers(argument: str, value: Any) -> FloatArray:
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            argument, "is no table of numbers", "its rows must be numbers, as many in each", "Write [[...], [...]]"
        ) from error


def _diagonal(strength: float, counts: Counts) -> FloatArray:
    if not counts.outputs_are_classes:
        raise InputError(
            "confusion",
            "leans towards the diagonal",
            "that needs outputs called like the classes",
            Advice("Use {}", named_rows("sparse")),
        )
    concentration = np.full(counts.labeled.shape, 1.0 / len(counts.outputs))
    for row, name in enumerate(counts.classes):
        concentration[row, counts.outputs.index(name)] += strength
    return concentration


def _known_rows(matrix: Any) -> tuple[tuple[float, ...], ...]:
    """Check the rows that are known; in the others one and the same NaN makes equal priors equal."""
    rows = _numbers("known", matrix)
    if rows.ndim != 2:
        raise InputError(
            "known", f"has shape {rows.shape}", "it must be a table, a row for each class", "Write [[...], [...]]"
        )
    learned = np.isnan(rows).all(axis=1)
    for row in rows[~learned]:
        if not (np.isfinite(row).all() and (row >= 0).all() and abs(row.sum() - 1) < 1e-6):
            raise InputError(
                "known",
                f"has the row {row.tolist()}",
                "a known row must be probabilities that sum to 1",
                "Use NaN throughout a row to learn it",
            )
    rows[~learned] /= rows[~learned].sum(axis=1, keepdims=True)
    return tuple(tuple(nan if isnan(entry) else entry for entry in row) for row in rows.tolist())
