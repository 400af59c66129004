"""Make the example: a judge's verdicts on the answers of two releases, of which people read only the first.

Run it with ``python -m truecount.examples.make_judge``: it writes the same file each time.
"""

from collections.abc import Iterator
from random import Random

from truecount._atomic import whole_file
from truecount.examples import JUDGE

SEED = 20_240_520
ANSWERS = {"v1": 300, "v2": 1500}
PASS_RATE = {"v1": 0.65, "v2": 0.5}
JUDGED_PASS = {"pass": 0.94, "fail": 0.36}
"""How often the judge passes an answer that people would pass, and one that they would fail."""


def make_judge() -> str:
    """Return the example as CSV; people's verdicts on the second release are left empty."""
    return "\n".join(["id,release,human,verdict", *_rows(Random(SEED)), ""])  # noqa: S311 - no secret here


def _rows(random: Random) -> Iterator[str]:
    for release, answers in ANSWERS.items():
        for number in range(1, answers + 1):
            human = "pass" if random.random() < PASS_RATE[release] else "fail"
            verdict = "pass" if random.random() < JUDGED_PASS[human] else "fail"
            yield f"{release}-{number:04},{release},{human if release == 'v1' else ''},{verdict}"


if __name__ == "__main__":
    with whole_file(JUDGE) as stream:
        stream.write(make_judge().encode())
