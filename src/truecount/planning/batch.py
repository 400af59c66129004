"""Which items to label next, by their output: those that make the variance of the shares drop most."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from truecount._types import FloatArray, IntArray
from truecount.inference.draws import Draws
from truecount.models import GivenOutput

SHARP = 12.0
"""Power of a class's width, by which it matters beside the widest."""
HALVINGS = 200
"""Of an interval, which is then as short as floats allow."""


@dataclass(frozen=True, slots=True, eq=False)
class OutputKnowledge:
    """What is known of the classes of each output.

    Parameters
    ----------
    weight
        Shape (outputs,): how much the uncertainty about an output's classes weighs in the shares of the classes that
        matter: the squared share of the output, times the variances of P(class | output).
    strength
        Shape (outputs,): how many labels that knowledge is worth.
    deviation
        The standard deviation of the widest share that matters.
    """

    weight: FloatArray
    strength: FloatArray
    deviation: float = 1.0


def knowledge(drawn: Draws, places: list[int]) -> OutputKnowledge:
    """Read off draws what is known of each output's classes.

    A Dirichlet of concentration A has variance ``ρ(1 − ρ)/(A + 1)``, so that the variance of the draws tells A.
    """
    joint = drawn.prevalence[:: drawn.stride, :, None] * drawn.confusion
    outputs = joint.sum(axis=1)
    given = joint / np.maximum(outputs[:, None, :], 1e-300)
    mean, variance = given.mean(axis=0), given.var(axis=0)
    strength = (mean * (1 - mean)).sum(axis=0) / np.maximum(variance.sum(axis=0), 1e-12) - 1
    deviations = drawn.prevalence[:, places].std(axis=0)
    weight = (outputs**2).mean(axis=0) * (_matters(deviations) @ variance[places])
    return OutputKnowledge(weight, np.maximum(strength, 0.5), float(deviations.max()))


def exact_knowledge(form: GivenOutput, places: list[int]) -> OutputKnowledge:
    """Return the same by the closed form of labels that are stratified by output."""
    given, strength = form.classes_given_output, form.strength
    variance = given * (1 - given) / (strength + 1)
    deviations = form.sd[places]
    weight = form.output_shares**2 * (_matters(deviations) @ variance[places])
    return OutputKnowledge(weight, strength, float(deviations.max()))


def of_groups(known: Sequence[OutputKnowledge]) -> OutputKnowledge:
    """Return what is known of the outputs of all groups, one after the other; the widest group matters most."""
    deviations = np.array([each.deviation for each in known])
    matters = _matters(deviations)
    weight = np.concatenate([weigh * each.weight for weigh, each in zip(matters, known, strict=True)])
    strength = np.concatenate([each.strength for each in known])
    return OutputKnowledge(weight, strength, float(deviations.max()))


def _matters(deviations: FloatArray) -> FloatArray:
    """Return how much classes matter: of several, the one with the widest interval most."""
    matters: FloatArray = (deviations / max(float(deviations.max()), 1e-300)) ** SHARP
    return matters


def drop_most(known: OutputKnowledge, number: int, available: IntArray) -> IntArray:
    """Return how many of the next `number` labels each output gets, so that the expected variance drops most.

    After m labels of an output whose classes are known as from A, the variance that is expected of them is
    ``A/(A + m)`` of what it was. The sum of ``weight · A/(A + m)`` is least where ``A + m`` is in proportion to
    ``√(weight · A)``, for all outputs that get any.

    >>> drop_most(OutputKnowledge(np.array([4.0, 1.0]), np.array([10.0, 10.0])), 40, np.array([99, 99]))
    array([30, 10])
    """
    pull = np.sqrt(known.weight * known.strength)
    pull = np.maximum(pull, 1e-6 * pull.max() + 1e-300)
    low, high = 0.0, (number + known.strength.sum()) / float(pull.min())
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        wanted = np.clip(middle * pull - known.strength, 0, available)
        low, high = (middle, high) if wanted.sum() < number else (low, middle)
    wanted = np.clip(high * pull - known.strength, 0, available)
    whole: IntArray = np.floor(wanted + 1e-9).astype(int)
    for place in np.argsort(-(wanted - whole), kind="stable"):
        if whole.sum() < number and whole[place] < available[place]:
            whole[place] += 1
    return whole
