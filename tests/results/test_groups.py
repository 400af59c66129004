"""Tables of groups: every group and class once, and changes read off joint draws."""

from datetime import date
from typing import Any

import numpy as np

import truecount as tc
from truecount.results.groups import changes_table, difference, group_name, groups_table
from truecount.results.table import tabulate

LABELED = tc.Counts([[140, 60], [20, 180]], [0, 0], classes=["fail", "pass"])
OUTPUTS = {date(2026, 1, 5): [300, 200], date(2026, 1, 12): [250, 250], None: [100, 400]}
LOOK: dict[str, Any] = {"level": 0.8, "kind": "hdi", "target": "realized"}


def test_keys_become_names() -> None:
    assert [group_name(key) for key in OUTPUTS] == ["2026-01-05", "2026-01-12", "(none)"]
    assert group_name((date(2026, 1, 5), "north", True)) == "2026-01-05 north True"


def test_every_group_has_the_rows_of_its_own_table() -> None:
    posteriors: Any = tc.infer_many(LABELED.split(OUTPUTS))
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
    posteriors: Any = tc.infer_many(LABELED.split(OUTPUTS), joint=True)
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
