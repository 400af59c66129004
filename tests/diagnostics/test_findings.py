"""What every answer says about itself: loud where it must be, silent where it should."""

import ast
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import truecount as tc
from truecount import simulate
from truecount.inference.draws import Draws
from truecount.results.finding import CODES

SOURCE = Path(tc.__file__).parent


def findings(counts, **options):
    return {finding.code: finding for finding in tc.infer(counts, **options).findings}


@cache
def trees() -> list[ast.Module]:
    """Every file of the source that makes a finding."""
    texts = [file.read_text(encoding="utf-8") for file in SOURCE.rglob("*.py")]
    return [ast.parse(text) for text in texts if "Finding(" in text]


def made_codes() -> set[str]:
    """The first argument of every `Finding` in the source."""
    calls = [node for tree in trees() for node in ast.walk(tree) if isinstance(node, ast.Call)]
    made = [call.args[0] for call in calls if getattr(call.func, "id", "") == "Finding" and call.args]
    return {word.value for word in made if isinstance(word, ast.Constant)}


def test_every_code_is_named_in_one_place():
    assert made_codes() == set(CODES) - {"method"}


@pytest.mark.skipif(not (SOURCE.parents[1] / "docs").is_dir(), reason="the documentation is not installed")
def test_the_page_about_findings_lists_every_code():
    page = (SOURCE.parents[1] / "docs" / "guides" / "findings.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `[\w-]+` \| .*$", page, re.M) == [declared.row for declared in CODES.values()]


def test_every_severity_that_is_written_is_declared():
    calls = [node for tree in trees() for node in ast.walk(tree) if isinstance(node, ast.Call) and len(node.args) > 1]
    made = [call for call in calls if getattr(call.func, "id", "") == "Finding"]
    pairs = [
        (call.args[0].value, severity)
        for call in made
        if isinstance(call.args[0], ast.Constant)
        for severity in ("info", "caution", "serious")
        if f"'{severity}'" in ast.unparse(call.args[1])
    ]
    assert len(pairs) > 30
    assert [pair for pair in pairs if pair[1] not in CODES[pair[0]].severities] == []


def test_an_ordinary_answer_has_none():
    assert findings(tc.Counts([[140, 60], [20, 180]], [600, 400])) == {}
    assert findings(simulate.counts([0.5, 0.3, 0.2], simulate.confusion(0.8, 3), labeled=300, unlabeled=500)) == {}


def test_fewer_positives_than_the_test_gives_to_the_healthy():
    known = tc.Prior.known_confusion([[0.89, 0.11], [0.04, 0.96]])
    fewer = findings(tc.Counts([[0, 0], [0, 0]], [3280, 50]), prior=known)
    assert fewer["label-shift-violated"].severity == "serious"
    assert "prior-against-data" not in fewer
    assert findings(tc.Counts([[890, 110], [40, 960]], [3280, 50]))["label-shift-violated"].severity == "serious"


def test_an_output_that_no_mix_explains_is_named_with_what_was_expected():
    counts = tc.Counts([[700, 200, 100], [100, 200, 700]], [1400, 1500, 1100], outputs=["no", "unsure", "yes"])
    finding = findings(counts, engine=tc.Hamiltonian(effective_draws=500))["label-shift-violated"]
    assert finding.numbers["output"] == "unsure"
    assert finding.numbers["seen"] == 0.375
    assert abs(finding.numbers["expected"] - 0.2) < 0.01
    assert "37.5 % of the items have the output unsure, where the nearest mix of what was labelled has 20.0 %" in (
        finding.message
    )


@pytest.mark.filterwarnings("ignore::truecount.errors.ConvergenceWarning")
def test_the_output_is_named_also_where_the_posterior_has_two_answers():
    found = findings(tc.Counts([[900, 50, 50], [50, 900, 50]], [100, 100, 800]))
    assert found["label-shift-violated"].numbers["output"] == 2
    assert found["several-answers"].severity == "caution"
    assert found["several-answers"].numbers["probabilities"] == pytest.approx([0.5, 0.5], abs=0.05)
    assert "prior-dominated" not in found


@pytest.mark.parametrize("prior", [tc.Prior(prevalence=1e6), tc.Prior(confusion=1e6)])
def test_a_prior_that_is_too_strong_is_blamed_and_not_the_population(prior):
    found = findings(tc.Counts([[140, 60], [20, 180]], [600, 400]), prior=prior)
    assert found["prior-against-data"].severity == "serious"
    assert "label-shift-violated" not in found
    assert "prior-dominated" not in found


def test_a_prior_that_the_counts_can_live_with_is_not_blamed():
    counts = tc.Counts([[140, 60], [20, 180]], [600, 400])
    for prior in (tc.Prior(prevalence=5), tc.Prior(confusion="sparse"), tc.Prior(prevalence=[80, 16])):
        assert findings(counts, prior=prior) == {}


@pytest.mark.parametrize("where", ["inside", "corner", "sparse"])
def test_it_is_silent_where_the_model_holds(where, seed):
    """200 data sets of each kind: at one false alarm in 10,000 at most, none should be called a misfit."""
    rng = np.random.default_rng(seed)
    problems = []
    for number in range(200):
        confusion = 0.3 * rng.dirichlet(np.ones(3), 3) + 0.7 * np.eye(3)
        prevalence = np.eye(3)[rng.integers(3)] if where == "corner" else rng.dirichlet(np.ones(3))
        if where == "sparse":
            confusion, prevalence = rng.dirichlet(np.ones(30), 2), rng.dirichlet([1, 1])
        labeled = [30, 30] if where == "sparse" else 150
        problems.append(simulate.counts(prevalence, confusion, labeled=labeled, unlabeled=300, seed=number))
    fired = [
        finding.code
        for counts in problems
        for finding in tc.infer(counts, engine=Idle()).findings
        if finding.severity == "serious" or finding.code == "worse-than-chance"
    ]
    assert fired == []


class Idle:
    """Draws that cost nothing; what is tested here does not read them."""

    def sample(self, density, seed):
        shares = np.full((40, density.n_classes), 1 / density.n_classes)
        rows = np.repeat(density.mean_confusion[None], 40, axis=0)
        return Draws(prevalence=shares, confusion=rows, effective=np.full(density.n_classes, 40.0))


def test_a_weak_box_leaves_the_edge_open():
    """Truth 1 %, a classifier right 65 % of the time, 20 labels each: the equal-tailed interval starts above it."""
    posterior = tc.infer(tc.Counts([[14, 6], [6, 14]], [75, 125]))
    assert posterior.interval()[0, 0] > 0.01
    [finding] = [finding for finding in posterior.findings if finding.code == "edge-not-excluded"]
    assert finding.numbers["classes"] == [0]
    assert "%" not in finding.message  # the table above it has another level, kind or target
    assert posterior.interval(kind="hdi")[0, 0] < 0.005


def test_a_share_well_inside_or_known_to_be_small_does_not():
    assert "edge-not-excluded" not in findings(tc.Counts([[140, 60], [20, 180]], [600, 400]))
    assert "edge-not-excluded" not in findings(tc.Counts([[990, 10], [5, 995]], [60, 9940]))
