"""Frames of pandas and polars answer for themselves, once they are asked to."""

import subprocess
import sys
from typing import Any

import pytest

import truecount as tc
from as_printed import run_page

ROWS = {
    "human": ["pass", "fail", "pass", "fail", None, None, None],
    "verdict": ["pass", "fail", "fail", "fail", "pass", "fail", "pass"],
    "team": ["a", "a", "b", "b", "a", "a", "b"],
}
COLUMNS = {"label": "human", "prediction": "verdict"}


def frame(kind: str) -> Any:
    library = pytest.importorskip(kind.partition(" ")[0])
    if kind == "pandas":
        import truecount.pandas
    else:
        import truecount.polars  # noqa: F401
    made = library.DataFrame(ROWS)
    return made.lazy() if kind.endswith("lazy") else made


@pytest.mark.parametrize("kind", ["pandas", "polars", "polars lazy"])
def test_a_frame_is_counted_and_inferred_from(kind: str) -> None:
    asked = frame(kind).truecount
    counts = tc.count_table(frame(kind), **COLUMNS)
    assert asked.count(**COLUMNS).to_dict() == counts.to_dict()
    assert asked.estimate(**COLUMNS, seed=3).to_dict() == tc.infer(counts, seed=3).to_dict()
    model = tc.SamePopulation()
    assert asked.estimate(**COLUMNS, model=model).to_dict() == tc.infer(counts, model).to_dict()
    assert set(asked.estimate(**COLUMNS, by="team").groups) == {"a", "b"}


def test_the_tutorial_prints_what_it_shows(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    run_page("data-frames", capsys)


def test_nothing_is_registered_unasked() -> None:
    code = "import truecount as tc, sys; tc.Counts; assert 'pandas' not in sys.modules and 'polars' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
