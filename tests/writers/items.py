"""What every tool is given to evaluate, so that what is read back can be counted by hand."""

from collections import Counter
from typing import NamedTuple


class Item(NamedTuple):
    """An answer that a judge gave a verdict on, and people a label, if they read it."""

    name: str
    human: str | None
    verdict: str
    topic: str


VERDICTS = "CCIPCINC"
ITEMS = [
    Item(f"item {at}", ("CI"[at % 3 == 0] if at < 14 else None), VERDICTS[at % len(VERDICTS)], "ab"[at % 2])
    for at in range(30)
]
"""Some are labelled, and their verdicts are those of Inspect: correct, partial, incorrect, no answer."""


def by_hand(repeats: int = 1) -> Counter[tuple[str | None, str]]:
    """How often each label and verdict occur."""
    return Counter({key: repeats * number for key, number in Counter((i.human, i.verdict) for i in ITEMS).items()})
