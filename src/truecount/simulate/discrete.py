"""Counts drawn from a known truth, and the truths that the paper's experiments use."""

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from truecount import _check
from truecount._types import FloatArray, IntArray
from truecount.counts import Counts
from truecount.errors import InputError


def confusion(quality: float, classes: int, outputs: int | None = None) -> FloatArray:
    """Return a confusion in which class l gets output l with probability `quality` and the other outputs alike.

    Parameters
    ----------
    quality
        Between 0 and 1; ``1 / outputs`` is a useless classifier.
    classes, outputs
        How many there are; as many outputs as classes by default. Classes without an output of their own get every
        output alike.

    Returns
    -------
    Shape (classes, outputs): P(output | class), each row sums to one.

    Notes
    -----
    Ziegler & Czyż (TMLR 2024), section 3.1.

    Examples
    --------
    >>> confusion(0.8, classes=3, outputs=2)
    array([[0.8, 0.2],
           [0.2, 0.8],
           [0.5, 0.5]])
    """
    quality = _share("quality", quality)
    classes = _check.whole_number("classes", classes, least=2)
    outputs = classes if outputs is None else _check.whole_number("outputs", outputs, least=1)
    if outputs == 1:
        return np.ones((classes, 1))
    rows = np.full((classes, outputs), (1 - quality) / (outputs - 1))
    np.fill_diagonal(rows[:outputs], quality)
    rows[outputs:] = 1 / outputs
    return rows


def prevalence(first: float, classes: int) -> FloatArray:
    """Return the first class the share `first` and the others the rest, in equal parts; shape (classes,).

    >>> prevalence(0.7, classes=4)
    array([0.7, 0.1, 0.1, 0.1])
    """
    first = _share("first", first)
    classes = _check.whole_number("classes", classes, least=2)
    return np.array([first] + [(1 - first) / (classes - 1)] * (classes - 1))


def counts(
    prevalence: Any,
    confusion: Any,
    *,
    labeled: int | Sequence[int],
    unlabeled: int,
    labeled_prevalence: Any = None,
    seed: int = 0,
) -> Counts:
    r"""Draw labelled and unlabelled items from a known truth, and count them.

    Parameters
    ----------
    prevalence
        Shape (classes,): share of each class in the unlabelled population.
    confusion
        Shape (classes, outputs): P(output | class), the same in both populations.
    labeled
        How many labelled items to draw; or, a number for each class, how many of each.
    unlabeled
        How many unlabelled items to draw.
    labeled_prevalence
        Shape (classes,): share of each class in the labelled population; all alike by default. Not used where
        `labeled` gives a number for each class.
    seed
        Same seed, same counts.

    Examples
    --------
    >>> counts([0.7, 0.3], [[0.8, 0.2], [0.1, 0.9]], labeled=[100, 50], unlabeled=1000, seed=1)
    Counts: 150 labelled and 1000 unlabelled items, 2 classes, 2 outputs
    class\output    0    1
    0              80   20
    1               9   41
    unlabelled    613  387
    """
    rows = _probabilities("confusion", confusion, dimensions=2)
    shares = _probabilities("prevalence", prevalence, dimensions=1, length=len(rows))
    rng = np.random.default_rng(_check.whole_number("seed", seed, least=0))
    sizes = _class_sizes(rng, labeled, labeled_prevalence, len(rows))
    items = _check.whole_number("unlabeled", unlabeled, least=0)
    outputs = shares @ rows
    return Counts(rng.multinomial(sizes, rows), rng.multinomial(items, outputs / outputs.sum()))


def _class_sizes(rng: np.random.Generator, labeled: Any, labeled_prevalence: Any, classes: int) -> IntArray:
    if np.ndim(labeled):
        sizes = np.array([_check.whole_number("labeled", _check.plain_name(size), least=0) for size in labeled])
        _require_length("labeled", len(sizes), classes)
        return sizes
    even = np.full(classes, 1 / classes)
    shares = _probabilities(
        "labeled_prevalence", even if labeled_prevalence is None else labeled_prevalence, dimensions=1, length=classes
    )
    return rng.multinomial(_check.whole_number("labeled", labeled, least=0), shares)


def _share(argument: str, value: object) -> float:
    if not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise InputError(argument, f"is {value!r}", "it must be a share, from 0 to 1", "Write 0.85 for 85 %")
    return float(value)


def _probabilities(argument: str, values: Any, *, dimensions: int, length: int | None = None) -> FloatArray:
    array = _check.finite_numbers(argument, values, dimensions=dimensions).astype(np.float64)
    total = array.sum(axis=-1, keepdims=True)
    wrong = total[np.abs(total - 1) > 1e-6]
    if wrong.size:
        raise InputError(argument, f"sums to {wrong[0]:g}", "probabilities sum to 1", "Divide by the sum")
    if length is not None:
        _require_length(argument, len(array), length)
    shares: FloatArray = array / total
    return shares


def _require_length(argument: str, found: int, classes: int) -> None:
    if found != classes:
        raise InputError(
            argument, f"has {found} entries", f"confusion has {classes} classes", "Give one for each class"
        )
