"""Clusters, and labels of the population itself, on the command line."""

import json
from pathlib import Path

import numpy as np
import pytest

from command import run

COLUMNS = ("--label", "human", "--prediction", "verdict")


def lines(
    rng: np.random.Generator, number: int, share: float, *, epochs: int = 1, first: int = 0
) -> list[tuple[str, ...]]:
    """Return cluster, truth and verdict of items whose cluster has one truth."""
    found = []
    for cluster in range(first, first + number):
        truth = rng.random() < share
        for _ in range(epochs):
            found.append(
                (f"q{cluster}", *(("pass" if each else "fail") for each in (truth, truth ^ (rng.random() < 0.2))))
            )
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(5)
    known, own, new = (
        lines(rng, 30, 0.5, epochs=4),
        lines(rng, 25, 0.3, first=100),
        lines(rng, 40, 0.3, epochs=4, first=200),
    )
    rows = [f"{cluster},{truth},{said},there" for cluster, truth, said in known]
    rest = [f"{cluster},,{said},here" for cluster, _, said in new]
    inside = [f"{cluster},{truth},{said},here" for cluster, truth, said in own]
    head = "question,human,verdict,where"
    (tmp_path / "runs.csv").write_text("\n".join([head, *rows, *rest]))
    (tmp_path / "audit.csv").write_text("\n".join([head, *inside]))
    (tmp_path / "all.csv").write_text("\n".join([head, *rows, *inside, *rest]))
    return tmp_path


def answered(folder: Path, *arguments: str) -> dict:
    done = run("estimate", *arguments, *COLUMNS, "--json", "-", folder=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_clusters_widen_the_answer_and_say_so(folder: Path) -> None:
    plain, found = answered(folder, "runs.csv"), answered(folder, "runs.csv", "--cluster", "question")
    width = [each["classes"][0]["upper"] - each["classes"][0]["lower"] for each in (plain, found)]
    assert width[1] > 1.3 * width[0]
    (told,) = [each for each in found["findings"] if each["code"] == "clustered"]
    assert told["numbers"]["clusters"] == 70
    assert told["numbers"]["design_effect"] > 1.5


def test_counted_clusters_give_the_same_answer(folder: Path) -> None:
    done = run("counts", "runs.csv", *COLUMNS, "--cluster", "question", "-o", "counts.json", folder=folder)
    assert done.returncode == 0, done.stderr
    done = run("estimate", "counts.json", "--json", "-", folder=folder)
    assert json.loads(done.stdout)["classes"] == answered(folder, "runs.csv", "--cluster", "question")["classes"]


def test_clusters_are_within_groups_by_several_columns(folder: Path) -> None:
    """One column that joins both, made by hand, counts the same."""
    rng = np.random.default_rng(3)
    rows = ["model,question,both,human,verdict"]
    for model, number in ((model, number) for model in "AB" for number in range(40)):
        truth = rng.random() < 0.6
        said = [["no", "yes"][int(truth ^ (rng.random() < 0.2))] for _ in range(3)]
        label = ["no", "yes"][int(truth)] if number < 20 else ""
        rows += [f"{model},q{number},{model} q{number},{label},{each}" for each in said]
    (folder / "models.csv").write_text("\n".join(rows))
    asked = ("models.csv", "--by", "model", "--draws", "200")
    by_hand = answered(folder, *asked, "--cluster", "both")
    for cluster in (["--cluster", "model,question"], ["--cluster", "model", "--cluster", "question"]):
        found = answered(folder, *asked, *cluster)
        for each in (found, by_hand):
            (told,) = [finding for finding in each["findings"] if finding["code"] == "clustered"]
            assert told["numbers"]["clusters"] == 80
        assert 0.5 < spread(found) / spread(by_hand) < 2  # bins are made by names, which differ
    done = run("estimate", *asked, *COLUMNS, "--cluster", "question", folder=folder)
    assert done.returncode == 1
    assert "Make clusters within them: --cluster model,question." in done.stderr


def spread(answer: dict) -> float:
    """Return the standard deviation of the first class in the first group."""
    return next(iter(answer["groups"]))["classes"][0]["sd"]


def test_labels_of_the_population_come_from_a_file_or_a_column(folder: Path) -> None:
    found = [
        answered(folder, "runs.csv", "--target-labels", "audit.csv"),
        answered(folder, "all.csv", "--target-labels", "where=here"),
    ]
    assert found[0]["classes"] == found[1]["classes"]
    (told,) = [each for each in found[0]["findings"] if each["code"] == "sources-combined"]
    assert told["numbers"]["labels"] == 25
    alone = answered(folder, "runs.csv")
    assert found[0]["classes"][0]["sd"] < alone["classes"][0]["sd"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("all.csv", "--target-labels", "where=nowhere"), "'where=nowhere'"),
        (("runs.csv", "--target-labels", "audit.csv", "--design", "same-population"), "--design"),
        (
            ("runs.csv", "--target-labels", "audit.csv", "--by", "where"),
            "names a file, and there are groups",
        ),
        (("runs.csv", "--target-labels", "none.csv"), "none.csv"),
        (("runs.csv", "--cluster", "nothing"), "'nothing'"),
        (("runs.csv", "--cluster", "question,nothing"), "'nothing'"),
        (("runs.csv", "--cluster", "question,question"), "names 'question' twice"),
        (("runs.csv", "--by", "where", "--cluster", "where"), "as is by"),
        (("runs.csv", "--cluster", "question,human"), "as is label"),
    ],
)
def test_bad_requests_are_refused(folder: Path, arguments: tuple[str, ...], said: str) -> None:
    done = run("estimate", *arguments, *COLUMNS, folder=folder)
    assert done.returncode in (1, 2)
    assert said in done.stderr


def test_unlabelled_rows_of_elsewhere_are_not_counted_as_the_population(tmp_path: Path) -> None:
    rows = ["pass,pass,there", "fail,fail,there", "pass,pass,here", "fail,fail,here"] * 5 + [",pass,here", ",fail,"] * 9
    (tmp_path / "own.csv").write_text("human,verdict,where\n" + "\n".join(rows) + "\n")
    (tmp_path / "mixed.csv").write_text("human,verdict,where\n" + "\n".join([*rows, ",fail,there"]) + "\n")
    columns = ("--label", "human", "--prediction", "verdict", "--target-labels", "where=here")
    assert run("estimate", "own.csv", *columns, folder=tmp_path).returncode == 0
    refused = run("estimate", "mixed.csv", *columns, folder=tmp_path)
    assert refused.returncode == 1
    assert (
        "of rows without a label 1 have 'there' in column 'where': rows without a label are items of" in refused.stderr
    )
