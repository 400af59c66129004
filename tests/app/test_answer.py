"""What the page is sent: the numbers of the command, for every example and every kind of input."""

import json
import re
import shlex
import subprocess
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command import run
from truecount import Counts, Groups, infer
from truecount.app.examples import EXAMPLES, FILES
from truecount.app.picture import tree
from truecount.app.request import Request
from truecount.app.tasks import TASKS
from truecount.app.worker import perform
from truecount.page.frame import Drawing

SURVEY = {"survey": {"positive": ["50/3330"], "sensitivity": ["103/122"], "specificity": ["399/401"]}}
REGIONS = next(each for each in EXAMPLES if each["name"] == "regions")
MATRIX = {
    "matrix": {
        "classes": ["fail", "pass"],
        "outputs": ["fail", "pass"],
        "labeled": [[140, 60], [20, 180]],
        "unlabeled": [600, 400],
    }
}


def made(task: str, values: Any) -> Any:
    kind, content = perform(task, values)
    assert kind == "json", content
    return json.loads(content)


def refused(task: str, values: Any) -> dict[str, str]:
    kind, content = perform(task, values)
    assert kind == "error"
    return json.loads(content)


def asked(example: dict[str, Any]) -> dict[str, Any]:
    """What the page sends for an example."""
    state = dict(example["state"])
    way = state.pop("in")
    if way != "file":
        return state
    counted = made("count", ([FILES[state["file"]["place"]]], state["file"]))
    return {"counts": counted["counts"], **state}


def in_shell(line: str, folder: Path, *more: str) -> Any:
    """Run a line that the page prints, with what is piped into it from a file, as JSON."""
    words = shlex.split(line)
    if words[:2] == ["printf", "%s"]:
        (folder / "typed.json").write_text(words[2], encoding="utf-8")
        words = ["typed.json" if word == "-" else word for word in words[4:]]
    assert words.pop(0) == "truecount"
    done = run(*words, *more, "--json", "-", "--quiet", folder=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


SLOW = [
    pytest.param(each, id=each["name"], marks=[pytest.mark.slow] * (each["name"] == "regions")) for each in EXAMPLES
]


@pytest.mark.parametrize("example", SLOW)
def test_an_example_has_the_numbers_of_the_command_that_it_prints(example: dict[str, Any], tmp_path: Path) -> None:
    found = made("answer", asked(example))
    assert in_shell(found["repeat"]["command"], tmp_path) == found["numbers"]


@pytest.mark.parametrize("asking", [SURVEY, MATRIX], ids=["survey", "matrix"])
def test_options_change_the_answer_as_they_do_in_the_command(asking: dict[str, Any], tmp_path: Path) -> None:
    plain = made("answer", asking)
    options = {"level": "0.8", "interval": "hdi", "seed": "3"}
    found = made("answer", {**asking, **options})
    assert found["numbers"]["classes"] != plain["numbers"]["classes"]
    line = found["repeat"]["command"]
    assert "--level 0.8 --interval hdi --seed 3" in line
    assert in_shell(line, tmp_path) == found["numbers"]


def test_several_studies_of_a_survey_are_those_of_the_command(tmp_path: Path) -> None:
    studies = {"positive": ["50/3330"], "sensitivity": ["78/85", "27/37"], "specificity": ["368/371", "30/30", "70/70"]}
    found = made("answer", {"survey": studies})
    assert in_shell(found["repeat"]["command"], tmp_path) == found["numbers"]


def test_a_class_of_interest_stands_alone() -> None:
    found = made("answer", {**SURVEY, "of_interest": "positive"})
    assert [row[0] for row in found["table"]["rows"]] == ["positive"]
    assert found["answer"].startswith("Of the population, about 1.0\N{NO-BREAK SPACE}% are “positive”")
    assert "--class positive" in found["repeat"]["command"]


@pytest.mark.parametrize("design", ["same-population", "by-prediction"])
def test_the_sampling_design_is_that_of_the_command(design: str, tmp_path: Path) -> None:
    found = made("answer", {**MATRIX, "design": design})
    assert in_shell(found["repeat"]["command"], tmp_path) == found["numbers"]
    assert found["numbers"] != made("answer", MATRIX)["numbers"]


def printed(code: str) -> str:
    """What a piece of Python prints, which the page shows."""
    with redirect_stdout(StringIO()) as out:
        exec(code, {})  # noqa: S102
    return out.getvalue()


def without_blanks(text: str) -> str:
    return re.sub(r"\s", "", text)


def cells(table: dict[str, Any]) -> list[str]:
    """What stands in a table of the page, as words that are printed too."""
    return [without_blanks(cell) for row in table["rows"] for cell in row]


TEXTS = {"level": "0.8", "interval": "hdi", "seed": "3"}


@pytest.mark.parametrize("options", [{}, TEXTS], ids=["usual", "other"])
@pytest.mark.parametrize("asking", [SURVEY, MATRIX], ids=["survey", "matrix"])
def test_the_python_line_prints_what_the_page_shows(asking: dict[str, Any], options: dict[str, str]) -> None:
    found = made("answer", {**asking, **options})
    said = without_blanks(printed(found["repeat"]["code"]))
    assert [cell for cell in cells(found["table"]) if cell not in said] == []


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {**TEXTS, "baseline": "west", "of_interest": "negative"}])
def test_the_python_line_of_groups_prints_what_the_page_shows(options: dict[str, str]) -> None:
    found = made("answer", {**asked(REGIONS), **options})
    said = without_blanks(printed(found["repeat"]["code"]))
    tables = [section["table"] for section in found["sections"] if section["table"]]
    assert len(tables) >= 2
    assert [cell for table in tables for cell in cells(table) if cell not in said] == []


