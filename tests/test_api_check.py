"""`check`: every part that applies, its tables in plain values, and groups, audits and posteriors."""

import json
import re

import numpy as np
import pytest

import truecount as tc
from made_counts import groups_of
from truecount import Counts, InputError, Prior

COUNTS = Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])


def codes(found):
    return [finding.code for finding in found.findings]


def rows_of(found):
    return {row["test"]: row for row in found.tables["tests"]}


def test_tables_are_plain_and_whole():
    found = tc.check(COUNTS, drift=0.05, calibration_sets=20)
    assert set(found.tables) == {
        "classes", "identifiability", "outputs", "tests", "priors", "designs", "drift", "coverage", "calibration"
    }  # fmt: skip
    for rows in found.tables.values():
        assert all(list(row) == list(rows[0]) for row in rows)
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["schema"] == "truecount.check/1"
    assert told["tables"]["classes"][0]["class"] == "fail"
    assert told["findings"] == [finding.to_dict() for finding in found.findings]


def test_the_page_has_a_part_for_every_table():
    page = str(tc.check(COUNTS))
    assert page.startswith("class  counted  true share  95 % interval\n")
    for title in ("What was learned of each class", "Tests", "What another prior would say"):
        assert title in page
    assert "info: Whether the classifier still treats each class as it did" in page


def test_the_shares_of_a_table_have_as_many_decimals_and_its_columns_are_explained():
    page = str(tc.check(Counts([[396, 4], [20, 380]], [40, 960], classes=["fail", "pass"]), replicates=99))
    for part in page.split("\n\n")[2:]:
        table, _, note = part.rpartition("\n")
        assert len({len(decimals) for decimals in re.findall(r"\d(?:\.(\d+))? %", table)}) <= 1, part
        assert re.match(r"  [a-z -]+: ", note)
    assert "kept: their ratio" in page
    assert "row prior: what the prior of P(output | class) weighs, in labels" in page
    assert "condition: 1 at best" in page


def test_rank_and_condition_of_the_confusion_are_told():
    alike = Counts([[900, 50, 50], [50, 475, 475], [50, 475, 475]], [850, 75, 75], classes=["a", "b", "c"])
    [row] = tc.check(alike, replicates=99).tables["identifiability"]
    assert (row["rank"], row["unseen"]) == (2, "b and c look alike")
    assert row["condition"] > 100
    [row] = tc.check(COUNTS, replicates=99).tables["identifiability"]
    assert (row["rank"], row["unseen"], row["barely_seen"]) == (2, "nothing", "nothing")
    sizes = np.linalg.svd((COUNTS.labeled + 1) / 202, compute_uv=False)
    assert row["condition"] == pytest.approx(sizes[0] / sizes[1])


def test_a_posterior_is_checked_as_it_is():
    posterior = tc.infer(COUNTS, prior=Prior(3), seed=5)
    assert tc.check(posterior).posterior is posterior


def test_the_same_seed_gives_the_same_page():
    assert str(tc.check(COUNTS, seed=4)) == str(tc.check(COUNTS, seed=4))


def test_an_audit_finds_the_drift_that_counts_cannot_show():
    sound, drifted = (tc.check(COUNTS, audit=table) for table in ([[14, 6], [2, 18]], [[4, 16], [2, 18]]))
    assert "confusion-drifted" not in codes(sound)
    assert "would have been, four times in five" in rows_of(sound)["audit"]["verdict"]
    assert codes(drifted)[0] == "confusion-drifted"
    assert drifted.tables["audit"][0] == {
        "class": "fail", "labeled": 200, "audited": 20.0, "p_value": drifted.tables["audit"][0]["p_value"]
    }  # fmt: skip
    assert "label-shift-violated" not in codes(drifted)


