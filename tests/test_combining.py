"""What can be combined: every pair through the command, and refusals in Python too, held to the table of the guide."""

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import truecount as tc
from command import run
from truecount.errors import InputError

GUIDE = Path(__file__).parents[1] / "docs/guides/combining.md"
COLUMNS: dict[str, dict[str, Any]] = {
    "several classifiers": {"prediction": ["one", "two"]},
    "taken for independent": {"prediction": ["one", "two"]},
    "raters": {"label": ["ann", "bob", "cy"]},
    "clusters": {"cluster": "question"},
    "weights": {"weight": "weight"},
    "labels of the population": {"study": "where"},
    "groups": {"by": "group"},
    "studies": {"study": "where"},
}
ONE_COLUMN = ("labels of the population", "studies")
"""Both are told by the column that says where labels come from."""
TWO_MODELS = ("taken for independent", "labels of the population")
"""Each is a model, and `infer` takes one: in Python there is no way to ask for both."""
NAMES = ("ann", "bob", "cy", "truth")
PAIRS = [pair for pair in combinations(COLUMNS, 2) if pair != ONE_COLUMN]


def told() -> dict[tuple[str, str], bool | None]:
    """Return what the table says of each pair, from both of its halves."""
    lines = [line[1:-1].split("|") for line in GUIDE.read_text().splitlines() if line.startswith("|")]
    rows = {line[0].strip(" []").split("]")[0]: [cell.strip() for cell in line[1:]] for line in lines[2:]}
    assert list(rows) == list(COLUMNS)
    said = {}
    for (at, one), (place, two) in combinations(enumerate(rows), 2):
        assert rows[one][place] == rows[two][at]
        said[one, two] = {"yes": True, "no": False, "": None}[rows[one][place]]
    assert said.pop(ONE_COLUMN) is None
    return said


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of items, of which the first half has labels."""
    rng, number = np.random.default_rng(0), 240
    truth = (rng.random(number) < 0.4).astype(int)

    def seen(wrong: float) -> np.ndarray:
        return np.where(rng.random(number) < wrong, 1 - truth, truth)

    at = np.arange(number)
    labels = [np.where(at < 120, seen(wrong).astype(str), "") for wrong in (0.1, 0.1, 0.1, 0.0)]
    rest = [
        seen(0.1),
        seen(0.2),
        np.where((at < 120) & (at // 3 % 2 == 1), "there", "here"),
        np.where(at // 6 % 2, "B", "A"),
    ]
    rows = zip(*labels, *rest, at // 3, 1 + at % 3, strict=True)
    lines = [",".join([*NAMES, "one", "two", "where", "group", "question", "weight"])]
    file = tmp_path_factory.mktemp("combined") / "items.csv"
    file.write_text("\n".join([*lines, *(",".join(map(str, row)) for row in rows)]))
    return file


def in_python(items: Path, pair: tuple[str, str]) -> Any:
    asked: dict[str, Any] = {"label": "truth", "prediction": "one"}
    for name in pair:
        asked |= COLUMNS[name]
    data, model = tc.count_table(str(items), **asked), tc.LabelShift()
    if "labels of the population" in pair:
        if "groups" in pair:
            data = tc.count_table(str(items), **{**asked, "study": ["group", "where"]})
        data, model = tc.TargetLabels.of_study(data, "here")
    if "taken for independent" in pair:
        model = tc.IndependentClassifiers()
    return tc.infer(data, model, engine=tc.Auto(40))


def in_shell(pair: tuple[str, str]) -> list[str]:
    asked: dict[str, Any] = {"label": "truth", "prediction": "one"}
    for name in pair:
        asked |= COLUMNS[name]
    if "labels of the population" in pair:
        asked["target-labels"] = "where=here"
        del asked["study"]
    line = ["estimate", "items.csv", "--draws", "40"]
    for name, columns in asked.items():
        for column in columns if isinstance(columns, list) else [columns]:
            line += [f"--{name}", column]
    return [*line, *(["--independent-classifiers"] if "taken for independent" in pair else [])]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::truecount.errors.TruecountWarning")
@pytest.mark.parametrize("pair", PAIRS, ids=" and ".join)
def test_what_the_table_says_is_done(pair: tuple[str, str], items: Path) -> None:
    printed = run(*in_shell(pair), folder=items.parent)
    if told()[pair]:
        assert (printed.returncode, "%" in printed.stdout) == (0, True), printed.stderr
        if "groups" in pair:
            in_python(items, pair)
        return
    assert printed.returncode == 2, printed.stderr
    assert "Traceback" not in printed.stderr
    if pair != TWO_MODELS:
        with pytest.raises(InputError):
            in_python(items, pair)


def test_the_table_is_symmetric() -> None:
    assert set(told()) == set(PAIRS)