def test_the_python_lines_of_what_is_asked_further_print_what_the_page_shows() -> None:
    values = {**SURVEY, "level": "0.9"}
    beside = made("compare", values)
    for each in (beside, beside["of_test"]):
        said = without_blanks(printed(each["python"]))
        assert [cell for cell in cells(each["table"]) if cell not in said] == []
    drifted = made("drift", {**values, "drift": "5%"})
    said = printed(drifted["python"])
    ends = [f"{100 * end:.1f}" for row in drifted["rows"] for end in row["drifted"]]
    assert [end for end in ends if end not in said] == []
    planned = made("plan", {**values, "labels": "100"})
    said = without_blanks(printed(planned["python"]))
    assert [cell for cell in cells(planned["tables"][0]) if cell not in said] == []


def test_a_share_below_zero_is_shown_beside_an_answer_with_a_width() -> None:
    example = next(each for each in EXAMPLES if each["name"] == "below-zero")
    values = asked(example)
    found, beside = made("answer", values), made("compare", values)
    positive = found["numbers"]["classes"][1]
    assert 0 <= positive["lower"] < positive["mean"] < positive["upper"] < 0.1
    cells = {row[0]: row[1] for row in beside["table"]["rows"]}
    assert cells["positive"] == "\N{MINUS SIGN}1.21 %"
    assert "--method rogan-gladen" in beside["shell"]


def test_a_million_items_leave_the_doubt_of_the_labels() -> None:
    example = next(each for each in EXAMPLES if each["name"] == "million")
    row = made("answer", asked(example))["numbers"]["classes"][1]
    few = {**asked(example)["matrix"], "unlabeled": [700, 300]}
    wide = made("answer", {"matrix": few})["numbers"]["classes"][1]
    assert 0.02 < row["upper"] - row["lower"] < wide["upper"] - wide["lower"]


def test_the_clinician_s_estimate_stands_beside_that_of_a_test(tmp_path: Path) -> None:
    of_test = made("compare", SURVEY)["of_test"]
    told = in_shell(of_test["shell"], tmp_path)["classes"][1]
    row = next(row for row in of_test["table"]["rows"] if row[0] == "positive")
    assert row[1] == f"{100 * told['share']:.2f} %"
    assert "Lang and Reiczigel" in of_test["notes"][0]


