"""The quantifier as a guest of scikit-learn."""

import pickle
import sys

import numpy as np
import pytest

pytest.importorskip("sklearn")

import joblib
from scipy import sparse
from scipy.stats import binom
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

from made_items import made_items
from truecount import Auto, Prior, infer, infer_many
from truecount.errors import InputError, MissingExtraError, TruecountWarning
from truecount.sklearn import Argmax, Bins, Clusters, Intervals, Quantifier, Thresholds, Tree
from truecount.sklearn.folds import Folds, turns

QUICK = Auto(400)
NOT_ITEM_BY_ITEM = {
    "check_methods_sample_order_invariance": "predict gives a share for each class, not a value for each item",
    "check_methods_subset_invariance": "the shares of a part are not a part of the shares",
}


@pytest.fixture
def training() -> tuple[np.ndarray, np.ndarray]:
    return made_items(np.random.default_rng(0), [300, 300])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@pytest.mark.filterwarnings("ignore:Number of classes in training fold:RuntimeWarning")
@pytest.mark.filterwarnings("ignore::truecount.errors.ConvergenceWarning")
@pytest.mark.parametrize("partition", [None, Clusters(4), Tree(4)])
def test_it_passes_scikit_learns_own_checks(partition) -> None:
    quantifier = Quantifier(GaussianNB(), partition, engine=Auto(100))
    checks = check_estimator(quantifier, expected_failed_checks=NOT_ITEM_BY_ITEM)
    assert {each["check_name"] for each in checks if each["status"] == "xfail"} == set(NOT_ITEM_BY_ITEM)
    assert sum(each["status"] == "passed" for each in checks) >= 35


def test_shares_of_new_items_are_found_and_counting_misses_them(training, seed: int) -> None:
    rng = np.random.default_rng(seed)
    items, _ = made_items(rng, [400, 1600])
    quantifier = Quantifier(LinearDiscriminantAnalysis()).fit(*training)
    posterior = quantifier.posterior(items)
    assert quantifier.predict(items) == pytest.approx([0.2, 0.8], abs=5 * posterior.sd[0])
    counted = quantifier.counts(items).counted
    assert np.abs(counted - [0.2, 0.8]).max() > np.abs(quantifier.predict(items) - [0.2, 0.8]).max()


def test_predict_is_the_mean_of_the_posterior_of_its_counts(training) -> None:
    items, _ = made_items(np.random.default_rng(1), [30, 70])
    quantifier = Quantifier(GaussianNB(), Argmax(), engine=QUICK, prior=Prior(2.0), seed=3).fit(*training)
    alone = infer(quantifier.counts(items), prior=Prior(2.0), engine=QUICK, seed=3)
    np.testing.assert_array_equal(quantifier.predict(items), alone.mean)
    np.testing.assert_array_equal(quantifier.predict_interval(items, 0.8), alone.interval(0.8))
    np.testing.assert_array_equal(
        quantifier.predict_interval(items, 0.5, kind="hdi", target="realized"),
        alone.interval(0.5, kind="hdi", target="realized"),
    )


def test_by_default_scores_are_calibrated_and_everything_asked_of_it_is_one_inference(training) -> None:
    items, _ = made_items(np.random.default_rng(1), [30, 70])
    quantifier = Quantifier(GaussianNB(), engine=QUICK, seed=3).fit(*training)
    posterior = quantifier.posterior(items)
    assert posterior.run.engine == "calibrated scores"
    assert quantifier.score_model_.finding is None
    assert (np.abs(quantifier.predict(items) - posterior.mean) < 5 * posterior.mcse).all()
    np.testing.assert_array_equal(quantifier.predict_interval(items, 0.8), posterior.interval(0.8))
    counted = Quantifier(GaussianNB(), Argmax(), engine=QUICK).fit(*training)
    assert counted.score_model_ is None
    assert posterior.sd[0] < counted.posterior(items).sd[0]


@pytest.mark.parametrize("cv", [3, KFold(2, shuffle=True, random_state=0), "prefit"])
def test_new_items_meet_every_classifier_once_and_in_turns(training, cv) -> None:
    items, _ = made_items(np.random.default_rng(1), [30, 70])
    sorter = Quantifier(GaussianNB().fit(*training), cv=cv).fit(*training)._sorter
    answers = np.stack([fold.estimator.predict_proba(items) for fold in sorter.held.each])
    ways, in_turn = sorter.scores_in_all_turns(items)
    np.testing.assert_allclose(np.sort(np.stack(ways), axis=0), np.sort(answers, axis=0), atol=1e-9)
    np.testing.assert_array_equal(in_turn, sorter.scores_in_turns(items))
    assert all((np.abs(answers - way).min(axis=0) < 1e-9).all() for way in ways)


