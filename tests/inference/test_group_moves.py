"""Moves of chains of many groups: along the ridge of rows and prevalences, and far along the centre's tail."""

from dataclasses import replace

import numpy as np
import pytest

from truecount import Auto, Groups, LabelShift, Pooled, Prior, infer
from truecount.inference import hierarchical
from truecount.inference.centre_moves import move_centre
from truecount.inference.convergence import effective_fast
from truecount.inference.group_points import GroupPoints, can_integrate_at_points, move_at_points
from truecount.inference.row_draws import can_draw_rows, redraw_rows
from truecount.inference.row_moves import RowMoves, can_move_rows
from truecount.inference.whitening import Whitening
from truecount.models.groups import group_density

ITEMS = {
    3: {"a": [30, 20, 12], "b": [10, 40, 9], "c": [25, 25, 20]},
    4: {"a": [30, 20, 12, 5], "b": [10, 40, 9, 8], "c": [25, 25, 20, 3]},
}


def density_of(n_outputs, variation=None):
    labeled = 3 + 20 * np.eye(3, n_outputs, dtype=int)
    groups = Groups(labeled, ITEMS[n_outputs], range(3), range(n_outputs))
    density = group_density(groups, Prior(), variation or Pooled())
    return density.recentred(np.zeros(density.latent_shape))


def some_chains(density, number, seed):
    rng = np.random.default_rng(seed)
    return 0.4 * rng.normal(size=(number, density.n_hyper)), 0.5 * rng.normal(size=(number, *density.latent_shape)), rng


@pytest.mark.parametrize("variation", [Pooled(), Pooled(covariates={"age": [1.0, 2.0, 4.0]})])
@pytest.mark.parametrize("n_outputs", [3, 4])
def test_the_map_of_rows_has_an_inverse_and_the_volume_of_its_differences(n_outputs, variation, seed):
    density = density_of(n_outputs, variation)
    assert can_move_rows(density)
    hyper, latent, rng = some_chains(density, 2, seed)
    size = density.rows.size
    moves = RowMoves.at(density, hyper[0])
    np.testing.assert_allclose(moves.classes_of_outputs.sum(axis=1), 1)
    other = hyper[:, :size] + 0.05 * rng.normal(size=(2, size))
    new_hyper, new, volume = moves._mapped(hyper, latent, other)
    assert np.isfinite(volume).all()
    back_hyper, back, back_volume = moves._mapped(new_hyper, new, hyper[:, :size])
    np.testing.assert_allclose(back_hyper, hyper, atol=1e-8)
    np.testing.assert_allclose(back, latent, atol=1e-7)
    np.testing.assert_allclose(back_volume, -volume, atol=1e-7)
    if n_outputs == 3:
        rows = [density.common_rows(each) for each in (hyper, new_hyper)]
        shares = [density.prevalence(*each) for each in ((hyper, latent), (new_hyper, new))]
        first, second = (row.swapaxes(1, 2) @ share for row, share in zip(rows, shares, strict=True))
        np.testing.assert_allclose(first, second, rtol=1e-8)

    def rest(flat):
        split = density.n_hyper - size
        moved = moves._mapped(
            np.concatenate([hyper[0, :size], flat[:split]])[None], flat[split:].reshape(latent[:1].shape), other[:1]
        )
        return np.concatenate([moved[0][0, size:], moved[1].ravel()])

    at = np.concatenate([hyper[0, size:], latent[0].ravel()])
    steps = 1e-6 * np.eye(len(at))
    jacobian = np.array([(rest(at + step) - rest(at - step)) / 2e-6 for step in steps])
    assert volume[0] == pytest.approx(np.linalg.slogdet(jacobian)[1], abs=1e-4)


