"""What the outputs cannot see is named, in words, with what is known of it together."""

import tracemalloc

import numpy as np
import pytest

import truecount as tc
from truecount import Counts, Prior
from truecount.diagnostics.blind_spots import BlindSpots, _in_words, in_draws, of_groups
from truecount.diagnostics.identify import blind_spots
from truecount.errors import IdentifiabilityWarning
from truecount.models import density

ALIKE = Counts([[900, 50, 50], [50, 475, 475], [50, 475, 475]], [850, 75, 75], classes=["ok", "refund", "complaint"])


def spots(labeled, prior=None):
    counts = Counts(labeled, [9] * np.shape(labeled)[1])
    return blind_spots(density(counts, prior or Prior()), counts.labeled.astype(float))


def unclear(counts, **options):
    return [finding for finding in tc.infer(counts, **options).findings if finding.code == "not-identified"]


def test_classes_with_equal_rows_are_named_beside_a_large_third():
    posterior = tc.infer(ALIKE)
    [finding] = [finding for finding in posterior.findings if finding.code == "not-identified"]
    assert finding.numbers["classes"] == ["refund", "complaint"]
    low, high = np.quantile(posterior.prevalence[:, 1:].sum(axis=1), [0.025, 0.975])
    assert finding.numbers["sum"] == pytest.approx([low, high])
    assert finding.message.startswith("refund and complaint cannot be told apart by these outputs: only their sum, 3")


@pytest.mark.parametrize(
    ("labeled", "groups"),
    [
        ([[80, 20], [20, 80]], ()),
        ([[50, 50], [50, 50]], ((0, 1),)),
        ([[9, 1], [8, 2]], ((0, 1),)),
        ([[900, 100], [800, 200]], ()),
        ([[80, 10, 10], [40, 30, 30], [41, 29, 30]], ((1, 2),)),
        ([[50, 40, 10]] * 2 + [[10, 40, 50]] * 2, ((0, 1), (2, 3))),
        ([[0, 0], [20, 80]], ()),
    ],
)
def test_rows_are_alike_as_far_as_labels_can_show(labeled, groups):
    assert spots(labeled).groups == groups


def test_equal_rows_are_found_19_times_in_20_and_others_hardly_ever(seed):
    rng = np.random.default_rng(seed)
    equal, apart = ([spots(rng.multinomial(100, rows)).groups for _ in range(400)] for rows in (SAME, OTHER))
    found = np.mean([groups == ((0, 1),) for groups in equal])
    assert abs(found - 0.95) < 5 * np.sqrt(0.95 * 0.05 / 400) + 0.03  # the prior draws rows together
    assert np.mean([groups != () for groups in apart]) < 0.02


SAME, OTHER = [[0.5, 0.3, 0.2]] * 2, [[0.5, 0.3, 0.2], [0.1, 0.4, 0.5]]


PAIR = BlindSpots(groups=((1, 2),), directions=np.zeros((0, 3)), faint=np.zeros((0, 3)))


def draws_of(sums, split, seed=0):
    """Draws of three classes: the sum of the last two, and which part of it the second has."""
    rng = np.random.default_rng(seed)
    total, part = rng.beta(*sums, 4000), rng.beta(*split, 4000)
    return np.column_stack([1 - total, total * part, total * (1 - part)])[:, None]


@pytest.mark.parametrize(
    ("sums", "split", "is_found"),
    [
        ((300, 700), (1, 1), True),
        ((20, 980), (1, 1), False),  # two points in all: nothing to lose
        ((3, 7), (200, 200), False),  # both rise and fall together
        ((300, 700), (9, 1), False),  # nearly all of it is the second's
        ((300, 700), (30, 20), False),  # about half and half
    ],
)
def test_the_posterior_says_whether_classes_are_traded(sums, split, is_found):
    model = density(Counts([[90, 5, 5], [5, 45, 50], [5, 50, 45]], [9, 9, 9]), Prior())
    assert in_draws(PAIR, model, draws_of(sums, split)).groups == (PAIR.groups if is_found else ())
    both = np.concatenate([draws_of((300, 700), (1, 1)), draws_of(sums, split)], axis=1)
    assert in_draws(PAIR, model, both).groups == PAIR.groups  # one population shows it