def test_of_many_new_items_some_meet_every_classifier(training, monkeypatch) -> None:
    monkeypatch.setattr("truecount.sklearn.quantifier.MOST_UNLABELED", 50)
    monkeypatch.setattr("truecount.api.scores.MOST_UNLABELED", 50)
    items, _ = made_items(np.random.default_rng(1), [300, 700])
    quantifier = Quantifier(GaussianNB(), engine=QUICK).fit(*training)
    posterior = quantifier.posterior(items)
    assert posterior.counts == quantifier.counts(items)
    assert abs(posterior.mean[0] - 0.3) < 5 * posterior.sd[0]


def test_a_classifier_that_says_the_same_of_all_items_learns_nothing_and_it_is_said(training) -> None:
    posterior = Quantifier(DummyClassifier(strategy="prior"), engine=QUICK).fit(*training).posterior(training[0][:50])
    assert "prior-dominated" in {finding.code for finding in posterior.findings}


def test_scores_of_zero_and_one_of_a_full_tree_are_answered(training) -> None:
    items, labels = made_items(np.random.default_rng(1), [30, 170])
    quantifier = Quantifier(DecisionTreeClassifier(random_state=0), engine=QUICK).fit(*training)
    assert set(np.unique(quantifier._held_out[0])) == {0.0, 1.0}
    posterior = quantifier.posterior(items)
    assert abs(posterior.mean[0] - (labels == 0).mean()) < 5 * posterior.sd[0]


def test_two_items_of_a_class_are_sorted_into_cells_and_it_is_said(training) -> None:
    items, labels = training[0], np.where(np.arange(600) < 2, 2, training[1])
    posterior = Quantifier(GaussianNB(), cv=2, engine=QUICK).fit(items, labels).posterior(items)
    assert "scores-in-cells" in {finding.code for finding in posterior.findings}
    assert posterior.mean.shape == (3,)


PLANTS = {
    "constant scores": DummyClassifier(strategy="prior"),
    "scores of zero and one": DecisionTreeClassifier(random_state=0),
    "a forest": RandomForestClassifier(30, random_state=0),
    "leaving one out": LogisticRegression(),
}


@pytest.mark.parametrize("target", ["population", "realized"])
@pytest.mark.parametrize("name", PLANTS)
def test_predict_of_plants_lies_inside_its_interval(name: str, target: str) -> None:
    """Of new items that lack two classes, and of a single item; of whole items, 2.5 % lie above the upper end."""
    beyond = 0.0 if target == "population" else 0.025
    known, labels = made_items(np.random.default_rng(2), [60, 60, 60])
    quantifier = Quantifier(PLANTS[name], engine=QUICK, target=target).fit(known, labels)
    assert quantifier.score_model_.fitted is not None
    for number in (100, 1):
        items, _ = made_items(np.random.default_rng(3), [number, 0, 0])
        shares, ends = quantifier.predict(items), quantifier.predict_interval(items)
        np.testing.assert_allclose(shares.sum(), 1)
        assert (ends[:, 0] - beyond <= shares).all()
        assert (shares <= ends[:, 1] + beyond).all()


def test_shares_of_these_very_items_are_given_when_asked_for(training) -> None:
    items, _ = made_items(np.random.default_rng(1), [30, 70])
    quantifier = Quantifier(GaussianNB(), engine=QUICK, target="realized").fit(*training)
    posterior = quantifier.posterior(items)
    assert (np.abs(quantifier.predict(items) - posterior.realized.mean(axis=0)) < 5 * posterior.mcse).all()
    np.testing.assert_array_equal(quantifier.predict_interval(items, 0.8), posterior.interval(0.8, target="realized"))
    np.testing.assert_array_equal(quantifier.predict_interval(items, target="population"), posterior.interval())