@pytest.mark.parametrize("specificity", ["99%", "399/401", "98%..99.9%"])
def test_a_range_has_no_other_estimator_and_says_so(specificity: str) -> None:
    survey = {"positive": ["50/3330"], "sensitivity": ["75%..92%"], "specificity": [specificity]}
    assert "a range has no estimator" in refused("compare", {"survey": survey})["message"]


def test_other_estimators_are_those_of_the_command(tmp_path: Path) -> None:
    found = made("compare", MATRIX)
    told = in_shell(found["shell"], tmp_path)
    shown = [row[0] for row in found["table"]["rows"]]
    assert shown == ["posterior", *(each["method"] for each in told["methods"] if each["prevalence"] is not None)]
    assert found["picture"]["content"]


def test_a_drift_widens_and_none_does_not(tmp_path: Path) -> None:
    none, some = (made("drift", {**MATRIX, "drift": drift, "level": "80%"}) for drift in ("0%", "5%"))
    for before, after in zip(none["rows"], some["rows"], strict=True):
        assert after["drifted"][0] <= before["drifted"][0]
        assert after["drifted"][1] >= before["drifted"][1]
    told = in_shell(some["shell"], tmp_path)["tables"]["drift"]
    ends = [[row["lower"], row["upper"]] for row in told if row["assumed"] == "drift up to 5 %"]
    assert ends == [row["drifted"] for row in some["rows"]]


@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param({"labels": "100"}, id="labels"),
        pytest.param({"half_width": "8%"}, id="goal", marks=pytest.mark.slow),
    ],
)
def test_a_plan_is_that_of_the_command(wanted: dict[str, str], tmp_path: Path) -> None:
    found = made("plan", {**MATRIX, **wanted})
    assert in_shell(found["shell"], tmp_path)["half_width"] == found["half_width"]
    assert found["headline"].startswith("Gather labels")
    assert found["picture"]["content"]


@pytest.mark.slow
def test_groups_have_the_sections_of_their_page() -> None:
    example = next(each for each in EXAMPLES if each["name"] == "regions")
    found = made("answer", {**asked(example), "baseline": "west"})
    assert [section["name"] for section in found["sections"]] == ["shares", "pairs", "ranks"]
    assert found["groups"] == ["north", "south", "west"]
    assert "--baseline west" in found["repeat"]["command"]
    assert all(section["pictures"][0]["content"] for section in found["sections"])
    assert [name for name, _ in found["confusion"]["rows"]] == ["negative", "positive"]
    assert [[cell[1] for cell in cells] for _, cells in found["confusion"]["rows"]] == [["99", "1"], ["16", "84"]]


@pytest.mark.slow
def test_groups_that_stand_alone_are_those_of_the_command(tmp_path: Path) -> None:
    values = asked(next(each for each in EXAMPLES if each["name"] == "regions"))
    found = made("answer", {**values, "independent": True})
    assert in_shell(found["repeat"]["command"], tmp_path) == found["numbers"]
    assert "--independent" in found["repeat"]["command"]


def test_a_trend_does_not_stand_alone() -> None:
    weeks = Groups([[9, 1], [2, 8]], {"2026-03-02": [5, 6], "2026-03-09": [7, 8]}, by=["day"]).to_dict()
    chosen = {"place": "a.csv", "label": ["a"], "prediction": ["b"], "trend": "day:week"}
    told = refused("answer", {"counts": weeks, "file": chosen, "independent": True})
    assert "given with a trend" in told["message"]


@pytest.mark.slow
def test_rows_of_a_file_by_group_and_in_time(tmp_path: Path) -> None:
    rows = ["day,human,verdict"]
    rows += [
        f"2026-03-{2 + 7 * (at % 3) + at % 5:02},{'pass' if at % 3 else 'fail'},{'pass' if at % 4 else 'fail'}"
        for at in range(60)
    ]
    rows += [f"2026-03-{2 + 7 * (at % 3) + at % 5:02},,{'pass' if at % 5 else 'fail'}" for at in range(300)]
    file = tmp_path / "runs.csv"
    file.write_text("\n".join(rows))
    chosen = {"place": str(file), "label": ["human"], "prediction": ["verdict"], "trend": "day:week"}
    counted = made("count", ([str(file)], chosen))
    assert (counted["labeled"], counted["unlabeled"]) == (60, 300)
    found = made("answer", {"counts": counted["counts"], "file": chosen})
    assert found["groups"] == ["2026-03-02", "2026-03-09", "2026-03-16"]
    assert (
        f"truecount estimate {file} --label human --prediction verdict --trend day:week" in found["repeat"]["command"]
    )
    assert in_shell(found["repeat"]["command"], tmp_path) == found["numbers"]


