"""Classes of which nobody labelled an item."""

import json
from pathlib import Path

import pytest
from tests.command import run

NAMES = [f"taxon {number}" for number in range(8)]
OPTIONS = ("--label", "truth", "--prediction", "called")


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """Five of eight taxa have labels; all of them occur as outputs."""
    labelled = [f"{name},{name}" for name in NAMES[:5] for _ in range(20)] + [f"{NAMES[0]},{NAMES[6]}"]
    new = [f",{name}" for name in NAMES for _ in range(30)]
    (tmp_path / "images.csv").write_text("\n".join(["truth,called", *labelled, *new]), encoding="utf-8")
    return tmp_path


def test_outputs_that_are_no_class_are_named_with_what_to_do(images: Path) -> None:
    done = run("estimate", "images.csv", *OPTIONS, folder=images)
    assert "3 outputs are named like no class of the labelled items" in done.stdout
    assert "37.5" in done.stdout.partition("3 outputs are named")[2]
    assert "--outputs-are-classes" in done.stdout


@pytest.mark.parametrize("command", ["estimate", "check"])
def test_every_output_may_be_a_class(command: str, images: Path) -> None:
    done = run(command, "images.csv", *OPTIONS, "--outputs-are-classes", "--json", "a.json", folder=images)
    assert done.returncode == 0, done.stderr
    text = (images / "a.json").read_text(encoding="utf-8")
    assert all(f'"{name}"' in text for name in NAMES)
    if command == "estimate":
        codes = [finding["code"] for finding in json.loads(text)["findings"]]
        assert "unlabeled-class" in codes
        assert "outputs-no-class" not in codes


def test_outputs_of_several_classifiers_are_no_classes(images: Path) -> None:
    done = run("estimate", "images.csv", *OPTIONS, "--prediction", "truth", "--outputs-are-classes", folder=images)
    assert done.returncode == 2
    assert "goes with one --label and one --prediction" in done.stderr