def test_rows_known_to_be_equal_are_named_whatever_the_draws_say():
    counts, known = Counts(np.zeros((3, 2), int), [9, 9]), [[0.9, 0.1], [0.2, 0.8], [0.2, 0.8]]
    model = density(counts, Prior.known_confusion(known))
    assert in_draws(PAIR, model, draws_of((20, 980), (1, 1))).groups == PAIR.groups


def test_a_class_left_over_is_no_part_of_a_set():
    """Three rows look alike; the draws trade two of them and tell the third."""
    model = density(Counts(np.full((4, 3), 30), [9, 9, 9]), Prior())
    pair = draws_of((300, 700), (1, 1))[:, 0]
    third = np.random.default_rng(1).beta(30, 70, (4000, 1))
    draws = np.hstack([pair * (1 - third), third])[:, None]
    spots = BlindSpots(groups=((1, 2, 3),), directions=np.zeros((0, 4)), faint=np.zeros((0, 4)))
    assert in_draws(spots, model, draws).groups == ((1, 2),)


def test_a_trade_between_mixes_is_asked_for_too():
    model = density(Counts([[80, 10, 10], [10, 10, 80], [45, 10, 45]], [9, 9, 9]), Prior())
    trade, rng = np.array([[-0.5, -0.5, 1.0]]), np.random.default_rng(0)
    spots = BlindSpots(groups=(), directions=trade, faint=trade)
    centre = np.array([0.4, 0.4, 0.2])
    for width, found in ((0.01, (0, 0)), (0.1, (1, 0)), (0.2, (1, 1))):
        seen = in_draws(spots, model, (centre + rng.uniform(-width, width, (4000, 1)) * trade)[:, None])
        assert (len(seen.directions), len(seen.faint)) == found


def test_only_the_widest_sets_are_named():
    """Ten classes in five pairs with equal rows."""
    rows = np.repeat(np.eye(5) * 70 + 6, 2, axis=0)
    found = unclear(Counts(rows, [300, 250, 200, 150, 100]), prior=Prior(1.0, confusion=1.0))
    assert len(found) == 4
    assert found[0].numbers["classes"] == [0, 1]
    assert found[-1].message.startswith("2 more sets of classes cannot be told apart either")
    assert found[-1].numbers["sets"] == [[6, 7], [8, 9]]


EQUAL = (
    Counts(
        [[3, 13, 3, 1, 0], [9, 6, 4, 0, 1], [4, 1, 13, 0, 2], [3, 0, 1, 16, 0], [3, 0, 6, 0, 11]],
        [238, 218, 380, 117, 47],
    ),
    Counts(
        [[5, 12, 0, 1, 2], [7, 7, 3, 1, 2], [0, 3, 15, 0, 2], [0, 0, 2, 15, 3], [0, 2, 0, 2, 16]],
        [153, 138, 252, 366, 91],
    ),
)
"""Drawn from rows of which the first two are equal, with few labels, so that their sum is not well known either."""


@pytest.mark.parametrize("counts", EQUAL)
def test_equal_rows_are_named_where_their_sum_is_wide_too(counts, monkeypatch):
    assert [each.numbers["classes"] for each in unclear(counts)] == [[0, 1]]
    monkeypatch.setattr("truecount.diagnostics.blind_spots.TRADED", 0.5)  # as strict as it was
    assert unclear(counts) == []


def test_classes_that_are_told_well_enough_are_not_named(seed):
    """Rare classes with few labels, whose rows look alike; the posterior knows them to a few points."""
    rng = np.random.default_rng(seed)
    rows, shares = 0.8 * np.eye(10) + 0.02, np.array([0.3, 0.25, 0.2, 0.15, 0.05, 0.01, 0.01, 0.01, 0.01, 0.01])
    counts = Counts(rng.multinomial([50] * 5 + [3] * 5, rows), rng.multinomial(3000, shares @ rows))
    assert unclear(counts) == []