def counted_of(folder: Path, **chosen: Any) -> dict[str, Any]:
    """What the page sends of a file with two judges, two raters, clusters and four models."""
    file = folder / "runs.csv"
    rows = ["model,question,ann,bob,verdict,second"]
    drawn = np.random.default_rng(0)
    for at in range(480):
        truth, is_read = drawn.choice(["pass", "fail"]), at % 4 == 0
        wrong = "fail" if truth == "pass" else "pass"
        bob, verdict, second = np.where(drawn.random(3) < [0.1, 0.15, 0.2], wrong, truth)
        ann, bob = (truth, bob) if is_read else ("", "")
        rows.append(f"model {at % 4 + 1},{at // 4},{ann},{bob},{verdict},{second}")
    file.write_text("\n".join(rows))
    values = {"place": str(file), "label": ["ann"], "prediction": ["verdict"], **chosen}
    return {"counts": made("count", ([str(file)], values))["counts"], "file": values}


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({"prediction": ["verdict", "second"]}, "--prediction verdict --prediction second"),
        ({"cluster": "question"}, "--cluster question"),
        pytest.param({"label": ["ann", "bob"]}, "--label ann --label bob", marks=pytest.mark.slow),
        pytest.param({"label": ["ann", "bob"], "by": ["model"]}, "--by model", marks=pytest.mark.slow),
    ],
    ids=["classifiers", "clusters", "raters", "raters-by-model"],
)
def test_several_columns_give_the_numbers_of_the_command(chosen: dict[str, Any], words: str, tmp_path: Path) -> None:
    values = counted_of(tmp_path, **chosen)
    found = made("answer", values)
    assert words in found["repeat"]["command"]
    assert in_shell(found["repeat"]["command"], tmp_path) == found["numbers"]


def test_what_is_asked_of_right_labels_is_refused_of_several_raters(tmp_path: Path) -> None:
    values = counted_of(tmp_path, label=["ann", "bob"])
    for task, more in (("plan", {"labels": "100"}), ("drift", {"drift": "5%"}), ("compare", {})):
        assert "of several raters" in refused(task, {**values, **more})["message"]
    assert "may be wrong" in refused("answer", {**values, "design": "by-prediction"})["message"]


def test_a_labelled_file_and_one_of_the_population_are_those_of_the_command(tmp_path: Path) -> None:
    labelled, population = tmp_path / "read.csv", tmp_path / "unread.jsonl"
    labelled.write_text("human,verdict\n" + "pass,pass\nfail,fail\nfail,pass\npass,pass\n" * 20)
    population.write_text("\n".join(json.dumps({"verdict": "pass" if at % 3 else "fail"}) for at in range(300)))
    chosen = {"place": str(labelled), "population": str(population), "label": ["human"], "prediction": ["verdict"]}
    counted = made("count", ([str(labelled), str(population)], chosen))
    assert (counted["labeled"], counted["unlabeled"]) == (80, 300)
    found = made("answer", {"counts": counted["counts"], "file": chosen})
    assert f"truecount estimate {labelled} {population} --label" in found["repeat"]["command"]
    assert in_shell(found["repeat"]["command"], tmp_path) == found["numbers"]


def test_a_drift_is_asked_of_one_group_by_itself(tmp_path: Path) -> None:
    found = made("drift", {**asked(REGIONS), "drift": "5%", "group": "south"})
    assert "--positive 71/1100" in found["shell"]
    told = in_shell(found["shell"], tmp_path)["tables"]["drift"]
    ends = [[row["lower"], row["upper"]] for row in told if row["assumed"] == "drift up to 5 %"]
    assert ends == [row["drifted"] for row in found["rows"]]
    alone = made("drift", {"survey": {**asked(REGIONS)["survey"], "positive": ["71/1100"]}, "drift": "5%"})
    assert alone["rows"] == found["rows"]


