"""One table for all groups, and joint draws where they are asked for."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import truecount as tc
from made_counts import groups_of
from truecount.cli.app import app

COLUMNS = ["--label", "human", "--prediction", "verdict"]
ROWS = {("fail", "fail"): 140, ("fail", "pass"): 60, ("pass", "fail"): 20, ("pass", "pass"): 180}
WEEKS = {"2024-01-01": (300, 200), "2024-01-09": (250, 250), "2024-01-10": (10, 40)}


@pytest.fixture
def table(tmp_path: Path) -> str:
    lines = ["human,verdict,day,region"]
    for (human, verdict), number in ROWS.items():
        lines += [f"{human},{verdict},,"] * number
    for day, numbers in WEEKS.items():
        for verdict, number in zip(("fail", "pass"), numbers, strict=True):
            lines += [f",{verdict},{day},north"] * number
    (tmp_path / "runs.csv").write_text("\n".join(lines))
    return str(tmp_path / "runs.csv")


def estimate(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["estimate", *arguments], catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.stdout if code == 0 else done.stderr


def expected() -> dict[str, tc.Counts]:
    labeled = tc.Counts([[140, 60], [20, 180]], [0, 0], ["fail", "pass"])
    return groups_of(labeled, {"2024-01-01": [300, 200], "2024-01-08": [260, 290]})


def test_a_single_group_shares_its_labels_with_no_other(table: str) -> None:
    assert "shared-labels" in estimate(table, *COLUMNS, "--by", "day:week", "--json", "-")
    assert "shared-labels" not in estimate(table, *COLUMNS, "--by", "region", "--json", "-")
    assert "1 group, computed" in estimate(table, *COLUMNS, "--by", "region", "--joint")


def test_json_holds_every_group(table: str) -> None:
    summary = json.loads(estimate(table, *COLUMNS, "--by", "day:week", "--json", "-", "--seed", "3"))
    assert (summary["schema"], summary["by"]) == ("truecount.estimates/1", ["day"])
    wanted = tc.infer_many(expected(), seed=3)
    for group, (name, posterior) in zip(summary["groups"], wanted.items(), strict=True):
        assert group["group"] == [name]
        assert group["classes"] == json.loads(json.dumps(posterior.to_dict()["classes"]))
    assert "differences" not in summary


def test_csv_has_a_row_for_each_group_and_class(table: str) -> None:
    rows = list(
        csv.DictReader(io.StringIO(estimate(table, *COLUMNS, "--by", "region", "--by", "day:week", "--csv", "-")))
    )
    assert [(row["region"], row["day"], row["class"]) for row in rows] == [
        ("north", day, name) for day in ("2024-01-01", "2024-01-08") for name in ("fail", "pass")
    ]


def test_joint_draws_give_differences(table: str) -> None:
    summary = json.loads(estimate(table, *COLUMNS, "--by", "day:week", "--joint", "--json", "-"))
    joint: Any = tc.infer_many(expected(), joint=True)
    change = joint["2024-01-08"].prevalence - joint["2024-01-01"].prevalence
    fail, good = summary["differences"]
    assert (fail["first"], fail["second"], fail["class"]) == (["2024-01-01"], ["2024-01-08"], "fail")
    assert fail["mean"] == pytest.approx(change[:, 0].mean())
    assert [fail["lower"], fail["upper"]] == pytest.approx(np.percentile(change[:, 0], [2.5, 97.5]).tolist())
    assert good["probability_larger"] == pytest.approx((change[:, 1] > 0).mean())


def test_intervals_of_differences_are_of_the_kind_asked_for(table: str) -> None:
    arguments = [table, *COLUMNS, "--by", "day:week", "--joint", "--seed", "1"]
    (fail, _) = json.loads(estimate(*arguments, "--interval", "hdi", "--json", "-"))["differences"]
    posteriors = list(tc.infer_many(expected(), seed=1, joint=True).values())
    draws = posteriors[1].prevalence[:, 0] - posteriors[0].prevalence[:, 0]
    ordered = np.sort(draws)
    inside = np.searchsorted(ordered, fail["upper"], "right") - np.searchsorted(ordered, fail["lower"])
    assert inside / len(draws) == pytest.approx(0.95, abs=2 / len(draws))
    tails = np.quantile(draws, [0.025, 0.975])
    assert fail["upper"] - fail["lower"] < tails[1] - tails[0]
    assert "95 % shortest interval" in estimate(*arguments, "--interval", "hdi").partition("change")[2]


def test_the_table_says_what_to_know_once(table: str) -> None:
    apart = estimate(table, *COLUMNS, "--by", "day:week")
    assert apart.splitlines()[0].split() == ["day,", "class", "counted", "true", "share", "95", "%", "interval"]
    assert apart.splitlines()[1].startswith("2024-01-01 fail")
    assert apart.count("Other groups share the labelled items") == 1
    assert "--joint before comparing" in apart
    assert "2 groups, computed by Exact: effective sample size at least" in apart
    joint = estimate(table, *COLUMNS, "--by", "day:week", "--joint")
    assert "2024-01-01 → 2024-01-08 fail" in joint
    assert "share the labelled items, so" not in joint


def test_a_finding_of_one_group_names_it(tmp_path: Path) -> None:
    groups = {"day": [0, 0], "night": [30, 40]}
    document = {"schema": "truecount.groups/1", "by": ["shift"], "classes": ["a", "b"], "outputs": ["a", "b"]}
    document |= {"labeled": [[9, 1], [2, 8]], "groups": [[name] for name in groups], "unlabeled": list(groups.values())}
    (tmp_path / "g.json").write_text(json.dumps(document))
    assert "serious: In day: There are no unlabelled items" in estimate(str(tmp_path / "g.json"))
    assert "Not to be trusted: no-unlabeled" in estimate(str(tmp_path / "g.json"), "--strict", code=3)


def test_a_finding_of_some_groups_names_them(tmp_path: Path) -> None:
    groups = {"day": [0, 0], "evening": [0, 0], "dawn": [0, 0], "night": [30, 40]}
    document = {"schema": "truecount.groups/1", "by": ["shift"], "classes": ["a", "b"], "outputs": ["a", "b"]}
    document |= {"labeled": [[9, 1], [2, 8]], "groups": [[name] for name in groups], "unlabeled": list(groups.values())}
    (tmp_path / "g.json").write_text(json.dumps(document))
    assert "Likewise in day and evening." in " ".join(estimate(str(tmp_path / "g.json")).split())


def test_counts_of_groups_are_estimated(table: str, tmp_path: Path) -> None:
    output = str(tmp_path / "weeks.json")
    CliRunner().invoke(app, ["counts", table, *COLUMNS, "--by", "day:week", "-o", output], catch_exceptions=False)
    assert estimate(output) == estimate(table, *COLUMNS, "--by", "day:week")


def test_page_and_picture_of_all_groups(table: str, tmp_path: Path) -> None:
    page, picture = tmp_path / "weeks.html", tmp_path / "weeks.png"
    printed = estimate(table, *COLUMNS, "--by", "day:week", "--html", str(page), "--plot", str(picture))
    assert printed == ""
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "From 2024-01-01 to 2024-01-08, the true share of “fail” goes from" in page.read_text(encoding="utf-8")
    assert estimate(table, *COLUMNS, "--by", "region", "--html", "-").startswith("<!DOCTYPE html>")


def test_bad_usage(table: str) -> None:
    assert "--joint goes with --by" in estimate(table, *COLUMNS, "--joint", code=2)
    assert "--method does not go with groups" in estimate(table, *COLUMNS, "--by", "day", "--method", "acc", code=2)
    said = estimate(table, *COLUMNS, "--by", "day", "--design", "same-population", code=2)
    assert "--design does not go with groups" in said
    with pytest.raises(tc.InputError, match="no column 'dy'"):
        estimate(table, *COLUMNS, "--by", "dy:week")
    with pytest.raises(tc.InputError, match=r"has 'north' in column 'region': periods are cut from times"):
        estimate(table, *COLUMNS, "--by", "region:week")


def test_numbers_in_text_are_sorted_as_numbers(tmp_path: Path) -> None:
    lines = [f"{human},{verdict}," for (human, verdict), number in ROWS.items() for _ in range(number)]
    lines += [f",{verdict},{week}" for week in (10, 2, 11, 1) for verdict in ("fail", "pass", "pass")]
    (tmp_path / "runs.csv").write_text("\n".join(["human,verdict,week", *lines]))
    printed = estimate(str(tmp_path / "runs.csv"), *COLUMNS, "--by", "week", "--joint")
    steps = [line.split(" pass")[0] for line in printed.splitlines() if "→" in line and "pass" in line]
    assert steps == ["1 → 2", "2 → 10", "10 → 11"]


def test_counts_without_groups_are_refused(table: str, tmp_path: Path) -> None:
    lines = Path(table).read_text().splitlines()
    (tmp_path / "labeled.csv").write_text("\n".join(line for line in lines if not line.startswith(",")))
    counts = str(tmp_path / "labeled.json")
    made = CliRunner().invoke(app, ["counts", str(tmp_path / "labeled.csv"), *COLUMNS, "--by", "region", "-o", counts])
    assert made.exit_code == 0, made.output
    with pytest.raises(tc.InputError, match=r"labeled\.json: counts hold no groups: groups are made of unlabelled"):
        estimate(counts)


def test_one_group_has_no_changes(table: str) -> None:
    shown = estimate(table, *COLUMNS, "--by", "region", "--joint")
    assert "change" not in shown
    assert shown.splitlines()[-1].startswith("1 group, computed by")


@pytest.mark.parametrize(("column", "written"), [("class", "group_class"), ("mean", "group_mean"), ("area", "area")])
def test_a_grouping_column_may_be_called_like_one_of_the_answer(column: str, written: str, tmp_path: Path) -> None:
    lines = [f"human,verdict,{column},half"]
    lines += [f"{human},{verdict},," for (human, verdict), number in ROWS.items() for _ in range(number)]
    lines += [f",{verdict},{area},1" for verdict in ("fail", "pass") for area in ("north", "south")]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    shown = estimate(str(tmp_path / "t.csv"), *COLUMNS, "--by", column, "--by", "half", "--csv", "-")
    rows = list(csv.DictReader(io.StringIO(shown)))
    half = "half" if written == column else "group_half"
    assert [(row[written], row[half]) for row in rows] == [(area, "1") for area in ("north", "north", "south", "south")]
    assert [row["class"] for row in rows] == ["fail", "pass"] * 2
