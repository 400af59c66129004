"""From scores to a posterior: when they are calibrated, when they are sorted into cells, and what is said."""

import re

import numpy as np
import pytest
from scipy.stats import binom

from made_scores import shifted_scores
from truecount import Auto, Hamiltonian, Posterior, Prior, SamePopulation, Scores, check, infer, recalibrate
from truecount.models.score_map import softmax
from truecount.page.answer import render

CALIBRATED = "calibrated scores"
QUICK = Auto(400)


@pytest.fixture
def scores() -> Scores:
    rng = np.random.default_rng(0)
    return shifted_scores(
        rng, labeled_prevalence=[0.4, 0.3, 0.3], prevalence=[0.1, 0.2, 0.7], items=400, unlabeled_items=300
    )


def codes(posterior: Posterior) -> set[str]:
    return {finding.code for finding in posterior.findings}


def test_calibrated_scores_find_the_shares_and_are_sharper_than_counts(scores: Scores) -> None:
    posterior, counted = infer(scores, engine=QUICK), infer(scores.to_counts(), engine=QUICK)
    assert posterior.run.engine == CALIBRATED
    assert (np.abs(posterior.mean - [0.1, 0.2, 0.7]) < 5 * posterior.sd).all()
    assert (posterior.sd < counted.sd).all()
    assert (posterior.realized.std(axis=0) < posterior.sd).all()
    assert posterior.counts == scores.to_counts()
    assert not codes(posterior)


def test_the_same_seed_draws_the_same_and_each_argument_changes_the_answer(scores: Scores) -> None:
    plain = infer(scores, engine=QUICK, seed=1)
    np.testing.assert_array_equal(infer(scores, engine=QUICK, seed=1).prevalence, plain.prevalence)
    for other in (infer(scores, engine=QUICK, seed=2), infer(scores, prior=Prior([9, 1, 1]), engine=QUICK, seed=1)):
        assert other.run.engine == CALIBRATED
        assert np.abs(other.mean - plain.mean).max() > 0
    assert len(infer(scores, engine=Auto(800)).prevalence) == 800


@pytest.mark.filterwarnings("ignore::truecount.errors.ConvergenceWarning")
@pytest.mark.parametrize(
    "asked", [{"prior": Prior(confusion="flat")}, {"engine": Hamiltonian()}, {"model": SamePopulation()}]
)
def test_what_is_of_counts_is_answered_from_cells_without_a_word(scores: Scores, asked: dict) -> None:
    posterior = infer(scores, **asked)
    assert posterior.run.engine != CALIBRATED
    assert "scores-in-cells" not in codes(posterior)


def test_a_page_and_a_check_of_scores_speak_of_scores(scores: Scores) -> None:
    posterior = infer(scores, engine=QUICK)
    page = render(posterior)
    assert "gave every item a score for each of 3 classes" in page
    assert "were not chosen by their score" in page
    assert "sorted items into" not in page
    assert not re.search(r"[Oo]utputs? (fit|is known|among)", page)
    for data in (scores, posterior):
        found = check(data, replicates=19)
        assert not {"identifiability", "outputs"} & set(found.tables)
        assert "row_prior" not in found.tables["classes"][0]
        assert "row prior" not in str(found)
        assert not [row for row in found.tables["priors"] if "confusion" in row["prior"]]
    assert "sorted items into" in render(infer(scores.to_counts(), engine=QUICK))


def test_an_answer_from_scores_is_an_ordinary_posterior(scores: Scores, tmp_path) -> None:
    posterior = infer(scores, engine=QUICK)
    posterior.save(tmp_path / "saved.npz")
    again = Posterior.load(tmp_path / "saved.npz")
    np.testing.assert_array_equal(again.realized, posterior.realized)
    assert again.run == posterior.run
    assert again.to_dict() == posterior.to_dict()
    assert "Computed by calibrated scores" in str(posterior)
    assert posterior.provenance["maps"] == 100
    assert recalibrate(scores.unlabeled, posterior).mean.mean(axis=0) == pytest.approx(posterior.mean, abs=0.05)


def test_the_page_says_that_counts_do_not_reproduce_it(scores: Scores) -> None:
    from truecount.page.reproduce import python

    assert "scores" in python(infer(scores, engine=QUICK)).splitlines()[0]


def test_scores_that_no_calibration_fits_are_sorted_into_cells_and_it_is_said(seed: int) -> None:
    rng = np.random.default_rng(seed)

    def drawn(size: int) -> tuple[np.ndarray, np.ndarray]:
        odds = rng.uniform(-4, 4, size)
        second = 1 / (1 + np.exp(-3 * np.sin(2 * odds)))
        return softmax(np.column_stack([np.zeros(size), odds])), (rng.random(size) < second).astype(int)

    (known, labels), (new, _) = drawn(800), drawn(300)
    posterior = infer(Scores(known, labels, new), engine=QUICK)
    [finding] = [each for each in posterior.findings if each.code == "scores-in-cells"]
    assert finding.severity == "caution"
    assert finding.numbers["p_value"] < 0.001
    assert posterior.run.engine != CALIBRATED