def test_an_audit_in_a_frame_is_read_by_name():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[18, 2], [16, 4]], index=["pass", "fail"], columns=["pass", "fail"])
    as_table = tc.check(COUNTS, audit=[[4, 16], [2, 18]]).tables["audit"]
    assert tc.check(COUNTS, audit=frame).tables["audit"] == as_table
    rows = tc.count(["fail", "pass", "pass"], ["pass", "pass", "fail"], [])
    assert [row["audited"] for row in tc.check(COUNTS, audit=rows).tables["audit"]] == [1, 2]


def test_an_audit_is_read_by_name():
    turned = Counts([[18, 2], [16, 4]], [0, 0], classes=["pass", "fail"], outputs=["pass", "fail"])
    as_table = tc.check(COUNTS, audit=[[4, 16], [2, 18]]).tables["audit"]
    assert tc.check(COUNTS, audit=turned).tables["audit"] == as_table
    few = Counts([[0, 9], [9, 9]], [0, 0], classes=["fail", "pass"], outputs=["fail", "pass"])
    assert tc.check(COUNTS, audit=few).tables["audit"][0]["audited"] == 9


@pytest.mark.parametrize(
    ("audit", "words"),
    [
        ([[1, -1], [0, 1]], r"audit has -1 at \(0, 1\): it must not be negative"),
        ([["a", "b"], ["c", "d"]], "audit holds str32 values"),
        ([[1, 2, 3]], r"audit has shape \(1, 3\)"),
        (Counts([[1, 2], [3, 4]], [0, 0], classes=["fail", "odd"]), "audit has 'odd'"),
    ],
)
def test_an_audit_of_something_else_is_refused(audit, words):
    with pytest.raises(InputError, match=words):
        tc.check(COUNTS, audit=audit)


def test_groups_that_share_labels_are_tested_together():
    wide = Counts([[60, 30, 10], [10, 30, 60]], [0, 0, 0])
    fine = groups_of(wide, {"a": [300, 300, 200], "b": [200, 300, 300]})
    odd = groups_of(wide, {"a": [250, 500, 250], "b": [450, 100, 450]})
    found = tc.check(odd)
    assert rows_of(tc.check(fine))["one confusion in all groups"]["p_value"] > 0.05
    assert rows_of(found)["one confusion in all groups"]["p_value"] < 0.01
    assert rows_of(found)["label shift"]["p_value"] > 0.05
    assert "label-shift-violated" in codes(found)


def test_groups_with_labels_of_their_own_are_compared():
    same = {"a": Counts([[60, 30], [10, 60]], [30, 40]), "b": Counts([[50, 28], [12, 60]], [40, 40])}
    other = {**same, "c": Counts([[30, 60], [10, 60]], [40, 40])}
    assert "confusion-drifted" not in codes(tc.check(tc.Groups.of(same)))
    assert "confusion-drifted" in codes(tc.check(tc.Groups.of(other)))
    assert tc.check(tc.Groups.of(other)).posterior.counts.labeled.sum() == 160 + 150 + 160


def test_groups_are_checked_as_one_population():
    """No group is left that would share the labels, and square groups leave as little to test as square counts."""
    groups = groups_of(COUNTS, {"a": [300, 200], "b": [280, 220]})
    found = tc.check(groups, replicates=99)
    assert "shared-labels" not in codes(found)
    assert rows_of(found)["one confusion in all groups"]["verdict"] == rows_of(found)["label shift"]["verdict"]
    assert "explains nearly anything" in rows_of(found)["label shift"]["verdict"]


def test_a_conclusion_has_the_drift_that_takes_it_away():
    found = tc.check(COUNTS, above={"fail": 0.6}, below={"fail": 0.5}, replicates=99)
    [holds, not_shown] = found.tables["conclusions"]
    claim = tc.sensitivity(found.posterior, 0.05, above={"fail": 0.6}).claims[0]
    assert (holds["conclusion"], holds["smallest_drift"]) == ("fail above 60.0 %", claim.drift)
    assert not_shown["verdict"] == "the interval does not show that even without a drift"
    assert "drift" not in found.tables
    assert "What would overturn a conclusion" in str(found)


