from functools import partial
from math import nan

import numpy as np
import pytest
from scipy.special import softmax

import truecount as tc
from problems import PROBLEMS, paper
from truecount import Counts, Prior
from truecount.api import bayesian
from truecount.errors import ConvergenceWarning, InputError
from truecount.inference.modes.ascent import Ascent
from truecount.inference.modes.mode import _climb, even_start, find_mode
from truecount.models import Density, density

THREE_SUMMITS = Counts([[2, 2, 0, 1, 1], [0, 2, 0, 1, 0], [0, 3, 2, 1, 0]], [1184, 1267, 1299, 1233, 17])
CLIMBABLE = {
    name: problem
    for name, problem in PROBLEMS.items()
    if min(problem.density.prevalence.min(), problem.density.rows.min()) >= 1
}


def row_shares(counts: Counts) -> np.ndarray:
    return counts.labeled / counts.labeled.sum(axis=1, keepdims=True)


def nearby(record, posed: Density, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw points next to the mode and further away, inside the simplices, known rows as they are."""
    sizes = 10.0 ** rng.uniform(-6, 0, (500, 1))

    def moved(shares: np.ndarray) -> np.ndarray:
        steps = sizes.reshape(-1, *[1] * shares.ndim)
        bent = softmax(np.log(shares + 1e-9) + steps * rng.standard_normal((500, *shares.shape)), axis=-1)
        mixed = (1 - steps) * shares + steps * rng.dirichlet(np.ones(shares.shape[-1]), (500, *shares.shape[:-1]))
        return np.where(rng.random((500, *[1] * shares.ndim)) < 0.5, bent, mixed)

    confusion = moved(record.confusion)
    confusion[:, posed.is_known] = posed.known[posed.is_known]
    return moved(record.prevalence), confusion


@pytest.mark.parametrize("prevalence", [1, 2])
@pytest.mark.parametrize("name", CLIMBABLE)
def test_no_point_nearby_is_higher(name, prevalence, seed):
    counts, prior = CLIMBABLE[name].counts, CLIMBABLE[name].prior
    posed = density(counts, Prior(prevalence, prior.confusion, known=prior.known))
    record = find_mode(posed)
    assert record.is_converged
    height = posed.log_joint(record.prevalence, record.confusion)
    assert (posed.log_joint(*nearby(record, posed, np.random.default_rng(seed))) <= height + 1e-6).all()


def test_that_check_fails_next_to_the_mode(seed):
    posed = CLIMBABLE["five classes, a million unlabelled"].density
    record = find_mode(posed, budget=24)
    assert not record.is_converged
    height = posed.log_joint(record.prevalence, record.confusion)
    assert (posed.log_joint(*nearby(record, posed, np.random.default_rng(seed))) > height + 1e-6).any()


@pytest.mark.parametrize(
    "counts",
    [
        Counts([[140, 60], [20, 180]], [600, 400]),
        paper(5, 5, 1000, 5000),
        paper(5, 5, 1000, 10**6),
        paper(2, 2, 1000, 10**9),
        paper(50, 50, 100_000, 200_000),
    ],
    ids=str,
)
def test_an_inner_flat_mode_of_as_many_outputs_as_classes_solves_the_equations(counts):
    solution = np.linalg.solve(row_shares(counts).T, counts.unlabeled / counts.unlabeled.sum())
    assert (solution > 0).all()
    record = find_mode(density(counts, Prior(1.0, 1.0)))
    assert record.prevalence == pytest.approx(solution, abs=1e-7)
    assert record.confusion == pytest.approx(row_shares(counts), abs=1e-7)
    assert record.is_unique


def test_a_mode_on_the_edge_puts_all_items_into_one_class():
    record = find_mode(density(Counts([[40, 10], [10, 40]], [95, 5]), Prior(1.0, 1.0)))
    assert record.prevalence == pytest.approx([1, 0], abs=1e-12)
    assert record.confusion[0] == pytest.approx([135 / 150, 15 / 150])
    assert record.confusion[1] == pytest.approx([0.2, 0.8])


def test_a_stronger_prior_keeps_every_share_above_zero():
    counts = Counts([[40, 10], [10, 40]], [95, 5])
    assert (tc.mode(counts, prior=Prior(prevalence=2)).prevalence > 0.005).all()


def test_known_rows_leave_one_equation():
    counts, rows = Counts([[0, 0], [0, 0]], [45, 105]), [[0.96, 0.04], [0.11, 0.89]]
    record = find_mode(density(counts, Prior.known_confusion(rows)))
    assert record.prevalence[0] == pytest.approx((0.3 - 0.11) / (0.96 - 0.11), abs=1e-9)
    assert record.confusion == pytest.approx(np.array(rows))


def test_without_unlabelled_items_the_prior_decides():
    counts = Counts([[8, 2], [1, 9]], [0, 0])
    assert find_mode(density(counts, Prior([4, 2]))).prevalence == pytest.approx([0.75, 0.25])


@pytest.mark.parametrize(
    ("counts", "is_ridge"),
    [
        (paper(5, 3, 1000, 500), True),
        (Counts([[9], [8]], [5]), True),
        (Counts([[40, 10], [40, 10]], [48, 12]), True),
        (Counts([[0, 0], [10, 50]], [30, 70]), True),
        (Counts([[40, 10], [10, 40]], [0, 0]), True),
        (paper(5, 5, 1000, 500), False),
        (paper(5, 9, 1000, 500), False),
        (Counts([[40, 10], [10, 40]], [95, 5]), False),
        (Counts([[90, 10], [50, 50], [10, 90]], [100, 0]), False),
    ],
    ids=[
        "fewer outputs",
        "one output",
        "equal rows",
        "class without labels",
        "nothing unlabelled",
        "as many outputs",
        "more outputs",
        "edge",
        "corner of fewer outputs",
    ],
)
def test_a_ridge_is_told_from_a_peak(counts, is_ridge):
    codes = [finding.code for finding in tc.mode(counts).findings]
    assert ("mode-not-unique" in codes) == is_ridge
    assert "mode-not-unique" not in [finding.code for finding in tc.mode(counts, prior=Prior(2)).findings]


def test_points_along_the_ridge_are_as_high_and_the_one_found_is_close_to_even():
    posed = density(Counts([[40, 10], [40, 10]], [48, 12]), Prior(1.0, 1.0))
    record = find_mode(posed)
    assert record.prevalence == pytest.approx([0.5, 0.5])
    elsewhere = posed.log_joint(np.array([0.9, 0.1]), record.confusion)
    assert elsewhere == pytest.approx(posed.log_joint(record.prevalence, record.confusion))


def test_renaming_the_classes_and_outputs_renames_the_mode():
    counts, order, columns = paper(4, 6, 200, 500), [2, 0, 3, 1], [5, 1, 0, 2, 4, 3]
    shuffled = Counts(counts.labeled[np.ix_(order, columns)], counts.unlabeled[columns])
    assert tc.mode(shuffled).prevalence == pytest.approx(tc.mode(counts).prevalence[order], abs=1e-8)


@pytest.mark.parametrize("prior", [Prior(0.5), Prior([1, 0.9]), Prior(confusion="sparse")])
def test_a_density_without_a_highest_point_is_refused(prior):
    with pytest.raises(InputError, match="no highest point"):
        tc.mode(Counts([[8, 0], [1, 9]], [5, 5]), prior=prior)


def test_a_small_concentration_is_fine_where_something_was_counted():
    counts = Counts([[8, 2], [1, 9]], [5, 5])
    prior = Prior.known_confusion([[0.9, 0.1], [nan, nan]], confusion=0.5)
    assert find_mode(density(counts, prior)).is_converged


@pytest.mark.parametrize("prevalence", [1, 2])
@pytest.mark.parametrize(
    ("classes", "outputs", "labeled", "unlabeled", "most"),
    [
        (5, 5, 1000, 500, 200),
        (5, 5, 1000, 10**6, 4000),
        (5, 9, 1000, 10**6, 4000),
        (50, 50, 1000, 10**6, 10_000),
        (50, 50, 20_000, 10**6, 10_000),
        (9, 9, 1000, 10**8, 60_000),
    ],
)
def test_it_arrives_in_bounded_effort(classes, outputs, labeled, unlabeled, most, prevalence):
    record = find_mode(density(paper(classes, outputs, labeled, unlabeled), Prior(prevalence, 1.0)), budget=most)
    assert record.is_converged


def test_what_did_not_arrive_is_a_finding_and_a_warning(monkeypatch):
    monkeypatch.setattr(bayesian, "find_mode", partial(find_mode, budget=24))
    with pytest.warns(ConvergenceWarning, match="did not converge in 24 steps") as caught:
        estimate = tc.mode(paper(5, 5, 1000, 500))
    assert caught[0].filename == __file__
    assert estimate.findings[-1].code == "not-converged"


def test_the_estimate_says_how_it_was_made():
    estimate = tc.mode(Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"]), prior=Prior(2))
    assert estimate.classes == ("fail", "pass")
    assert estimate.provenance["method"] == "mode"
    assert estimate.provenance["prior"]["prevalence"] == 2
    assert estimate.provenance["kkt_residual"] < 1e-6
    assert estimate.findings == ()


def test_cautions_about_the_counts_come_along():
    assert [finding.code for finding in tc.mode(Counts([[8, 2], [0, 0]], [5, 5])).findings] == [
        "unlabeled-class",
        "mode-not-unique",
    ]


@pytest.mark.parametrize(
    ("counts", "prior", "highest"),
    [
        (Counts([[5, 0, 5, 5], [2, 1, 12, 0]], [424, 753, 2, 161]), Prior(1.0, 1.0), [1, 0]),
        (Counts([[40, 10], [40, 10]], [50, 12]), Prior(1.0, 1.0), None),
        (
            Counts([[2, 2, 0, 1, 1], [0, 2, 0, 1, 0], [0, 3, 2, 1, 0]], [1184, 1267, 1299, 1233, 17]),
            Prior(2, 1.2),
            None,
        ),
        (Counts([[13, 1, 3], [3, 5, 9], [3, 5, 9]], [691, 976, 968]), Prior(confusion=1.5), None),
    ],
    ids=["even shares lead to the lower mode", "even shares are a saddle", "three modes", "a saddle of equal rows"],
)
def test_the_highest_of_several_summits_is_found(counts, prior, highest):
    posed = density(counts, prior)
    record = find_mode(posed)
    height = posed.log_joint(record.prevalence, record.confusion)
    for start in np.random.default_rng(1).dirichlet(np.full(len(counts.classes), 0.3), 30):
        point, _ = _climb(posed, np.column_stack([start, even_start(posed)[:, 1:]]), 20_000, gently=False)
        assert posed.log_joint(point[:, 0], point[:, 1:]) <= height + 1e-3
    assert highest is None or record.prevalence == pytest.approx(highest, abs=1e-6)


def test_a_summit_nearly_as_high_is_named():
    found = tc.mode(Counts([[40, 10], [40, 10]], [50, 12])).findings
    (rival,) = [finding for finding in found if finding.code == "mode-has-rival"]
    assert rival.numbers["gap"] == pytest.approx(0, abs=1e-3)
    assert sorted(rival.numbers["rival"]) == pytest.approx([0, 1], abs=1e-3)


def test_nothing_is_higher_than_the_ceiling_and_a_perfect_fit_reaches_it():
    fit, misfit = Counts([[8, 2], [1, 9]], [40, 60]), Counts([[8, 2], [1, 9]], [100, 0])
    for counts, is_reached in ((fit, True), (misfit, False)):
        posed = density(counts, Prior(1.0, 1.0))
        record, ascent = find_mode(posed), Ascent(posed)
        height = ascent.height(np.column_stack([record.prevalence, record.confusion]))
        assert height <= ascent.ceiling() + 1e-9
        assert (height > ascent.ceiling() - 1e-6) == is_reached
