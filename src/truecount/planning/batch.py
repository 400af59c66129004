"""Which items to label next, by their output: those that make the variance of the shares drop most."""

from dataclasses import dataclass

import numpy as np

from truecount._types import FloatArray, IntArray
from truecount.inference.draws import Draws

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
    """

    weight: FloatArray
    strength: FloatArray


def knowledge(drawn: Draws, places: list[int]) -> OutputKnowledge:
    """Read off draws what is known of each output's classes.

    A Dirichlet of concentration A has variance ``ρ(1 − ρ)/(A + 1)``, so that the variance of the draws tells A.
    """
    share, _, variance, strength = _given_outputs(drawn)
    return OutputKnowledge(share * variance[places].sum(axis=0), strength)


def _given_outputs(drawn: Draws) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return each output's squared share, mean and variance of P(class | output), and the labels that is worth."""
    joint = drawn.prevalence[:: drawn.stride, :, None] * drawn.confusion
    outputs = joint.sum(axis=1)
    given = joint / np.maximum(outputs[:, None, :], 1e-300)
    mean, variance = given.mean(axis=0), given.var(axis=0)
    strength = (mean * (1 - mean)).sum(axis=0) / np.maximum(variance.sum(axis=0), 1e-12) - 1
    return (outputs**2).mean(axis=0), mean, variance, np.maximum(strength, 0.5)


def wider_by_a_surprise(drawn: Draws) -> FloatArray:
    """Shape (classes,): how many times wider intervals would be after one more label, of the worst output and class.

    With A labels' worth of knowledge of an output, one label of class l moves its mean to ``(A ρ + e_l)/(A + 1)``.
    """
    share, mean, _, strength = _given_outputs(drawn)
    variance = np.maximum(drawn.prevalence.var(axis=0), 1e-300)
    now = mean * (1 - mean) / (strength + 1)
    most = np.zeros(len(mean))
    for surprise in np.eye(len(mean)):
        moved = (strength * mean + surprise[:, None]) / (strength + 1)
        gained = share * (moved * (1 - moved) / (strength + 2) - now)
        most = np.maximum(most, gained.max(axis=1))
    wider: FloatArray = np.sqrt(1 + most / variance)
    return wider


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
