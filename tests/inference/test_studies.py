"""Validation studies that are integrated over: their evidence, coordinates, limits, and groups that are one study."""

from dataclasses import replace

import numpy as np
import pytest

from truecount import Auto, Groups, Independent, InputError, LabelShift, Pooled, Prior, Varying, Walk, infer
from truecount.inference import hierarchical
from truecount.inference.convergence import effective_fast
from truecount.inference.hierarchical import sample_groups
from truecount.inference.integrated.coordinates import CommonCoordinates
from truecount.inference.integrated.integral import Common
from truecount.inference.integrated.sampling import can_integrate
from truecount.inference.integrated.studies import study_evidence
from truecount.models.groups import group_density
from truecount.models.hierarchy.log_ratios import log_ratio_basis

TWO_OUTPUTS = {"a": [[78, 7], [0, 0]], "b": [[27, 10], [0, 0]], "c": [[0, 0], [3, 368]], "d": [[0, 0], [0, 30]]}
THREE_OUTPUTS = {"a": [[30, 5, 4], [3, 40, 2]], "b": [[20, 9, 1], [0, 12, 0]], "survey": [[60, 9, 9], [2, 3, 1]]}
REGIONS = {"north": [150, 3180], "south": [250, 3080], "west": [180, 2500]}
PROBLEMS = {
    "one survey": (Groups(TWO_OUTPUTS, {"survey": [50, 3280]}), Independent()),
    "with labels of its own": (Groups(THREE_OUTPUTS, {"survey": [90, 60, 20]}, [0, 1], [0, 1, 2]), Independent()),
    "regions": (Groups(TWO_OUTPUTS, REGIONS), Pooled()),
    "independent regions": (Groups(TWO_OUTPUTS, REGIONS), Independent()),
}
ONE = Varying(new_study="one")


def density_of(name, confusion=ONE):
    groups, variation = PROBLEMS[name]
    return group_density(groups, Prior(), variation, confusion)


@pytest.mark.parametrize("labels", [[[27, 10]], [[30, 0], [0, 3]], [[368, 3], [1102, 0], [2, 2]]])
def test_the_evidence_of_two_outputs_is_that_of_a_fine_grid(labels, seed):
    labels, rng = np.array(labels, float), np.random.default_rng(seed)
    ratios, spread = rng.normal(2, 2, 6), np.exp(rng.normal(-1, 1, 6))
    noise = np.linspace(-30, 30, 30_001)
    up, down = (-np.logaddexp(0, sign * (ratios[:, None] + spread[:, None] * noise)) for sign in (-1, 1))
    log_weight = -0.5 * noise**2 - 0.5 * np.log(2 * np.pi) + np.log(noise[1] - noise[0])
    expected = np.array([np.logaddexp.reduce(r * up + w * down + log_weight, axis=1) for r, w in labels])
    found = study_evidence(labels, ratios[:, None], spread, log_ratio_basis(2))
    np.testing.assert_allclose(found, expected.sum(axis=0), atol=2e-3)


def test_the_evidence_of_three_outputs_is_that_of_a_fine_grid(seed):
    labels, rng, basis = np.array([[30.0, 5, 0], [4, 0, 1]]), np.random.default_rng(seed), log_ratio_basis(3)
    ratios, spread = rng.normal(1, 1, (4, 2)), np.exp(rng.normal(-1, 0.7, 4))
    axis = np.linspace(-8, 8, 401)
    noise = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    log_weight = -0.5 * (noise**2).sum(axis=1) - np.log(2 * np.pi) + 2 * np.log(axis[1] - axis[0])
    for at in range(4):
        logs = (ratios[at] + spread[at] * noise) @ basis.T
        logs -= np.logaddexp.reduce(logs, axis=1)[:, None]
        expected = sum(np.logaddexp.reduce(logs @ each + log_weight) for each in labels)
        found = study_evidence(labels, ratios[[at]], spread[[at]], basis)[0]
        assert found == pytest.approx(expected, abs=2e-3)


def test_no_study_says_nothing():
    assert study_evidence(np.empty((0, 2)), np.zeros((3, 1)), np.ones(3), log_ratio_basis(2)).tolist() == [0, 0, 0]


