"""Wrong labels: the imputation against closed forms of large counts, its limits, and what is said and refused."""

import numpy as np
import pytest

import truecount as tc
from truecount import Counts, InputError
from truecount.diagnostics.drift import cut_draws
from truecount.diagnostics.label_error import DRAWS, label_errors, under_given_output, under_label_shift
from truecount.models import density

JUDGE = Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])
CONFUSION = np.array([[0.7, 0.2, 0.1], [0.1, 0.7, 0.2], [0.15, 0.05, 0.8]])
SHARES, AMONG = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
PATTERNS = {"all": label_errors(3, 0.1), "first alone": label_errors(3, 0.1, only=0)}


def agree(draws: np.ndarray, truth: np.ndarray) -> None:
    """The data have their expected values, so that the mean is off by Monte Carlo error and less than a tenth sd."""
    sd = draws.std(axis=0)
    assert draws.mean(axis=0) == pytest.approx(truth, abs=float((5 / np.sqrt(DRAWS) + 0.1) * sd.max()))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_label_shift_with_wrong_labels_is_undone(pattern, seed):
    errors = PATTERNS[pattern]
    by_label = errors.T @ (AMONG[:, None] * CONFUSION)
    counts = Counts(np.rint(20_000 * by_label).astype(int), np.rint(20_000 * SHARES @ CONFUSION).astype(int))
    draw = under_label_shift(density(counts, tc.Prior()), counts)
    agree(draw(np.random.default_rng(seed), errors), SHARES)
    with pytest.raises(AssertionError):
        agree(draw(np.random.default_rng(seed), np.eye(3)), SHARES)


def test_a_transposed_matrix_of_errors_is_noticed(seed):
    errors = PATTERNS["first alone"]
    by_label = errors.T @ (AMONG[:, None] * CONFUSION)
    counts = Counts(np.rint(20_000 * by_label).astype(int), np.rint(20_000 * SHARES @ CONFUSION).astype(int))
    planted = under_label_shift(density(counts, tc.Prior()), counts)(np.random.default_rng(seed), errors.T)
    with pytest.raises(AssertionError):
        agree(planted, SHARES)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_classes_of_outputs_with_wrong_labels_are_undone(pattern, seed):
    """``F_k ∝ Eᵀ ρ_k``, so that the shares are ``E⁻ᵀ`` times those of the labels."""
    errors, outputs = PATTERNS[pattern], np.array([0.5, 0.3, 0.2])
    labeled = np.rint(20_000 * errors.T @ CONFUSION.T).astype(int)
    counts = Counts(labeled, np.rint(20_000 * outputs).astype(int))
    model = tc.ByPrediction().closed_form(counts)
    agree(under_given_output(model)(np.random.default_rng(seed), errors), CONFUSION.T @ outputs)


def test_right_labels_give_the_cut_posterior(seed):
    model = density(JUDGE, tc.Prior())
    draws = under_label_shift(model, JUDGE)(np.random.default_rng(seed), np.eye(2))
    cut = cut_draws(model, draws=4000, seed=seed)
    error = cut.std(axis=0)[0] * np.sqrt(1 / DRAWS + 1 / 4000)
    assert draws.mean(axis=0) == pytest.approx(cut.mean(axis=0), abs=5 * error)
    assert draws.std(axis=0) == pytest.approx(cut.std(axis=0), rel=5 / np.sqrt(2 * DRAWS))


def test_check_has_a_row_for_each_class_at_each_rate_and_says_what_the_largest_does():
    found = tc.check(JUDGE, label_error=[0.0, 0.05])
    rows = found.tables["label_error"]
    assert [(row["label_error"], row["class"]) for row in rows] == [(e, c) for e in (0.0, 0.05) for c in JUDGE.classes]
    none, some = rows[0], rows[2]
    assert none["lowest"] == pytest.approx(none["right"], abs=5 * 0.05 / np.sqrt(DRAWS / 2))
    assert some["lowest"] < some["mean"] < some["right"]
    (finding,) = [each for each in found.findings if each.code == "labels-may-err"]
    assert finding.severity == "info"
    assert finding.message.startswith("If 5 % of the labels were wrong, ")
    assert "If some labels were wrong" in str(found)


def test_wrong_labels_that_move_a_share_out_of_its_interval_are_a_caution():
    sure = Counts([[9900, 100], [100, 9900]], [500, 99_500], classes=["mine", "none"])
    posterior = tc.infer(sure, tc.ByPrediction())
    (finding,) = [each for each in tc.check(posterior, label_error=0.05).findings if each.code == "labels-may-err"]
    assert finding.severity == "caution"


@pytest.mark.parametrize("wrong", [0.5, -0.1, "many", [0.05, 2]])
def test_a_rate_that_is_none_is_refused(wrong):
    with pytest.raises(InputError, match="label_error is"):
        tc.check(JUDGE, label_error=wrong)
