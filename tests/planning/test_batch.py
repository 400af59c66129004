"""Which items to label next, and an answer that knows what was chosen and what was random."""

import numpy as np
import pytest
from scipy.stats import binom

import truecount as tc
from truecount.planning.batch import OutputKnowledge, drop_most, exact_knowledge, knowledge
from truecount.planning.pilot import posterior_draws
from truecount.scores import Bins

COUNTS = tc.Counts([[140, 60], [20, 180]], [6000, 4000], classes=["fail", "pass"])


def expected_variance(known, labels):
    """The part of the variance that labels can remove, as is expected after so many more of each output."""
    return float((known.weight * known.strength / (known.strength + labels)).sum())


def test_a_batch_drops_the_variance_as_much_as_any_other():
    known = OutputKnowledge(np.array([3.0, 1.0, 0.2]), np.array([5.0, 8.0, 30.0]))
    best = drop_most(known, 24, np.full(3, 100))
    others = np.random.default_rng(0).multinomial(24, np.full(3, 1 / 3), 2000)
    assert best.sum() == 24
    assert expected_variance(known, best) <= min(expected_variance(known, each) for each in others) + 1e-12


def test_no_more_are_chosen_than_there_are():
    known = OutputKnowledge(np.array([3.0, 1.0]), np.array([5.0, 8.0]))
    assert drop_most(known, 30, np.array([4, 100])).tolist() == [4, 26]


def test_outputs_whose_classes_are_sure_get_few_labels():
    counts = tc.Counts([[0, 0], [0, 0]], [5000, 5000], classes=["fail", "pass"], outputs=["sure", "unsure"])
    target = np.array([[0, 10], [20, 10]])
    found = tc.next_batch(counts, 40, target=target, model=tc.ByPrediction())
    assert sum(found.values()) == 40
    assert found["unsure"] > 3 * found["sure"]


def test_of_scores_the_uncertain_ones_are_chosen():
    rng = np.random.default_rng(5)
    shares = np.array([0.02, 0.5, 0.98]).repeat([200, 100, 200])
    truth = (rng.random(500) < shares).astype(int)
    scores = tc.Scores(np.column_stack([1 - shares, shares]), truth, np.column_stack([1 - shares, shares]).repeat(8, 0))
    counts = scores.to_counts(Bins(3).fit(scores.unlabeled))
    assert list(tc.next_batch(counts, 40).values())[1] > 20
    with pytest.raises(tc.InputError, match="Bins"):
        tc.next_batch(scores, 40)


def test_the_first_batch_is_divided_by_the_shares_of_the_outputs():
    counts = tc.Counts([[0, 0], [0, 0]], [9000, 1000], classes=["fail", "pass"])
    found = tc.next_batch(counts, 100, model=tc.ByPrediction())
    assert found["fail"] > 80


def simulated(rng, size=300):
    """Source labels, items, and items of the population labelled partly at random and partly by output."""
    shares, rows = rng.dirichlet([2.0, 2.0]), np.array([[0.8, 0.2], [0.25, 0.75]])
    labeled = np.array([rng.multinomial(40, row) for row in rows])
    joint = rng.multinomial(size, (shares[:, None] * rows).ravel()).reshape(2, 2)
    items = joint.sum(axis=0)
    random = rng.multivariate_hypergeometric(joint.ravel(), 20).reshape(2, 2)
    rest = joint - random
    chosen = np.zeros((2, 2), int)
    chosen[:, 0] = rng.multivariate_hypergeometric(rest[:, 0], min(30, rest[:, 0].sum()))
    return shares, tc.Counts(labeled, items), random + chosen


def coverage(answer, sets=200):
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(sets):
        shares, counts, target = simulated(rng)
        low, high = answer(counts, target).interval(0.8)[0]
        held += low <= shares[0] <= high
    return held


def is_calibrated(held: int, sets: int = 200, level: float = 0.8) -> bool:
    """Whether a sound interval would hold so often but for once in 10,000 studies."""
    low, high = binom.ppf([5e-5, 1 - 5e-5], sets, level)
    return low <= held <= high


@pytest.mark.slow
def test_an_answer_from_random_and_chosen_labels_covers_as_promised():
    def mixed(counts, target):
        return tc.infer(*tc.with_target_labels(counts, target), engine=tc.Auto(1000))

    assert is_calibrated(coverage(mixed))