@pytest.mark.parametrize("name", PROBLEMS)
def test_coordinates_have_the_density_of_what_they_stand_for(name, seed):
    """Both rows vary normally around common ones; the volume of the coordinates is found by differences."""
    rng, density = np.random.default_rng(seed), density_of(name)
    assert can_integrate(density)
    target, n_outputs = CommonCoordinates(density), len(density.unlabeled)
    basis = log_ratio_basis(n_outputs)
    inverse = np.linalg.pinv(basis).T
    rows, middle = (
        np.stack([rng.dirichlet(2 + 6 * np.eye(2, n_outputs)[at], 3) for at in (0, 1)], axis=1) for _ in range(2)
    )
    coefficients = rng.normal(size=(3, len(density.centre.design), 1))
    common = Common(rows, coefficients, rng.normal(size=(3, density.n_spreads)), middle)
    points = target.points(common)
    back, value = target.natural(points)
    np.testing.assert_allclose(back.rows, rows, rtol=1e-7)
    np.testing.assert_allclose(back.middle, middle, rtol=1e-7)

    def plain(each):
        found, _ = target.placed(each[None])
        parts = (np.log(found.rows) @ inverse, np.log(found.middle) @ inverse, found.coefficients, found.scores)
        return np.concatenate([part.ravel() for part in parts])

    spread = density.spread(common.scores)[:, density.n_prevalence_spreads :]
    is_group = density.is_group
    for at, point in enumerate(points):
        steps = 1e-6 * np.eye(len(point))
        jacobian = np.array([(plain(point + step) - plain(point - step)) / 2e-6 for step in steps])
        apart = (np.log(rows[at]) - np.log(middle[at])) @ inverse / spread[at, :, None]
        expected = (density.rows.shapes * np.log(middle[at])).sum() + np.linalg.slogdet(jacobian)[1]
        expected += (-0.5 * apart**2 - np.log(spread[at, :, None])).sum()
        expected += density.centre.prior(coefficients[[at]])[0][0] - 0.5 * (common.scores[at] ** 2).sum()
        expected += (density.labeled[:, :, is_group].sum(axis=2) * np.log(rows[at])).sum()
        for row in (0, 1):
            labels = density.labeled[row][:, ~is_group].T
            around = np.log(middle[at, row]) @ inverse
            expected += study_evidence(labels[labels.any(axis=1)], around[None], spread[[at], row], basis)[0]
        assert value[at] == pytest.approx(expected, abs=1e-4)


def means_agree(first, second):
    """Whether means of shares and rows differ by less than five standard errors."""
    found = []
    for name in ("prevalence", "confusion"):
        values = [getattr(each, name).reshape(len(each.prevalence), -1) for each in (first, second)]
        errors = [each.std(axis=0) / np.sqrt(effective_fast(each, 32)) for each in values]
        found.append((np.abs(values[0].mean(axis=0) - values[1].mean(axis=0)) < 5 * np.hypot(*errors) + 1e-9).all())
    return all(found)


@pytest.mark.slow
def test_studies_that_cannot_vary_are_one_confusion(seed):
    groups = Groups({"x": [[40, 5], [6, 60]], "y": [[30, 6], [9, 50]]}, REGIONS)
    one = infer(groups, LabelShift(groups=Pooled()), engine=Auto(600), seed=seed)
    confusion = Varying(spread=1e-4, new_study="one")
    alike = infer(groups, LabelShift(groups=Pooled(), confusion=confusion), engine=Auto(600), seed=seed)
    rows = np.broadcast_to(one.confusion[:, None], (len(one.confusion), 3, 2, 2))
    assert means_agree(replace(one.draws, confusion=rows), alike.draws)
    with pytest.raises(AssertionError):
        assert means_agree(replace(one.draws, confusion=1 - rows), alike.draws)


@pytest.mark.slow
def test_draws_agree_with_hamiltonian_chains(seed, monkeypatch):
    density = density_of("with labels of its own")
    found = sample_groups(density, effective_draws=1000, seed=seed, groups=1)
    monkeypatch.setattr(hierarchical, "can_integrate", lambda _: False)
    assert means_agree(found, sample_groups(density, effective_draws=300, seed=seed, groups=1))


def test_one_survey_is_answered_by_few_draws(seed):
    """Chains took minutes: rows and prevalence of a survey without labels lie on a thin, bent ridge."""
    answer = infer(PROBLEMS["one survey"][0], LabelShift(confusion=Varying()), seed=seed)
    assert answer.status == "ok"
    assert len(answer.prevalence) < 40_000
    assert min(each.effective for each in answer.draws.convergence()) >= 1000
    assert "one-group" not in [finding.code for finding in answer.findings]


@pytest.mark.slow
def test_regions_of_one_new_study_share_its_rows(seed):
    groups, _ = PROBLEMS["regions"]
    answer = infer(groups, LabelShift(confusion=ONE), engine=Auto(300), seed=seed)
    assert answer.confusion.shape[1:] == (3, 2, 2)
    assert (answer.confusion == answer.confusion[:, :1]).all()
    assert answer.status == "ok"
    assert "few-studies" in [finding.code for finding in answer.findings]


