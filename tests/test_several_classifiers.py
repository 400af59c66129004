"""Several classifiers at once: joint answers, what each adds, and whether they err independently."""

from pathlib import Path

import numpy as np
import pytest
from tests.command import run

import truecount as tc
from truecount.counts import Combinations
from truecount.counts.classifiers import of_classifiers
from truecount.diagnostics.classifiers import independence_test
from truecount.errors import InputError
from truecount.inference import convergence
from truecount.results.export.storage import read

PARTS = tuple((one, two) for one in ("no", "yes") for two in ("no", "yes"))


def made(seed: int, *, together: float, labels: int = 300, new: int = 500, share: float = 0.3) -> tc.Counts:
    """Return counts of two classifiers, right on 80 % of the items; on a part of these they err together."""
    rng = np.random.default_rng(seed)
    alone = np.array([0.8, 0.2])
    right = np.outer(alone, alone) * (1 - together) + np.diag(alone) * together
    rows = np.array([right.ravel(), right[::-1, ::-1].ravel()])
    labeled = np.array([rng.multinomial(labels, row) for row in rows])
    several = Combinations(("a", "b"), PARTS)
    unlabeled = rng.multinomial(new, np.array([1 - share, share]) @ rows)
    return tc.Counts(labeled, unlabeled, ["no", "yes"], several.names, combinations=several)


def test_rows_are_learned_by_default_and_lean_towards_agreement() -> None:
    counts = made(0, together=0.5)
    posterior = tc.infer(counts, engine=tc.Auto(400))
    assert posterior.prior.confusion == "learned"
    learned = posterior.prior.learned_rows_for(counts)
    assert learned is not None
    assert learned.peak.tolist() == [[1, 0, 0, 0], [0, 0, 0, 1]]
    low, high = posterior.interval()[1]
    assert low < 0.3 < high


def test_groups_are_inferred_from_combinations() -> None:
    one = made(6, together=0.3)
    new = {"g": one.unlabeled, "h": one.unlabeled[::-1]}
    groups = tc.Groups(one.labeled, new, one.classes, one.outputs, combinations=one.combinations)
    answer = tc.infer(groups, engine=tc.Auto(50))
    assert answer.mean[0, 1] < 0.5 < answer.mean[1, 1]


def test_planted_dependence_is_found(seed: int) -> None:
    """Of 20 data sets with independent errors at most 7 are suspected at 5 %: more in 1 of 100,000 runs."""
    found = independence_test(made(seed, together=0.5))
    assert found is not None
    assert found.p_value < 0.01
    assert found.correlation > 0.3
    assert found.pair == ("a", "b")
    tests = [independence_test(made(100 * seed + number, together=0.0), replicates=99) for number in range(20)]
    assert sum(test is not None and test.p_value <= 0.05 for test in tests) <= 7


def test_dependence_is_serious_where_independence_is_assumed() -> None:
    counts = made(1, together=0.6)
    assumed = tc.infer(counts, tc.IndependentClassifiers(), engine=tc.Auto(400))
    plain = tc.infer(counts, engine=tc.Auto(400))
    assert [each.severity for each in assumed.findings if each.code == "classifiers-dependent"] == ["serious"]
    assert np.diff(assumed.interval()[0])[0] < np.diff(plain.interval()[0])[0]
    fine = tc.infer(made(2, together=0.0), tc.IndependentClassifiers(), engine=tc.Auto(400))
    assert not fine.findings
    assert np.abs(fine.confusion.sum(axis=2) - 1).max() < 1e-9


def test_check_tests_independence() -> None:
    found = tc.check(made(1, together=0.6), engine=tc.Auto(200), replicates=39)
    assert "classifiers err independently" in [row["test"] for row in found.tables["tests"]]
    assert [each.severity for each in found.findings if each.code == "classifiers-dependent"] == ["info"]


def test_independent_classifiers_agree_with_a_product_worked_by_hand() -> None:
    """With rows known by very many labels, the shares are those of the plain model with the product as known rows."""
    counts = made(3, together=0.0, labels=1_000_000, new=2000)
    alone = np.array([0.8, 0.2])
    product = np.array([np.outer(alone, alone).ravel(), np.outer(alone[::-1], alone[::-1]).ravel()])
    known = tc.infer(tc.Counts(np.zeros((2, 4), int), counts.unlabeled), prior=tc.Prior.known_confusion(product))
    assumed = tc.infer(counts, tc.IndependentClassifiers())
    error = 5 * np.hypot(known.mcse[0], assumed.mcse[0])
    assert abs(known.mean[0] - assumed.mean[0]) < error + 1e-3 * known.sd[0] * 10
    assert known.sd[0] == pytest.approx(assumed.sd[0], rel=0.1)


