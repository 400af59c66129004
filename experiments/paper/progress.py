"""A bar on stderr while an experiment repeats itself."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from rich.console import Console
from rich.progress import track

import truecount as tc

Item = TypeVar("Item")
AT_ONCE = 100


def repeat(items: Sequence[Item], what: str) -> Iterator[Item]:
    """Pass `items` on and show how many are done."""
    yield from track(items, description=f"{what:<36}", console=Console(stderr=True), transient=True)


def posteriors(problems: Sequence[tc.Counts], engine: tc.Auto, **options: object) -> Iterator[tc.Posterior]:
    """Infer a hundred at a time, so that the draws of the others need no memory."""
    for start in range(0, len(problems), AT_ONCE):
        yield from tc.infer_many(
            problems[start : start + AT_ONCE], engine=engine, seed=start, progress=False, **options
        )
