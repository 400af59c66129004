"""Real judges, whose true rates are known."""

import csv
import hashlib
from collections import defaultdict

import numpy as np
import pytest
from scipy.stats import binom

import truecount as tc


@pytest.fixture
def answers(real_data):
    """Rows of OpenQA by system; a question falls on the labelled or the unlabelled side, the same for all systems."""
    rows = defaultdict(lambda: ([], []))
    with (real_data / "openqa_judges" / "labels.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            side = hashlib.sha256(row["question"].encode()).digest()[0] % 2
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