def test_verdicts_on_simulated_data_are_said_once_on_the_page():
    page = str(tc.check(COUNTS, calibration_sets=20, replicates=99))
    assert page.count("at sizes and shares like these.") == 1
    assert page.count("The draws rank the truth as the right posterior does.") == 1


def test_nothing_unlabelled_is_no_question_of_label_shift():
    found = tc.check(Counts([[14, 6], [2, 18]], [0, 0]), replicates=99)
    assert codes(found) == ["no-unlabeled"]
    assert rows_of(found)["label shift"]["verdict"] == "there is nothing to test"


def test_an_output_that_nothing_labelled_has_is_expected_at_none():
    [finding] = [
        each
        for each in tc.check(Counts([[140, 60, 0], [20, 180, 0]], [600, 300, 100]), replicates=99).findings
        if each.code == "label-shift-violated"
    ]
    assert "where the nearest mix of what was labelled has 0 %." in finding.message
    assert "model=ByPrediction()" in finding.advice


def test_columns_called_like_a_class_keep_its_name():
    page = str(tc.check(Counts([[14, 6], [2, 18]], [20, 20], classes=["full_pass", "no"]), replicates=99))
    assert "  prior             most moved  full_pass" in page
    assert "nearest mix" in page
    assert "full pass" not in page


def test_designs_that_agree_are_silent():
    same = Counts([[130, 20], [30, 220]], [640, 960])
    assert "designs-disagree" not in codes(tc.check(same))


def test_an_answer_of_another_design_has_no_test_of_label_shift():
    assert "label shift" not in rows_of(tc.check(tc.infer(COUNTS, tc.SamePopulation())))
    found = tc.check(tc.infer(COUNTS, tc.ByPrediction()))
    assert set(found.tables) == {"given_output", "priors"}
    assert "label-shift-untestable" not in codes(found)


def test_a_weight_that_all_items_share_changes_no_test():
    """Weights of 1000 apiece say as much as none: the same sizes, and so the same tests and the same widths."""
    labeled, unlabeled = np.array([[78, 22], [31, 69]]), np.array([112, 88])
    heavy = Counts(1e3 * labeled, 1e3 * unlabeled, labeled_squares=1e6 * labeled, unlabeled_squares=1e6 * unlabeled)
    light = Counts(labeled, unlabeled)
    found, plain = (tc.check(counts, audit=labeled, replicates=99) for counts in (heavy, light))
    for table in ("tests", "outputs", "audit"):
        assert found.tables[table] == plain.tables[table]
    ours, theirs = (tc.coverage(each.posterior, data_sets=10) for each in (found, plain))
    assert ours.width == pytest.approx(theirs.width)
    assert tc.calibration(heavy, data_sets=20, draws=3).rows() == tc.calibration(light, data_sets=20, draws=3).rows()


def test_calibration_knows_the_names():
    """By place, a prior that leans towards the diagonal would lean away from it here."""
    crossed = Counts([[2, 8], [8, 2]], [50, 50], classes=["a", "b"], outputs=["b", "a"])
    prior = Prior({"a": 2, "b": 1}, Prior.diagonal(20).confusion)
    found = tc.calibration(crossed, prior=prior, data_sets=60, draws=5)
    assert found.p_value > 0.001
    assert [row["quantity"] for row in found.rows()][:2] == ["share of a", "share of b"]


@pytest.mark.parametrize("data", [COUNTS, tc.infer(COUNTS)], ids=["counts", "posterior"])
def test_the_engine_asked_for_is_put_to_the_test(data):
    found = tc.check(data, engine=tc.Exact(25), calibration_sets=5, replicates=19)
    assert "The draws are too few to be ranked" in found.tables["calibration"][0]["verdict"]
    held = tc.coverage(found.posterior, engine=tc.Exact(25), data_sets=5)
    assert found.tables["coverage"] == tuple({**row, "verdict": held.verdict} for row in held.rows())
    assert held.rows() != tc.coverage(found.posterior, data_sets=5).rows()


