"""Draw the two pictures of the README into docs/.

    python scripts/pictures.py [FOLDER]

The first is what ``truecount demo --plot`` would draw, the second that of the four models in ``docs/guides/groups.md``.
"""

import re
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

import truecount as tc
from truecount.examples import JUDGE

DOCS = Path(__file__).parent.parent / "docs"


def four_models() -> Any:
    """Return the answer of the first block of the page of groups."""
    names: dict[str, Any] = {}
    page = (DOCS / "guides" / "groups.md").read_text(encoding="utf-8")
    exec(re.search(r"```python\n(.*?)print", page, flags=re.DOTALL)[1], names)
    return names["answer"]


def main(folder: Path) -> None:
    mpl.use("Agg")
    judge = tc.infer(tc.count_table(JUDGE, label="human", prediction="verdict"), seed=0)
    models = four_models()
    for name, answer, draw in (("judge", judge, tc.plots.prevalence), ("models", models, tc.plots.caterpillar)):
        told = {"Description": str(answer).encode("ascii", "replace").decode()}  # by which a test sees what is drawn
        draw(answer).figure.savefig(folder / f"{name}.png", dpi=200, metadata=told)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS)