@pytest.mark.slow
def test_whether_regions_are_one_study_makes_no_difference_to_one_of_them():
    groups = PROBLEMS["one survey"][0]
    models = [LabelShift(confusion=Varying(new_study=each)) for each in ("each", "one")]
    first, second = (infer(groups, model, engine=Auto(300), seed=1) for model in models)
    assert (first.prevalence == second.prevalence).all()


@pytest.mark.parametrize(
    ("groups", "variation"),
    [
        (Groups({"x": 9 * np.eye(3, dtype=int) + 1}, {"a": [3, 4, 5], "b": [5, 4, 3]}), None),
        (Groups({"x": [[9, 1, 1, 1], [1, 1, 1, 9]]}, {"a": [3, 4, 5, 6], "b": [5, 4, 3, 2]}), None),
        (Groups({"x": [[9, 1], [1, 9]], "a": [[9, 1], [1, 9]]}, {"a": [3, 4], "b": [5, 4]}), None),
        (Groups({"x": [[9, 1], [1, 9]]}, {"a": [3, 4], "b": [5, 4]}, times=[1, 2]), Walk()),
    ],
    ids=["three classes", "four outputs", "labels of its own", "walk"],
)
def test_one_new_study_that_no_engine_can_draw_is_refused(groups, variation):
    with pytest.raises(InputError, match="two classes, at most three outputs, no own labels and no trend") as caught:
        infer(groups, LabelShift(groups=variation, confusion=ONE))
    assert caught.value.argument == "confusion"


def test_what_is_no_choice_of_new_studies_is_refused():
    with pytest.raises(InputError, match="new_study"):
        Varying(new_study="both")


def test_an_effective_sample_size_that_is_asked_for_is_reached_whatever_it_is():
    """Also where it is that of one population by default."""
    groups = Groups([[40, 10], [5, 45]], {"a": [30, 20], "b": [10, 40], "c": [25, 25]})
    prior = Prior.known_confusion([[0.8, 0.2], [0.1, 0.9]])
    usual, more = (infer(groups, prior=prior, engine=engine) for engine in (Auto(), Auto(4000)))
    least = [min(each.effective for each in answer.draws.convergence()) for answer in (usual, more)]
    assert 1000 <= least[0] < 4000 <= least[1]


@pytest.mark.slow
def test_random_labels_of_a_group_without_items_tell_its_shares_by_themselves(seed):
    """Given α and class totals m of a random sample, the posterior of the shares is Dirichlet(α + m)."""
    own = {"empty": [[20, 4], [2, 6]], "full": [[9, 3], [2, 8]]}
    groups = Groups(own, {"empty": [0, 0], "full": [30, 40]})
    answer = infer(
        groups, LabelShift(groups=Independent(), confusion=Varying(random_labels=True)), engine=Auto(400), seed=seed
    )
    first, second = 1 + 24, 1 + 8
    mean, sd = first / 34, np.sqrt(first * second / 34**2 / 35)
    effective = effective_fast(answer.prevalence[:, 0, :1], answer.draws.chains)[0]
    assert answer.mean[0, 0] == pytest.approx(mean, abs=4 * sd / np.sqrt(effective))
    assert answer.sd[0, 0] == pytest.approx(sd, rel=4 / np.sqrt(effective))
    np.testing.assert_array_equal(answer.borrowed, 0)


@pytest.mark.slow
def test_random_labels_narrow_a_group_and_lessen_what_it_borrows():
    tables = {f"site {at}": [[40, 10], [8, 42]] for at in range(4)} | {"a": [[50, 12], [3, 15]]}
    groups = Groups(tables, {"a": [60, 40], "b": [30, 70], "c": [50, 50]})
    by_class, random = (
        infer(groups, LabelShift(confusion=Varying(random_labels=is_random)), engine=Auto(200), seed=1)
        for is_random in (False, True)
    )
    assert random.sd[0, 0] < 0.8 * by_class.sd[0, 0]
    assert random.borrowed[0] < by_class.borrowed[0]


@pytest.mark.parametrize("labels", [TWO_OUTPUTS, [[78, 7], [3, 368]]], ids=["studies", "one table"])
def test_random_labels_are_refused_where_no_group_has_labels(labels):
    with pytest.raises(InputError, match="no study is called like a group") as caught:
        infer(Groups(labels, REGIONS), LabelShift(confusion=Varying(random_labels=True)))
    assert "Varying(random_labels=True)" in str(caught.value)


def test_random_labels_are_true_or_false():
    with pytest.raises(InputError, match="random_labels is 'yes'"):
        Varying(random_labels="yes")