def fitted_to(density, moves, seed, n_chains=2000, times=12):
    """Start at the prior of all that moves, and move where there are no items: the prior must stay."""
    rng = np.random.default_rng(seed)
    density = replace(density, unlabeled=np.zeros_like(density.unlabeled))
    hyper = np.concatenate(
        [density.rows.draw(n_chains, rng), np.empty((n_chains, 2)), rng.normal(size=(n_chains, density.n_spreads))],
        axis=1,
    )
    share = rng.dirichlet(np.ones(3), n_chains)
    place = slice(density.rows.size, density.rows.size + 2)
    hyper[:, place] = np.log(share) @ np.linalg.pinv(density.centre.basis).T
    latent = rng.normal(size=(n_chains, *density.latent_shape))
    before = (hyper.copy(), latent.copy())
    for _ in range(times):
        hyper, latent = moves(density, hyper, latent, rng)
    assert (hyper != before[0]).any(axis=1).mean() > 0.5
    found = [
        np.concatenate([each.reshape(n_chains, -1) for each in pair], axis=1) for pair in (before, (hyper, latent))
    ]
    return [np.concatenate([each, each**2], axis=1) for each in found]


def assert_same_moments(found):
    """First and second moments before and after differ by less than five standard errors."""
    error = np.hypot(*(each.std(axis=0) / np.sqrt(len(each)) for each in found))
    assert (np.abs(found[0].mean(axis=0) - found[1].mean(axis=0)) < 5 * error).all()


def by_rows(density, hyper, latent, rng):
    return RowMoves.at(density, np.zeros(density.n_hyper)).move(hyper, latent, rng)


def by_centre(density, hyper, latent, rng):
    return move_centre(density, hyper, latent, rng), latent


def by_points(density, hyper, latent, rng):
    whitening = Whitening.at(density, np.zeros(density.n_hyper), np.zeros(density.latent_shape))
    moved = [
        move_at_points(whitening, *each, 0.4, 2, rng)[:2]
        for each in zip(*whitening.standard(hyper, latent), strict=True)
    ]
    return whitening.natural(*map(np.stack, zip(*moved, strict=True)))


@pytest.mark.parametrize("n_outputs", [3, 4])
@pytest.mark.parametrize("moves", [by_rows, by_centre])
def test_moves_leave_the_density_as_it_is(moves, n_outputs, seed):
    assert_same_moments(fitted_to(density_of(n_outputs), moves, seed))


def test_that_sees_a_wrong_volume(seed, monkeypatch):
    right = RowMoves._mapped

    def wrong(*args):
        hyper, latent, volume = right(*args)
        return hyper, latent, np.where(np.isfinite(volume), -volume, volume)

    monkeypatch.setattr(RowMoves, "_mapped", wrong)
    with pytest.raises(AssertionError):
        assert_same_moments(fitted_to(density_of(3), by_rows, seed, n_chains=4000))


def test_moves_at_points_leave_the_density_as_it_is(seed):
    assert_same_moments(fitted_to(density_of(3), by_points, seed, n_chains=400, times=3))


def test_that_sees_points_taken_for_evenly_spread(seed, monkeypatch):
    right = GroupPoints.around
    monkeypatch.setattr(
        GroupPoints,
        "around",
        lambda *args: (lambda points: replace(points, log_weight=np.zeros_like(points.log_weight)))(right(*args)),
    )
    with pytest.raises(AssertionError):
        assert_same_moments(fitted_to(density_of(3), by_points, seed, n_chains=400, times=3))


def squares_after_near_points(near, seed, number=4000, times=4):
    """Start groups without items at their standard normal prior; return their squares after some moves nearby."""
    groups = Groups(5 * np.eye(3, dtype=int), {at: [1, 1, 1] for at in range(number)})
    density = group_density(groups, Prior(), Pooled())
    density = replace(density, unlabeled=np.zeros_like(density.unlabeled))
    whitening = Whitening.at(density, np.zeros(density.n_hyper), np.zeros(density.latent_shape))
    rng = np.random.default_rng(seed)
    z, y = rng.standard_normal((2, number)), np.zeros(density.n_hyper)
    before = z
    for _ in range(times):
        points = near(whitening, z, 8, rng)
        z = points.chosen(points.value_and_gradient(y)[2], rng)
    assert (z != before).mean() > 0.9
    return (z**2).ravel()