def test_fewer_outputs_than_classes_have_no_finite_condition():
    [row] = tc.check(Counts([[80, 20], [50, 50], [20, 80]], [60, 40]), replicates=99).tables["identifiability"]
    assert (row["rank"], row["condition"]) == (2, None)


BY_OUTPUT = Counts([[380, 40], [20, 360]], [18_000, 2_000], classes=["a", "b"])
"""As many labels of each output, of a population with nine in ten of the first."""


@pytest.mark.parametrize("model", [tc.ByPrediction(), tc.SamePopulation()], ids=repr)
def test_an_audit_of_another_design_compares_the_classes_of_each_output(model):
    """The rows of a random sample differ from labels by output though nothing drifted; a drift still shows."""
    posterior = tc.infer(BY_OUTPUT, model)
    sound, drifted = (tc.check(posterior, audit=table) for table in ([[427, 5], [23, 45]], [[427, 25], [23, 25]]))
    assert "confusion-drifted" not in codes(sound)
    assert [row["output"] for row in sound.tables["audit"]] == ["a", "b"]
    assert [(row["labeled"], row["audited"]) for row in sound.tables["audit"]] == [(400, 450), (400, 50)]
    [finding] = [each for each in drifted.findings if each.code == "confusion-drifted"]
    assert (finding.severity, finding.numbers["outputs"]) == ("serious", ["b"])
    assert "items with the output b have other classes" in finding.message
    assert "confusion-drifted" in codes(tc.check(BY_OUTPUT, audit=[[427, 5], [23, 45]]))


@pytest.mark.parametrize(
    "ask",
    [
        lambda posterior: tc.check(posterior, drift=0.05),
        lambda posterior: tc.check(posterior, calibration_sets=20),
        tc.sensitivity,
        tc.coverage,
    ],
)
@pytest.mark.parametrize("model", [tc.ByPrediction(), tc.SamePopulation()], ids=repr)
def test_what_rests_on_label_shift_is_refused_for_another_model(ask, model):
    with pytest.raises(InputError, match=r"model=\w+\(given_output=None\), where P.class . output. carries over"):
        ask(tc.infer(BY_OUTPUT, model))


@pytest.mark.parametrize("model", [tc.ByPrediction(), tc.SamePopulation()], ids=repr)
def test_the_interval_of_another_model_shows_a_conclusion_or_does_not(model):
    posterior = tc.infer(BY_OUTPUT, model)
    name, (lower, upper) = posterior.classes[0], posterior.interval()[0]
    found = tc.check(posterior, above={name: lower - 0.001}, below={name: upper - 0.001})
    assert [row["shown"] for row in found.tables["conclusions"]] == [True, False]
    assert "drift" not in found.tables


@pytest.mark.parametrize("asked", [{"prior": tc.Prior()}, {"model": tc.ByPrediction()}])
def test_a_posterior_has_its_own_model(asked):
    with pytest.raises(InputError, match="is given beside a posterior: a posterior has its own"):
        tc.check(tc.infer(COUNTS), **asked)


@pytest.mark.parametrize("model", [tc.ByPrediction(), tc.SamePopulation()], ids=repr)
def test_counts_are_checked_under_a_model(model):
    found, expected = tc.check(BY_OUTPUT, model), tc.check(tc.infer(BY_OUTPUT, model))
    assert (codes(found), found.tables) == (codes(expected), expected.tables)


def test_findings_of_the_test_replace_those_of_the_answer():
    counts = Counts([[700, 200, 100], [100, 200, 700]], [1400, 1500, 1100])
    found = tc.check(tc.infer(counts, engine=tc.Hamiltonian(effective_draws=500)))
    assert codes(found).count("label-shift-violated") == 1
    assert "p_value" in found.findings[0].numbers


