"""Half and double the prior: reweighted draws say what a new run says."""

import re

import numpy as np
import pytest

import truecount as tc
from truecount import Counts, Prior
from truecount._wording import percent
from truecount.diagnostics import prior as prior_module
from truecount.diagnostics.prior import (
    Models,
    _flat,
    _log_fixed,
    _reweighted_by_items,
    _scaled,
    prior_finding,
    prior_sensitivity,
)
from truecount.inference.draws import Draws
from truecount.models import density

SMALL = Counts([[8, 2], [3, 12]], [14, 16])
LARGE = Counts([[800, 200], [100, 900]], [1500, 1500])


def changes(counts, prior=None, rerun=None):
    prior = prior or Prior()
    posterior = tc.infer(counts, prior=prior)
    return prior_sensitivity(prior.confusion_for(counts), density(counts, prior), posterior.draws, rerun)


@pytest.mark.parametrize(
    ("place", "prior"),
    [(0, Prior(0.5)), (1, Prior(2)), (2, Prior(confusion=0.5)), (3, Prior(confusion=2))],
)
def test_weights_give_what_a_new_run_gives(place, prior):
    found = changes(SMALL)[place]
    again = tc.infer(SMALL, prior=prior, seed=1)
    error = again.sd[0] * np.sqrt(1 / 1500 + 1 / again.effective_draws[0])
    assert found.mean[0] == pytest.approx(again.mean[0], abs=5 * error)
    assert not found.is_new_run


@pytest.mark.parametrize(
    ("part", "prior"),
    [
        ("prevalence", Prior()),
        ("confusion", Prior()),
        ("confusion", Prior(1.0, "learned")),
        pytest.param("prevalence", Prior("learned", 1.0), marks=pytest.mark.slow),
    ],
)
def test_weights_of_imputed_items_give_what_a_new_run_gives(part, prior):
    """Fixed concentrations are multiplied, learned ones made flat; the change is far above the error of the weights."""
    counts = Counts([[9, 1], [3, 3]], [24, 16])
    given, rows = density(counts, prior), prior.confusion_for(counts)
    other = _flat(part, rows, given) if given.is_learning else _scaled(part, 8.0, rows, given)
    draws, again = tc.Auto(10_000).sample(given, 1), tc.Auto(10_000).sample(other, 2)
    found = _reweighted_by_items(part, "other", Models(given, other), draws)
    error = np.sqrt(1 / 3000 + 1 / again.effective.min())  # weights leave a third of the draws, or more
    assert found.step == 1
    assert np.abs(found.mean - again.prevalence.mean(axis=0)).max() < 5 * error * again.prevalence.std(axis=0).max()
    assert found.moved.max() > 1.5 * 5 * error  # so that no weights, or those of a wrong prior, fail above


def test_chains_of_many_cells_are_not_run_again(monkeypatch):
    """Twenty labels against a row prior of 200: the weights carry a part of the way, and the finding projects it."""
    counts, prior = Counts([[8, 2], [3, 7]], [500, 500]), Prior(2.0, [[150, 50], [50, 150]])
    given, rows = density(counts, prior), prior.confusion_for(counts)
    draws = tc.Hamiltonian(500).sample(given, 1)
    monkeypatch.setattr(prior_module, "MANY_CELLS", 4)
    half, double, *of_rows = prior_sensitivity(rows, given, draws, rerun=None)
    assert (half.step, double.step) == (1, 1)
    for change in of_rows:
        assert change.projected == pytest.approx(change.moved / change.step)
        assert change.step == 1 or f"{percent(change.step)} of the way" in change.name
    flat = Models(given, density(counts, Prior(2.0, "flat")))
    short = _reweighted_by_items("confusion", "flat", flat, draws)
    assert 0 < short.step < 1


def test_parts_and_factors_come_in_order():
    found = changes(SMALL)
    assert [(each.part, each.factor) for each in found] == [
        ("prevalence", 0.5),
        ("prevalence", 2),
        ("confusion", 0.5),
        ("confusion", 2),
    ]


def test_known_rows_have_no_prior_to_change():
    known = Prior.known_confusion([[0.9, 0.1], [0.2, 0.8]])
    assert {each.part for each in changes(Counts([[0, 0], [0, 0]], [40, 60]), known)} == {"prevalence"}


