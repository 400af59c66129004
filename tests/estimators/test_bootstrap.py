from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from made_scores import shifted_scores
from truecount import Counts
from truecount.errors import InputError
from truecount.estimators import ACC, BBSE, CC, MAP, PACC, RLLS, InvariantRatio, asymptotic, bootstrap
from truecount.scores.scores import Scores

JUDGE = Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])
WIDE = Counts([[80, 10, 10, 20], [15, 60, 15, 0], [5, 25, 70, 5]], [300, 120, 80, 40])


@dataclass
class Probe:
    """A method that only remembers what it was given."""

    needs: str
    seen: list[Any] = field(default_factory=list)
    name: str = "probe"
    caution: str = ""

    def prevalence(self, data: Counts | Scores) -> np.ndarray:
        self.seen.append(data)
        return np.zeros(len(data.classes))


@dataclass
class OneByOne:
    """A method without its batched form."""

    method: Any
    needs: str = "counts"
    name: str = "one by one"
    caution: str = ""

    def prevalence(self, data: Counts | Scores) -> np.ndarray:
        return self.method.prevalence(data)


@pytest.mark.parametrize("method", [ACC(), InvariantRatio(), InvariantRatio(restricted=False), BBSE(), RLLS()])
@pytest.mark.parametrize("counts", [JUDGE, WIDE], ids=["square", "wide"])
def test_all_at_once_is_one_by_one(method, counts: Counts) -> None:
    many = bootstrap(counts, method, resamples=30, seed=3).prevalence
    np.testing.assert_allclose(many, bootstrap(counts, OneByOne(method), resamples=30, seed=3).prevalence, atol=1e-9)


def test_counting_matches_names_in_every_resample() -> None:
    swapped = Counts(JUDGE.labeled[:, ::-1], JUDGE.unlabeled[::-1], JUDGE.classes, JUDGE.classes[::-1])
    drawn = bootstrap(swapped, CC(), resamples=200).prevalence
    assert abs(drawn[:, 0].mean() - 0.6) < 5 * np.sqrt(0.24 / 1000 / 200)


def test_counts_keep_their_sizes_and_both_sides_vary() -> None:
    probe = Probe("counts")
    bootstrap(WIDE, probe, resamples=50)
    drawn = probe.seen[1:]
    assert all((each.labeled.sum(axis=1) == WIDE.labeled.sum(axis=1)).all() for each in drawn)
    assert all(each.unlabeled.sum() == WIDE.unlabeled.sum() for each in drawn)
    assert len({each.labeled.tobytes() for each in drawn}) == len({each.unlabeled.tobytes() for each in drawn}) == 50


def test_scores_are_drawn_within_their_class() -> None:
    probe, rng = Probe("scores"), np.random.default_rng(0)
    scores = shifted_scores(rng, labeled_prevalence=[0.7, 0.3], prevalence=[0.4, 0.6], items=40, unlabeled_items=30)
    bootstrap(scores, probe, resamples=20)
    own = [set(scores.labeled[scores.labels == label, 0]) for label in (0, 1)]
    for drawn in probe.seen[1:]:
        assert drawn.items.tolist() == scores.items.tolist()
        assert len(drawn.unlabeled) == 30
        assert all(set(drawn.labeled[drawn.labels == label, 0]) <= own[label] for label in (0, 1))
    assert len({drawn.labeled.tobytes() for drawn in probe.seen[1:]}) == 20
    assert len({drawn.unlabeled.tobytes() for drawn in probe.seen[1:]}) == 20


@pytest.mark.parametrize("method", [ACC(restricted=False), InvariantRatio(restricted=False)])
def test_large_samples_vary_as_the_delta_method_says(method, seed: int) -> None:
    """The variance of 4,000 draws is known to 2.2 %; samples are large enough for the rest to be below that."""
    large = Counts(1000 * WIDE.labeled, 1000 * WIDE.unlabeled)
    drawn = bootstrap(large, method, resamples=4000, seed=seed).prevalence
    expected = asymptotic(large, method).covariance.diagonal()
    np.testing.assert_allclose(drawn.var(axis=0), expected, rtol=5 * np.sqrt(2 / 4000))


def test_scores_vary_as_the_delta_method_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = shifted_scores(rng, labeled_prevalence=[0.5, 0.5], prevalence=[0.4, 0.6], items=3000)
    drawn = bootstrap(scores, PACC(), resamples=500, seed=seed).prevalence
    np.testing.assert_allclose(drawn.var(axis=0), asymptotic(scores, PACC()).covariance.diagonal(), rtol=0.35)


def test_scores_of_a_method_on_counts_are_counted_first() -> None:
    scores = shifted_scores(np.random.default_rng(1), labeled_prevalence=[0.5, 0.5], prevalence=[0.4, 0.6], items=50)
    of_scores, of_counts = (bootstrap(data, ACC(), resamples=9).prevalence for data in (scores, scores.to_counts()))
    np.testing.assert_array_equal(of_scores, of_counts)


def test_weights_enter_at_their_effective_size() -> None:
    squares = {"labeled_squares": JUDGE.labeled * 4.0, "unlabeled_squares": JUDGE.unlabeled * 9.0}
    heavy = Counts(2 * JUDGE.labeled, 3 * JUDGE.unlabeled, JUDGE.classes, **squares)
    plain, weighted = (bootstrap(counts, ACC(), resamples=9).prevalence for counts in (JUDGE, heavy))
    np.testing.assert_allclose(weighted, plain)


def test_a_class_without_labels_stays_without() -> None:
    empty = Counts([[9, 1], [0, 0]], [6, 4])
    probe = Probe("counts")
    bootstrap(empty, probe, resamples=5)
    assert all((each.labeled[1] == 0).all() for each in probe.seen)
    assert np.isfinite(bootstrap(empty, CC(), resamples=5).prevalence).all()
    np.testing.assert_allclose(bootstrap(empty, MAP(), resamples=5).prevalence.sum(axis=1), 1)
    with pytest.raises(InputError, match="no item of class 1: acc needs"):
        bootstrap(empty, ACC())


def test_the_same_seed_draws_the_same() -> None:
    first, again, other = (bootstrap(JUDGE, ACC(), resamples=20, seed=seed).prevalence for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_the_interval_cuts_equal_tails() -> None:
    drawn = bootstrap(JUDGE, ACC(), resamples=1000)
    interval = drawn.interval(0.8)
    assert interval.shape == (2, 2)
    np.testing.assert_allclose((drawn.prevalence < interval[:, 0]).mean(axis=0), 0.1, atol=0.002)
    np.testing.assert_allclose((drawn.prevalence > interval[:, 1]).mean(axis=0), 0.1, atol=0.002)


@pytest.mark.parametrize("settings", [{"resamples": 0}, {"resamples": 2.5}, {"seed": -1}])
def test_bad_settings_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(settings))):
        bootstrap(JUDGE, ACC(), **settings)


def test_a_bad_level_is_refused() -> None:
    with pytest.raises(InputError, match="level"):
        bootstrap(JUDGE, ACC(), resamples=2).interval(95)


def test_scores_are_needed_where_scores_are_needed() -> None:
    with pytest.raises(InputError, match="pacc needs the scores"):
        bootstrap(JUDGE, PACC())