def test_taking_the_chosen_items_for_labels_from_elsewhere_would_be_seen():
    def wrong(counts, target):
        both = tc.Counts(counts.labeled + 3 * target, counts.unlabeled)
        return tc.infer(both, engine=tc.Auto(1000))

    assert not is_calibrated(coverage(wrong))


def test_target_labels_narrow_the_answer_and_leave_the_counts_in_sum():
    both, model = tc.with_target_labels(COUNTS, [[80, 10], [20, 90]])
    assert both.unlabeled.tolist() == [5900, 3900]
    assert both.labeled.sum() == COUNTS.labeled.sum() + 200
    before, after = tc.infer(COUNTS), tc.infer(both, model)
    assert np.diff(after.interval()[0])[0] < 0.8 * np.diff(before.interval()[0])[0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tc.with_target_labels(COUNTS, [[1, 2]]), "shape"),
        (lambda: tc.with_target_labels(COUNTS, [[7000, 0], [0, 0]]), "more items"),
        (lambda: tc.with_target_labels(COUNTS, [[1, 0], [0, 1]], tc.SamePopulation()), "LabelShift"),
        (lambda: tc.with_target_labels(COUNTS, [[8.5, 0], [0, 1]]), "holds 8.5"),
        (
            lambda: tc.with_target_labels(COUNTS, [[8, 0], [0, 1]], tc.LabelShift(tc.Prior(prevalence="learned"))),
            "learned",
        ),
        (lambda: tc.next_batch(COUNTS, 20_000), "are left"),
        (lambda: tc.next_batch(COUNTS, 0), "number"),
        (lambda: tc.may_stop(COUNTS, 0.0, target=[[1, 0], [0, 1]]), "width"),
        (lambda: tc.may_stop(COUNTS, 0.02, target=[[1, 0], [0, 1]], level=2), "level"),
    ],
)
def test_what_does_not_go_together_is_refused(call, words):
    with pytest.raises(tc.InputError) as refusal:
        call()
    assert words in str(refusal.value)


RARE = tc.Counts(
    np.zeros((2, 3), int), [6000, 3000, 1000], classes=["common", "rare"], outputs=["sure", "likely", "no"]
)
SEEN = np.array([[60, 28, 3], [0, 2, 17]])


def test_one_stops_where_the_widest_interval_of_those_asked_for_is_narrow_enough():
    answer = tc.infer(*tc.with_target_labels(RARE, SEEN, tc.ByPrediction()))
    half = np.diff(answer.interval(), axis=1).max() / 2
    for times, is_enough in ((0.9, False), (1.1, True)):
        assert tc.may_stop(RARE, times * half, target=SEEN, model=tc.ByPrediction()) is is_enough


def test_a_closed_form_tells_what_draws_tell_of_each_output():
    """40,000 draws: variances and what they make of strengths have standard errors of .7 %; five of them."""
    both, model = tc.with_target_labels(RARE, SEEN, tc.ByPrediction())
    form = model.closed_form(both)
    drawn = posterior_draws(both, model, 1, 40_000)
    assert form.sd == pytest.approx(drawn.prevalence.std(axis=0), rel=0.035)
    exact, rough = exact_knowledge(form, [0, 1]), knowledge(drawn, [0, 1])
    assert exact.weight == pytest.approx(rough.weight, rel=0.07)
    assert exact.strength == pytest.approx(rough.strength, rel=0.07)


def test_of_groups_the_widest_gets_the_labels_and_what_it_has_labelled_counts():
    groups = tc.Groups([[140, 60], [20, 180]], {"A": [600, 400], "B": [30, 20]}, classes=["fail", "pass"])
    first = tc.next_batch(groups, 40)
    assert set(first) == {"A", "B"}
    assert sum(sum(own.values()) for own in first.values()) == 40
    assert sum(first["B"].values()) > sum(first["A"].values())
    then = tc.next_batch(groups, 10, target={"B": [[20, 5], [4, 12]]})
    assert sum(then["A"].values()) > 5
    with pytest.raises(tc.InputError, match="maps a group"):
        tc.next_batch(groups, 10, target=[[1, 0], [0, 1]])