def test_draws_that_cannot_be_reweighted_are_drawn_again():
    """A row prior of weight 200 against 4 labels: doubling it leaves hardly a draw."""
    counts, prior, asked = Counts([[3, 1], [1, 3]], [500, 500]), Prior(confusion=[[500, 100], [100, 900]]), []

    def rerun(other):
        asked.append(other)
        return tc.Auto(400).sample(other, 0)

    found = changes(counts, Prior([300, 900], prior.confusion), rerun)
    assert any(each.is_new_run for each in found) == bool(asked)


def test_weights_of_a_few_hundred_draws_are_not_trusted():
    """Half the prior weighs 1/√(π₁π₂): 200 draws near an edge outweigh 3800, and are worth 230."""
    counts, asked = Counts([[8, 2], [3, 12]], [0, 0]), []
    shares = np.where(np.arange(4000) < 200, 4e-6, 0.5)
    rows = np.tile([[0.8, 0.2], [0.2, 0.8]], (4000, 1, 1))
    draws = Draws(prevalence=np.column_stack([shares, 1 - shares]), confusion=rows, effective=np.full(2, 4000.0))

    def rerun(other):
        asked.append(other.prevalence.tolist())
        return tc.Auto(400).sample(other, 0)

    half, *others = prior_sensitivity(np.ones((2, 2)), density(counts, Prior()), draws, rerun)
    assert asked == [[0.5, 0.5]]
    assert half.is_new_run
    assert not any(each.is_new_run for each in others)


def test_a_prior_that_moves_the_answer_is_a_finding():
    few = Counts([[30, 10], [10, 30]], [9, 1], classes=["fail", "pass"])
    finding = prior_finding(few.classes, np.array([0.9, 0.1]), changes(few))
    assert (finding.code, finding.severity) == ("prior-sensitive", "caution")
    assert max(finding.numbers["moved"]) > 0.3
    assert re.search(
        r"with the prior of the \w+ (halved|doubled), (fail|pass) would have \d+\.\d % instead of 9?[01]",
        finding.message,
    )
    assert prior_finding(LARGE.classes, np.array([0.5, 0.5]), changes(LARGE)) is None


@pytest.mark.slow
def test_a_learned_prior_is_compared_with_a_flat_one():
    """Its concentrations are an average, which cannot be halved."""
    labeled = 4 * np.eye(6) + 1
    counts = Counts(labeled, [60, 50, 40, 30, 20, 10])
    found = tc.check(tc.infer(counts, seed=1)).tables["priors"]
    assert [row["prior"] for row in found] == ["as given", "prevalence × 0.5", "prevalence × 2", "confusion flat"]
    flat = tc.infer(counts, prior=Prior(confusion="flat"), seed=1)
    error = np.hypot(flat.mcse, flat.sd / np.sqrt(900))
    assert (np.abs([found[-1][str(name)] for name in counts.classes] - flat.mean) < 5 * error).all()


@pytest.mark.parametrize(
    ("part", "prior"), [("prevalence", Prior("learned", 1.0)), ("confusion", Prior(1.0, "learned"))]
)
def test_weights_that_make_a_learned_prior_flat_are_ratios_of_densities(part, prior):
    """Exact: log-weights differ from the difference of the log-densities by a constant."""
    counts, rng = Counts(np.full((3, 4), 3) + 9 * np.eye(3, 4, dtype=int), [30, 20, 40, 5]), np.random.default_rng(0)
    shares, rows = rng.dirichlet(np.ones(3), 50), rng.dirichlet(np.ones(4), (50, 3))
    draws = Draws(prevalence=shares, confusion=rows, effective=np.full(3, 50.0))
    learned, flat = density(counts, prior), density(counts, Prior(1.0, 1.0))
    other = _flat(part, prior.confusion_for(counts), learned)
    found = _log_fixed(part, other, learned, draws)
    expected = flat.log_joint(shares, rows) - learned.log_joint(shares, rows)
    assert np.ptp(found) > 1
    assert found - found[0] == pytest.approx(expected - expected[0])
    wrong = found + learned.log_learned(np.log(shares), np.log(rows))  # the learned prior taken for its reference
    assert wrong - wrong[0] != pytest.approx(expected - expected[0])
