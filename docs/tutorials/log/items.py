"""Simulated answers of an assistant, which all logs of tools on these pages are about.

People have read the answers of the last release, and none of this one. A judge says C (correct), P (partly),
I (incorrect) or N (nothing) of each answer, and is lenient with wrong ones.
"""

import random
from typing import NamedTuple

LAST, THIS = 120, 120
CORRECT_LAST, CORRECT_THIS = 0.6, 0.4
JUDGE = {"C": (0.93, 0.03, 0.02, 0.02), "I": (0.24, 0.12, 0.60, 0.04)}
"""How often the judge says C, P, I and N of a correct and of an incorrect answer."""


class Item(NamedTuple):
    """An answer that a judge gave a verdict on, and people a label, if they read it."""

    name: str
    human: str | None
    verdict: str
    topic: str


def simulated(number: int) -> Item:
    """Return an answer with its true class, whether or not people read it."""
    chance = random.Random(f"number {number}")
    truth = "C" if chance.random() < (CORRECT_LAST if number < LAST else CORRECT_THIS) else "I"
    verdict = chance.choices("CPIN", JUDGE[truth])[0]
    return Item(f"answer {number}", truth, verdict, chance.choice(["billing", "setup"]))


ALL = [simulated(number) for number in range(LAST + THIS)]
ITEMS = [*ALL[:LAST], *(item._replace(human=None) for item in ALL[LAST:])]
"""What the tools are given: of the answers that nobody read, only the verdicts."""
