"""Tests of label shift on scores: silent under label shift, loud under a drift that square counts cannot show."""

import numpy as np
import pytest

import truecount as tc
from made_scores import shifted_scores
from truecount.diagnostics.homogeneity import HomogeneityTest, drift_finding, joint_findings, meaning_finding
from truecount.diagnostics.scores import by_confidence, scores_findings, scores_test
from truecount.scores import Scores


def made(seed, *, drift=False, items=300):
    rng = np.random.default_rng(seed)
    scores = shifted_scores(rng, labeled_prevalence=[0.5, 0.5], prevalence=[0.3, 0.7], items=items)
    if not drift:
        return scores
    blunt = 0.5 + 0.45 * (scores.unlabeled - 0.5)
    labels = [scores.classes[code] for code in scores.labels]
    return Scores(scores.labeled, labels, blunt, scores.classes)


def test_confidence_makes_more_outputs_than_classes():
    scores = made(0)
    counts, plain = by_confidence(scores), scores.to_counts()
    assert len(counts.outputs) > len(counts.classes)
    assert counts.labeled.sum() == plain.labeled.sum()
    levels = len(counts.outputs) // 2
    assert counts.unlabeled.reshape(2, levels).sum(axis=1).tolist() == plain.unlabeled.tolist()
    assert counts.outputs[0].endswith(f"confidence 1 of {levels}")


def test_silent_under_label_shift(seed):
    p_values = np.array([scores_test(made([seed, number]), replicates=99)[1] for number in range(40)])
    assert np.mean(p_values <= 0.05) <= 0.05 + 5 * np.sqrt(0.05 * 0.95 / 40)


def test_a_box_that_lost_its_confidence_is_noticed():
    """Its verdicts are the same, so that square counts have nothing to show."""
    scores = made(0, drift=True)
    assert scores_test(scores, replicates=99)[1] == 0.01
    codes = {finding.code: finding for finding in tc.check(scores).findings}
    assert codes["label-shift-violated"].severity == "serious"
    assert "label-shift-untestable" in [finding.code for finding in tc.check(scores.to_counts()).findings]


def test_a_check_of_sound_scores_has_their_tests():
    """Those of the scores themselves, finer than one of the counts of their most probable classes."""
    found = tc.check(made(1))
    assert [row["test"] for row in found.tables["tests"]] == [
        "anything shifted at all",
        "label shift, by confidence",
        "label shift, on scores",
    ]
    assert {finding.code for finding in found.findings}.isdisjoint({"label-shift-violated", "label-shift-untestable"})


@pytest.mark.parametrize("labels", [[0, 0, 0]])
def test_a_class_without_scores_cannot_be_tested(labels):
    assert scores_test(Scores([[0.9, 0.1]] * 3, labels, [[0.4, 0.6]])) == (0.0, 1.0)


def test_scores_that_moved_within_their_cells_are_a_finding():
    """As many items at every level of confidence as before, but all at its lower end."""
    rng = np.random.default_rng(0)
    labels, share = np.repeat([0, 1], 28), np.where(rng.random(400) < 0.5, 0.51, 0.76)
    known = as_scores(rng.uniform(0.5, 1, 56), np.where(rng.random(56) < 0.8, labels, 1 - labels))
    moved = Scores(known, labels, as_scores(share + rng.uniform(0, 0.01, 400), rng.integers(2, size=400)))
    found = tc.check(moved, replicates=199)
    by_name = {row["test"]: row["p_value"] for row in found.tables["tests"]}
    assert by_name["label shift, by confidence"] > 0.05
    assert by_name["label shift, on scores"] <= 0.01
    assert (found.findings[0].code, found.findings[0].severity) == ("label-shift-violated", "serious")
    assert "elsewhere on the scale" in found.findings[0].message


def as_scores(confidence, output):
    scores = np.column_stack([1 - confidence, 1 - confidence])
    scores[np.arange(len(output)), output] = confidence
    return scores


def test_the_answer_that_is_checked_is_that_of_the_scores():
    scores = made(1)
    found = tc.check(scores, audit=scores.to_counts(), replicates=19)
    assert np.array_equal(found.posterior.mean, tc.infer(scores).mean)
    assert not np.array_equal(found.posterior.mean, tc.infer(scores.to_counts()).mean)
    assert "computed from scores" in str(found)
    assert "50 % interval" in str(tc.check(scores, level=0.5, replicates=19))
    assert "computed from scores" not in str(tc.check(scores.to_counts(), replicates=19))


def test_an_answer_from_scores_is_sent_back_to_them():
    """It keeps predicted classes alone: to keep the classifier's confidence is no advice where it was kept."""
    (finding,) = [each for each in tc.check(tc.infer(made(1))).findings if each.code == "label-shift-untestable"]
    assert "keeping its confidence" not in finding.advice
    assert "check(scores)" in finding.advice


@pytest.mark.parametrize(("width", "severity"), [(1.0, None), (0.75, "caution"), (0.45, "serious")])
def test_what_the_table_calls_a_failure_is_a_finding(width, severity):
    """The narrower the scores of the unlabelled items, the surer is the test on scores."""
    scores = made(1, items=120)
    labels = [scores.classes[code] for code in scores.labels]
    blunt = Scores(scores.labeled, labels, 0.5 + width * (scores.unlabeled - 0.5), scores.classes)
    found = tc.check(blunt, replicates=99)
    of_scores = [row for row in found.tables["tests"] if row["test"].startswith("label shift, ")]
    assert any(row["verdict"] == "it does not hold" for row in of_scores) == (severity is not None)
    said = [finding.severity for finding in found.findings if finding.code == "label-shift-violated"]
    assert said == ([] if severity is None else [severity])


@pytest.mark.parametrize(
    ("p_value", "severity"), [(0.051, None), (0.05, "caution"), (0.015, "caution"), (0.01, "serious")]
)
def test_every_test_has_one_rule(p_value, severity):
    test = HomogeneityTest(deviance=9.0, p_value=p_value, by_class=np.array([p_value, 1.0]), replicates=99)
    counts = tc.Counts([[8, 2], [2, 8]], [5, 5])
    found = [
        *scores_findings(0.1, p_value),
        *joint_findings(9.0, p_value),
        drift_finding(counts, test, "in the population"),
        meaning_finding(counts, test),
    ]
    assert {each.severity if each is not None else None for each in found} == {severity}
    assert len(found) == (4 if severity else 2)
