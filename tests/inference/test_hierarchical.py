"""Joint draws of many groups: gradients, quadrature, limits, and calibration by simulation."""

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.special import gammaln

from group_oracle import flat_logit, gelman_carpenter_logit, pooled_oracle, studies_oracle
from truecount import Auto, Groups, Independent, InputError, LabelShift, Pooled, Prior, Varying, Walk, infer, infer_many
from truecount.diagnostics.hierarchy import group_findings
from truecount.models.hierarchy import GroupDensity
from truecount.models.hierarchy.centre import Centre
from truecount.models.hierarchy.dirichlet import DirichletGroups
from truecount.models.hierarchy.log_ratios import log_ratio_basis
from truecount.models.hierarchy.random_labels import RandomLabels
from truecount.models.hierarchy.rows import Rows
from truecount.models.learned import learned_rows

FALSE_ALARMS = 1e-4
"""A sound engine fails a statistical test of this file so often."""
WALK = np.tril(np.ones((6, 6)))[:, 1:] * np.sqrt([1, 1, 3, 0.5, 1])
BASIS = log_ratio_basis(3)
KINDS = {
    "pooled": {},
    "walk": {"loadings": (WALK,)},
    "walk and noise": {"loadings": (WALK, np.eye(6))},
    "varying": {"labeled": True},
    "varying walk": {"loadings": (WALK,), "labeled": True},
    "dirichlet": {"dirichlet": DirichletGroups(BASIS)},
    "independent": {"dirichlet": DirichletGroups(BASIS, np.array([1.0, 2.0, 0.5]))},
    "varying dirichlet": {"dirichlet": DirichletGroups(BASIS), "labeled": True},
    "random labels": {"labeled": True, "random_labels": True},
    "random labels dirichlet": {"dirichlet": DirichletGroups(BASIS), "labeled": True, "random_labels": True},
    "learned rows": {"learned": True},
}


def a_density(kind, seed):
    """Three classes, one of whose rows is known, four outputs, six units; coordinates of two chains."""
    rng = np.random.default_rng(seed)
    known = np.full((3, 4), np.nan)
    known[1] = [0.1, 0.2, 0.3, 0.4]
    shapes = rng.gamma(2, 2, (3, 4)) + 0.2
    shapes[0, 0] = 0.3
    design = np.vstack([np.ones(6), rng.normal(size=6)])[: 0 if kind == "independent" else 2]
    centre = Centre(np.array([1.0, 2.0, 0.5]), design, BASIS)
    items = rng.poisson(20, (4, 6)).astype(float)
    options = {**KINDS[kind]}
    if "labeled" in options:
        options["labeled"] = rng.poisson(3, (3, 4, 6)).astype(float)
    if "random_labels" in options:
        options["random_labels"] = RandomLabels(options["labeled"].sum(axis=1) * (np.arange(6) < 5), BASIS)
    learned = None
    if options.pop("learned", False):
        learned = learned_rows(rng.poisson(3, (3, 4)).astype(float), [[0], [1], [2, 3]], ~np.isnan(known[:, 0]))
    density = GroupDensity(Rows(shapes, known, learned), items, centre, **options)
    density = density.recentred(rng.random(density.latent_shape))
    return density, 0.7 * rng.normal(size=(2, density.n_hyper)), rng.normal(size=(2, *density.latent_shape))