@pytest.mark.parametrize("classes", [2, 3])
def test_squared_logits_are_followed_or_left_and_the_intervals_hold(seed: int, classes: int) -> None:
    """A map that follows them must give the right answer; intervals of a fifth of the level would be seen."""
    rng, held, number = np.random.default_rng(seed), {0.8: 0, 0.16: 0}, 80
    equal = [1 / classes] * classes
    for _ in range(number):
        shares = rng.dirichlet(np.ones(classes))
        made = shifted_scores(
            rng, labeled_prevalence=equal, prevalence=shares.tolist(), items=150, unlabeled_items=100, distance=1.2
        )
        squared = Scores(_squared(made.labeled), made.labels, _squared(made.unlabeled))
        posterior = infer(squared, engine=QUICK)
        for level in held:
            low, high = posterior.interval(level)[0]
            held[level] += low <= shares[0] <= high
    least, most = binom.ppf([5e-5, 1 - 5e-5], number, 0.8)
    assert held[0.16] < least <= held[0.8] <= most


def _squared(scores: np.ndarray) -> np.ndarray:
    logits = np.log(scores) - np.log(scores).mean(axis=1, keepdims=True)
    return softmax(np.sign(logits) * logits**2)


@pytest.mark.parametrize("classes", [2, 3])
def test_constant_scores_have_an_answer_that_says_nothing_was_learned(classes: int) -> None:
    constant = np.full((90, classes), 1 / classes)
    posterior = infer(Scores(constant[: 30 * classes], np.repeat(np.arange(classes), 30), constant))
    assert "prior-dominated" in codes(posterior)
    sd = np.sqrt((classes - 1) / classes**2 / (classes + 1))  # of one share under a uniform prior
    error = sd * np.sqrt((2.4 - 1) / 4 / posterior.effective_draws[0])  # kurtosis: 1.8 of two classes, 2.4 of three
    assert posterior.sd[0] == pytest.approx(sd, abs=5 * error)


@pytest.mark.parametrize("classes", [2, 3])
def test_scores_of_zero_and_one_are_smoothed(classes: int) -> None:
    labels, new = np.repeat(np.arange(classes), 30), np.repeat(np.arange(classes), [20, *[60] * (classes - 1)])
    posterior = infer(Scores(np.eye(classes)[labels], labels, np.eye(classes)[new]))
    assert posterior.run.engine == CALIBRATED
    assert np.isfinite(posterior.prevalence).all()
    assert posterior.mean[0] == pytest.approx(20 / len(new), abs=2 * posterior.sd[0])


def test_a_class_without_labels_and_two_items_per_class_are_sorted_into_cells() -> None:
    rng = np.random.default_rng(0)
    absent = Scores(rng.dirichlet(np.ones(3), 60), rng.integers(0, 2, 60), rng.dirichlet(np.ones(3), 90))
    assert {"scores-in-cells", "unlabeled-class"} <= codes(infer(absent, engine=QUICK))
    few = Scores(rng.dirichlet(np.ones(2), 4), [0, 0, 1, 1], rng.dirichlet(np.ones(2), 50))
    assert {"scores-in-cells", "few-labels"} & codes(infer(few, engine=QUICK))


def test_no_new_items_leave_the_prior_and_it_is_said(scores: Scores) -> None:
    posterior = infer(Scores(scores.labeled, scores.labels, scores.unlabeled[:0]), engine=QUICK)
    assert "no-unlabeled" in codes(posterior)


def test_many_new_items_are_thinned_evenly() -> None:
    rng = np.random.default_rng(0)
    many = shifted_scores(
        rng, labeled_prevalence=[0.5, 0.5], prevalence=[0.3, 0.7], items=300, unlabeled_items=20_000, distance=2.0
    )
    posterior = infer(many, engine=QUICK)
    assert abs(posterior.mean[0] - 0.3) < 5 * posterior.sd[0]
    np.testing.assert_allclose(posterior.realized.sum(axis=1), 1)
    assert np.abs(posterior.realized - posterior.prevalence).max() < 6 * np.sqrt(0.3 * 0.7 / 20_000)


def test_the_share_of_many_classes_has_a_learned_concentration() -> None:
    rng = np.random.default_rng(0)
    shares = np.r_[0.5, 0.5, np.zeros(22)]
    scores = shifted_scores(
        rng, labeled_prevalence=[1 / 24] * 24, prevalence=shares.tolist(), items=600, unlabeled_items=200, distance=4.0
    )
    sparse, flat = infer(scores, engine=QUICK), infer(scores, prior=Prior(prevalence=1.0), engine=QUICK)
    assert sparse.mean[2:].sum() < flat.mean[2:].sum()
