"""What the outputs cannot see is named, in words, with what is known of it together."""

import numpy as np
import pytest

import truecount as tc
from truecount import Counts, Prior
from truecount.diagnostics.identify import _in_words, blind_spots
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
