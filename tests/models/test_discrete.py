from math import inf, log, nan

import numpy as np
import pytest
from scipy.stats import dirichlet, multinomial

from truecount import Counts, Prior
from truecount.errors import InputError
from truecount.models import density

COUNTS = Counts([[8, 2, 0], [1, 6, 3]], [30, 20, 10])


def test_rows_hold_labels_and_prior():
    posed = density(COUNTS, Prior([2, 3], 0.5))
    assert posed.rows.tolist() == [[8.5, 2.5, 0.5], [1.5, 6.5, 3.5]]
    assert posed.prevalence.tolist() == [2, 3]
    assert posed.unlabeled.tolist() == [30, 20, 10]
    assert (posed.n_classes, posed.n_outputs) == (2, 3)
    assert not posed.is_known.any()


def test_weighted_counts_enter_at_their_effective_size():
    heavy = Counts([[8, 0], [0, 3]], [10, 10], labeled_squares=[[16, 0], [0, 3]], unlabeled_squares=[20, 20])
    posed = density(heavy, Prior())
    assert posed.rows.tolist() == [[5, 1], [1, 4]]
    assert posed.unlabeled.tolist() == [5, 5]


def random_points(size: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.dirichlet(np.ones(2), size), rng.dirichlet(np.ones(3), (size, 2))


def test_the_likelihood_is_that_of_the_unlabelled_counts_up_to_a_constant():
    posed, (prevalence, confusion) = density(COUNTS, Prior()), random_points(5)
    outputs = np.einsum("dl,dlk->dk", prevalence, confusion)
    expected = multinomial(60, outputs).logpmf(COUNTS.unlabeled)
    found = posed.log_likelihood(prevalence, confusion)
    assert np.diff(found) == pytest.approx(np.diff(expected))


@pytest.mark.parametrize("prior", [Prior(), Prior([2, 0.5], [[0.5, 1, 2], [3, 1, 0.2]])])
def test_the_joint_is_prior_times_likelihood_up_to_a_constant(prior):
    posed, (prevalence, confusion) = density(COUNTS, prior), random_points(5)
    expected = posed.log_likelihood(prevalence, confusion)
    for draw in range(5):
        expected[draw] += dirichlet(posed.prevalence).logpdf(prevalence[draw])
        for row, given in enumerate(confusion[draw]):
            expected[draw] += multinomial(COUNTS.labeled[row].sum(), given).logpmf(COUNTS.labeled[row])
            expected[draw] += dirichlet(prior.confusion_for(COUNTS)[row]).logpdf(given)
    assert np.diff(posed.log_joint(prevalence, confusion)) == pytest.approx(np.diff(expected))


def test_known_rows_add_nothing_to_the_joint():
    posed = density(COUNTS, Prior.known_confusion([[0.7, 0.2, 0.1], [nan, nan, nan]]))
    assert posed.is_known.tolist() == [True, False]
    prevalence, confusion = np.array([0.4, 0.6]), np.array([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3]])
    row = log(0.2) + 6 * log(0.5) + 3 * log(0.3)
    expected = posed.log_likelihood(prevalence, confusion) + row
    assert posed.log_joint(prevalence, confusion) == pytest.approx(expected)


def test_what_was_never_seen_may_be_impossible():
    """0 log 0 is 0; but what was seen cannot be impossible."""
    posed = density(Counts([[8, 0], [0, 6]], [30, 0]), Prior())
    certain = np.array([1.0, 0.0]), np.eye(2)
    assert posed.log_joint(*certain) == 0
    assert posed.log_likelihood(certain[0][::-1], certain[1]) == -inf


def test_no_labels_are_refused_unless_every_row_is_known():
    bare = Counts(np.zeros((2, 2), int), [30, 20])
    with pytest.raises(InputError, match="labeled holds no labelled items"):
        density(bare, Prior())
    with pytest.raises(InputError, match="labeled holds no labelled items"):
        density(bare, Prior.known_confusion([[0.9, 0.1], [nan, nan]]))
    assert density(bare, Prior.known_confusion([[0.9, 0.1], [0.2, 0.8]])).is_known.all()


def test_an_output_that_was_seen_and_cannot_be_is_refused():
    bare = Counts(np.zeros((2, 3), int), [30, 20, 1], outputs=["a", "b", "c"])
    with pytest.raises(InputError, match="known gives the output 'c' to no class: 1 unlabelled"):
        density(bare, Prior.known_confusion([[0.9, 0.1, 0], [0.2, 0.8, 0]]))
    learned = Counts([[0, 0, 0], [1, 0, 0]], [30, 20, 1])
    assert density(learned, Prior.known_confusion([[0.9, 0.1, 0], [nan, nan, nan]])).n_outputs == 3