def test_groups_of_one_quantifier_share_its_labels(training) -> None:
    weeks = [made_items(np.random.default_rng(week), [30, 70])[0] for week in (1, 2)]
    quantifier = Quantifier(GaussianNB(), engine=QUICK).fit(*training)
    groups, first = quantifier.groups({"first": weeks[0], "second": weeks[1]}), quantifier.counts(weeks[0])
    assert groups.shares_labels
    assert groups["first"] == first
    assert groups.total.labeled.sum() == 600
    apart = infer_many(groups, engine=QUICK).values()
    assert all("shared-labels" in {finding.code for finding in posterior.findings} for posterior in apart)
    assert "shared-labels" not in {finding.code for finding in quantifier.posterior(weeks[0]).findings}
    assert clone(quantifier).fit(*training).counts(weeks[0]) == first
    other = clone(quantifier).fit(*made_items(np.random.default_rng(7), [300, 300])).counts(weeks[1])
    assert (first + other).labeled.sum() == 1200


def test_each_setting_changes_the_answer(training) -> None:
    items, _ = made_items(np.random.default_rng(1), [30, 70])
    fitted = Quantifier(GaussianNB(), engine=QUICK).fit(*training)
    plain = fitted.predict(items), fitted.predict_interval(items)
    others = {
        "partition": Bins(5),
        "cv": 2,
        "prior": Prior([9, 1]),
        "engine": Auto(401),
        "target": "realized",
        "seed": 1,
    }
    for name, value in others.items():
        quantifier = Quantifier(GaussianNB(), engine=QUICK).set_params(**{name: value}).fit(*training)
        answers = quantifier.predict(items), quantifier.predict_interval(items)
        assert np.abs(answers[name == "engine"] - plain[name == "engine"]).max() > 0, name


def test_labeled_items_are_all_counted_and_by_their_own_class(training) -> None:
    quantifier = Quantifier(GaussianNB()).fit(*training)
    assert quantifier.labeled_.sum(axis=1).tolist() == [300, 300]
    assert np.diag(quantifier.labeled_).min() > 220


def test_outputs_of_labeled_items_come_from_classifiers_that_did_not_see_them() -> None:
    """Labels without meaning: a nearest neighbour knows every item that it has seen, and no other."""
    from sklearn.neighbors import KNeighborsClassifier

    rng = np.random.default_rng(2)
    quantifier = Quantifier(KNeighborsClassifier(1)).fit(rng.standard_normal((400, 3)), rng.integers(0, 2, 400))
    low, high = binom.ppf([5e-5, 1 - 5e-5], 400, 0.5)
    assert low <= np.trace(quantifier.labeled_) <= high


def looks_informative(labeled: np.ndarray) -> bool:
    """Whether cells differ between two classes by more than five standard errors of a chi-square statistic."""
    rows, totals = labeled.sum(axis=1, keepdims=True), labeled.sum(axis=0)
    expected = rows * totals[totals > 0] / labeled.sum()
    statistic, freedom = ((labeled[:, totals > 0] - expected) ** 2 / expected).sum(), (totals > 0).sum() - 1
    return bool(statistic > freedom + 5 * np.sqrt(2 * freedom))


