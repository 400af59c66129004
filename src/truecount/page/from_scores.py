"""What a page says of an answer that was computed from scores, and not from counts of outputs."""

from truecount.models.model import ALIKE, AT_RANDOM, INDEPENDENT, Assumption
from truecount.results import Posterior

METHOD = (
    "All mixes of classes that could have led to these scores were weighed by how well they explain them, together "
    "with all calibrations of the scores that fit the labels, and with the prior."
)
ASSUMPTIONS = (
    Assumption(
        ALIKE,
        "The scores of one class are distributed among the unlabelled items as among the labelled ones; only the mix "
        "of classes differs. If the items of a class became harder, the answer is wrong, and mostly nothing in the "
        "scores shows it. To check, label a few items of the population itself.",
    ),
    Assumption(
        AT_RANDOM.format("score"),
        "If easy items, or those with certain scores, were likelier to be labelled, the answer is wrong.",
    ),
    Assumption(
        "The labels are right.",
        "If some are wrong, so is what was learned from them of the scores of each class, and the more so the rarer a "
        "class is. To see how much, ask check(scores, label_error=0.05).",
    ),
    INDEPENDENT,
)
STAND_IN = "most probable class"
"""What the page shows where one of counts shows the output of an item."""


def data_in_words(posterior: Posterior) -> str:
    """Say what was known of the items."""
    labeled, unlabeled = posterior.counts.labeled.sum(), posterior.counts.unlabeled.sum()
    return (
        f"A classifier gave every item a score for each of {len(posterior.classes)} classes, which may be off. "
        f"{labeled:,.0f} labelled items, of which the true class is known, show how often each class has which scores. "
        f"Of {unlabeled:,.0f} unlabelled items only the scores are known. Each item counts with its scores; tables "
        f"that have the {STAND_IN} of an item are a summary, from which the answer was not computed."
    )
