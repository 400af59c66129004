"""Every verb honours a model or refuses it: none takes one that is more than label shift for label shift."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.command import run

import truecount as tc
from truecount.counts import Combinations
from truecount.counts.clusters import Clusters
from truecount.errors import ConvergenceWarning, InputError
from truecount.estimators.binary import RoganGladen
from truecount.models.model import Model
from truecount.models.register import BEYOND, KINDS, MODELS
from truecount.page.reproduce import python
from truecount.planning.mixed import with_target_labels

FEW = tc.Auto(100)
SEVERAL = Combinations(("a", "b"), tuple((one, two) for one in ("no", "yes") for two in ("no", "yes")))
NAMES = ("no", "yes"), SEVERAL.names
LABELED, NEW = np.array([[60, 15, 15, 10], [6, 14, 20, 60]]), np.array([80, 30, 40, 90])
TARGET = np.array([[9, 2, 2, 1], [1, 4, 3, 7]])
COUNTS = tc.Counts(LABELED, NEW, *NAMES, combinations=SEVERAL)
GROUPS = tc.Groups(LABELED, {"g": NEW, "h": NEW[::-1]}, *NAMES, combinations=SEVERAL)
TABLE = {"label": ["a", "b"] * 20 + [None] * 20, "output": ["a", "b", "a", "a"] * 15, "group": ["g", "h"] * 30}
SCORES = tc.Scores(
    np.tile([[0.8, 0.2], [0.3, 0.7]], (20, 1)), ["a", "b"] * 20, np.tile([[0.6, 0.4]], (30, 1)), ["a", "b"]
)
MADE: dict[str, Model] = {
    "erring_labels": tc.ErringLabels(known=0.1),
    "independent_classifiers": tc.IndependentClassifiers(),
    "target_labels": tc.TargetLabels(labeled=TARGET),
    **{kind.name: kind() for kind in KINDS},
}
VERBS: dict[str, Callable[[Model], Any]] = {
    "infer": lambda model: tc.infer(COUNTS, model, engine=FEW).mean,
    "infer groups": lambda model: tc.infer(GROUPS, model, engine=FEW).mean,
    "infer scores": lambda model: tc.infer(SCORES, model, engine=FEW).mean,
    "infer by workers": lambda model: _by_workers(model),
    "infer_many": lambda model: tc.infer_many([COUNTS], model, engine=FEW)[0].mean,
    "infer_many groups": lambda model: tc.infer_many(GROUPS, model, engine=FEW)["g"].mean,
    "infer_table": lambda model: _table(model),
    "mode": lambda model: tc.mode(COUNTS, model).prevalence,
    "check": lambda model: tc.check(COUNTS, model, replicates=19, engine=FEW).posterior.mean,
    "check of an answer": lambda model: tc.check(_answer(model), replicates=19).posterior.mean,
    "sensitivity": lambda model: tc.sensitivity(_answer(model), 0.05, draws=20).interval,
    "coverage": lambda model: tc.coverage(_answer(model), data_sets=2).rows()[0]["held"],
    "calibration": lambda model: tc.calibration(COUNTS, model, data_sets=2),
    "plan": lambda model: tc.plan(COUNTS, labels=20, large_sample=True, model=model).width,
    "plan of groups": lambda model: tc.plan(GROUPS, labels=20, large_sample=True, model=model).width,
    "next_batch": lambda model: list(tc.next_batch(COUNTS, 30, target=TARGET, model=model).values()),
    "may_stop": lambda model: tc.may_stop(COUNTS, 0.1, target=TARGET, model=model),
    "with_target_labels": lambda model: with_target_labels(COUNTS, TARGET, model)[0].labeled,
}
HONOURED = {("infer", name) for name in MADE} | {
    ("infer groups", "erring_labels"),
    ("infer groups", "independent_classifiers"),
    ("each_classifier", "erring_labels"),
}
"""Whatever else is more than label shift is refused; plain label shift is answered everywhere."""

REFUSED = "would not use that"


@cache
def _answer_of(name: str) -> tc.Posterior:
    return tc.infer(COUNTS, MADE[name], engine=FEW)


def _answer(model: Model) -> tc.Posterior:
    return _answer_of(model.name)


def _by_workers(model: Model) -> Any:
    with ThreadPoolExecutor(1) as executor:
        return [row["mean"] for row in tc.infer(GROUPS, model, engine=FEW, executor=executor).rows]


def _table(model: Model) -> Any:
    arrow = pytest.importorskip("pyarrow")
    return tc.infer_table(arrow.table(TABLE), label="label", prediction="output", by="group", model=model, engine=FEW)


def test_every_model_is_made_here() -> None:
    assert set(MADE) == set(MODELS)
    assert {*KINDS, *BEYOND} == set(MODELS.values())


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_answers_under_plain_label_shift(verb: str) -> None:
    """So that a refusal below is of the model."""
    VERBS[verb](tc.LabelShift())


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", [kind.name for kind in BEYOND])
def test_a_verb_honours_what_is_more_than_label_shift_or_refuses_it(name: str, verb: str) -> None:
    if (verb, name) not in HONOURED:
        with pytest.raises(InputError, match=REFUSED):
            VERBS[verb](MADE[name])
        return
    assert not np.allclose(VERBS[verb](MADE[name]), VERBS[verb](tc.LabelShift()), rtol=1e-6)


@pytest.mark.parametrize("name", [kind.name for kind in BEYOND if kind is not tc.TargetLabels])
def test_what_has_no_density_has_none(name: str) -> None:
    with pytest.raises(InputError, match="by infer alone"):
        MADE[name].density(COUNTS)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", MADE)
def test_the_code_on_a_page_gives_the_same_answer(name: str) -> None:
    made: dict[str, Any] = {}
    answer = _answer_of(name)
    exec(python(answer).replace("print(posterior)", ""), made)  # noqa: S102
    assert made["model"] == answer.model
    np.testing.assert_array_equal(made["posterior"].mean, answer.mean)


def clustered(counts: tc.Counts) -> tc.Counts:
    """Put the items into ten clusters, each of one class and output."""
    bins = np.arange(10)
    labeled, unlabeled = np.zeros((10, *counts.labeled.shape)), np.zeros((10, *counts.unlabeled.shape))
    for place in np.ndindex(*counts.labeled.shape):
        labeled[(sum(place) % 10, *place)] = counts.labeled[place]
    for place in range(len(counts.unlabeled)):
        unlabeled[5 + place % 5, place] = counts.unlabeled[place]
    together = Clusters(bins=bins, labeled=labeled, unlabeled=unlabeled, number=10)
    return tc.Counts(
        counts.labeled,
        counts.unlabeled,
        counts.classes,
        counts.outputs,
        combinations=counts.combinations,
        clusters=together,
    )


def weighted(counts: tc.Counts) -> tc.Counts:
    """Give every item a weight of one, as noisy as a sixth of the items."""
    squares = {"labeled_squares": 6.0 * counts.labeled, "unlabeled_squares": 6.0 * counts.unlabeled}
    return tc.Counts(
        1.0 * counts.labeled,
        1.0 * counts.unlabeled,
        counts.classes,
        counts.outputs,
        combinations=counts.combinations,
        **squares,
    )


@pytest.mark.parametrize("changed", [clustered, weighted])
@pytest.mark.parametrize("name", MADE)
def test_weights_and_clusters_widen_an_answer_or_are_refused(
    name: str, changed: Callable[[tc.Counts], tc.Counts]
) -> None:
    if name == "target_labels" or (name == "erring_labels" and changed is weighted):
        with pytest.raises(InputError, match=r"weight|cluster"):
            tc.infer(changed(COUNTS), MADE[name], engine=FEW)
        return
    assert tc.infer(changed(COUNTS), MADE[name], engine=FEW).sd[0] > 1.3 * _answer_of(name).sd[0]


@pytest.mark.parametrize("changed", [clustered, weighted])
def test_weights_and_clusters_widen_a_closed_interval_and_are_no_target_labels(
    changed: Callable[[tc.Counts], tc.Counts],
) -> None:
    plain = tc.Counts([[140, 60], [20, 180]], [600, 400], ["no", "yes"])
    assert np.ptp(RoganGladen().interval(changed(plain))[0]) > 1.3 * np.ptp(RoganGladen().interval(plain)[0])
    with pytest.raises(InputError, match=r"weight|cluster"):
        with_target_labels(changed(COUNTS), TARGET)
    assert with_target_labels(COUNTS, TARGET)[0].combinations == SEVERAL


def test_clusters_are_told_where_a_combination_was_never_seen() -> None:
    seen = Combinations(SEVERAL.columns, SEVERAL.parts[:3])
    some = tc.Counts(LABELED[:, :3], NEW[:3], NAMES[0], seen.names, combinations=seen)
    answer = tc.infer(clustered(some), tc.IndependentClassifiers(), engine=FEW)
    assert "clustered" in [finding.code for finding in answer.findings]


@pytest.mark.parametrize("options", [{"groups": tc.Walk()}, {"groups": tc.Pooled()}, {"confusion": tc.Varying()}])
def test_labels_that_err_leave_groups_nothing_in_common(options: dict[str, Any]) -> None:
    for make in (tc.ErringLabels, lambda **more: tc.infer(tc.ErringLabels().ratings_of(GROUPS), tc.LabelShift(**more))):
        with pytest.raises(InputError):
            make(**options)


def test_several_raters_take_no_other_model() -> None:
    ratings = tc.ErringLabels(known=0.1).ratings_of(COUNTS)
    for name in ("independent_classifiers", "target_labels", "same_population"):
        with pytest.raises(InputError, match="labels of several raters"):
            tc.infer(ratings, MADE[name])


def test_labels_that_err_refuse_studies_and_keep_times() -> None:
    new = {"g": NEW, "h": NEW[::-1]}
    with pytest.raises(InputError, match="has several studies"):
        tc.infer(tc.Groups({"s": LABELED, "t": LABELED}, new, *NAMES), tc.ErringLabels(known=0.1))
    timed = tc.Groups(LABELED, new, *NAMES, times=[3.0, 4.0])
    answer = tc.infer(timed, tc.ErringLabels(known=0.1), engine=FEW)
    assert answer.data.times is not None
    assert answer.data.times.tolist() == [3.0, 4.0]


@pytest.mark.parametrize("kind", [tc.ErringLabels, tc.IndependentClassifiers])
@pytest.mark.parametrize("prior", [tc.Prior.known_confusion(np.full((2, 4), 0.25)), tc.Prior(prevalence="learned")])
def test_a_prior_that_would_be_lost_is_refused(kind: Any, prior: tc.Prior) -> None:
    with pytest.raises(InputError, match="prior has"):
        kind(prior)


def test_rows_of_each_classifier_leave_no_prior_of_the_confusion() -> None:
    with pytest.raises(InputError, match="rows of its own"):
        tc.IndependentClassifiers(tc.Prior(confusion=2))


def test_a_study_of_the_population_keeps_combinations() -> None:
    studies = {"here": TARGET, "there": LABELED}
    one = tc.Groups(studies, {"all": NEW}, *NAMES, combinations=SEVERAL)
    counts, model = tc.TargetLabels.of_study(one, "here")
    assert counts == COUNTS
    assert tc.infer(counts, model, engine=FEW).prior.confusion == "learned"
    with pytest.raises(InputError, match="no labels of a group have"):
        tc.TargetLabels.of_study(tc.Groups(studies, {"g": NEW, "h": NEW}, *NAMES), "here")


def test_more_draws_are_drawn_where_they_are_asked_for() -> None:
    found = tc.infer(COUNTS, tc.IndependentClassifiers(), engine=tc.Auto(3000))
    assert found.draws.effective.min() >= 3000


@pytest.mark.parametrize(("module", "name"), [("independent", "independent_classifiers"), ("raters", "erring_labels")])
def test_chains_that_did_not_converge_warn(module: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for limit, sweeps in (("WARMUP", 1), ("FIRST", 4), ("MOST_SWEEPS", 4)):
        monkeypatch.setattr(f"truecount.inference.{module}.{limit}", sweeps)
    with pytest.warns(ConvergenceWarning) as told:
        tc.infer(COUNTS, MADE[name])
    assert told[0].filename == __file__


def test_an_error_names_the_row_that_is_wrong() -> None:
    with pytest.raises(InputError, match=r"adds up to 0\.7"):
        tc.infer(COUNTS, tc.ErringLabels(known=[[0.9, 0.1], [0.2, 0.5]]))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write rows of two raters and two classifiers, with groups and times."""
    lines = []
    for at in range(60):
        label, day = "" if at % 3 == 0 else "ab"[at % 2], f"2024-01-0{1 + at % 5}"
        lines.append(f"{label},{label},{'aab'[at % 3]},{'ab'[at % 2]},{'gh'[at // 30]},{day}")
    (tmp_path / "rows.csv").write_text("\n".join(["label,again,one,two,group,day", *lines]))
    return tmp_path


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--label-error", "5%", "--trend", "day"], "--trend"),
        (["--label-error", "5%", "--by", "group", "--covariate", "day"], "--covariate"),
        (["--label-error", "5%", "--study", "group"], "--study"),
        (["--label-error", "5%", "--target-labels", "group=g"], "--target-labels"),
        (["--prediction", "two", "--independent-classifiers", "--target-labels", "group=g"], "--target-labels"),
        (["--prediction", "two", "--independent-classifiers", "--prior-confusion", "2"], "--prior-confusion"),
        (["--label", "again", "--study", "group"], "--study"),
    ],
)
def test_the_command_refuses_what_would_be_lost(folder: Path, options: list[str], named: str) -> None:
    done = run("estimate", "rows.csv", "--label", "label", "--prediction", "one", *options, folder=folder)
    assert done.returncode in (1, 2), done.stdout
    assert named in done.stderr