def test_estimators_stand_beside_one_group_by_itself(tmp_path: Path) -> None:
    values = counted_of(tmp_path, by=["model"])
    found = made("compare", {**values, "group": "model 2"})
    other = made("compare", {**values, "group": "model 3"})
    assert found["table"] != other["table"]
    assert found["of_test"] is None
    told = in_shell(found["shell"], tmp_path)
    assert [row[0] for row in found["table"]["rows"]][1:] == [
        each["method"] for each in told["methods"] if each["prevalence"] is not None
    ]
    assert "'nobody'" in refused("compare", {**values, "group": "nobody"})["message"]


def test_of_several_studies_nothing_is_asked_that_needs_one_confusion() -> None:
    studies = {"positive": ["50/3330"], "sensitivity": ["78/85", "27/37"], "specificity": ["368/371"]}
    told = refused("drift", {"survey": studies, "drift": "5%", "group": "survey"})
    assert "come from several studies" in told["message"]


@pytest.mark.parametrize(
    "ending", ["html", "png", "csv", "json", *(pytest.param(each, marks=pytest.mark.slow) for each in ("svg", "pdf"))]
)
@pytest.mark.parametrize("asking", [SURVEY, pytest.param("regions", marks=pytest.mark.slow)], ids=["one", "groups"])
def test_what_is_saved_is_whole(ending: str, asking: Any) -> None:
    values = asked(next(each for each in EXAMPLES if each["name"] == asking)) if isinstance(asking, str) else asking
    kind, content = perform("save", {**values, "format": ending})
    assert kind == f"file.{ending}"
    begins = {"html": b"<!DOCTYPE html>", "png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF", "csv": b"", "json": b"{"}
    assert content.startswith(begins[ending])
    assert b"corrected" in content
    if ending == "html":
        assert b"truecount estimate --positive" in content
    if ending == "csv":
        assert b"positive" in content


BAD = {
    "nothing": None,
    "a list": [],
    "no data": {},
    "an empty rate": {"survey": {"positive": ["5/10"], "sensitivity": [""], "specificity": ["9/10"]}},
    "no fraction": {"survey": {"positive": ["five"], "sensitivity": ["9/10"], "specificity": ["9/10"]}},
    "more than all": {"survey": {"positive": ["50/10"], "sensitivity": ["9/10"], "specificity": ["9/10"]}},
    "a number for a text": {"survey": {"positive": [5], "sensitivity": ["9/10"], "specificity": ["9/10"]}},
    "no numbers": {
        "matrix": {"classes": ["a", "b"], "outputs": ["a", "b"], "labeled": [["x", 1], [1, 1]], "unlabeled": [1, 1]}
    },
    "ragged": {"matrix": {"classes": ["a", "b"], "outputs": ["a", "b"], "labeled": [[1], [1, 1]], "unlabeled": [1, 1]}},
    "negative": {
        "matrix": {"classes": ["a", "b"], "outputs": ["a", "b"], "labeled": [[-1, 1], [1, 1]], "unlabeled": [1, 1]}
    },
    "too many cells": {"matrix": {"classes": [], "outputs": [], "labeled": [[]] * 300, "unlabeled": [0] * 300}},
    "names alike": {
        "matrix": {"classes": ["a", "a"], "outputs": ["a", "b"], "labeled": [[1, 1], [1, 1]], "unlabeled": [1, 1]}
    },
    "foreign counts": {"counts": {"schema": "other"}},
    "a level": {**SURVEY, "level": "2"},
    "a design": {**SURVEY, "design": "none"},
    "an interval": {**SURVEY, "interval": "none"},
    "a seed": {**SURVEY, "seed": "x"},
    "a class": {**SURVEY, "of_interest": "maybe"},
    "a baseline without groups": {"counts": 5},
    "several rates that are known": {
        "survey": {"positive": ["5/50"], "sensitivity": ["90%", "80%"], "specificity": ["9/10"]}
    },
}