def test_a_partition_that_sees_labels_gets_items_that_are_not_counted(seed: int) -> None:
    """Labels without meaning again: leaves look pure on the items that they were grown on, and on no others."""
    rng = np.random.default_rng(seed)
    items, labels = rng.standard_normal((800, 2)), rng.integers(0, 2, 800)
    quantifier = Quantifier(GaussianNB(), Tree(30, least=3)).fit(items, labels)
    assert quantifier.labeled_.sum() == 800 - sum(np.bincount(labels) // 4)
    assert not looks_informative(quantifier.labeled_)

    assert looks_informative(fit_and_count_the_same(items, labels))


def fit_and_count_the_same(items: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The mistake: a tree that is counted on the items that it was grown on."""
    scores = cross_val_predict(GaussianNB(), items, labels, method="predict_proba")
    cells = Tree(30, least=3).fit(scores, labels)
    return np.array([np.bincount(cells.assign(scores[labels == label]), minlength=cells.size) for label in (0, 1)])


def test_a_fitted_classifier_is_taken_as_it_is(training) -> None:
    classifier = GaussianNB().fit(*training)
    items, labels = made_items(np.random.default_rng(4), [50, 150])
    quantifier = Quantifier(classifier, cv="prefit").fit(items, labels)
    assert quantifier.estimator_ is classifier
    assert [fold.estimator for fold in quantifier.folds_] == [classifier]
    expected = np.zeros((2, 2), int)
    np.add.at(expected, (labels, classifier.predict(items)), 1)
    np.testing.assert_array_equal(quantifier.labeled_, expected)


def test_new_items_meet_the_classifiers_of_the_folds_in_turns(training) -> None:
    """So labelled and new items meet the same box: items that no classifier was fitted to, by the same classifiers."""
    items, _ = made_items(np.random.default_rng(4), [20, 31])
    quantifier = Quantifier(GaussianNB(), cv=3).fit(*training)
    expected, first = np.zeros(2, int), int(joblib.hash(items[[0]]), 16)
    for turn, (classifier, held) in enumerate(quantifier.folds_):
        rest = np.setdiff1d(np.arange(len(training[1])), held)
        again = GaussianNB().fit(training[0][rest], training[1][rest])
        np.testing.assert_array_equal(classifier.predict(items), again.predict(items))
        expected += np.bincount(classifier.predict(items[(turn - first) % 3 :: 3]), minlength=2)
    np.testing.assert_array_equal(quantifier.counts(items).unlabeled, expected)


def test_fewer_new_items_than_folds_are_counted_once_each(training) -> None:
    quantifier = Quantifier(GaussianNB()).fit(*training)
    assert quantifier.counts(training[0][:3]).unlabeled.sum() == 3


def test_every_classifier_knows_every_class(training) -> None:
    items, labels = training[0], np.where(np.arange(600) == 7, 2, training[1])
    with pytest.raises(InputError, match=r"all items of class 2 into one fold.*Label two items or more"):
        Quantifier(GaussianNB(), cv=KFold(3)).fit(items, labels)


def test_classes_spread_unevenly_over_the_folds_are_warned_of(training) -> None:
    """Folds in the order of sorted labels: those of one class meet other classifiers than those of the other."""
    order = np.argsort(training[1], kind="stable")
    with pytest.warns(TruecountWarning, match="spread unevenly over the folds"):
        Quantifier(GaussianNB(), cv=KFold(4)).fit(training[0][order], training[1][order])
    Quantifier(GaussianNB(), cv=KFold(4, shuffle=True, random_state=0)).fit(*training)


@pytest.mark.parametrize("sizes", [[40, 41, 42], [570, 30], [7, 1, 2]])
@pytest.mark.parametrize("first", [0, 1, 12345])
def test_every_new_item_has_one_turn_and_folds_their_share(sizes: list[int], first: int) -> None:
    number = 10 * sum(sizes)
    found = [np.arange(number)[items] for items in turns(sizes, number, first)]
    assert sorted(np.concatenate(found).tolist()) == list(range(number))
    np.testing.assert_allclose([len(items) for items in found], 10 * np.array(sizes), rtol=0.03)


def test_batches_of_one_item_meet_all_classifiers(training) -> None:
    """Pooled, they would else be counted by the first classifier alone."""
    quantifier = Quantifier(GaussianNB(), cv=3).fit(*training)
    met = [next(Folds(quantifier.folds_).in_turns([item], "predict_proba"))[0, 0] for item in training[0][:60]]
    by_fold = [fold.estimator.predict_proba(training[0][:60])[:, 0] for fold in quantifier.folds_]
    times = (np.array(met) == by_fold).sum(axis=1)
    assert (np.abs(times - 20) < 5 * np.sqrt(60 * 2 / 9)).all()


@pytest.mark.parametrize("cv", [ShuffleSplit(3), RepeatedStratifiedKFold(n_splits=2, n_repeats=2)])
def test_every_labelled_item_is_counted_once(training, cv) -> None:
    with pytest.raises(InputError, match="cv leaves items out, or repeats them"):
        Quantifier(GaussianNB(), cv=cv).fit(*training)


def test_cells_fitted_elsewhere_are_taken_as_they_are(training) -> None:
    classifier = GaussianNB().fit(*training)
    cells = Tree(4).fit(classifier.predict_proba(training[0]), training[1])
    items, labels = made_items(np.random.default_rng(4), [50, 150])
    quantifier = Quantifier(classifier, cells, cv="prefit").fit(items, labels)
    assert quantifier.cells_ == cells
    assert quantifier.labeled_.sum() == 200


def test_a_class_without_labels_keeps_its_place(training) -> None:
    classifier = GaussianNB().fit(*made_items(np.random.default_rng(5), [100, 100, 100]))
    quantifier = Quantifier(classifier, cv="prefit", engine=QUICK).fit(*training)
    assert quantifier.labeled_.shape == (3, 3)
    assert quantifier.predict(training[0]).shape == (3,)


PARTITIONS = [
    (GaussianNB(), Argmax(), 2),
    (GaussianNB(), Thresholds([0.2, 0.8]), 3),
    (GaussianNB(), Bins(5), 5),
    (GaussianNB(), Clusters(4), 4),
    (GaussianNB(), Tree(4), 4),
    (LinearDiscriminantAnalysis(), Intervals([-1.0, 0.0, 1.0]), 4),
    (RidgeClassifier(), None, 2),
]


@pytest.mark.parametrize(("classifier", "partition", "outputs"), PARTITIONS)
def test_every_partition_finds_the_shares(classifier, partition, outputs: int, training, seed: int) -> None:
    items, _ = made_items(np.random.default_rng(seed), [300, 100])
    quantifier = Quantifier(classifier, partition, engine=QUICK).fit(*training)
    assert quantifier.labeled_.shape == (2, outputs)
    posterior = quantifier.posterior(items)
    assert posterior.mean == pytest.approx([0.75, 0.25], abs=5 * posterior.sd[0])
    assert posterior.counts.unlabeled.sum() == 400


@pytest.mark.parametrize("names", [["no", "yes"], [-1.0, 2.0], [False, True], [10, 7]])
def test_classes_keep_their_names_and_the_order_of_scikit_learn(names: list, training) -> None:
    items, labels = training
    quantifier = Quantifier(GaussianNB(), engine=QUICK).fit(items, np.array(names)[labels])
    assert quantifier.classes_.tolist() == sorted(names)
    assert list(quantifier.posterior(items).classes) == sorted(names)
    few, _ = made_items(np.random.default_rng(6), [190, 10])
    assert quantifier.classes_[quantifier.predict(few).argmax()] == names[0]


def test_the_score_is_minus_the_mean_absolute_error(training) -> None:
    items, labels = made_items(np.random.default_rng(7), [30, 70])
    quantifier = Quantifier(GaussianNB(), engine=QUICK).fit(*training)
    assert quantifier.score(items, labels) == -np.abs(quantifier.predict(items) - [0.3, 0.7]).mean()


def test_there_is_no_score_before_fitting(training) -> None:
    with pytest.raises(NotFittedError, match="not fitted yet"):
        Quantifier(GaussianNB()).score(*training)


def test_it_clones_and_pickles(training) -> None:
    quantifier = Quantifier(GaussianNB(), Bins(4), engine=QUICK, prior=Prior(confusion="sparse")).fit(*training)
    twin = pickle.loads(pickle.dumps(quantifier))  # noqa: S301
    np.testing.assert_array_equal(twin.predict(training[0]), quantifier.predict(training[0]))
    fresh = clone(quantifier)
    assert not hasattr(fresh, "labeled_")
    assert fresh.get_params()["partition"] == Bins(4)
    np.testing.assert_array_equal(fresh.fit(*training).predict(training[0]), quantifier.predict(training[0]))


def test_it_sits_in_a_pipeline_and_holds_one(training) -> None:
    items, labels = training
    outside = make_pipeline(StandardScaler(), Quantifier(GaussianNB(), engine=QUICK)).fit(items, labels)
    inside = Quantifier(make_pipeline(StandardScaler(), GaussianNB()), engine=QUICK).fit(items, labels)
    assert outside.predict(items).sum() == pytest.approx(1)
    assert inside.predict(items) == pytest.approx([0.5, 0.5], abs=0.1)
    assert outside.score(items, labels) <= 0


def test_a_grid_search_goes_over_partitions_and_the_classifiers_settings(training) -> None:
    grid = {"partition": [Argmax(), Bins(4)], "estimator__var_smoothing": [1e-9, 1e-3]}
    search = GridSearchCV(Quantifier(GaussianNB(), engine=QUICK), grid, cv=StratifiedKFold(3)).fit(*training)
    assert search.best_params_["partition"] in grid["partition"]
    assert -0.1 < search.best_score_ < 0
    assert search.predict(training[0]).shape == (2,)


def test_what_the_classifier_takes_the_quantifier_takes() -> None:
    rng = np.random.default_rng(8)
    labels = rng.integers(0, 2, 200)
    words = rng.poisson(1 + 2 * np.column_stack([labels, 1 - labels, np.ones(200)]))
    quantifier = Quantifier(MultinomialNB(), engine=QUICK)
    dense, thin = (quantifier.fit(kind(words), labels).predict(kind(words)) for kind in (np.asarray, sparse.csr_array))
    np.testing.assert_array_equal(dense, thin)


def test_names_of_features_are_kept_and_checked(training) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(training[0], columns=["length", "width"])
    quantifier = Quantifier(GaussianNB(), engine=QUICK).fit(frame, pandas.Series(training[1]))
    assert quantifier.feature_names_in_.tolist() == ["length", "width"]
    with pytest.raises(ValueError, match="feature names"):
        quantifier.predict(frame.rename(columns={"width": "height"}))


BAD = {
    "one class": (Quantifier(GaussianNB()), [0, 0, 0, 0], "y has 1 class"),
    "missing labels": (Quantifier(GaussianNB()), ["a", None, float("nan"), "b"], "y has 2 missing values"),
    "numbers that are no classes": (Quantifier(GaussianNB()), [0.1, 0.2, 0.3, 0.4], "continuous"),
    "a word for cv": (Quantifier(GaussianNB(), cv="loo"), [0, 1, 0, 1], "'prefit'"),
    "no probabilities": (Quantifier(RidgeClassifier(), Bins(3)), [0, 1, 0, 1], "has no predict_proba"),
    "no decision function": (Quantifier(GaussianNB(), Intervals([0.0])), [0, 1, 0, 1], "has no decision_function"),
    "a word for a partition": (Quantifier(GaussianNB(), "bins"), [0, 1, 0, 1], "partition is 'bins'"),
    "a partition that was not made": (Quantifier(GaussianNB(), Bins), [0, 1, 0, 1], "it must be a partition"),
    "a regressor": (Quantifier(Ridge()), [0, 1, 0, 1], "estimator is Ridge, a regressor"),
    "an unknown target": (Quantifier(GaussianNB(), target="sample"), [0, 1, 0, 1], "target"),
    "a seed below zero": (Quantifier(GaussianNB(), seed=-1), [0, 1, 0, 1], "seed"),
}


@pytest.mark.parametrize(("quantifier", "labels", "told"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_refused(quantifier: Quantifier, labels: list, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        quantifier.fit(np.arange(8.0).reshape(4, 2), labels)


def test_a_class_that_the_classifier_does_not_know_is_named(training) -> None:
    quantifier = Quantifier(GaussianNB().fit(*training), cv="prefit")
    with pytest.raises(InputError, match=r"y holds 7, first at position 1: the classes are 0, 1"):
        quantifier.fit(np.zeros((3, 2)), [0, 7, 1])


def test_without_scikit_learn_the_door_names_what_to_install(monkeypatch) -> None:
    def absent(module: str) -> None:
        raise ModuleNotFoundError(module, name="sklearn")

    for name in [name for name in sys.modules if name.startswith("truecount.sklearn")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr("truecount._optional.import_module", absent)
    with pytest.raises(MissingExtraError, match=r"pip install 'truecount\[sklearn\]'"):
        import truecount.sklearn  # noqa: F401


@pytest.mark.parametrize("items", [100, 200, 500])
def test_quantile_bins_are_not_taken_for_labels_chosen_by_output(items: int) -> None:
    X, y = made_items(np.random.default_rng(0), [items // 2 - 3, items - items // 2 + 3])  # noqa: N806
    quantifier = Quantifier(GaussianNB(), Bins(5, kind="quantile")).fit(X, y)
    posterior = quantifier.posterior(X[: items // 2])
    assert set(posterior.counts.labeled.sum(axis=0).tolist()) == {items // 5}
    assert "labels-by-output" not in {finding.code for finding in posterior.findings}


def test_the_prediction_from_few_labels_or_items_is_the_mean_of_draws(training: tuple[np.ndarray, np.ndarray]) -> None:
    """There the mean without draws would differ from it by more than its Monte Carlo error."""
    known, y = training
    classes = np.unique(y)
    few = np.r_[np.flatnonzero(y == classes[0])[:15], np.flatnonzero(y == classes[1])[:50]]
    for chosen, items in ((few, 300), (slice(None), 30)):
        quantifier = Quantifier(LogisticRegression(), engine=QUICK).fit(known[chosen], y[chosen])
        drawn = quantifier.posterior(known[:items]).shares(quantifier.target)
        np.testing.assert_array_equal(quantifier.predict(known[:items]), drawn.mean(axis=0))
