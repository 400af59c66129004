"""Each finding appears where it should, and not where it should not."""

from typing import Any

import numpy as np
import pytest

from truecount import Counts, Pert, Prior
from truecount.diagnostics.findings import cautions
from truecount.inference.draws import Draws
from truecount.inference.run import Run
from truecount.results.finding import Finding
from truecount.scores.cells import LineCells

NAN, FLAT = float("nan"), Prior(confusion="flat")
SOUND = Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])


def found(counts: Counts, prior: Prior | None = None, **told: Any) -> dict[str, Finding]:
    run = Run(engine="x", **told)
    draws = Draws(prevalence=np.ones((1, 2)), confusion=np.ones((1, 2, 2)), effective=np.ones(2), run=run)
    return {finding.code: finding for finding in cautions(counts, prior or Prior(), draws)}


def test_sound_counts_have_no_findings() -> None:
    assert found(SOUND) == {}


def test_no_unlabeled_items_is_serious() -> None:
    assert found(Counts(SOUND.labeled, [0, 0]))["no-unlabeled"].severity == "serious"


def test_weights_are_said_to_be_worth_less() -> None:
    counts = Counts(
        [[80, 40], [40, 80]], [100, 100], labeled_squares=[[160, 80], [80, 160]], unlabeled_squares=[200, 200]
    )
    finding = found(counts)["weighted-counts"]
    assert finding.numbers == {"labeled": 120.0, "unlabeled": 100.0}
    assert "120 labelled and 100 unlabelled" in finding.message
    assert finding.severity == "info"


def test_weights_that_are_numbers_of_items_are_a_caution() -> None:
    counts = Counts(SOUND.labeled, [600, 400], labeled_squares=SOUND.labeled, unlabeled_squares=[360_000, 160_000])
    finding = found(counts)["weighted-counts"]
    assert finding.severity == "caution"
    assert "pass a row for each item" in finding.advice


def test_names_that_differ_in_case_only_are_named() -> None:
    counts = Counts([[9, 1, 0], [0, 8, 2]], [5, 4, 6], classes=["fail", "pass"], outputs=["fail", "Pass ok", "passOK"])
    finding = found(counts)["names-alike"]
    assert finding.severity == "caution"
    assert finding.numbers == {"outputs": [["Pass ok", "passOK"]]}
    assert "the outputs 'Pass ok' and 'passOK'" in finding.message
    both = Counts([[9, 1], [2, 8]], [5, 4], classes=["Pass", "pass"])
    assert list(found(both)["names-alike"].numbers) == ["classes", "outputs"]


def test_class_without_labels_is_named() -> None:
    counts = Counts([[140, 60], [0, 0]], [600, 400], classes=["fail", "pass"])
    finding = found(counts)["unlabeled-class"]
    assert finding.numbers == {"classes": ["pass"]}
    assert "pass" in finding.message
    assert "unlabeled-class" not in found(counts, Prior.known_confusion([[NAN, NAN], [0.1, 0.9]]))
    assert "unlabeled-class" not in found(counts, Prior.published({"fail": 1, "pass": Pert(0.85, 0.7, 0.95)}))
    for prior in (Prior.published({"fail": Pert(0.85, 0.7, 0.95), "pass": 1}), Prior.diagonal(4), Prior(confusion=3)):
        assert "unlabeled-class" in found(counts, prior)


def test_few_labels_are_those_that_the_row_prior_outweighs() -> None:
    counts = Counts([[2, 0, 0], [3, 0, 0], [20, 20, 20]], [5, 5, 5], classes=["a", "b", "c"])
    finding = found(counts)["few-labels"]
    assert finding.severity == "caution"
    assert finding.numbers == {"classes": ["a"], "labeled": [2.0], "prior": [3.0]}
    assert finding.message.startswith(
        "With as few labels as 2 the prior decides what the classifier is taken to do with a: it"
    )
    assert finding.message.endswith("it weighs as much as 3 labels of a class.")
    assert finding.advice.startswith("Label more items of a, or")
    assert "few-labels" not in found(counts, Prior(confusion="sparse"))
    assert found(counts, Prior(confusion=2.0))["few-labels"].numbers["classes"] == ["a", "b"]
    assert "few-labels" not in found(counts, Prior.known_confusion([[0.8, 0.1, 0.1], [NAN] * 3, [NAN] * 3]))


def test_class_without_any_label_is_not_called_one_with_few() -> None:
    assert "few-labels" not in found(Counts([[0, 0], [20, 20]], [5, 5]))


def sharp(labels: int, *, classes: int = 10) -> Counts:
    return Counts(np.diag([labels] * classes), np.full(classes, 50))


def test_labels_of_a_sharp_box_speak_for_sparse_rows_though_they_outweigh_the_prior() -> None:
    finding = found(sharp(20), FLAT)["prior-against-labels"]
    assert "few-labels" not in found(sharp(20), FLAT)
    assert finding.numbers["better"] == "sparse"
    assert finding.numbers["prior"] == [10.0] * 10
    assert "over a million times" in finding.message
    assert "gather on fewer outputs" in finding.message
    assert "does not follow" in finding.message
    assert finding.advice.startswith("Compare the answer with that of Prior(confusion='sparse')")
    assert "prior-against-labels" not in found(sharp(20), Prior(confusion="sparse"))


