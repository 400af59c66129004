"""Tables of groups: every group and class once, and changes read off joint draws."""

from datetime import date
from typing import Any

import numpy as np

import truecount as tc
from made_counts import groups_of
from made_posterior import made_posterior
from truecount.results.groups import changes_table, difference, group_name, groups_findings, groups_table, is_joint
from truecount.results.table import tabulate

LABELED = tc.Counts([[140, 60], [20, 180]], [0, 0], classes=["fail", "pass"])
OUTPUTS = {date(2026, 1, 5): [300, 200], date(2026, 1, 12): [250, 250], None: [100, 400]}
LOOK: dict[str, Any] = {"level": 0.8, "kind": "hdi", "target": "realized"}


def test_keys_become_names() -> None:
    assert [group_name(key) for key in OUTPUTS] == ["2026-01-05", "2026-01-12", "(none)"]
    assert group_name((date(2026, 1, 5), "north", True)) == "2026-01-05 north True"


def test_every_group_has_the_rows_of_its_own_table() -> None:
    posteriors: Any = tc.infer_many(groups_of(LABELED, OUTPUTS))
    table = groups_table(posteriors, **LOOK, heading="week")
    assert table.header == ["week, class", *tabulate(next(iter(posteriors.values())), **LOOK).header[1:]]
    expected = [
        [f"{group_name(key)} {row[0]}", *row[1:]]
        for key, each in posteriors.items()
        for row in tabulate(each, **LOOK).rows
    ]
    assert table.rows == expected
    assert table.how.startswith("3 groups, computed by Exact")


def test_changes_are_those_of_joint_draws() -> None:
    posteriors: Any = tc.infer_many(groups_of(LABELED, OUTPUTS), joint=True)
    first, second, _ = posteriors.values()
    draws = second.realized - first.realized
    found = difference(first, second, **LOOK)
    np.testing.assert_allclose([row["mean"] for row in found], draws.mean(axis=0))
    np.testing.assert_allclose([row["probability_larger"] for row in found], (draws > 0).mean(axis=0))
    table = changes_table(posteriors, **LOOK)
    assert [row[0] for row in table.rows] == [
        f"{step} {name}" for step in ("2026-01-05 → 2026-01-12", "2026-01-12 → (none)") for name in ("fail", "pass")
    ]
    assert table.rows[0][1] == f"{100 * draws[:, 0].mean():+.1f}"
    assert table.header[2] == "80 % shortest interval"


def test_groups_whose_names_look_alike_all_stand_in_the_table() -> None:
    keys: list[Any] = [("a b", "c"), ("a", "b c"), 1, "1"]
    drawn: Any = tc.infer_many(groups_of(LABELED, {place: [100 * place, 100] for place in range(4)}))
    posteriors = dict(zip(keys, drawn.values(), strict=True))
    rows = groups_table(posteriors).rows
    assert [row[0] for row in rows[::2]] == ["a b c fail", "a b c fail", "1 fail", "1 fail"]
    assert [row[1:] for row in rows] == [row[1:] for each in posteriors.values() for row in tabulate(each).rows]


def test_a_finding_is_told_as_grave_as_it_is_anywhere_and_the_gravest_first() -> None:
    mild, grave = (tc.Finding("few-labels", severity, f"Here {severity}.") for severity in ("caution", "serious"))
    note, common = tc.Finding("method", "info", "Note."), tc.Finding("weighted-counts", "caution", "Weights.")
    found = {"a": (note, mild, common), "b": (grave, common), "c": (mild, grave, common), "d": (common,)}
    told = groups_findings({group: made_posterior(findings=findings) for group, findings in found.items()})
    assert [(each.severity, each.message) for each in told] == [
        ("serious", "In b: Here serious. Likewise in c. Less gravely in a."),
        ("caution", "Weights."),
        ("info", "In a: Note."),
    ]


def test_groups_of_two_joint_runs_are_not_compared() -> None:
    groups = tc.Groups([[140, 60], [20, 180]], {"a": [60, 40], "b": [50, 50], "c": [30, 70]})
    first, second = (tc.infer_many(groups, joint=True, seed=seed) for seed in (1, 2))
    assert is_joint(first)
    assert not is_joint({"a": first["a"], "b": second["b"]})
    assert not is_joint(tc.infer_many(groups))


def test_a_finding_with_numbers_of_its_own_in_every_group_is_not_told_as_if_all_had_them() -> None:
    sizes = {"a": 10, "b": 500}
    groups = tc.Groups(
        LABELED.labeled,
        {name: [2 * n, 2 * n] for name, n in sizes.items()},
        labeled_squares=LABELED.labeled,
        unlabeled_squares={name: [4 * n] * 2 for name, n in sizes.items()},
    )
    (told,) = [each for each in groups_findings(tc.infer_many(groups)) if each.code == "weighted-counts"]
    assert told.message.startswith(
        "In a: The counts are sums of weights; they were taken to be worth 400 labelled and 20 "
    )
    assert told.message.endswith("Likewise in all other groups, each with numbers of its own.")