@pytest.mark.parametrize("kind", KINDS)
def test_the_curvature_is_exact_where_counts_are_as_expected(kind, seed):
    density, hyper, latent = a_density(kind, seed)
    hyper, latent = hyper[:1], latent[:1]
    shares = density.prevalence(hyper, latent)[0]
    if density.labeled is None:
        expected = replace(density, unlabeled=density.common_rows(hyper)[0].T @ shares * density.unlabeled.sum(axis=0))
    else:
        rows = density.unit_rows(hyper, latent)[0].transpose(1, 2, 0)
        expected = replace(
            density,
            labeled=rows * density.labeled.sum(axis=1)[:, None],
            unlabeled=(shares[:, None] * rows).sum(axis=0) * density.unlabeled.sum(axis=0),
        )
    step = 1e-5
    for at in range(density.latent_shape[0]):
        move = np.zeros(latent.shape)
        move[:, at] = step
        ahead, behind = (expected.value_and_gradient(hyper, latent + sign * move)[2] for sign in (1, -1))
        found = expected.curvature(hyper, latent)[0, at]
        np.testing.assert_allclose(found, -(ahead - behind)[0] / (2 * step), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_those_of_the_value(kind, seed):
    density, hyper, latent = a_density(kind, seed)
    _, by_hyper, by_latent = density.value_and_gradient(hyper, latent)
    step = 1e-5
    for at in range(density.n_hyper):
        move = step * np.eye(density.n_hyper)[at]
        ahead, behind = (density.value_and_gradient(hyper + sign * move, latent)[0] for sign in (1, -1))
        np.testing.assert_allclose(by_hyper[:, at], (ahead - behind) / (2 * step), rtol=1e-5, atol=1e-5)
    for at in np.ndindex(*density.latent_shape):
        move = np.zeros(density.latent_shape)
        move[at] = step
        ahead, behind = (density.value_and_gradient(hyper, latent + sign * move)[0] for sign in (1, -1))
        np.testing.assert_allclose(by_latent[(slice(None), *at)], (ahead - behind) / (2 * step), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_the_centring_changes_coordinates_and_not_the_density(kind, seed):
    density, hyper, latent = a_density(kind, seed)
    other = density.recentred(np.random.default_rng(seed + 1).random(density.latent_shape))
    moved = other.own_latent(hyper, density.standard_latent(hyper, latent))
    np.testing.assert_allclose(density.prevalence(hyper, latent), other.prevalence(hyper, moved), rtol=1e-10)
    spread = density.all_spreads(density.parts(hyper)[2])[:, density.spread_of_latent, None]
    jacobian = (np.log(spread) * (other.centring - density.centring)).sum(axis=(1, 2))
    before, after = density.value_and_gradient(hyper, latent)[0], other.value_and_gradient(hyper, moved)[0]
    np.testing.assert_allclose(before, after + jacobian, rtol=1e-9)


@pytest.mark.parametrize("empty", [0, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_spreads_given_deviations_have_the_density_that_they_have_with_them(kind, empty, seed):
    """Moving one spread at fixed deviations changes the whole density by as much as the conditional one.

    Deviations of groups without items may move with it, as long as their standard latents keep their density.
    """
    density, hyper, latent = a_density(kind, seed)
    unlabeled = density.unlabeled.copy()
    unlabeled[:, :empty] = 0
    density = replace(density, unlabeled=unlabeled)
    if not density.n_spreads:
        return
    plain = density.recentred(np.zeros(density.latent_shape))
    standard = density.standard_latent(hyper, latent)
    deviation, log_density = density.spreads_given_deviations(hyper, standard)
    before = plain.value_and_gradient(hyper, standard)[0]
    for at in range(density.n_spreads):
        moved = hyper.copy()
        moved[:, hyper.shape[1] - density.n_spreads + at] += 0.3
        spread = density.all_spreads(density.parts(moved)[2])[:, density.spread_of_latent, None]
        old = density.all_spreads(density.parts(hyper)[2])[:, density.spread_of_latent, None]
        jacobian = (np.log(old / spread) * density.tells_spread).sum(axis=(1, 2))
        there = np.where(density.tells_spread > 0, deviation / spread, standard)
        gain = plain.value_and_gradient(moved, there)[0] - before + jacobian
        found = log_density(density.parts(moved)[2]) - log_density(density.parts(hyper)[2])
        np.testing.assert_allclose(found[:, at], gain, rtol=1e-8, atol=1e-8)


def test_rows_drawn_from_their_labels_have_their_dirichlet_means(seed):
    shapes = np.array([[0.2, 0.5, 3.0], [20.0, 5.0, 1.0]])
    rows = Rows(shapes, np.full((2, 3), np.nan))
    drawn = rows.natural(rows.draw(20_000, np.random.default_rng(seed)))[0]
    size = shapes.sum(axis=1, keepdims=True)
    mean = shapes / size
    error = np.sqrt(mean * (1 - mean) / (size + 1) / 20_000)
    assert (np.abs(drawn.mean(axis=0) - mean) < 5 * error).all()
    np.testing.assert_allclose(drawn.var(axis=0), mean * (1 - mean) / (size + 1), rtol=0.1)


@pytest.mark.parametrize("shape", [3.0, 0.3, 0.01, 0.001])
def test_cells_of_any_shape_have_a_proper_density_and_finite_draws(shape):
    """Of the first cell of two; in coordinates an exponential tail on the left, however small the shape."""
    rows = Rows(np.array([[shape, 1.0]]), np.full((1, 2), np.nan))
    grid = np.linspace(-60, 60, 200_001)
    _, logs, slope, _ = rows.natural(np.column_stack([grid, np.zeros_like(grid)]))
    density = np.exp(shape * logs[:, 0, 0] - np.exp(logs[:, 0, 0]) - gammaln(shape)) * slope[:, 0, 0] * rows.scale[0, 0]
    assert np.trapezoid(density, grid) == pytest.approx(1, abs=2e-3)
    drawn = rows.draw(20_000, np.random.default_rng(0))[:, 0]
    mean, square = (np.trapezoid(density * grid**power, grid) for power in (1, 2))
    assert abs(drawn.mean() - mean) < 5 * np.sqrt((square - mean**2) / 20_000)


def test_rows_of_a_learned_prior_average_over_it(seed):
    """Drawn from the labels alone, and as a density over that of the reference: the mean over the grid is known."""
    labels = np.array([[9.0, 1.0, 0.0], [2.0, 5.0, 0.0], [0.0, 1.0, 1.0]])
    learned = learned_rows(labels, [[0], [1], [2]], np.zeros(3, bool))
    shapes = learned.rows_at(np.arange(len(learned.even))) + labels
    mean = np.einsum("p,plk->lk", learned.probability, shapes / shapes.sum(axis=2, keepdims=True))
    fixed = Rows(learned.reference_rows + labels, np.full((3, 3), np.nan))
    rows, rng = replace(fixed, learned=learned), np.random.default_rng(seed)
    drawn = rows.natural(rows.draw(20_000, rng))[0]
    assert (np.abs(drawn.mean(axis=0) - mean) < 5 * drawn.std(axis=0) / np.sqrt(20_000)).all()
    points = fixed.draw(20_000, rng)
    drawn, _, _, value = rows.natural(points)
    weights = np.exp(value - fixed.natural(points)[3])
    weights /= weights.mean()
    influence = weights[:, None, None] * (drawn - mean)
    assert (np.abs(influence.mean(axis=0)) < 5 * influence.std(axis=0) / np.sqrt(20_000)).all()
    assert weights.std() > 0.1


def districts(number):
    """The first districts of REACT-2, round 4."""
    folder = os.environ.get("TRUECOUNT_DATA")
    if folder is None:
        pytest.skip("TRUECOUNT_DATA names no folder")
    data = json.loads((Path(folder) / "published" / "react2_districts_round4.json").read_text())
    positive, total = (np.array(data[name])[:number] for name in ("positive", "total"))
    return positive, total, Groups([[38, 7], [7, 493]], dict(enumerate(np.stack([positive, total - positive], axis=1))))


def errors(draws, chains):
    """Standard errors of the means of (draws, values)."""
    from truecount.inference.convergence import effective_fast

    return draws.std(axis=0) / np.sqrt(effective_fast(draws, chains))


def assert_agrees(answer, oracle):
    """Means within five standard errors, standard deviations within five of theirs."""
    chains = answer.draws.chains
    found = np.column_stack([answer.confusion[:, 0, 0], answer.confusion[:, 1, 1], answer.spread[:, 0]])
    names = ("sensitivity", "specificity", "spread")
    squares = (found - found.mean(axis=0)) ** 2
    for at, name in enumerate(names):
        assert abs(found[:, at].mean() - oracle.mean[name]) < 5 * errors(found, chains)[at], name
        error = errors(squares, chains)[at] / (2 * oracle.sd[name])
        assert abs(found[:, at].std() - oracle.sd[name]) < 5 * error, name
    shares = answer.prevalence[:, :, 0]
    assert (np.abs(shares.mean(axis=0) - oracle.share) < 5 * errors(shares, chains) + 1e-5).all()


def test_ten_districts_agree_with_quadrature(seed):
    positive, total, groups = districts(10)
    assert_agrees(infer(groups, seed=seed), pooled_oracle(positive, total, (38, 45), (493, 500)))


@pytest.mark.slow
def test_the_comparison_with_quadrature_sees_a_wrong_prior(seed):
    positive, total, groups = districts(10)
    oracle = pooled_oracle(positive, total, (38, 45), (493, 500), spread_scale=0.2, step=1.0)
    with pytest.raises(AssertionError):
        assert_agrees(infer(groups, seed=seed), oracle)


@pytest.mark.slow
def test_all_districts_agree_with_quadrature(seed):
    positive, total, groups = districts(315)
    answer = infer(groups, seed=seed)
    assert_agrees(answer, pooled_oracle(positive, total, (38, 45), (493, 500), step=1.0))
    assert [finding.code for finding in answer.findings] == []


def test_known_rates_give_the_published_districts():
    """Near Rogan and Gladen's estimate at 84.4 and 98.6 %, and drawn together."""
    positive, total, groups = districts(40)
    prior = Prior.known_confusion([[0.844, 0.156], [0.014, 0.986]])
    answer = infer(groups, prior=prior, seed=1)
    adjusted = (positive / total - 0.014) / (0.844 - 0.014)
    own = np.sqrt(positive / total * (1 - positive / total) / total) / (0.844 - 0.014)
    assert (np.abs(answer.mean[:, 0] - adjusted) < 3 * own).all()
    assert answer.mean[:, 0].std() < adjusted.std()
    assert np.ptp(answer.confusion, axis=0).max() == 0


def test_same_seed_same_draws():
    groups = Groups([[40, 10], [5, 45]], {"a": [30, 20], "b": [10, 40], "c": [25, 25]})
    first, second = (infer(groups, seed=7, engine=Auto(100)) for _ in range(2))
    assert (first.prevalence == second.prevalence).all()
    assert not (first.prevalence[0] == infer(groups, seed=8, engine=Auto(100)).prevalence[0]).all()


@pytest.mark.slow
def test_small_groups_borrow_and_large_ones_do_not():
    groups = Groups(
        [[900, 100], [100, 900]],
        {"large": [50_000, 50_000], "small": [9, 1], **{f"other {at}": [3000, 7000] for at in range(6)}},
    )
    answer = infer(groups, seed=1)
    alone = (0.9 - 0.1) / 0.8
    assert answer.mean[1, 0] < alone - 0.1
    assert abs(answer.mean[0, 0] - 0.5) < 0.03


@pytest.mark.slow
def test_an_empty_week_of_a_walk_is_predicted_between_its_neighbours():
    weeks = {
        at: [0, 0] if at == 3 else [int(1000 * share), int(1000 * (1 - share))]
        for at, share in enumerate([0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5])
    }
    answer = infer(Groups([[900, 100], [100, 900]], weeks, times=list(weeks)), LabelShift(groups=Walk()), seed=1)
    assert answer.mean[2, 0] < answer.mean[3, 0] < answer.mean[4, 0]
    assert answer.sd[3, 0] > answer.sd[2, 0]
    assert [finding.code for finding in answer.findings] == ["group-without-items"]


@pytest.mark.parametrize(
    "scale",
    [
        *(pytest.param(each, marks=pytest.mark.slowest) for each in (1.0, 0.3)),
        pytest.param(0.1, marks=pytest.mark.slow),
    ],
)
def test_studies_agree_with_quadrature(scale, seed):
    """Gelman and Carpenter's 13 and 3 studies of Santa Clara's test: our prior of the means, and theirs by weights."""
    folder = os.environ.get("TRUECOUNT_DATA")
    if folder is None:
        pytest.skip("TRUECOUNT_DATA names no folder")
    data = json.loads((Path(folder) / "published" / "gelman_carpenter_hierarchical.json").read_text())
    negative, positive = data["specificity_studies"], data["sensitivity_studies"]
    labeled = {f"a{at}": [[0, 0], [n - r, r]] for at, (r, n) in enumerate(zip(*negative.values(), strict=True))}
    labeled |= {f"b{at}": [[r, n - r], [0, 0]] for at, (r, n) in enumerate(zip(*positive.values(), strict=True))}
    survey = data["survey"]["positive"], data["survey"]["tested"]
    groups = Groups(labeled, {"survey": [survey[0], survey[1] - survey[0]]})
    model = LabelShift(groups=Independent(), confusion=Varying(spread=scale))
    answer = infer(groups, model, engine=Auto(10_000), seed=seed)
    assert answer.status == "ok"
    common, rows = answer.draws.common_rows, answer.confusion[:, 0]
    found = {
        "prevalence": answer.prevalence[:, 0, 0],
        "sensitivity": rows[:, 0, 0],
        "specificity": rows[:, 1, 1],
        "sensitivity spread": answer.confusion_spread[:, 0],
        "specificity spread": answer.confusion_spread[:, 1],
        "sensitivity mean": np.log(common[:, 0, 0] / common[:, 0, 1]),
        "specificity mean": np.log(common[:, 1, 1] / common[:, 1, 0]),
    }
    studies = [tuple(each.values()) for each in (positive, negative)]
    means = found["sensitivity mean"], found["specificity mean"]
    logs = sum(gelman_carpenter_logit(each) - flat_logit(each) for each in means)
    for prior, weights in ((flat_logit, np.ones(len(logs))), (gelman_carpenter_logit, np.exp(logs - logs.max()))):
        oracle = studies_oracle(survey, *studies, scale=scale, prior=prior)
        weights = weights / weights.mean()
        for name, values in found.items():
            influence = (weights * (values - oracle.mean[name]))[:, None]
            assert abs(influence.mean()) < 5 * errors(influence, answer.draws.chains)[0], (prior.__name__, name)
    oracle = studies_oracle(survey, *studies, scale=scale)
    assert_tails_agree(found["prevalence"], oracle.share, answer.draws.chains)
    with pytest.raises(AssertionError):
        assert_tails_agree(0.9 * found["prevalence"], oracle.share, answer.draws.chains)


def assert_tails_agree(values, masses, chains):
    """Compare tail probabilities, not the standard deviation, which is that of a few draws far out.

    At scale 0.3, 15 % of the variance lie beyond a prevalence of 20 %, where one draw in 20,000 is.
    """
    shares = ((np.arange(2000) + 0.5) / 2000) ** 3
    for bound in (0.01, 0.015, 0.02, 0.03, 0.04, 0.06, 0.1, 0.2, 0.4):
        expected = masses[shares > bound].sum()
        if len(values) * min(expected, 1 - expected) > 50:
            beyond = (values > bound).astype(float)[:, None]
            assert abs(beyond.mean() - expected) < 5 * errors(beyond, chains)[0], bound


@pytest.mark.slow
def test_a_target_without_labels_is_less_certain_where_studies_differ():
    alike = {f"study {at}": [[90, 10], [10, 90]] for at in range(4)}
    differing = {f"study {at}": [[70 + 8 * at, 30 - 8 * at], [10, 90]] for at in range(4)}
    model = LabelShift(groups=Independent(), confusion=Varying())
    first, second = (infer(Groups(each, {"t": [400, 600]}), model, engine=Auto(100)) for each in (alike, differing))
    assert first.confusion.shape[1:] == (1, 2, 2)
    assert first.sd[0, 0] < second.sd[0, 0]
    assert first.confusion_spread[:, 0].mean() < second.confusion_spread[:, 0].mean()
    assert "few-studies" in [finding.code for finding in first.findings]


def test_one_study_leaves_the_spread_of_the_confusion_to_its_prior():
    model = LabelShift(groups=Independent(), confusion=Varying(spread=0.3))
    answer = infer(Groups([[90, 10], [10, 90]], {"t": [40, 60]}), model, engine=Auto(400))
    assert ("few-studies", "caution") in [(finding.code, finding.severity) for finding in answer.findings]
    prior = 0.3 * np.sqrt(2 / np.pi)
    assert abs(answer.confusion_spread.mean() - prior) < 5 * errors(answer.confusion_spread, answer.draws.chains).max()


def test_chains_that_disagree_are_named():
    answer = infer(Groups([[40, 10], [5, 45]], {"a": [30, 20], "b": [10, 40], "c": [25, 25]}), engine=Auto(50))
    spread = answer.spread.copy()
    spread[: len(spread) // 2] += 10
    broken = replace(answer.draws, spread=spread)
    (finding,) = [each for each in group_findings(answer.data, answer.model, broken) if each.code == "not-converged"]
    assert finding.severity == "serious"
    assert "for the spread:" in finding.message
    assert set(finding.numbers["quantities"]) == {"spread", "centre", "confusion", "prevalence"}
    assert replace(answer, draws=broken).status == "no-answer"


@pytest.mark.parametrize("is_stuck", [False, True])
def test_one_stray_chain_among_all_is_named(is_stuck):
    """A chain whose shares of one group lie two standard deviations off, or are those that it began with."""
    answer = infer(Groups([[40, 10], [5, 45]], {"a": [30, 20], "b": [10, 40], "c": [25, 25]}), engine=Auto(100))
    assert "not-converged" not in [each.code for each in answer.findings]
    chains = answer.draws.chains
    assert chains == 32
    shares = answer.prevalence.copy()
    one = shares.reshape(chains, -1, 3, 2)[7, :, 1]
    one[:] = one[0] if is_stuck else one + 2 * answer.sd[1] * [1, -1]
    broken = replace(answer.draws, prevalence=shares)
    (finding,) = [each for each in group_findings(answer.data, answer.model, broken) if each.code == "not-converged"]
    assert "for the prevalence:" in finding.message
    assert replace(answer, draws=broken).status != "ok"


@pytest.mark.parametrize(
    ("argument", "options"),
    [
        ("confusion", {"confusion": "varying"}),
        ("groups", {"groups": "pooled"}),
    ],
)
def test_choices_that_are_none_are_refused(argument, options):
    with pytest.raises(InputError) as caught:
        LabelShift(**options)
    assert caught.value.argument == argument


@pytest.mark.parametrize("kind", [Varying, Pooled, Walk])
@pytest.mark.parametrize("spread", [0, -1, np.nan, np.inf, "wide", True])
def test_scales_that_are_none_are_refused(kind, spread):
    with pytest.raises(InputError, match="a scale is a finite number above 0"):
        kind(spread=spread)


@pytest.mark.parametrize(
    ("covariates", "found"),
    [
        ({"age": [1, 2]}, "has shape"),
        ({"age": [1, 2, np.nan]}, "is missing for 'c'"),
        ({"age": [1, 1, 1]}, "is the same in all groups"),
        ({"age": ["young", "old", "old"]}, "holds other things than numbers"),
        ({"age": {"a": 1, "b": 2}}, "lacks the group 'c'"),
    ],
)
def test_covariates_that_do_not_fit_are_refused(covariates, found):
    groups = Groups([[40, 10], [5, 45]], {"a": [30, 20], "b": [10, 40], "c": [25, 25]})
    with pytest.raises(InputError, match=found):
        infer(groups, LabelShift(groups=Pooled(covariates=covariates)))


def test_a_walk_needs_times_that_differ():
    items = {"a": [30, 20], "b": [10, 40], "c": [25, 25]}
    for times, found in ((None, "have no times"), ([1, 1, 2], "hold one time twice")):
        with pytest.raises(InputError, match=found):
            infer(Groups([[40, 10], [5, 45]], items, times=times), LabelShift(groups=Walk()))


def test_one_group_is_answered():
    answer = infer(Groups([[40, 10], [5, 45]], {"a": [30, 20]}), LabelShift(groups=Pooled()), engine=Auto(50))
    assert "one-group" in [finding.code for finding in answer.findings]


def test_an_output_without_labels_is_found():
    answer = infer(Groups([[40, 10, 0], [5, 45, 0]], {"a": [30, 20, 1], "b": [10, 40, 0]}), engine=Auto(50))
    assert "unseen-output" in [finding.code for finding in answer.findings]


@pytest.mark.parametrize("options", [{"groups": Pooled()}, {"confusion": Varying()}])
def test_how_groups_vary_is_refused_where_populations_are_apart(options):
    groups = Groups([[40, 10], [5, 45]], {"a": [30, 20], "b": [10, 40]})
    for call in (lambda: infer(groups["a"], LabelShift(**options)), lambda: infer_many(groups, LabelShift(**options))):
        with pytest.raises(InputError, match="says how groups vary"):
            call()
