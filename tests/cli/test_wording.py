"""What the library advises becomes what can be typed."""

import ast
import copy
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import truecount as tc
from command import run
from truecount import Counts, Exact, Prior, infer
from truecount._advice import AUDIT, AUTO, JOINT, Advice, keyword, named_rows, period
from truecount.cli.app import in_options
from truecount.cli.model import ModelOptions
from truecount.counts.survey import survey
from truecount.errors import InputError
from truecount.models import ByPrediction
from truecount.results.finding import Finding, in_words

COUNTS = Counts([[8, 2], [1, 9]], [30, 20])
PYTHON = r"infer\(|infer_many\(|Prior\(|Auto\(|interval\(|check\(|\w=['.T\[]|model="


@pytest.mark.parametrize(
    ("advice", "python", "shell"),
    [
        (Advice("Ask for {}", keyword("target", "population")), "Ask for target='population'", "--target 'population'"),
        (Advice("Use {}", named_rows("sparse")), "Use Prior(confusion='sparse')", "Use --prior-confusion sparse"),
        (Advice("Pass {}", period("time", "week")), "Pass by={'time': 'week'}", "Pass --by time:week"),
        (Advice("Use {}.", ByPrediction.choice()), "Use model=ByPrediction().", "Use --design by-prediction."),
        (Advice("{} and {}", "{a}", AUTO), "{a} and Auto()", "{a} and --engine auto"),
        ("Write 0 where nothing was seen", "Write 0 where nothing was seen", "Write 0 where nothing was seen"),
    ],
)
def test_actions_become_options(advice: str, python: str, shell: str) -> None:
    error = InputError("x", "is y", "it must be z", advice)
    assert str(error) == f"x is y: it must be z. {python}."
    assert in_options(error, "estimate").remedy.endswith(shell)
    (finding,) = in_words([Finding("method", "caution", "m", {}, advice)], "estimate")
    assert finding.advice.endswith(shell)


def test_an_option_of_another_verb_is_named_with_it() -> None:
    assert Advice("Use {}", JOINT).words("check") == "Use truecount estimate --by"
    assert Advice("Use {}", JOINT).words("estimate") == "Use --by"
    assert Advice("Use {}", AUDIT).words("estimate") == "Use truecount check --audit FILE"


def test_a_page_names_neither_options_nor_keywords() -> None:
    advice = Advice("Use {} before {}.", JOINT, "B")
    for each in (advice, advice.words("check"), copy.deepcopy(advice.words("estimate"))):
        assert each.on_page() == "Use joint draws of all groups before B."
    without_words = Advice("Pass {}", keyword("target", "population"))
    assert without_words.words("estimate").on_page() == "Pass --target 'population'"
    assert without_words.on_page() == "Pass target='population'"


def test_advice_survives_a_copy() -> None:
    error = copy.deepcopy(InputError("x", "is y", "z", Advice("Use {}", AUTO)))
    assert in_options(error, "estimate").remedy == "Use --engine auto"


def test_arguments_become_options() -> None:
    with pytest.raises(InputError) as error:
        survey((5, 3), sensitivity=0.9, specificity=0.9)
    assert str(in_options(error.value, "estimate")).startswith("--positive is 5 of 3")
    named = InputError("runs.csv", "is empty", "it must hold data", "Fill it")
    assert in_options(named, "estimate").argument == "runs.csv"


def test_a_prior_that_a_design_does_not_take_is_the_option() -> None:
    with pytest.raises(InputError) as error:
        ModelOptions(design="by-prediction", prior="2", prior_confusion="1").model(COUNTS)
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
        assert "(" not in in_options(error.value, "estimate").remedy


RATED = ("--label", "ann", "--label", "bob")
HUMAN = ("--label", "human")


@pytest.mark.parametrize(
    "arguments",
    [
        (*HUMAN, "--label-error", "5%", "--weight", "w"),
        (*RATED, "--weight", "w"),
        (*RATED, "--engine", "gibbs"),
        (*HUMAN, "--by", "model", "--prior", "learned"),
        (*HUMAN, "--by", "model", "--study", "site", "--new-study", "one"),
        (*HUMAN, "--by", "model", "--study", "site", "--random-labels"),
        (*HUMAN, "--by", "model", "--random-labels"),
        (*HUMAN, "--by", "model", "--cluster", "site"),
        (*HUMAN, "--method", "rogan-gladen"),
        (*HUMAN, "--method", "nothing"),
        (*HUMAN, "--method", "em"),
        (*HUMAN, "--target-labels", "site=s1", "--prior", "learned"),
        (*HUMAN, "--prediction", "ann", "--independent-classifiers", "--engine", "gibbs"),
    ],
    ids=" ".join,
)
def test_no_remedy_of_the_command_is_python(arguments: tuple[str, ...], tmp_path: Path) -> None:
    rows = ["model,site,w,human,ann,bob,verdict"]
    for at in range(60):
        labels = ",".join("abc"[(at + shift) % 3] for shift in (0, at % 2, at // 30)) if at < 40 else ",,"
        rows.append(f"{'AB'[at % 2]},s{at % 5 % 2},{1 + at % 3},{labels},{'abc'[at * 7 % 3]}")
    (tmp_path / "runs.csv").write_text("\n".join(rows))
    done = run("estimate", "runs.csv", "--prediction", "verdict", *arguments, folder=tmp_path)
    assert done.returncode in (1, 2), done.stdout
    said = " ".join(done.stderr.split()).rpartition("Error: ")[2]
    remedy = re.split(r"(?<=[a-z0-9])[.] (?=[A-Z])", said)[-1]
    assert not re.search(rf"{PYTHON}|\(\)|[A-Z][a-z]+\(", remedy), remedy
    assert remedy != said


def test_weights_of_raters_are_refused_without_a_word_of_clusters(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("ann,bob,w,site,verdict\na,a,1,s,a\n")
    told = {}
    for name, given in {"raters": RATED, "target": ("--label", "ann", "--target-labels", "site=s")}.items():
        done = run("estimate", "runs.csv", "--prediction", "verdict", *given, "--weight", "w", folder=tmp_path)
        assert done.returncode == 2
        told[name] = " ".join(done.stderr.split())
    assert "--weight is given with several --label: such labels are of items that count alike." in told["raters"]
    assert "which are independent and count alike" in told["target"]


def test_no_advice_of_a_finding_is_python() -> None:
    """Sentences of findings hold no Python of their own: whatever can be done is an action, which has two words.

    The finding of recalibration is left out: the command does not recalibrate.
    """
    folder = Path(tc.__file__).parent / "diagnostics"
    for file in set(folder.glob("*.py")) - {folder / "recalibration.py"}:
        said = sentences(ast.parse(file.read_text(encoding="utf-8")))
        assert [text for text in said if re.search(PYTHON, text)] == [], file.name
    assert list(sentences(ast.parse("""x = "Use Auto()"; y = Action("Use infer()", "")"""))) == ["Use Auto()"]


def sentences(tree: ast.AST) -> Iterator[str]:
    """Texts outside of docstrings and actions."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Expr) or (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Action"):
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        pending += ast.iter_child_nodes(node)