@pytest.mark.parametrize(
    ("data", "options", "words"),
    [
        ([[1, 2], [3, 4]], {}, "data is of type list"),
        ({"a": COUNTS}, {}, r"data is of type dict: .* Groups\.of\(\{group: counts, \.\.\.\}\)"),
        (COUNTS, {"replicates": 3}, "replicates is 3"),
        (COUNTS, {"calibration_sets": -1}, "calibration_sets is -1"),
        (COUNTS, {"above": {"pass": 80}}, "above holds 80: bounds are shares, 0 to 1"),
    ],
)
def test_bad_input_is_named(data, options, words):
    with pytest.raises(InputError, match=words):
        tc.check(data, **options)


def test_awkward_counts_have_a_page():
    for counts in (
        Counts([[14, 6], [2, 18]], [0, 0]),
        Counts([[0, 0], [2, 18]], [5, 5]),
        Counts([[5, 0], [0, 5]], [1, 0]),
        Counts([[9], [8]], [50]),
        Counts(np.array([[4.0, 2], [1, 3]]), [3.0, 3], labeled_squares=[[8, 4], [1, 3]], unlabeled_squares=[3, 3]),
    ):
        assert "What was learned of each class" in str(tc.check(counts, replicates=99))


@pytest.mark.slow
def test_labels_that_prefer_another_prior_lead_to_its_answer_and_not_to_advice():
    """Judges whose labels explain flat rows better while flat rows are biased; see benchmarks/label_evidence.py."""
    right = [np.array([p, 0.6 * (1 - p), 0.4 * (1 - p)]) for p in (0.8, 0.75, 0.7)]
    rows = np.array([np.einsum("i,j,k->ijk", *side).ravel() for side in (right, [row[::-1] for row in right])])
    rng = np.random.default_rng(1)
    labeled = [rng.multinomial(45, rows[0]), rng.multinomial(255, rows[1])]
    counts = tc.Counts(labeled, rng.multinomial(1500, [0.3, 0.7] @ rows))
    sparse, flat = (tc.Prior(confusion=name) for name in ("sparse", "flat"))
    posterior = tc.infer(counts, prior=sparse)
    (finding,) = [each for each in posterior.findings if each.code == "prior-against-labels"]
    assert finding.numbers["better"] == "flat"
    assert "Which prior brings the shares nearer to the truth does not follow" in finding.message
    assert "Use Prior" not in finding.advice
    found = tc.check(posterior)
    shown = {row["prior"]: row["0"] for row in found.tables["priors"]}
    other = tc.infer(counts, prior=flat)
    error = other.sd[0] * np.sqrt(1 / 400 + 1 / other.effective_draws[0])
    assert shown["confusion flat"] == pytest.approx(other.mean[0], abs=5 * error)
    (told,) = [each for each in found.findings if each.code == "prior-sensitive"]
    assert "with flat rows" in told.message


def test_every_group_is_checked_by_itself_and_the_others_are_said_to_be_pooled():
    counts = tc.Counts([[70, 20, 10], [10, 20, 70]], [0, 0, 0], outputs=["a", "b", "c"])
    groups = groups_of(counts, {"fine": [400, 200, 400], "odd": [50, 900, 50]})
    found = tc.check(groups, replicates=99)
    fine, odd = found.tables["groups"]
    assert (fine["group"], fine["unlabeled"], fine["status"], fine["findings"]) == ("fine", 1000.0, "ok", "none")
    assert fine["p_value"] > 0.05
    assert odd["p_value"] <= 0.01
    assert "label-shift-violated" in odd["findings"]
    assert any(finding.message.startswith("In odd: No mix") for finding in found.findings)
    assert str(found).startswith("All 2 groups together:\n")
    (told,) = str(found).split("Each group by itself\n")[1:]
    assert "Told above of all groups together, and so of each of these: label-shift-violated" in told
    assert "ok" not in told.split("Told above")[0], "no group is called ok beside a finding of all"
    assert "groups" not in tc.check(groups["fine"], replicates=99).tables