def test_items_that_count_for_less_than_half_are_not_lost() -> None:
    """Eight effective items, .4 of each rare combination: as with the product as known rows."""
    alone, several = np.array([0.8, 0.2]), Combinations(("a", "b"), PARTS)
    product = np.array([np.outer(alone, alone).ravel(), np.outer(alone[::-1], alone[::-1]).ravel()])
    labeled, items = np.rint(1e6 * product), np.array([20.0, 20.0, 20.0, 340.0])
    squares = {"labeled_squares": labeled, "unlabeled_squares": [400.0, 400.0, 400.0, 18_800.0]}
    counts = tc.Counts(labeled, items, ["no", "yes"], several.names, combinations=several, **squares)
    assumed = tc.infer(counts, tc.IndependentClassifiers())
    known = tc.infer(counts, prior=tc.Prior.known_confusion(product))
    error = np.hypot(known.mcse[0], assumed.mcse[0])
    assert abs(known.mean[0] - assumed.mean[0]) < 5 * error
    rounded = tc.Counts(np.zeros((2, 4), int), [0, 0, 0, 7])
    assert abs(tc.infer(rounded, prior=tc.Prior.known_confusion(product)).mean[0] - known.mean[0]) > 5 * error


def test_each_classifier_and_all() -> None:
    found = tc.each_classifier(made(4, together=0.0), engine=tc.Auto(400))
    assert [row.label for row in found.rows] == ["a alone", "b alone", "all"]
    assert found.rows[-1].width[0] < min(row.width[0] for row in found.rows[:-1])
    assert "share of yes" in str(found)
    assert found.to_dict()["rows"][0]["classifier"] == "a"
    with pytest.raises(InputError, match="counts are of one classifier"):
        tc.each_classifier(tc.Counts([[1, 2], [3, 4]], [5, 6]))


def test_items_of_one_classifier_alone_have_an_output_of_the_others() -> None:
    """Two of three say nothing of some items: without the third, these have an output that is called missing."""
    parts = ["yes", None, None], ["no", None, None], ["yes", "no", "yes"], ["no", "yes", None], ["yes", "yes", "no"]
    several = Combinations(["a", "b", "c"], [*parts, ["no", "no", "no"]])
    labeled = np.array([[3, 9, 2, 8, 4, 20], [9, 2, 9, 4, 20, 3]])
    counts = tc.Counts(labeled, [20] * 6, ["no", "yes"], several.names, combinations=several)
    two = of_classifiers(counts, ["b", "c"])
    assert two.outputs == ('"missing", "missing"', "no, yes", "yes, missing", "yes, no", "no, no")
    assert two.labeled[:, 0].tolist() == [12, 11]
    assert [row.label for row in tc.each_classifier(counts, engine=tc.Auto(50)).rows][3] == "without a"


def test_independence_needs_several_classifiers() -> None:
    with pytest.raises(InputError, match="it takes the outputs of several classifiers"):
        tc.infer(tc.Counts([[1, 2], [3, 4]], [5, 6]), tc.IndependentClassifiers())
    with pytest.raises(InputError, match="it must be a number above 0"):
        tc.IndependentClassifiers(rows=0)


