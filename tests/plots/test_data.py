"""What stands in each picture, without drawing it."""

import numpy as np
import pytest
from scipy.stats import binom

from made_posterior import made_posterior
from pictures import HARD, compared, covered, posterior_of
from truecount import ByPrediction, Counts, Prior, infer
from truecount.errors import InputError
from truecount.plots.against import methods_data, prior_sensitivity_data
from truecount.plots.chains import rank_data, trace_data
from truecount.plots.classifier import confusion_data, predictive_data
from truecount.plots.joint import pair_data, ternary_data
from truecount.plots.shares import density_data, prevalence_data
from truecount.plots.trust import contraction_data, coverage_data


def test_prevalence_stands_by_its_class_in_the_order_asked_for() -> None:
    posterior = made_posterior()
    data = prevalence_data(posterior, level=0.8, classes=["pass", "fail"])
    assert data.classes == ("pass", "fail")
    assert data.positions == (1, 0)
    np.testing.assert_array_equal(data.mean, posterior.mean[::-1])
    np.testing.assert_array_equal(data.interval, posterior.interval(0.8)[::-1])
    assert data.counted is not None
    np.testing.assert_array_equal(data.counted, [0.4, 0.6])
    assert "80 % interval" in " ".join(data.caption)


def test_prevalence_takes_kind_and_target() -> None:
    posterior = made_posterior()
    realized = prevalence_data(posterior, target="realized", kind="hdi")
    np.testing.assert_array_equal(realized.mean, posterior.realized.mean(axis=0))
    np.testing.assert_array_equal(realized.interval, posterior.interval(kind="hdi", target="realized"))
    assert "these items" in realized.caption[0]
    assert "shortest" in realized.caption[1]


def test_prevalence_has_no_counted_share_where_outputs_are_not_the_classes() -> None:
    counts = Counts([[5, 3, 1], [2, 4, 6]], [10, 10, 10], classes=["fail", "pass"], outputs=["a", "b", "c"])
    data = prevalence_data(made_posterior(counts=counts))
    assert data.counted is None
    assert "Hollow" not in " ".join(data.caption)


def test_unknown_classes_are_named() -> None:
    with pytest.raises(InputError, match="Perhaps you meant 'pass'"):
        prevalence_data(made_posterior(), classes=["passs"])
    with pytest.raises(InputError, match="must list names"):
        prevalence_data(made_posterior(), classes="pass")


def test_densities_have_area_one_and_the_prior_is_the_marginal_one() -> None:
    data = density_data(posterior_of(["a", "b", "c"]))
    steps = data.shares[:, 1] - data.shares[:, 0]
    np.testing.assert_allclose(data.heights.sum(axis=1) * steps, 1.0)
    np.testing.assert_allclose(data.prior_heights[0], 2 * (1 - data.prior_shares))
    weighted = (data.shares * data.heights).sum(axis=1) * steps
    np.testing.assert_allclose(weighted, posterior_of(["a", "b", "c"]).mean, atol=0.01)


def test_confusion_keeps_rows_and_columns() -> None:
    counts = Counts([[9, 2, 1], [1, 5, 3]], [10, 20, 30], classes=["a", "b"], outputs=["x", "y", "z"])
    posterior = made_posterior(counts=counts)
    data = confusion_data(posterior, level=0.5)
    np.testing.assert_allclose(data.mean, posterior.confusion.mean(axis=0))
    np.testing.assert_allclose(data.interval[1, 2], np.quantile(posterior.confusion[:, 1, 2], [0.25, 0.75]))
    assert data.interval.shape == (2, 3, 2)


def test_predictive_counts_come_from_the_model_with_their_own_scatter() -> None:
    posterior = made_posterior(n_draws=4000)
    data = predictive_data(posterior)
    expected = np.einsum("dl,dlk->dk", posterior.prevalence, posterior.confusion)
    error = np.sqrt((1000 * expected[:, 0] * (1 - expected[:, 0])).mean() + (1000 * expected[:, 0]).var())
    assert abs(data.mean[0] - 1000 * expected[:, 0].mean()) < 5 * error / np.sqrt(4000)
    np.testing.assert_array_equal(data.observed, [600, 400])
    narrow = 1000 * np.quantile(expected[:, 0], [0.025, 0.975])
    assert np.ptp(data.interval[0]) > np.ptp(narrow)
    np.testing.assert_array_equal(data.interval, predictive_data(posterior).interval)


def test_outputs_called_like_a_class_get_its_colour_and_others_none() -> None:
    counts = Counts([[5, 3, 1], [2, 4, 6]], [9, 9, 9], classes=["fail", "pass"], outputs=["pass", "unsure", "fail"])
    assert predictive_data(made_posterior(counts=counts)).positions == (1, None, 0)


def test_pair_takes_the_two_that_trade_off_most() -> None:
    posterior = posterior_of(["a", "b", "c", "d"])
    together = np.cov(posterior.prevalence.T)
    first, second = (posterior.classes.index(name) for name in pair_data(posterior).names)
    assert together[first, second] == together[~np.eye(4, dtype=bool)].min()
    chosen = pair_data(posterior, classes=["d", "a"])
    assert chosen.names == ("d", "a")
    assert chosen.correlation == pytest.approx(
        np.corrcoef(posterior.prevalence[:, 3], posterior.prevalence[:, 0])[0, 1]
    )
    with pytest.raises(InputError, match="two classes"):
        pair_data(posterior, classes=["a", "a"])