def test_known_rows_are_alike_only_if_equal():
    assert spots([[0, 0], [0, 0]], Prior.known_confusion([[0.6, 0.4], [0.59, 0.41]])).groups == ()
    assert spots([[0, 0], [0, 0]], Prior.known_confusion([[0.6, 0.4], [0.6, 0.4]])).groups == ((0, 1),)


def test_a_class_that_looks_like_a_mix_of_others_is_named():
    [finding] = unclear(Counts([[400, 100], [100, 400], [250, 250]], [500, 500], classes=["yes", "no", "partly"]))
    assert "partly looks like a mix of 50 % yes and 50 % no" in finding.message
    assert "2 outputs cannot tell 3 classes apart" in finding.message
    assert np.abs(finding.numbers["directions"][0]) == pytest.approx([0.5, 0.5, 1], abs=0.02)


def test_a_mix_is_found_also_with_as_many_outputs():
    labeled = [[800, 100, 100], [100, 100, 800], [450, 100, 450]]
    [direction] = spots(labeled).directions
    assert np.abs(direction) == pytest.approx([0.5, 0.5, 1], abs=0.02)
    assert direction.sum() == pytest.approx(0)
    assert len(spots([[800, 100, 100], [100, 100, 800], [350, 300, 350]]).directions) == 0


@pytest.mark.parametrize(("outputs", "n_classes"), [(1, 3), (2, 4), (2, 5)])
def test_fewer_outputs_always_leave_something_unseen(outputs, n_classes, seed):
    labeled = np.random.default_rng(seed).integers(1, 900, (n_classes, outputs))
    assert unclear(Counts(labeled, [50] * outputs), engine=tc.Hamiltonian(100, effective_draws=10))


def test_names_follow_their_classes():
    order = [2, 0, 1]
    turned = Counts(ALIKE.labeled[order], ALIKE.unlabeled, [ALIKE.classes[row] for row in order])
    assert set(unclear(turned)[0].numbers["classes"]) == {"refund", "complaint"}


def test_nothing_is_said_of_classes_without_items():
    assert unclear(Counts([[50, 50], [50, 50]], [0, 0])) == []


def test_what_was_prior_dominated_is_said_with_its_cause():
    few = tc.infer(Counts([[140, 60], [20, 180]], [2, 1]))
    [finding] = [finding for finding in few.findings if finding.code == "prior-dominated"]
    assert "use more items" in finding.advice
    strong = tc.infer(Counts([[140, 60], [20, 180]], [8, 4]), prior=Prior(prevalence=50))
    [finding] = [finding for finding in strong.findings if finding.code == "prior-dominated"]
    assert finding.advice == "The prior of the prevalence weighs 100, the population's items 12: weaken it."


def test_swapped_outputs_are_noticed_and_a_weak_box_is_not_blamed():
    def codes(counts):
        return [finding.code for finding in tc.infer(counts).findings]

    assert "worse-than-chance" in codes(Counts([[30, 70], [80, 20]], [300, 700]))
    assert "worse-than-chance" not in codes(Counts([[48, 52], [50, 50]], [490, 510]))
    named = Counts([[30, 70], [80, 20]], [300, 700], classes=["a", "b"], outputs=["x", "y"])
    assert "worse-than-chance" not in codes(named)


def test_classes_that_differ_by_little_are_barely_identified():
    """One class whose labels hardly differ from a mix of the others, as the ties that a judge seldom sees."""
    labeled = [[2, 20, 22, 10], [4, 149, 39, 2], [8, 38, 182, 2]]
    [finding] = [
        each for each in tc.infer(Counts(labeled, [1, 26, 16, 0])).findings if each.code == "barely-identified"
    ]
    assert finding.numbers["classes"] == [0]
    assert finding.message.startswith("To the classifier class 0 hardly differs from a mix of 4")
    more = Counts(10 * np.array(labeled), [10, 260, 160, 0])
    assert "barely-identified" not in [each.code for each in tc.infer(more).findings]