def test_answers_are_saved_and_written(tmp_path: Path) -> None:
    counts = made(5, together=0.3, labels=60, new=80)
    answer = tc.infer(counts, tc.IndependentClassifiers(), engine=tc.Auto(100))
    answer.save(tmp_path / "answer.npz")
    assert read(tmp_path / "answer.npz")["model"] == tc.IndependentClassifiers()
    table = tc.each_classifier(counts, engine=tc.Auto(100)).table()
    tc.report(tc.infer(counts, engine=tc.Auto(100)), tmp_path / "page.html", classifiers=table)
    assert "What each classifier adds" in (tmp_path / "page.html").read_text()


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    lines = ["human,a,b"]
    for number in range(260):
        truth = rng.random() < 0.4
        outputs = ["yes" if (rng.random() < 0.85) == truth else "no" for _ in range(2)]
        outputs[1] = outputs[1] if rng.random() < 0.9 else ""
        lines.append(",".join(["" if number > 160 else "yes" if truth else "no", *outputs]))
    (tmp_path / "runs.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_the_command_takes_several_predictions(runs: Path) -> None:
    options = ["--label", "human", "--prediction", "a", "--prediction", "b"]
    done = run("estimate", "runs.csv", *options, "--each-classifier", "--class", "yes", folder=runs)
    assert done.returncode == 0, done.stderr
    assert "without" not in done.stdout
    assert "a alone" in done.stdout
    assumed = run("estimate", "runs.csv", *options, "--independent-classifiers", folder=runs)
    assert assumed.returncode == 0, assumed.stderr
    assert "Gibbs by classifier" in assumed.stdout


@pytest.mark.slow
def test_each_classifier_is_drawn_as_the_whole_is(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, each = [], tc.each_classifier
    monkeypatch.setattr(
        "truecount.api.classifiers.each_classifier",
        lambda *given, **named: asked.append(named) or each(*given, **(named | {"engine": tc.Auto(100)})),
    )
    options = ["--label", "human", "--prediction", "a", "--prediction", "b", "--each-classifier"]
    for more in ([], ["--draws", "300"], ["--engine", "gibbs", "--draws", "400"]):
        assert run("estimate", "runs.csv", *options, *more, folder=runs).returncode == 0
    assert [named.get("engine") for named in asked] == [None, tc.Auto(300), tc.Gibbs(400)]


@pytest.mark.parametrize("option", ["--each-classifier", "--independent-classifiers"])
def test_one_prediction_has_nothing_to_compare(option: str, runs: Path) -> None:
    done = run("estimate", "runs.csv", "--label", "human", "--prediction", "a", option, folder=runs)
    assert done.returncode == 2
    assert "goes with several --prediction" in done.stderr


REGIONS = {"north": [60, 40], "south": [30, 70], "east": [45, 55]}


def apart_from_one_classifier(seed: int, rows: float) -> float:
    """Return the largest difference, in standard errors, from groups of one classifier beside which nothing is said."""
    named = Combinations(("one", "silent"), (("no", "-"), ("yes", "-")))
    both = tc.Groups([[55, 12], [9, 50]], REGIONS, ["no", "yes"], named.names, combinations=named)
    alone = tc.Groups([[55, 12], [9, 50]], REGIONS, ["no", "yes"])
    flat = tc.LabelShift(tc.Prior(1.0, "flat"), groups=tc.Pooled(kind="dirichlet"))
    answers = (
        tc.infer(alone, flat, engine=tc.Auto(400), seed=seed),
        tc.infer(both, tc.IndependentClassifiers(rows=rows), engine=tc.Auto(400), seed=seed),
    )
    assert answers[0].model.groups == answers[1].model.groups
    means, errors = [], []
    for answer in answers:
        flat_draws = np.concatenate([answer.prevalence[:, :, 0], answer.draws.centre[:, 0], np.log(answer.spread)], 1)
        means.append(flat_draws.mean(axis=0))
        effective = convergence.effective_fast(flat_draws, answer.draws.chains)
        errors.append(flat_draws.std(axis=0) / np.sqrt(effective))
    return float(np.abs((means[0] - means[1]) / np.hypot(*errors)).max())


@pytest.mark.slow
def test_groups_of_classifiers_of_which_one_is_silent_are_groups_of_the_other(seed: int) -> None:
    assert apart_from_one_classifier(seed, 1.0) < 5


@pytest.mark.slow
def test_that_sees_another_prior_of_the_rows(seed: int) -> None:
    assert apart_from_one_classifier(seed, 15.0) > 5


def test_groups_of_independent_classifiers_are_saved(tmp_path: Path) -> None:
    columns = {"x": ["a", "b", "a", "b"], "y": ["a", "b", "b", "b"]}
    one = tc.count(["a", "b", "a", "b"], columns, columns)
    groups = tc.Groups.of({"A": one, "B": one})
    unlabeled, named = dict(zip("AB", groups.unlabeled, strict=True)), (one.classes, one.outputs)
    shared = tc.Groups(one.labeled, unlabeled, *named, combinations=one.combinations)
    answer = tc.infer(shared, tc.IndependentClassifiers(rows=2), engine=tc.Auto(20))
    answer.save(tmp_path / "answer.npz")
    kept = tc.GroupPosterior.load(tmp_path / "answer.npz")
    assert kept.model == answer.model
    np.testing.assert_array_equal(kept.prevalence, answer.prevalence)
    tc.report(answer, tmp_path / "page.html")
    assert "IndependentClassifiers" in (tmp_path / "page.html").read_text()
    with pytest.raises(InputError, match="data has several studies"):
        tc.infer(groups, tc.IndependentClassifiers())