def test_points_near_a_group_leave_the_density_as_it_is(seed):
    found = squares_after_near_points(GroupPoints.near, seed)
    assert abs(found.mean() - 1) < 5 * found.std() / np.sqrt(len(found))


def test_that_sees_near_points_that_are_not_around_a_middle(seed):
    """Points around z itself are not alike: z is in their midst."""

    def wrong(whitening, z, number, rng):
        others = z[..., None] + rng.standard_normal((*z.shape, number - 1))
        return GroupPoints(whitening, np.concatenate([z[..., None], others], axis=2), np.zeros((z.shape[1], number)))

    found = squares_after_near_points(wrong, seed)
    assert abs(found.mean() - 1) > 5 * found.std() / np.sqrt(len(found))


def changes_of_rows(prior, seed, *, times=1, number=1500):
    """Draw rows from their prior and items from rows; then rows given items, which must keep the prior's moments.

    Returned are changes of rows, their squares, sums of gammas and the fit to the items, shape (data sets, …).
    """
    rng = np.random.default_rng(seed)
    groups = Groups(np.eye(3, 4, dtype=int), {"a": [9, 9, 9, 9], "b": [9, 0, 3, 9]}, range(3), range(4))
    density = group_density(groups, prior, Pooled())
    hyper = np.zeros((number, density.n_hyper))
    hyper[:, : density.rows.size] = density.rows.draw(number, rng)
    shares, found = rng.dirichlet(np.ones(3), (number, 2)).swapaxes(1, 2), ([], [])
    for at in range(number):
        here, share = hyper[at : at + 1], shares[at : at + 1]
        outputs = (density.common_rows(here)[0].T @ share[0]).T
        items = rng.multinomial(20, outputs / outputs.sum(axis=1, keepdims=True)).T
        after = redraw_rows(replace(density, unlabeled=times * items), here, share, rng)
        for place, points in zip(found, (here, after), strict=True):
            rows = density.common_rows(points)[0]
            fit = (items * np.log(np.maximum(rows.T @ share[0], 1e-300))).sum()
            sums = np.log(np.exp(density.rows.natural(points[:, : density.rows.size])[1][0]).sum(axis=1))
            place.append(np.concatenate([rows.ravel(), rows.ravel() ** 2, sums, [fit]]))
    return np.array(found[1]) - np.array(found[0])


def assert_zero_mean(differences):
    error = differences.std(axis=0) / np.sqrt(len(differences))
    assert (np.abs(differences.mean(axis=0)) < 5 * error).all()


@pytest.mark.parametrize("prior", [Prior(confusion=0.2), Prior(confusion="learned")])
def test_rows_that_are_drawn_given_the_classes_of_items_keep_the_density(prior, seed):
    assert_zero_mean(changes_of_rows(prior, seed))


def test_that_sees_items_that_count_four_times(seed):
    with pytest.raises(AssertionError):
        assert_zero_mean(changes_of_rows(Prior(confusion=0.2), seed, times=4))


def test_rows_are_not_drawn_given_classes_where_they_are_not_sparse_or_items_not_whole():
    assert not can_draw_rows(density_of(3))
    sparse = density_of(3)
    sparse = replace(sparse, rows=replace(sparse.rows, shapes=np.full((3, 3), 0.1)))
    assert can_draw_rows(sparse)
    assert not can_draw_rows(replace(sparse, unlabeled=sparse.unlabeled + 0.5))


SPARSE = Groups(
    [[18, 0, 0, 2], [0, 20, 0, 0], [0, 1, 19, 0]],
    {"a": [179, 113, 5, 3], "b": [231, 37, 28, 4], "c": [187, 55, 53, 5]},
    range(3),
    range(4),
)
"""With cells of 0.01 and no label, some rows have a single cell, whose share is 1 to all digits in most draws."""


