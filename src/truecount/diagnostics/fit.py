"""Whether the model explains the unlabelled outputs at all."""

import numpy as np

from truecount._types import FloatArray
from truecount.counts import Counts
from truecount.inference.draws import Draws
from truecount.models import Density
from truecount.results.finding import Finding

MISFIT = 5.0
"""Standard errors between what was seen and what was expected of an output, beyond which the model is not believed."""


def misfit(counts: Counts, model: Density, draws: Draws) -> Finding | None:
    """Look for an output that is far more or less common than any mix of the classes makes it.

    Expected are the labelled shares of each output, mixed by the posterior mean. Where some mix explains the outputs,
    the posterior finds it and this is silent, whether label shift holds or not.
    """
    if not model.unlabeled.sum():
        return None
    expected, error = expected_outputs(model, draws.prevalence.mean(axis=0))
    seen = model.unlabeled / model.unlabeled.sum()
    distance = _distance(seen, expected, error)
    worst = int(np.abs(distance).argmax())
    if abs(distance[worst]) <= MISFIT:
        return None
    name = counts.outputs[worst]
    return Finding(
        "label-shift-violated",
        "serious",
        f"The output {name} was seen in {seen[worst]:.1%} of the unlabelled items, but no mix of the classes explains "
        f"that: about {expected[worst]:.1%} were to be expected. The box seems to treat the classes differently there.",
        {
            "output": name,
            "seen": float(seen[worst]),
            "expected": float(expected[worst]),
            "distance": float(distance[worst]),
        },
        "Label some items of the population itself, and check how both sides were sampled and counted.",
    )


def _distance(seen: FloatArray, expected: FloatArray, error: FloatArray) -> FloatArray:
    """Give standard errors between roots of shares, whose errors are even where shares are small."""
    root = np.sqrt(expected)
    gap = 2 * root * (np.sqrt(seen) - root)
    distance: FloatArray = np.divide(gap, error, out=np.zeros_like(gap), where=error > 0)
    return distance


def expected_outputs(model: Density, prevalence: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Shapes (outputs,): the shares to be expected at this prevalence by the labels, and their standard errors."""
    confusion = model.mean_confusion
    expected = np.clip(prevalence @ confusion, 0.0, 1.0)
    of_labels = confusion * (1 - confusion) / (model.rows.sum(axis=1, keepdims=True) + 1)
    of_labels[model.is_known] = 0.0
    variance = expected * (1 - expected) / model.unlabeled.sum() + prevalence**2 @ of_labels
    return expected, np.sqrt(variance)
