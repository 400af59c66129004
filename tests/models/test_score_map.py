import numpy as np
import pytest

from made_scores import shifted_scores
from truecount.diagnostics.score_fit import fit_test
from truecount.models.score_map import ScoreMap, fit_score_maps, information, score_map, softmax


def drawn(rng: np.random.Generator, logits: np.ndarray) -> np.ndarray:
    chances = softmax(logits)
    return (rng.random(len(chances))[:, None] > np.cumsum(chances, axis=1)).sum(axis=1)


def features_of(chosen: ScoreMap, scores: np.ndarray) -> np.ndarray:
    """Shape (items, classes, parameters): what each parameter adds to the logit of each class."""
    found = np.zeros((*scores.shape, len(chosen.prior_sd)))
    found[:, chosen.moved] = (chosen.own_features(scores) @ chosen.mixing).swapaxes(0, 1)
    return found


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_parameters_of_zero_change_nothing_but_for_smoothing(classes: int) -> None:
    scores = np.random.default_rng(0).dirichlet(np.ones(classes), 200)
    chosen = score_map(scores)
    smoothed = (scores + 1 / 400) / (1 + classes / 400)
    np.testing.assert_allclose(softmax(chosen.log_scores(scores)), smoothed, rtol=1e-12)
    assert features_of(chosen, scores).shape == (200, classes, len(chosen.prior_sd))


def test_a_rare_class_has_knots_where_its_scores_are() -> None:
    rare, common = np.full(25, 0.9), np.full(475, 0.005)
    p = np.concatenate([rare, common]) + np.random.default_rng(0).uniform(-0.004, 0.004, 500)
    knots = np.array(score_map(np.column_stack([1 - p, p])).knots)
    assert (knots > 0).sum() == (knots < 0).sum() == 2


@pytest.mark.parametrize("classes", [2, 4])
def test_scores_that_are_too_sure_are_flattened(classes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(3000, classes)) * 1.5
    fitted = fit_score_maps(softmax(2.0 * logits), drawn(rng, logits))[0]
    off = np.abs(fitted.probabilities(softmax(2.0 * logits)) - softmax(logits)).mean()
    assert off < 0.3 * np.abs(softmax(2.0 * logits) - softmax(logits)).mean()


def test_the_mode_is_where_the_slope_is_zero_and_draws_have_its_covariance() -> None:
    scores = shifted_scores(np.random.default_rng(1), labeled_prevalence=[0.3, 0.7], prevalence=[0.5, 0.5], items=300)
    fitted = fit_score_maps(scores.labeled, scores.labels)[0]
    features = features_of(fitted.map, scores.labeled)
    gap = np.eye(2)[scores.labels] - fitted.probabilities(scores.labeled)
    slope = np.einsum("icp,ic->p", features, gap) - fitted.mode / fitted.map.prior_sd**2
    np.testing.assert_allclose(slope, 0, atol=1e-4)
    draws = fitted.draw(np.random.default_rng(0), 40_000)
    np.testing.assert_allclose(np.cov(draws.T) @ fitted.precision, np.eye(len(fitted.mode)), atol=0.2)


@pytest.mark.parametrize("classes", [2, 4])
def test_information_is_the_covariance_of_the_slope(classes: int) -> None:
    """Of each item: parameters' features have the covariance of a label's class."""
    rng = np.random.default_rng(0)
    scores, predicted = rng.dirichlet(np.ones(classes), 50), rng.dirichlet(np.ones(classes), 50)
    chosen = score_map(scores)
    features = features_of(chosen, scores)
    covariance = np.einsum("ic,cd->icd", predicted, np.eye(classes)) - np.einsum("ic,id->icd", predicted, predicted)
    expected = np.einsum("icp,icd,idq->pq", features, covariance, features)
    found = information(chosen.own_features(scores), predicted.T[chosen.moved], chosen.mixing)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_each_class_bends_for_itself_beside_what_all_share() -> None:
    """Also with few labels: its own bends move its own logit alone, and together they are the shared ones."""
    chosen = score_map(np.random.default_rng(0).dirichlet(np.ones(3), 20))
    features = features_of(chosen, np.random.default_rng(1).dirichlet(np.ones(3), 20))
    bends = len(chosen.knots)
    own = features[..., -3 * bends :].reshape(20, 3, 3, bends)
    np.testing.assert_array_equal(own.sum(axis=2), features[..., -4 * bends : -3 * bends])
    np.testing.assert_array_equal(own[:, ~np.eye(3, dtype=bool)], 0)
    assert own.any(axis=(0, 1)).all()


@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.3, 0.3, 0.4]])
def test_a_map_that_fits_is_seldom_rejected(shares: list[float], seed: int) -> None:
    rng, p_values = np.random.default_rng(seed), []
    for _ in range(60):
        scores = shifted_scores(rng, labeled_prevalence=shares, prevalence=shares, items=300, unlabeled_items=1)
        fitted = fit_score_maps(scores.labeled, scores.labels)[0]
        p_values.append(fit_test(fitted, scores.labeled, scores.labels)[2])
    assert np.mean(np.array(p_values) < 0.1) < 0.1 + 5 * np.sqrt(0.09 / 60)


def test_squared_logits_are_followed(seed: int) -> None:
    """The map is rich enough for them: in tenths of the probabilities that it gives, labels are as frequent.

    Five standard errors, of the labels there and of the map.
    """
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(4000, 2))
    scores, labels = softmax(np.sign(logits) * logits**2), drawn(rng, 1.5 * logits)
    fitted, new = fit_score_maps(scores[:2000], labels[:2000])[0], scores[2000:]
    said = fitted.probabilities(new)[:, 1]
    moved = np.einsum("icp,dp->dic", features_of(fitted.map, new), fitted.draw(rng, 100))
    drawn_maps = softmax(fitted.map.log_scores(new) + moved)[:, :, 1]
    for part in np.array_split(np.argsort(said), 10):
        of_labels = np.sqrt((said[part] * (1 - said[part])).sum()) / len(part)
        error = np.hypot(of_labels, drawn_maps[:, part].mean(axis=1).std())
        assert abs((labels[2000:][part] == 1).mean() - said[part].mean()) < 5 * error


def test_scores_that_no_smooth_map_explains_are_noticed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    odds = rng.uniform(-4, 4, 800)
    labels = drawn(rng, np.column_stack([np.zeros(800), 3 * np.sin(2 * odds)]))
    scores = softmax(np.column_stack([np.zeros(800), odds]))
    assert all(fit_test(fitted, scores, labels)[2] < 0.001 for fitted in fit_score_maps(scores, labels))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("shrinkage", [0.2, 0.03])
def test_shrunken_scores_say_what_whole_ones_do(classes: int, shrinkage: float, seed: int) -> None:
    """The same labels say the same: logits differ, on average, by less than two standard deviations of the map."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(800, classes)) * 2 - np.arange(classes)
    labels = drawn(rng, logits)
    whole, flat = softmax(logits), softmax(shrinkage * logits)
    fitted, known = (fit_score_maps(scores, labels)[0] for scores in (flat, whole))
    assert fitted.map.doublings > 0
    said, expected = (
        each.map.log_scores(scores) + features_of(each.map, scores) @ each.mode
        for each, scores in ((fitted, flat), (known, whole))
    )
    moved = np.einsum("icp,dp->dic", features_of(fitted.map, flat), fitted.draw(rng, 100) - fitted.mode)
    centred = [each - each.mean(axis=-1, keepdims=True) for each in (said, expected, moved)]
    assert np.abs(centred[0] - centred[1]).mean() < 2 * centred[2].std(axis=0).mean()