def test_trajectories_leave_sparse_cells_as_they_are_and_move_the_others(seed, monkeypatch):
    plain = group_density(SPARSE, Prior(1.0, 0.01), Pooled())
    start = Whitening.at(plain, np.zeros(plain.n_hyper), np.zeros(plain.latent_shape))
    chains = hierarchical._started(start, 8, np.random.default_rng(seed), cut=False)
    for name in ("_draw_rows", "_move_rows"):
        monkeypatch.setattr(hierarchical._Chains, name, lambda self: None)
    before, _ = chains.place()
    chains.step = 0.05
    chains.iterate()
    moved = np.abs(chains.place()[0] - before).max(axis=0)
    is_sparse = np.append(plain.rows.shapes.ravel() < 0.2, np.zeros(plain.n_hyper - 12, bool))
    assert is_sparse.sum() == 7
    assert moved[is_sparse].max() < 1e-12
    assert moved[~is_sparse].min() > 1e-3


@pytest.mark.slow
def test_groups_with_sparse_rows_converge_soon(seed):
    """Trajectories that moved sparse cells would take steps too short to end."""
    answer = infer(SPARSE, LabelShift(Prior(1.0, 0.01)), engine=Auto(100), seed=seed)
    assert answer.status == "ok"
    assert answer.draws.iterations <= sum(hierarchical.ROUNDS) + hierarchical.TUNING + 5 * hierarchical.BLOCK
    assert answer.draws.gradients < 20 * answer.draws.iterations


def test_chains_that_stay_where_they_are_are_given_up(monkeypatch):
    def stay(self):
        self.accepted.append(0.8)
        self.y = self.y + 1e-9 * self.rng.standard_normal(self.y.shape)
        return 0.8

    monkeypatch.setattr(hierarchical._Chains, "iterate", stay)
    answer = infer(Groups(np.eye(3, dtype=int), ITEMS[3], range(3)))
    assert len(answer.prevalence) == answer.draws.chains * hierarchical.GIVING_UP[0] * hierarchical.BLOCK
    assert answer.status == "no-answer"
    assert ("not-converged", "serious") in [(each.code, each.severity) for each in answer.findings]


@pytest.mark.parametrize("centring", [0.0, 0.4, 1.0])
def test_one_point_has_the_density_of_a_chain_and_many_have_its_gradient(centring, seed, monkeypatch):
    plain = density_of(4, Pooled(covariates={"age": [1.0, 2.0, 4.0]}))
    assert can_integrate_at_points(plain)
    density = plain.recentred(np.full(plain.latent_shape, centring))
    whitening = Whitening.at(density, np.zeros(density.n_hyper), np.zeros(density.latent_shape))
    rng = np.random.default_rng(seed)
    y, z = rng.normal(size=(3, density.n_hyper)), rng.normal(size=density.latent_shape)
    one = GroupPoints.around(whitening, z, 1, rng)
    np.testing.assert_allclose(one.z[..., 0], z, atol=1e-9)
    values = [one.value_and_gradient(each)[0] - whitening.value_and_gradient(each[None], z[None])[0][0] for each in y]
    np.testing.assert_allclose(values, values[0], atol=1e-8)
    monkeypatch.setattr("truecount.inference.group_points.AT_ONCE", 64)
    many, step = GroupPoints.around(whitening, z, 16, rng), 1e-5
    sides = [[many.value_and_gradient(y[0] + side * each)[0] for side in (1, -1)] for each in step * np.eye(len(y[0]))]
    slopes = [(ahead - behind) / (2 * step) for ahead, behind in sides]
    np.testing.assert_allclose(many.value_and_gradient(y[0])[1], slopes, atol=1e-5)


