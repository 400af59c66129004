"""What the library advises becomes what can be typed."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

import truecount as tc
from truecount import Counts, Exact, Finding, Prior, infer
from truecount.cli.options import make_model
from truecount.cli.wording import finding_in_shell, in_shell
from truecount.counts.survey import survey
from truecount.errors import InputError

COUNTS = Counts([[8, 2], [1, 9]], [30, 20])


def advice(remedy: str) -> str:
    return in_shell(InputError("x", "is y", "it must be z", remedy)).remedy


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        ("Pass missing='NA' if so, or missing='' if not", "Pass --missing 'NA' if so, or --missing '' if not"),
        ("Ask for target='population'", "Ask for --target 'population'"),
        ("Use Prior(confusion='sparse')", "Use --prior-confusion sparse"),
        ("Use Auto() or Hamiltonian()", "Use --engine auto or --engine hamiltonian"),
        ("Name every class with count(..., classes=[...])", "Name every class in the file"),
        ("Pass by={'time': 'week'}", "Pass --by time:week"),
        ("Pass label='human', prediction='verdict'", "Pass --label 'human', --prediction 'verdict'"),
        ("Convert the columns to one kind, or name both with classes=[...]", "Convert the columns to one kind"),
        ("Write 0 where nothing was seen", "Write 0 where nothing was seen"),
    ],
)
def test_keywords_become_options(python: str, shell: str) -> None:
    assert advice(python) == shell


def test_arguments_become_options() -> None:
    with pytest.raises(InputError) as error:
        survey((5, 3), sensitivity=0.9, specificity=0.9)
    assert str(in_shell(error.value)).startswith("--positive is 5 of 3")
    assert in_shell(InputError("runs.csv", "is empty", "it must hold data", "Fill it")).argument == "runs.csv"


def test_a_prior_that_a_design_does_not_take_is_the_option() -> None:
    with pytest.raises(InputError) as error:
        make_model("by-prediction", COUNTS, None, prevalence="2", confusion="1", given_output=None)
    assert str(error.value).startswith("--prior has a prior of label shift: with --design by-prediction only")


def test_nothing_that_an_engine_or_a_prior_advises_is_python() -> None:
    other = Counts([[8, 2, 1], [1, 9, 1]], [30, 20, 5])
    for counts, options in (
        (Counts(np.eye(7, dtype=int) * 40 + 2, [90, *[20] * 6]), {"prior": Prior(0.5), "engine": Exact()}),
        (other, {"prior": Prior.diagonal(2)}),
        (Counts([[0, 0], [0, 0]], [3, 2]), {}),
    ):
        with pytest.raises(InputError) as error:
            infer(counts, **options)  # type: ignore[arg-type]
        assert "(" in error.value.remedy
        assert "(" not in in_shell(error.value).remedy


def test_no_advice_of_a_finding_is_python() -> None:
    """Every piece of advice that stands in the source, with whatever is filled in left out."""
    folder = Path(tc.__file__).parent / "diagnostics"
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in folder.glob("*.py")]
    texts = [node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    advice = [text for text in texts if isinstance(text, str) and re.search(r"\w\(\)|=\.\.\.|='|=True", text)]
    assert len(advice) > 5
    for text in advice:
        said = finding_in_shell(Finding("x", "info", "", advice=text)).advice
        assert not re.search(r"infer\(|Prior\(|Auto\(|interval\(|\w=['.T]", said), said