@pytest.mark.parametrize(("verb", "said"), [("hardly differ", "hardly differs from"), ("look", "looks like")])
def test_a_mix_of_classes_is_one_mix(verb, said):
    """Two mixes, neither of which is a single class."""
    words = _in_words(("a", "b", "c", "d"), np.array([[0.5, 0.5, -0.5, -0.5]]), verb)
    assert words.endswith((f"{said} a mix of 50 % a and 50 % b", f"{said} a mix of 50 % c and 50 % d"))


def test_two_classes_may_be_barely_identified_too():
    weak = tc.infer(Counts([[60, 40], [40, 60]], [500, 500]))
    [finding] = [each for each in weak.findings if each.code == "barely-identified"]
    said = (
        "To the classifier class 0 hardly differs from class 1",
        "To the classifier class 1 hardly differs from class 0",
    )
    assert finding.message.startswith(said)


@pytest.mark.parametrize("prior", [1.0, 7.0, 20.0])
def test_a_division_that_the_prior_alone_decides_is_named_whatever_the_prior(prior):
    counts = Counts([[50, 50, 0], [50, 50, 0], [0, 0, 100]], [300, 300, 400])
    assert [each.numbers["classes"] for each in unclear(counts, prior=Prior(prevalence=prior))] == [[0, 1]]


@pytest.mark.parametrize("first", [60, 62])
def test_points_name_each_set_of_classes_that_look_alike(first):
    """Exactly, or as far as the labels show."""
    one, other = [first, 100 - first], [120 - first, first - 20]
    labeled = [[*one, 0, 0], [*other, 0, 0], [0, 0, *one], [0, 0, *other]]
    counts = Counts(labeled, [900, 600, 900, 600], classes=list("ABCD"), outputs=list("wxyz"))
    with pytest.warns(IdentifiabilityWarning):
        point = tc.estimate(counts, "acc")
    named = [each.numbers["classes"] for each in point.findings if each.code == "not-identified"]
    assert named == [["A", "B"], ["C", "D"]]


def test_a_class_that_is_nearly_like_two_equal_ones_is_named_with_them():
    counts = Counts([[60, 40, 0], [60, 40, 0], [58, 42, 0], [0, 0, 100]], [900, 600, 900], classes=list("ABCD"))
    with pytest.warns(IdentifiabilityWarning):
        point = tc.estimate(counts, "acc")
    named = [each.numbers["classes"] for each in point.findings if each.code == "not-identified"]
    assert all(len(names) > 1 for names in named)
    assert {"A", "B", "C"} == {name for names in named for name in names}


@pytest.mark.parametrize(("size", "advice"), [(3, "Read the sum"), (2, "Label more items")])
def test_groups_read_the_sum_of_a_set_unless_it_is_of_all_classes(size, advice):
    labeled = [[50, 50, 0], [50, 50, 0], [0, 0, 100]][:size]
    whole = Counts(labeled, [300, 300, 400])
    part = np.random.default_rng(0).random((500, 1))
    shares = np.stack([part, 1 - part, np.ones_like(part)][:size], axis=2) / (size - 1)
    alike = BlindSpots(groups=((0, 1),), directions=np.empty((0, size)), faint=np.empty((0, size)))
    [found] = of_groups(alike, whole, density(whole, Prior()), shares)
    assert found.numbers["classes"] == [0, 1]
    assert str(found.advice).startswith(advice)


def test_pairs_of_many_classes_are_compared_row_by_row():
    """All pairs at once would take 32 megabytes for each step of the comparison; a thousand classes, gigabytes."""
    posed = density(Counts(400 * np.eye(200, dtype=int), np.full(200, 20)), Prior())
    tracemalloc.start()
    found = blind_spots(posed, np.eye(200))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.groups == ()
    assert peak < 8e6
