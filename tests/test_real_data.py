"""Real judges, whose true rates are known."""

import csv
import hashlib
from collections import defaultdict
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import binom

import truecount as tc
from truecount.diagnostics.shift import best_fit, deviance_at, tables_of
from truecount.inference.modes.mode import find_mode
from truecount.models import density


@pytest.fixture
def answers(real_data):
    """Rows of OpenQA with a verdict, by system; a question falls on the same side for all systems."""
    rows = defaultdict(lambda: ([], []))
    with (real_data / "openqa_judges" / "labels.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            side = hashlib.sha256(row["question"].encode()).digest()[0] % 2
            if row["gpt4_label"]:
                rows[row["group"]][side].append((row["truth"], row["gpt4_label"]))
    return rows


def test_a_judge_of_answers_is_corrected_for_every_system(answers):
    """Label shift holds for this judge: of 12 systems, each judged by labels of the others, 95 % should be covered."""
    hits = 0
    for system, (_, target) in answers.items():
        labeled = [pair for other, (source, _) in answers.items() if other != system for pair in source]
        counts = tc.count(*zip(*labeled, strict=True), [output for _, output in target])
        low, high = tc.infer(counts).interval(target="realized")[counts.classes.index("Yes")]
        truth = np.mean([label == "Yes" for label, _ in target])
        hits += low <= truth <= high
    assert hits >= binom.ppf(1e-4, len(answers), 0.95)


def test_two_by_two_says_nothing_that_it_cannot_know(answers):
    """With as many outputs as classes the counts of an ordinary system cannot show a misfit."""
    source, target = answers["text-davinci-003_fewshot-n64"][0], answers["text-davinci-003_fewshot-n64"][1]
    counts = tc.count(*zip(*source, strict=True), [output for _, output in target])
    assert "label-shift-violated" not in [finding.code for finding in tc.infer(counts).findings]


def read_halves(path, question, output):
    """Pairs of truth and output on both sides, by group; a question falls on one side for all groups."""
    rows = defaultdict(lambda: ([], []))
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            side = hashlib.sha256(row[question].encode()).digest()[0] % 2
            rows[row["group"]][side].append((row["truth"], row[output]))
    return rows


def others_against(rows, target):
    """Labels of all groups but one against the items of that one; the one item without a verdict is left out."""
    labeled = [pair for group, (source, _) in rows.items() if group != target for pair in source if pair[1]]
    return tc.count(*zip(*labeled, strict=True), [output for _, output in rows[target][1] if output])


def found(counts, code):
    return [finding for finding in tc.infer(counts).findings if finding.code == code]


def test_two_by_two_is_said_to_be_untestable(answers):
    counts = others_against(answers, "text-davinci-003_fewshot-n64")
    assert counts.labeled.shape == (2, 2)
    codes = [finding.code for finding in tc.check(counts, replicates=99).findings]
    assert "label-shift-untestable" in codes
    assert "label-shift-violated" not in codes


def test_an_audit_sees_a_judge_that_treats_models_differently(real_data):
    """Labels of one model, items of another: the counts show nothing, a hundred target labels do."""
    rows = read_halves(real_data / "xstest_refusals" / "labels.csv", "id", "gpt4_label")
    names = {side: sorted({pair[place] for both in rows.values() for half in both for pair in half})
             for place, side in enumerate(("classes", "outputs"))}  # fmt: skip
    source, target = rows["gpt4"][0], rows["mistralinstruct"][1]
    counts = tc.count(*zip(*source, strict=True), [output for _, output in target], **names)
    audit = tc.count(*zip(*target[:100], strict=True), [], **names)
    assert counts.labeled.shape == (3, 4)
    assert "label-shift-violated" not in [finding.code for finding in tc.check(counts, replicates=199).findings]
    assert "confusion-drifted" in [finding.code for finding in tc.check(counts, audit=audit, replicates=199).findings]


def test_string_match_names_the_class_that_it_cannot_see(real_data):
    rows = read_halves(real_data / "xstest_refusals" / "labels.csv", "id", "strmatch_label")
    counts = others_against(rows, "gpt4")
    assert counts.labeled.shape == (3, 2)
    [finding] = found(counts, "not-identified")
    assert "3_partial_refusal looks like a mix of" in finding.message


def test_ties_that_a_judge_seldom_sees_are_barely_identified(real_data):
    rows = read_halves(real_data / "pandalm_judges" / "labels.csv", "idx", "gpt35_label")
    [finding] = found(others_against(rows, "bloom-7b_llama-7b"), "barely-identified")
    assert finding.numbers["classes"] == ["0"]


def test_the_fit_of_every_pair_of_models_is_near_the_highest(real_data):
    """A judge that hardly tells some classes apart: one start stops at a deviance of 6, not 1.5."""
    rows = read_halves(real_data / "xstest_refusals" / "labels.csv", "id", "gpt4_label")
    for source, target in permutations(sorted(rows), 2):
        counts = tc.count(*zip(*rows[source][0], strict=True), [output for _, output in rows[target][1]])
        model = density(counts, tc.Prior())
        posed, mode = tables_of(model, counts.labeled.astype(float)), find_mode(model)
        [lowest] = deviance_at(posed, mode.prevalence[None, None], mode.confusion[None])
        assert best_fit(posed).deviance[0] < lowest + 0.5, (source, target)
