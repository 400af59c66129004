"""The page of groups: its sentence, what it shows, and that it can be repeated."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import truecount as tc
from made_counts import groups_of
from truecount.page.groups import groups_answer, shared_counts
from truecount.page.reproduce import python_of_groups
from truecount.page.write import render
from truecount.results.table import tabulate

LOOK: dict[str, Any] = {"level": 0.95, "kind": "equal-tailed", "target": "population"}
LABELED = tc.Counts([[140, 60], [20, 180]], [0, 0], classes=["fail", "pass"])
OUTPUTS = {"middle": [500, 500], "low": [300, 700], "high": [600, 400]}
WEEKS = dict(zip([date(2026, 1, 5), date(2026, 1, 12), date(2026, 1, 19)], OUTPUTS.values(), strict=True))


def posteriors(outputs: dict[Any, Any], **options: Any) -> Any:
    return tc.infer_many(groups_of(LABELED, outputs), seed=7, **options)


def said(answer: str) -> str:
    return answer.replace("\N{NO-BREAK SPACE}", " ").replace("\N{WORD JOINER}", "")


def test_regions_are_told_by_their_extremes() -> None:
    found = posteriors(OUTPUTS)
    low, high = (tabulate(found[group]).rows[0] for group in ("low", "high"))
    assert said(groups_answer(found, **LOOK)) == (
        f"Of 3 groups, the true share of “fail” is smallest in low, about {low[2]} (95 % interval {low[3].strip()}), "
        f"and largest in high, about {high[2]} ({high[3].strip()})."
    )


def test_weeks_are_told_from_the_first_to_the_last() -> None:
    found = posteriors(WEEKS)
    rows = [tabulate(found[week]).rows[0] for week in (date(2026, 1, 5), date(2026, 1, 19))]
    sentence = said(groups_answer(found, **LOOK))
    assert sentence.startswith(
        f"From 2026-01-05 to 2026-01-19, the true share of “fail” goes from about {rows[0][2]} ("
    )
    assert f" to {rows[1][2]} ({rows[1][3].strip()})." in sentence


@pytest.mark.parametrize("keys", [(3, 1, 2), (True, False, 2)])
def test_numbers_out_of_order_are_told_by_their_extremes(keys: tuple[Any, ...]) -> None:
    found = posteriors(dict(zip(keys, OUTPUTS.values(), strict=True)))
    assert groups_answer(found, **LOOK).startswith("Of 3 groups, ")


def test_one_group_is_told_like_any_answer() -> None:
    assert groups_answer(posteriors({"only": [5, 5]}), **LOOK).startswith("Of the population, about")


def test_all_groups_are_in_the_page() -> None:
    apart, joint = (
        render(posteriors(WEEKS, joint=joint), **LOOK, command="truecount estimate") for joint in (False, True)
    )
    for week, (fails, passes) in WEEKS.items():
        assert f"{week} fail</th>" in apart
        assert f"unlabelled, {week}</th><td>{fails}</td><td>{passes}</td>" in apart
    assert "What changed" not in apart
    assert "shared-labels" in apart
    assert "2026-01-12 → 2026-01-19 fail" in joint
    assert "Of 3,000 unlabelled items" in apart


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("outputs", [OUTPUTS, WEEKS], ids=["regions", "weeks"])
def test_the_python_shown_draws_all_groups_again(outputs: dict[Any, Any], joint: bool) -> None:
    found = posteriors(outputs, joint=joint)
    assert "tc.infer_many(" in python_of_groups(found)
    again = run(python_of_groups(found))
    assert list(again) == list(found)
    assert_same_draws(again, found)


def run(code: str) -> Any:
    scope: dict[str, Any] = {}
    exec(code, scope)  # noqa: S102 - what the page tells its reader to run
    return scope["posteriors"]


def assert_same_draws(again: Any, found: Any) -> None:
    for one, other in zip(again.values(), found.values(), strict=True):
        np.testing.assert_array_equal(one.prevalence, other.prevalence)


COUNTS = groups_of(LABELED, OUTPUTS)["low"]
EXACT = tc.Exact(draws=100)


@pytest.mark.parametrize(
    "found",
    [
        {"one": tc.infer(COUNTS, seed=3), "two": tc.infer(COUNTS, seed=4)},
        {"one": tc.infer(COUNTS, engine=EXACT), "two": tc.infer(COUNTS, engine=tc.Exact(draws=200))},
        {"one": tc.infer(COUNTS, tc.SamePopulation()), "two": tc.infer(COUNTS)},
        {"one": tc.infer(COUNTS, prior=tc.Prior(prevalence=2.0)), "two": tc.infer(COUNTS)},
        {key: each for key, each in posteriors(OUTPUTS, engine=EXACT).items() if key != "middle"},
        posteriors(OUTPUTS, engine=EXACT) | tc.infer_many(tc.Groups.of({"high": COUNTS}), engine=EXACT, seed=8),
    ],
    ids=["seeds", "engines", "designs", "priors", "some of them", "two calls"],
)
def test_groups_that_no_one_call_made_are_repeated_one_by_one(found: Any) -> None:
    code = python_of_groups(found)
    assert "infer_many" not in code
    again = run(code)
    assert list(again) == list(found)
    assert_same_draws(again, found)
    assert "<dt>Seed</dt><dd>one for each group, in the Python above</dd>" in render(found, **LOOK)


def test_draws_that_the_counts_alone_do_not_give_again_say_so() -> None:
    some = {joint: dict(list(posteriors(OUTPUTS, joint=joint).items())[1:]) for joint in (False, True)}
    assert python_of_groups(some[False]).startswith("# Solved together with other problems by infer_many; alone,")
    assert "# Drawn jointly with other groups by infer_many(..., joint=True); alone," in python_of_groups(some[True])
    assert list(run(python_of_groups(some[True]))) == ["low", "high"]


def test_any_key_is_written_so_that_the_code_runs() -> None:
    pandas = pytest.importorskip("pandas")
    noon = datetime(2026, 1, 5, 12, tzinfo=UTC)
    keys = [np.int64(3), date(2026, 1, 5), noon, pandas.Timestamp("2026-01-05"), float("nan")]
    pairs = [("a", None), ("b", date(2026, 1, 5)), (3, "c")]
    for named, expected in ((keys, [*keys[:3], "2026-01-05T00:00:00", "nan"]), (pairs, pairs)):
        drawn = posteriors({place: [3, 7] for place in range(len(named))}, engine=EXACT)
        found = dict(zip(named, drawn.values(), strict=True))
        again = run(python_of_groups(found))
        assert list(again) == expected
        assert_same_draws(again, found)


def test_keys_that_would_be_written_alike_are_numbered() -> None:
    drawn = posteriors({"a": [3, 7], "b": [7, 3]}, engine=EXACT)
    found = dict(zip([float("nan"), "nan"], drawn.values(), strict=True))
    again = run(python_of_groups(found))
    assert list(again) == [1, 2]
    assert_same_draws(again, found)


def test_groups_that_share_no_labels_show_no_common_table(tmp_path: Path) -> None:
    other = tc.Counts([[9, 1], [1, 9]], [50, 50], classes=["fail", "pass"])
    found: Any = tc.infer_many(tc.Groups.of({"one": groups_of(LABELED, OUTPUTS)["low"], "two": other}))
    assert shared_counts(found) is None
    tc.report(found, tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert 'id="counts"' not in page
    assert "420 labelled items" in page
    assert "Of 1,100 unlabelled items" in page


def test_labels_that_groups_share_count_once() -> None:
    assert "400 labelled items" in render(posteriors(OUTPUTS), **LOOK)


def test_groups_whose_names_look_alike_all_stand_below_the_counts() -> None:
    drawn = posteriors({"a": [1, 2], "b": [3, 4], "c": [5, 6], "d": [7, 8]})
    found = dict(zip([("a b", "c"), ("a", "b c"), 1, "1"], drawn.values(), strict=True))
    grid: Any = shared_counts(found)
    assert [cells for _, cells in grid.foot] == [["1", "2"], ["3", "4"], ["5", "6"], ["7", "8"]]
    assert len({name for name, _ in grid.foot}) == 4


def test_other_classes_and_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(tc.InputError, match="posterior has groups of different classes"):
        tc.report({1: tc.infer(LABELED), 2: tc.infer(tc.Counts(np.eye(2) + 1, [3, 4]))}, tmp_path / "a.html")
    with pytest.raises(tc.InputError, match=r"posterior is empty: it must give a posterior for each group\. Pass what"):
        tc.report({}, tmp_path / "a.html")
    with pytest.raises(tc.InputError, match=r"posterior\['a'\] is of type int: it must be Posterior\. Pass what"):
        tc.report({"a": 1}, tmp_path / "a.html")  # type: ignore[dict-item]
    assert list(tmp_path.iterdir()) == []