def blurred(labels: int) -> Counts:
    """Return six classes of which each output has some, and the output called like the class most."""
    return Counts(np.eye(6) * labels + labels // 5, [50] * 6)


def test_a_learned_prior_is_said_and_replaces_the_advice_to_choose_one() -> None:
    counts = sharp(5)
    assert {"few-labels", "prior-against-labels"} <= set(found(counts, FLAT))
    assert set(found(counts)) == set(found(counts, Prior(confusion="learned"))) == {"learned-prior"}
    finding = found(counts)["learned-prior"]
    assert finding.severity == "info"
    assert finding.numbers["interval"][0] < finding.numbers["strength"] < finding.numbers["interval"][1]
    assert finding.numbers["own"] > 0.7
    low, high = (float(f"{end:.2g}") for end in finding.numbers["interval"])
    assert f"counts as {low:g} to {high:g} labels of each class, " in finding.message
    assert f"{100 * finding.numbers['own']:.0f} % of them with the output called like the class." in finding.message
    assert "counts as 34 to 300 labels of each class, 44 % of" in found(blurred(5))["learned-prior"].message
    assert "counts as 190 to 300 labels of each class" in found(blurred(100))["learned-prior"].message
    unlike = Counts(counts.labeled, counts.unlabeled, outputs=[f"cell {number}" for number in range(10)])
    assert "called like" not in found(unlike)["learned-prior"].message


def test_labels_of_a_blurred_box_speak_for_flat_rows() -> None:
    blurred = Counts(np.full((4, 6), 5), np.full(6, 50))
    assert "prior-against-labels" not in found(blurred)
    assert found(blurred, Prior(confusion="sparse"))["prior-against-labels"].numbers["better"] == "flat"


def test_odds_of_the_labels_are_those_of_their_sequences() -> None:
    """Of n items with one and the same output, the last is the surprise: β, β+1, … over Kβ, Kβ+1, …"""
    counts = Counts([[3, 0, 0, 0]] * 4, [5] * 4)
    flat, sparse = 1 / 4 * 2 / 5 * 3 / 6, 1 / 4 * 1.25 / 2 * 2.25 / 3
    finding = found(counts, Prior(confusion=9.0))["prior-against-labels"]
    against = 9 / 36 * 10 / 37 * 11 / 38
    assert sparse > flat > against
    assert finding.numbers["log_bayes_factor"] == pytest.approx(4 * np.log(sparse / against))
    assert f"{(sparse / against) ** 4:,.0f} times" in finding.message


def test_prior_does_not_matter_with_many_labels_or_little_evidence() -> None:
    assert "prior-against-labels" in found(sharp(100), FLAT)
    assert "prior-against-labels" not in found(sharp(101), FLAT)
    assert "prior-against-labels" not in found(sharp(5, classes=3))
    assert "prior-against-labels" not in found(Counts(np.zeros((4, 4), int) + [9] * 4, [5] * 4))


def test_known_rows_are_no_evidence_about_the_prior() -> None:
    assert "prior-against-labels" not in found(sharp(20), Prior.known_confusion(np.eye(10)))


def test_flat_prior_does_not_move_the_mode() -> None:
    codes = {finding.code for finding in cautions(sharp(5), Prior())}
    assert codes.isdisjoint({"few-labels", "prior-against-labels"})


def test_unseen_output_has_its_share() -> None:
    counts = Counts([[8, 3, 0, 0], [3, 8, 0, 0]], [60, 30, 10, 0], outputs=["a", "b", "c", "d"])
    finding = found(counts)["unseen-output"]
    assert finding.severity == "caution"
    assert finding.numbers == {"outputs": ["c"], "share": 0.1}
    assert "10.0 %" in finding.message
    assert "d" not in finding.numbers["outputs"]


def test_small_share_of_unseen_outputs_is_not_rounded_away() -> None:
    counts = Counts([[8, 3, 0], [3, 8, 0]], [60_000, 39_997, 3])
    assert "0.003 %" in found(counts)["unseen-output"].message


def test_most_items_without_a_labelled_output_are_serious() -> None:
    assert found(Counts([[8, 3, 0], [3, 8, 0]], [30, 20, 50]))["unseen-output"].severity == "caution"
    finding = found(Counts([[8, 3, 0], [3, 8, 0]], [29, 20, 51], outputs=["Yes", "no", "yes"]))["unseen-output"]
    assert finding.severity == "serious"
    assert "51.0 %" in finding.message
    assert finding.advice == "Spell outputs alike: perhaps 'yes' is 'Yes'."


def test_scores_taken_for_outputs_are_named_and_listed_once() -> None:
    counts = Counts(np.eye(2, 40), np.ones(40), outputs=[number / 64 for number in range(40)])
    finding = found(counts)["unseen-output"]
    assert "look like scores" in finding.advice
    assert "28 more" in finding.message
    assert "more" not in finding.advice


def test_known_row_explains_an_output_that_no_label_has() -> None:
    counts = Counts([[400, 0], [0, 0]], [900, 100])
    assert "unseen-output" in found(counts)
    assert "unseen-output" not in found(counts, Prior.known_confusion([[NAN, NAN], [0.1, 0.9]]))


def test_round_numbers_of_labels_for_every_output_look_chosen() -> None:
    counts = Counts([[66, 0, 1, 2], [0, 55, 0, 1], [5, 8, 153, 9], [4, 12, 11, 313]], [20, 15, 320, 645])
    finding = found(counts)["labels-by-output"]
    assert finding.severity == "caution"
    assert "(75, 75, 165, 325)" in finding.message
    assert finding.numbers["by_chance"] == pytest.approx(5**-3)


@pytest.mark.parametrize(
    "labeled", [[[80, 20], [20, 80]], [[140, 61], [20, 180]], [[66, 9], [34, 290]], [[60, 42], [40, 60]]]
)
def test_labels_of_round_classes_or_by_chance_do_not(labeled: list[list[int]]) -> None:
    assert "labels-by-output" not in found(Counts(labeled, [50, 50]))


def test_a_round_total_makes_the_last_output_round_by_itself() -> None:
    assert "labels-by-output" not in found(Counts([[110, 140], [15, 135], [25, 75]], [50, 50]))
    assert "labels-by-output" in found(Counts([[60, 190], [15, 35], [25, 75]], [50, 50]))


def test_the_more_outputs_the_smaller_the_step_that_looks_chosen() -> None:
    assert "labels-by-output" in found(Counts([[70, 33], [30, 67]], [50, 50]))
    assert "labels-by-output" not in found(Counts([[7, 13], [13, 17]], [50, 50]))


def test_as_many_labels_in_every_range_of_a_score_are_what_quantile_bins_give() -> None:
    labeled = [[87, 63, 31, 9], [13, 37, 69, 91]]
    assert "labels-by-output" in found(Counts(labeled, [50, 60, 70, 80], outputs=["a", "b", "c", "d"]))
    ranges = LineCells((0.2, 0.5, 0.8), "probabilities").names(())
    assert "labels-by-output" not in found(Counts(labeled, [50, 60, 70, 80], outputs=ranges))
    uneven = [[87, 63, 31, 9], [13, 37, 69, 41]]
    assert "labels-by-output" in found(Counts(uneven, [50, 60, 70, 80], outputs=ranges))


def test_unconverged_draws_are_serious_and_say_why() -> None:
    finding = found(SOUND, not_converged="R-hat is 1.4")["not-converged"]
    assert finding.severity == "serious"
    assert "R-hat is 1.4" in finding.message
    assert "Auto()" in finding.advice
    assert "Auto()" not in found(SOUND, not_converged="x", reason="it is quick")["not-converged"].advice


@pytest.mark.parametrize(
    ("rhat", "effective", "severity", "words"),
    [
        (1.012, 400, "caution", "The chains have almost converged: x. Their means still differ by about 0.16 "),
        (1.012, 99, "serious", "The draws have not converged: x."),
        (1.07, 400, "serious", "The chains have not converged: x. Their means differ by about 0.38 posterior"),
        (1.5, 400, "serious", "There is no answer: x."),
        (NAN, 400, "serious", "There is no answer: x."),
        (1.0, 50, "serious", "The draws have not converged: x."),
    ],
)
def test_words_and_severity_follow_rhat(rhat: float, effective: float, severity: str, words: str) -> None:
    made: dict[str, Any] = {"prevalence": np.ones((1, 2)), "confusion": np.ones((1, 2, 2))}
    run = Run(engine="x", not_converged="x")
    draws = Draws(**made, effective=np.full(2, effective), rhat=np.array([1.0, rhat]), chains=4, run=run)
    (finding,) = cautions(SOUND, Prior(), draws)
    assert (finding.code, finding.severity) == ("not-converged", severity)
    assert finding.message.startswith(words)


def test_many_classes_are_not_all_listed() -> None:
    counts = Counts(np.zeros((40, 2), int) + [[1, 0]] * 40, [5, 5], classes=[f"class {i:02}" for i in range(40)])
    finding = found(counts, FLAT)["few-labels"]
    assert "class 09 and 30 more" in finding.message
    assert len(finding.numbers["classes"]) == 40


def test_every_finding_reads_as_a_sentence_with_advice() -> None:
    counts = Counts([[0, 0], [0, 0], [1, 0]], [0, 0])
    everything = found(counts, not_converged="it drifts")
    assert {"no-unlabeled", "unlabeled-class", "few-labels", "not-converged"} <= set(everything)
    for finding in everything.values():
        assert finding.message[0].isalnum()
        assert finding.message.endswith(".")
        assert finding.advice.endswith(".")
