import json
import re

import numpy as np
import pytest

from truecount import Counts, Scores, compare, infer
from truecount.results import Comparison, Finding
from truecount.results.comparison import Row

COUNTS = Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])


def comparison(*rows: Row, counts: Counts = COUNTS, level: float = 0.95) -> Comparison:
    return Comparison(rows=rows, posterior=infer(counts, seed=1), level=level, provenance={"seed": 1})


SHARES, INTERVAL = np.array([0.8, 0.2]), np.array([[0.7, 0.9], [0.1, 0.3]])
FULL = Row(method="acc", prevalence=SHARES, interval=INTERVAL, kind="bootstrap")
BARE = Row(method="em", prevalence=SHARES)
NONE = Row(method="pacc", reason="pacc needs the scores of every item")
OTHER = Row(method="kmm", reason="kmm needs the scores of every item")


def test_it_prints_as_a_table_and_names_what_does_not_apply_below() -> None:
    assert str(comparison(FULL, BARE, NONE, OTHER)).splitlines() == [
        "method     fail                  pass",
        "posterior  83.8 % (74.0 – 94.7)  16.2 % (5.3 – 26.0)",
        "acc        80.0 % (70.0 – 90.0)  20.0 % (10.0 – 30.0)",
        "em         80.0 %                20.0 %",
        "Left out: pacc, kmm (needs the scores of every item).",
        "In brackets: 95 % intervals; those of the methods by the bootstrap.",
    ]


def test_the_level_is_that_of_the_posterior_too() -> None:
    lines = str(comparison(BARE, level=0.5)).splitlines()
    low, high = 100 * comparison().posterior.interval(0.5)[0]
    assert f"({low:.1f} – {high:.1f})" in lines[1]
    assert lines[-1] == "In brackets: 50 % intervals."


@pytest.mark.parametrize(("n_classes", "intervals", "columns"), [(4, True, 4), (6, False, 6), (12, False, 8)])
def test_many_classes_leave_out_intervals_and_then_the_smallest(n_classes: int, intervals: bool, columns: int) -> None:
    counts = Counts(500 * np.eye(n_classes, dtype=int) + 1, np.arange(1, n_classes + 1) ** 2)
    text = str(comparison(counts=counts))
    assert (re.search(r"\(\d", text) is not None) == intervals
    assert text.splitlines()[0].split() == ["method", *map(str, range(n_classes - columns, n_classes))]
    assert (f"{n_classes - 8} more classes are in .rows." in text) == (n_classes > 8)


def test_what_is_true_of_the_data_and_of_methods_is_said_once_below() -> None:
    alike = Finding("not-identified", "serious", "Alike.")
    own = {name: Finding("method", "caution", f"Of {name}: Slow.") for name in ("acc", "bbse")}
    rows = [Row(method=name, prevalence=SHARES, findings=(alike, each)) for name, each in own.items()]
    table = comparison(*rows)
    assert table.findings == (alike,)
    assert str(table).count("serious: Alike.") == 1
    assert "acc and bbse: Slow.\n" in str(table)
    assert str(table).count("Slow.") == 1


def test_every_method_on_scores_has_its_remark(scores: Scores) -> None:
    text = str(compare(scores, ["cdeiterate", "hdy", "em", "acc"]))
    assert "cdeiterate: It is not consistent" in text
    assert "hdy: It compares histograms" in text
    assert "em: It trusts the scores" in text
    assert "posterior: It is that of the most probable classes; infer(scores) uses the scores themselves." in text
    assert "posterior: It is" not in str(compare(scores.to_counts(), ["acc"]))


@pytest.fixture
def scores() -> Scores:
    rng = np.random.default_rng(0)
    labels = np.arange(200) % 2
    right = [rng.beta(4 + 3 * each, 7 - 3 * each) for each in (labels, labels[:120])]
    labeled, unlabeled = (np.column_stack([1 - each, each]) for each in right)
    return Scores(labeled, labels, unlabeled)


def test_plain_values_are_ready_for_json() -> None:
    values = json.loads(json.dumps(comparison(FULL, BARE, NONE).to_dict(), allow_nan=False))
    assert values["schema"] == "truecount.comparison/1"
    assert values["classes"] == ["fail", "pass"]
    assert [row["method"] for row in values["methods"]] == ["acc", "em", "pacc"]
    assert values["methods"][0]["upper"] == [0.9, 0.3]
    assert values["methods"][1]["lower"] is None
    assert values["methods"][2]["reason"] == "pacc needs the scores of every item"
    assert values["posterior"]["schema"] == "truecount.estimate/1"


def test_names_that_would_break_the_table_are_made_visible() -> None:
    odd = Counts(COUNTS.labeled, COUNTS.unlabeled, classes=["line\nbreak", "漢字"])
    lines = str(comparison(BARE, counts=odd)).splitlines()
    assert lines[0].startswith("method     line\\nbreak")
    assert len(lines) == 4


def test_it_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        comparison().level = 0.5


def test_notebooks_show_points_and_reasons() -> None:
    page = compare(COUNTS, ["acc", "pacc"], seed=1)._repr_html_()
    assert "needs the scores of every item" in page
    assert page.count("<tr>") == 3