def test_a_triangle_holds_whole_shares() -> None:
    posterior = posterior_of(["a", "b", "c", "d"])
    data = ternary_data(posterior, classes=["a", "c"])
    assert data.names == ("a", "c", "all others")
    np.testing.assert_allclose(data.draws.sum(axis=1), 1.0)
    np.testing.assert_allclose(data.prior.sum(axis=1), 1.0)
    assert ternary_data(posterior_of(["a", "b", "c"])).names == ("a", "b", "c")
    with pytest.raises(InputError, match="a triangle shows three"):
        ternary_data(made_posterior())
    with pytest.raises(InputError, match="two classes and the rest"):
        ternary_data(posterior, classes=["a", "b", "c"])


def test_traces_are_of_the_class_whose_chains_agree_least() -> None:
    posterior = posterior_of(["a", "b", "c"], chains=4)
    data = trace_data(posterior)
    assert data.name == "c"
    np.testing.assert_array_equal(data.shares[1], posterior.prevalence[100:200, 2])
    assert trace_data(posterior, name="a").rhat == posterior.rhat[0]
    with pytest.raises(InputError, match="only chains have a trace"):
        trace_data(made_posterior())


def test_ranks_are_shared_out_evenly_over_all_chains() -> None:
    posterior = posterior_of(["a", "b"], chains=4)
    data = rank_data(posterior, name="a")
    np.testing.assert_array_equal(data.heights.sum(axis=0), 20)
    np.testing.assert_array_equal(data.heights.sum(axis=1), 100)
    assert data.expected == 5
    order = np.argsort(np.argsort(posterior.prevalence[:, 0]))
    assert data.heights[2, 0] == ((order >= 0) & (order < 20))[200:300].sum()


def test_methods_that_do_not_apply_are_left_out() -> None:
    posterior = posterior_of(list("abcdefgh"))
    data = methods_data(compared(posterior))
    assert data.rows == ("posterior", "cc", "map")
    assert len(data.classes) == 6
    assert data.left_out == 2
    assert np.isnan(data.ends[2]).all()
    np.testing.assert_array_equal(data.reference, posterior.interval(0.9)[list(data.positions)])
    assert "2 smaller classes" in " ".join(data.caption)
    only = methods_data(compared(posterior), classes=["h"])
    np.testing.assert_array_equal(only.points[:, 0], [posterior.mean[7], posterior.mean[7], posterior.median[7]])
    assert only.left_out == 0


def test_priors_stand_in_the_order_given() -> None:
    one, other = posterior_of(["a", "b"]), posterior_of(["a", "b"], chains=4)
    data = prior_sensitivity_data({"flat": one, "sparse": other}, level=0.5)
    assert data.rows == ("flat", "sparse")
    np.testing.assert_array_equal(data.ends[1], other.interval(0.5))
    np.testing.assert_array_equal(data.reference, one.interval(0.5))
    with pytest.raises(InputError, match="different classes"):
        prior_sensitivity_data({"flat": one, "other": posterior_of(["a", "c"])})
    with pytest.raises(InputError, match="a posterior for each name"):
        prior_sensitivity_data({})


def test_contraction_compares_standard_deviations() -> None:
    posterior = made_posterior(prior=Prior([2, 1]))
    data = contraction_data(posterior)
    np.testing.assert_allclose(data.before, np.sqrt(2 / 36))
    np.testing.assert_allclose(data.kept, posterior.prevalence.std(axis=0) / np.sqrt(2 / 36))


def test_other_designs_have_no_prior_of_the_shares() -> None:
    posterior = infer(Counts([[9, 2], [1, 8]], [30, 20]), ByPrediction())
    assert not density_data(posterior).prior_heights.any()
    assert "rey" not in " ".join((*density_data(posterior).caption, *pair_data(posterior).caption))
    assert len(pair_data(posterior).prior) == 0
    with pytest.raises(InputError, match="only label shift has a prior"):
        contraction_data(posterior)


def test_coverage_band_is_binomial_and_levels_rise() -> None:
    found = covered(posterior_of(list("abcdefgh")))
    data = coverage_data(found)
    np.testing.assert_array_equal(data.levels, [0.5, 0.9])
    np.testing.assert_array_equal(data.band, binom.ppf([0.005, 0.995], 100, [[0.5], [0.9]]) / 100)
    np.testing.assert_allclose(data.held[0], 0.5 - 0.01 * np.array(data.positions))
    assert data.left_out == 2
    assert coverage_data(found, classes=["c"]).held.tolist() == [[0.48], [0.88]]
    with pytest.raises(InputError, match="found is of type list"):
        coverage_data([0.5])  # type: ignore[arg-type]


def test_at_the_edge_everything_is_finite() -> None:
    posterior = HARD["edge"]()
    for data in (density_data(posterior), pair_data(posterior), contraction_data(posterior)):
        arrays = [value for name in data.__slots__ if isinstance(value := getattr(data, name), np.ndarray)]
        assert all(np.isfinite(array).all() for array in arrays)


def test_the_confusion_of_many_classes_is_folded_and_nothing_is_lost() -> None:
    labeled = np.diag(np.arange(1, 46)) * 10 + np.eye(45, k=1, dtype=int)
    posterior = infer(Counts(labeled, labeled.sum(axis=0)), ByPrediction())
    data = confusion_data(posterior)
    assert data.classes == data.outputs == (*range(44, 14, -1), "15 others")
    np.testing.assert_allclose(data.mean.sum(axis=1), 1)
    joint = posterior.prevalence[:: posterior.draws.stride, :, None] * posterior.confusion
    corner, held = joint[:, :15, :15].sum(axis=(1, 2)), joint[:, :15].sum(axis=(1, 2))
    assert data.mean[-1, -1] == pytest.approx((corner / held).mean())
    assert data.mean[0, 0] == pytest.approx(posterior.confusion[:, 44, 44].mean())