@pytest.mark.parametrize("values", BAD.values(), ids=BAD)
def test_bad_input_is_answered_with_what_to_do(values: Any) -> None:
    told = refused("answer", values)
    assert set(told) >= {"argument", "message"}
    assert told["message"].endswith(".")
    assert "Traceback" not in told["message"]


@pytest.mark.parametrize("task", ["compare", "drift", "plan", "save"])
def test_every_task_refuses_what_is_no_request(task: str) -> None:
    assert refused(task, {})["message"]


def test_a_finding_says_what_to_do_in_the_words_of_a_page() -> None:
    values = {"matrix": {**MATRIX["matrix"], "labeled": [[50, 50], [50, 50]]}}
    found = made("answer", values)
    codes = {finding["code"]: finding for finding in found["findings"]}
    assert "not-identified" in codes or "barely-identified" in codes
    assert all(finding["heading"] for finding in found["findings"])


def test_names_from_data_stay_text() -> None:
    name = "<script>alert(1)</script>"
    values = {"matrix": {**MATRIX["matrix"], "classes": [name, "pass"], "outputs": [name, "pass"]}}
    found = made("answer", values)
    assert found["table"]["rows"][0][0] == name
    kinds: set[str] = set()
    words: list[str] = []

    def walk(part: Any) -> None:
        if isinstance(part, str):
            words.append(part)
            return
        kinds.add(part[0])
        for each in part[3]:
            walk(each)

    for part in found["picture"]["content"]:
        walk(part)
    assert "script" not in kinds
    assert "<script>a…/script>" in words


def test_a_picture_loses_all_that_is_no_drawing() -> None:
    svg = (
        '<defs><style>*{fill:red}</style></defs><g onload="x()" id="a" style="fill: var(--ink); stroke-width: 2">'
        '<script>alert(1)</script><path d="M0 0" onclick="x()"/><foreignObject/></g>'
    )
    found = tree(Drawing("name", "title", "about", "caption", "0 0 1 1", svg))
    assert found is not None
    assert found["content"] == [
        ["defs", {}, {}, []],
        ["g", {"id": "a"}, {"fill": "var(--ink)", "stroke-width": "2"}, [["path", {"d": "M0 0"}, {}, []]]],
    ]
    assert tree(None) is None


def test_a_line_for_the_shell_quotes_what_a_shell_would_run() -> None:
    chosen = {
        "place": "a file; rm -rf $HOME.csv",
        "label": ["`x`"],
        "prediction": ["$(y)"],
        "by": ["a b"],
        "missing": ["N'A"],
    }
    counts = Counts([[140, 60], [20, 180]], [600, 400]).to_dict()
    line = Request.read({"counts": counts, "file": chosen}).shell()
    assert shlex.split(line)[2:9] == [chosen["place"], "--label", "`x`", "--prediction", "$(y)", "--by", "a b"]


def test_a_typed_table_is_read_by_a_real_shell(tmp_path: Path) -> None:
    matrix = {**MATRIX["matrix"], "classes": ["it's $HOME", 'a "b"'], "outputs": ["it's $HOME", 'a "b"']}
    line = made("answer", {"matrix": matrix})["repeat"]["command"]
    seen = subprocess.run(
        ["bash", "-c", line.replace("truecount estimate -", "cat -")], capture_output=True, text=True, check=True
    )
    assert Counts.from_json(seen.stdout).classes == ("it's $HOME", 'a "b"')


def test_all_tasks_are_known() -> None:
    assert set(TASKS) == {"answer", "compare", "drift", "plan", "save", "preview", "count"}


def test_the_published_survey_is_that_of_the_library() -> None:
    found = made("answer", SURVEY)
    counts = Counts([[399, 2], [19, 103]], [3280, 50], classes=["negative", "positive"])
    assert found["numbers"] == infer(counts, seed=0).to_dict()
    assert re.search(r"1\.0.% are|1\.0.% “positive”", found["answer"])