@pytest.mark.slow
def test_many_groups_have_the_same_answer_at_points_and_in_all_coordinates(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet([4, 3, 2], 40)
    rows = 0.6 * np.eye(3) + 0.4 / 3
    items = {at: rng.multinomial(60, share @ rows) for at, share in enumerate(shares)}
    groups = Groups(np.round(60 * rows).astype(int), items)
    monkeypatch.setattr(hierarchical, "MANY_GROUPS", 10)
    at_points = infer(groups, engine=Auto(400), seed=1)
    monkeypatch.setattr(hierarchical, "MANY_GROUPS", 100)
    others = infer(groups, engine=Auto(400), seed=2)
    assert (at_points.status, others.status) == ("ok", "ok")
    for name in ("spread", "confusion", "prevalence"):
        first, second = (getattr(each, name).reshape(len(each.prevalence), -1) for each in (at_points, others))
        error = np.hypot(
            *(
                each.std(axis=0) / np.sqrt(effective_fast(each, chains))
                for each, chains in ((first, at_points.draws.chains), (second, others.draws.chains))
            )
        )
        assert (np.abs(first.mean(axis=0) - second.mean(axis=0)) < 5 * error).all()


def alike(n_classes):
    rows = 0.7 * np.eye(n_classes) + 0.3 / n_classes
    share = np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum()
    items = np.round(300 * share @ rows).astype(int)
    return Groups(np.round(20 * rows).astype(int), {at: np.roll(items, at // 7) for at in range(7)})


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [3, 5])
def test_alike_groups_of_several_classes_converge_soon(n_classes, seed):
    """Without far moves of the centre R-hat is above 1.1 here, since a class may be absent from all groups."""
    answer = infer(alike(n_classes), LabelShift(groups=Pooled()), engine=Auto(100), seed=seed)
    assert answer.status == "ok"
    assert answer.draws.iterations <= 1200


@pytest.mark.slow
def test_without_far_moves_they_do_not(seed, monkeypatch):
    monkeypatch.setattr(hierarchical, "move_centre", lambda _density, hyper, _latent, _rng: hyper)
    monkeypatch.setattr(hierarchical, "MOST_BLOCKS", 2)
    answer = infer(alike(3), LabelShift(groups=Pooled()), engine=Auto(200), seed=seed)
    assert answer.status != "ok"


def test_gradients_of_some_chains_after_the_others_are_those_of_all_at_once(seed, monkeypatch):
    plain = group_density(alike(3), Prior(), Pooled())
    whitening = Whitening.at(plain, np.zeros(plain.n_hyper), np.zeros(plain.latent_shape))
    rng = np.random.default_rng(seed)
    y, z = rng.normal(size=(5, plain.n_hyper)), rng.normal(size=(5, *plain.latent_shape))
    whole = whitening.value_and_gradient(y, z)
    monkeypatch.setattr("truecount.inference.whitening.AT_ONCE", 2 * plain.unlabeled.size)
    for each, part in zip(whole, whitening.value_and_gradient(y, z), strict=True):
        np.testing.assert_allclose(part, each, rtol=1e-12)


def test_trajectories_are_lengthened_as_long_as_the_slowest_hyperparameter_gains(monkeypatch):
    """The second one is slowest, and moves furthest by gradient at a length of 6."""
    found = {1.5: [4.0, 0.1], 3.0: [2.0, 0.2], 6.0: [1.0, 0.4], 12.0: [0.5, 0.3]}
    chains = hierarchical._Chains(None, None, np.zeros((1, 2)), np.zeros((1, 1, 1)), np.zeros(2, bool))
    monkeypatch.setattr(
        hierarchical._Chains, "_squares_by_gradient", lambda self: (np.array(found[self.length]), np.ones(2))
    )
    chains.lengthen()
    assert chains.length == 6.0


def test_information_of_many_classes_is_that_of_a_loop_over_pairs(seed, monkeypatch):
    density = density_of(4)
    hyper, latent, _ = some_chains(density, 5, seed)
    by_pairs = density.curvature(hyper, latent)
    monkeypatch.setattr("truecount.models.hierarchy.information.MANY_RATIOS", 1)
    np.testing.assert_allclose(density.curvature(hyper, latent), by_pairs, rtol=1e-12, atol=1e-12)
