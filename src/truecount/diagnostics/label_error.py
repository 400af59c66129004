"""What wrong labels would do to an answer: true classes are imputed under a stated rate of errors."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from truecount._types import FloatArray, IntArray, Name
from truecount._wording import called, percent
from truecount.counts import Counts
from truecount.diagnostics.drift import draw_shares
from truecount.inference.draws import dirichlet
from truecount.models import Density, GivenOutput
from truecount.results.finding import Finding

SWEEPS, DRAWS = 60, 500
MOST_DIRECTIONS = 5
"""Classes up to which errors of one class alone are looked at, class by class."""
Shares: TypeAlias = Callable[[np.random.Generator, FloatArray], FloatArray]
"""Shape (draws, classes): shares drawn where labels err by a matrix P(label | class)."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LabelErrorEffect:
    """What the shares would be if a part of the labels were wrong.

    Parameters
    ----------
    rate
        Share of the labels that is wrong.
    right, mean
        Shape (classes,): means without errors, and with errors of every class alike, computed the same way.
    lowest, highest
        Shape (classes,): of the means over all directions of the errors.
    interval
        Shape (classes, 2): from the lowest to the highest end of intervals over all directions.
    """

    rate: float
    right: FloatArray
    mean: FloatArray
    lowest: FloatArray
    highest: FloatArray
    interval: FloatArray


def label_errors(n_classes: int, rate: float, *, only: int | None = None) -> FloatArray:
    """Shape (classes, classes): P(label | class), where errors fall on all other classes alike.

    >>> label_errors(3, 0.1, only=0)
    array([[0.9 , 0.05, 0.05],
           [0.  , 1.  , 0.  ],
           [0.  , 0.  , 1.  ]])
    """
    errors = np.full((n_classes, n_classes), rate / (n_classes - 1))
    np.fill_diagonal(errors, 1 - rate)
    if only is None:
        return errors
    alone = np.eye(n_classes)
    alone[only] = errors[only]
    return alone


def imputed(rng: np.random.Generator, labeled: IntArray, errors: FloatArray, weights: FloatArray) -> FloatArray:
    """Shape (draws, classes, outputs): labelled items by class and output, drawn given their labels and outputs.

    An item with label j and output k belongs to class l with a probability ∝ ``errors[l, j] · weights[l, k]``.
    """
    chances = np.einsum("lj,dlk->djkl", errors, weights)
    chances /= chances.sum(axis=-1, keepdims=True)
    items = np.broadcast_to(labeled, chances.shape[:-1])
    found: FloatArray = rng.multinomial(items, chances).sum(axis=1).swapaxes(1, 2).astype(np.float64)
    return found


def under_label_shift(model: Density, counts: Counts) -> Shares:
    """Return what draws shares where P(output | class) carries over.

    With λ the shares of the classes among the labelled items, F the table by label and output, E = P(label | class):
    ``F[j,k] ~ Σ_l λ_l E[l,j] φ[l,k]``. The classes of labelled items are imputed in turns with ``λ ~ Dir(1 + items)``
    and ``φ_l ~ Dir(β_l + items)``, every draw by a chain of its own, and then ``π`` is drawn from ``p(π | φ, n)``: the
    cut posterior, in which the unlabelled items do not move the rows.
    """
    labeled = np.rint(counts.effective.labeled).astype(np.int64)
    prior = model.rows - counts.effective.labeled

    def draw(rng: np.random.Generator, errors: FloatArray) -> FloatArray:
        items = np.repeat(labeled[None].astype(np.float64), DRAWS, axis=0)
        for sweep in range(SWEEPS):
            rows = _learned(rng, model, prior + items)
            if sweep == SWEEPS - 1:
                break
            among = dirichlet(rng, items.sum(axis=2) + 1, ())
            items = imputed(rng, labeled, errors, among[:, :, None] * rows)
        return draw_shares(rng, model, rows)

    return draw


def _learned(rng: np.random.Generator, model: Density, concentration: FloatArray) -> FloatArray:
    rows = dirichlet(rng, concentration, ())
    rows[:, model.is_known] = model.known[model.is_known]
    return rows


def under_given_output(model: GivenOutput) -> Shares:
    """Return what draws shares where P(class | output) carries over.

    ``F[j,k] ~ Multinomial(F_k, Σ_l E[l,j] ρ[l|k])``: the classes of labelled items are imputed in turns with
    ``ρ[·|k] ~ Dir(prior_k + items)``, and ``π = Σ_k q_k ρ[·|k]``.
    """
    labeled = np.rint(model.labeled).astype(np.int64)

    def draw(rng: np.random.Generator, errors: FloatArray) -> FloatArray:
        items = np.repeat(labeled[None].astype(np.float64), DRAWS, axis=0)
        for sweep in range(SWEEPS):
            classes = dirichlet(rng, (model.prior + items).swapaxes(1, 2), ()).swapaxes(1, 2)
            if sweep < SWEEPS - 1:
                items = imputed(rng, labeled, errors, classes)
        outputs = dirichlet(rng, model.seen + 1 / len(model.seen), (DRAWS,))
        shares: FloatArray = np.einsum("dlk,dk->dl", classes, outputs)
        return shares

    return draw


def label_error_effect(
    shares: Shares, n_classes: int, rate: float, *, level: float = 0.95, seed: int
) -> LabelErrorEffect:
    """Draw shares without errors, with errors of every class alike, and with errors of one class alone."""
    drawn = [shares(np.random.default_rng([seed, *b"labels"]), each) for each in _directions(n_classes, rate)]
    means = np.array([draws.mean(axis=0) for draws in drawn])
    ends = np.array([np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0) for draws in drawn])
    return LabelErrorEffect(
        rate=rate,
        right=means[0],
        mean=means[1],
        lowest=means[1:].min(axis=0),
        highest=means[1:].max(axis=0),
        interval=np.column_stack([ends[1:, 0].min(axis=0), ends[1:, 1].max(axis=0)]),
    )


def _directions(n_classes: int, rate: float) -> Iterator[FloatArray]:
    yield np.eye(n_classes)
    yield label_errors(n_classes, rate)
    if n_classes <= MOST_DIRECTIONS:
        yield from (label_errors(n_classes, rate, only=row) for row in range(n_classes))


def label_error_finding(classes: tuple[Name, ...], interval: FloatArray, effect: LabelErrorEffect) -> Finding:
    """Say how far wrong labels would move the class that they move most; a caution where that leaves its interval."""
    moved = np.maximum(effect.highest - effect.right, effect.right - effect.lowest)
    row = int(moved.argmax())
    is_out = (effect.lowest < interval[:, 0]) | (effect.highest > interval[:, 1])
    least, most = percent(float(effect.lowest[row])), percent(float(effect.highest[row]))
    return Finding(
        "labels-may-err",
        "caution" if is_out.any() else "info",
        f"If {percent(effect.rate)} of the labels were wrong, {called(classes[row])} would have {least} to {most}, "
        f"depending on which, where right labels say {percent(float(effect.right[row]))}.",
        {"rate": effect.rate, "class": classes[row], "lowest": float(effect.lowest[row])}
        | {"highest": float(effect.highest[row]), "right": float(effect.right[row])},
        "Let a second person label some items again; how often both agree bounds the rate of errors.",
    )
