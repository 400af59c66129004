"""Groups of two classes whose prevalences are integrated over: the integral, its draws, coordinates, and agreement."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import betaln, expit

from truecount import Groups, Independent, LabelShift, Pooled, Prior, infer
from truecount.inference import hierarchical
from truecount.inference.convergence import effective_fast
from truecount.inference.hierarchical import sample_groups
from truecount.inference.integrated.coordinates import CommonCoordinates
from truecount.inference.integrated.integral import Common, integrate_groups
from truecount.inference.integrated.mixture import TMixture
from truecount.inference.integrated.sampling import can_integrate
from truecount.models.groups import group_density
from truecount.models.hierarchy.log_ratios import log_ratio_basis

LABELS = [[45, 5], [10, 40]]
ITEMS = {"a": [30, 20], "b": [10, 40], "c": [2500, 2500], "d": [0, 0], "e": [3, 7]}
ALIKE = Groups(LABELS, {at: [300 + 5 * at, 700 - 5 * at] for at in range(8)})
THREE_OUTPUTS = Groups(
    [[40, 5, 5], [6, 40, 4]],
    {"a": [30, 20, 9], "b": [10, 40, 5], "c": [250, 250, 90], "d": [3, 7, 1]},
    classes=["pass", "fail"],
    outputs=["pass", "fail", "unsure"],
)
COVARIATE = Pooled(covariates={"age": [1.0, 2.0, 4.0, 3.0, 0.0]})
PROBLEMS = {
    "pooled": (Groups(LABELS, ITEMS), Prior(), Pooled()),
    "Dirichlet": (Groups(LABELS, ITEMS), Prior(), Pooled(kind="dirichlet")),
    "independent": (Groups(LABELS, ITEMS), Prior(), Independent()),
    "covariate": (Groups(LABELS, ITEMS), Prior(), COVARIATE),
    "three outputs": (THREE_OUTPUTS, Prior(), Pooled()),
    "known rows": (Groups(LABELS, ITEMS), Prior.known_confusion([[0.9, 0.1], [0.2, 0.8]]), Pooled()),
}


def density_of(name):
    return group_density(*PROBLEMS[name])


def some_points(density, rng, size):
    """What groups may have in common, of a prior that is wider than any posterior."""
    n_outputs = len(density.unlabeled)
    rows = np.stack([rng.dirichlet(2 + 6 * np.eye(2, n_outputs)[at], size) for at in (0, 1)], axis=1)
    coefficients = rng.normal(size=(size, len(density.centre.design), 1)) * 2
    return Common(rows, coefficients, rng.normal(size=(size, density.n_spreads)))


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_integral_is_that_of_a_fine_grid_of_shares(name, seed):
    rng, density = np.random.default_rng(seed), density_of(name)
    common = some_points(density, rng, 4)
    logits = np.linspace(-45, 45, 180_001)
    share = expit(logits)[:, None]
    spread, located = density.all_spreads(common.scores)[:, 0], density.centre.located(common.coefficients)
    expected, means = np.zeros(4), np.empty((4, density.n_groups))
    for at in range(4):
        outputs = share[:, None] * common.rows[at, 0] + (1 - share[:, None]) * common.rows[at, 1]
        logs = (np.log(outputs) @ density.unlabeled)[:, 0]
        if density.dirichlet is None:
            logs += -0.5 * ((logits[:, None] - located[at]) / spread[at]) ** 2 - np.log(spread[at] * np.sqrt(2 * np.pi))
        else:
            first, second = density.dirichlet.concentration(located[[at]], spread[[at]])[0]
            log_share = -np.logaddexp(0, -logits)[:, None]
            logs += first * log_share + second * (log_share - logits[:, None]) - betaln(first, second)
        top = logs.max(axis=0)
        mass = np.exp(logs - top)
        expected[at] = (np.log(mass.sum(axis=0) * (logits[1] - logits[0])) + top).sum()
        means[at] = (mass * share).sum(axis=0) / mass.sum(axis=0)
    np.testing.assert_allclose(integrate_groups(density, common)[0], expected, atol=0.003)
    many = Common(*(np.repeat(each, 2000, axis=0) for each in (common.rows, common.coefficients, common.scores)))
    drawn = integrate_groups(density, many, rng)[1].reshape(4, 2000, -1)
    error = drawn.std(axis=1) / np.sqrt(2000)
    assert (np.abs(drawn.mean(axis=1) - means) < 5 * error + 1e-9).all()


@pytest.mark.parametrize("name", PROBLEMS)
def test_coordinates_have_the_density_of_what_they_stand_for(name, seed):
    """The prior of rows, centre and scores, times the volume of the coordinates by differences."""
    rng, density = np.random.default_rng(seed), density_of(name)
    target, common = CommonCoordinates(density), some_points(density, rng, 3)
    free = density.rows.free
    points = target.points(common)
    back, value = target.natural(points)
    np.testing.assert_allclose(back.rows[:, free], common.rows[:, free], rtol=1e-8)
    np.testing.assert_allclose(back.coefficients, common.coefficients)
    inverse = np.linalg.pinv(log_ratio_basis(len(density.unlabeled))).T

    def plain(each):
        found, _ = target.natural(each[None])
        parts = (np.log(found.rows[:, free]) @ inverse, found.coefficients, found.scores)
        return np.concatenate([part.ravel() for part in parts])

    shapes = density.rows.shapes[free]
    for at, point in enumerate(points):
        steps = 1e-6 * np.eye(len(point))
        jacobian = np.array([(plain(point + step) - plain(point - step)) / 2e-6 for step in steps])
        expected = (shapes * np.log(common.rows[at, free])).sum() + np.linalg.slogdet(jacobian)[1]
        expected += density.centre.prior(common.coefficients[[at]])[0][0] - 0.5 * (common.scores[at] ** 2).sum()
        assert value[at] == pytest.approx(expected, abs=1e-5)


def test_a_mixture_is_fitted_to_both_of_two_places_and_has_the_density_of_its_draws(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(2000, 3)) * [1.0, 0.2, 1.0] + np.where(rng.random(2000) < 0.3, 5.0, -5.0)[:, None]
    mixture = TMixture.fitted(points, np.full(2000, 1 / 2000), 5, rng)
    other = TMixture(np.ones(1), np.zeros((1, 3)), 6 * np.eye(3)[None])
    drawn = mixture.draw(20_000, rng)
    above = (drawn[:, 0] > 0).mean()
    assert abs(above - 0.3) < 0.05
    ratio = np.exp(other.log_density(drawn) - mixture.log_density(drawn))
    back = other.draw(20_000, rng)
    inverse = np.exp(mixture.log_density(back) - other.log_density(back))
    assert abs(inverse.mean() - 1) < 5 * inverse.std() / np.sqrt(20_000)
    assert np.isfinite(ratio).all()


def standard_errors(draws, chains):
    return draws.std(axis=0) / np.sqrt(effective_fast(draws, chains))


def assert_same(first, second):
    """Means of shares, rows, centre and spread differ by less than five standard errors."""
    for name in ("prevalence", "confusion", "centre", "spread"):
        values = [getattr(each, name).reshape(len(each.prevalence), -1) for each in (first, second)]
        varies = [np.ptp(each, axis=0) > 0 for each in values]
        kept = varies[0] & varies[1]
        found = [each[:, kept] for each in values]
        errors = [standard_errors(each, draws.chains) for each, draws in zip(found, (first, second), strict=True)]
        apart = np.abs(found[0].mean(axis=0) - found[1].mean(axis=0))
        assert (apart < 5 * np.hypot(*errors) + 1e-9).all(), name


def by_chains(density, monkeypatch, seed):
    """Draw with Hamiltonian chains instead."""
    with monkeypatch.context() as patch:
        patch.setattr(hierarchical, "can_integrate", lambda _: False)
        return sample_groups(density, effective_draws=300, seed=seed)


@pytest.mark.parametrize(
    "name",
    [each if each in ("pooled", "known rows") else pytest.param(each, marks=pytest.mark.slow) for each in PROBLEMS],
)
def test_draws_agree_with_hamiltonian_chains(name, seed, monkeypatch):
    density = density_of(name)
    assert can_integrate(density)
    assert_same(sample_groups(density, effective_draws=1000, seed=seed), by_chains(density, monkeypatch, seed))


def test_the_comparison_sees_another_prior_of_the_spread(seed, monkeypatch):
    density = density_of("known rows")
    wrong = replace(density, spread_scale=0.2)
    with pytest.raises(AssertionError, match=r"spread|centre|prevalence"):
        assert_same(sample_groups(wrong, effective_draws=1000, seed=seed), by_chains(density, monkeypatch, seed))


@pytest.mark.parametrize("kind", ["normal", "dirichlet"])
def test_alike_groups_converge_in_few_draws(kind, seed):
    """One class may be absent from all of them: Hamiltonian chains need 150,000 draws, or do not converge."""
    answer = infer(ALIKE, LabelShift(groups=Pooled(kind=kind)), seed=seed)
    assert answer.status == "ok"
    assert len(answer.prevalence) < 40_000
    assert min(each.effective for each in answer.draws.convergence()) >= 1000
