"""What labels of a group tell of its shares where they come in clusters: classes have a design effect of their own."""

import numpy as np
import pytest

import truecount as tc
from truecount.counts.clusters import bin_of
from truecount.counts.weights import (
    effective_groups,
    effective_label_outputs,
    effective_random_samples,
    own_design_effects,
)
from truecount.models import Varying

KNOWN, NEW, EPOCHS = 40, 60, 6
NAMES = {"classes": [0, 1], "outputs": [0, 1]}
RANDOM = tc.LabelShift(groups=tc.Independent(), confusion=Varying(random_labels=True))


def apart(number):
    """Return names of clusters of which no two are in one bin."""
    found = {}
    for name in range(10 * number):
        found.setdefault(bin_of(name), name)
    return np.array(list(found.values())[:number])


def question_groups(seed=0, *, epochs=EPOCHS, is_clustered=True, error=0.3, is_shared=False):
    """Return groups of questions that have one true class each, and epochs judged one by one."""
    rng, groups, ids = np.random.default_rng(seed), {}, apart(2 * (KNOWN + NEW)).reshape(2, -1)
    for name, own in zip("ab", ids, strict=True):
        truth = (np.arange(KNOWN + NEW) % 5 < 3).astype(int).repeat(epochs)
        output, questions = np.where(rng.random(len(truth)) < error, 1 - truth, truth), own.repeat(epochs)
        known = np.arange(len(truth)) % 2 == 0 if is_shared else np.arange(len(truth)) < KNOWN * epochs
        clusters = {"cluster": questions[known], "new_cluster": questions[~known]} if is_clustered else {}
        groups[name] = tc.count(truth[known], output[known], output[~known], **clusters, **NAMES)
    return tc.Groups.of(groups)


def test_classes_that_are_the_same_in_a_cluster_count_once():
    """Exactly: with B clusters of one size, whose items are all alike, the design effect is ``size · B / (B − 1)``."""
    groups = question_groups()
    for effect in own_design_effects(groups):
        assert effect.value == pytest.approx(EPOCHS * KNOWN / (KNOWN - 1))
    labels, items = effective_random_samples(groups)
    np.testing.assert_allclose(labels[:, 1] / labels.sum(axis=1), 3 / 5)
    assert (labels.sum(axis=1) < KNOWN).all()
    np.testing.assert_array_equal(items, effective_groups(groups)[1])  # of other clusters than labels


def test_the_design_effect_of_the_confusion_is_another_one():
    groups = question_groups()
    rows = effective_groups(groups)[0]
    assert (rows.sum(axis=(1, 2)) > 3 * effective_random_samples(groups)[0].sum(axis=1)).all()


def test_the_model_takes_classes_for_shares_and_rows_for_the_confusion():
    from truecount.models.groups import group_density

    groups = question_groups()
    density = group_density(groups, tc.Prior(), tc.Independent(), RANDOM.confusion)
    np.testing.assert_array_equal(density.random_labels.counts, effective_random_samples(groups)[0].T)
    np.testing.assert_array_equal(density.labeled, effective_groups(groups)[0].transpose(1, 2, 0))


def test_clusters_of_one_item_change_nothing(tmp_path):
    """The draws are the same number by number."""
    rng, lines = np.random.default_rng(0), ["truth,verdict,model,item"]
    for item in range(200):
        truth = int(rng.random() < 0.6)
        lines.append(f"{truth if item % 5 < 2 else ''},{int(rng.random() < 0.3 + 0.5 * truth)},{'ab'[item % 2]},{item}")
    (tmp_path / "runs.csv").write_text("\n".join(lines))
    columns = {"label": "truth", "prediction": "verdict", "by": "model", "study": "model"}
    plain = tc.count_table(tmp_path / "runs.csv", **columns)
    alone = tc.count_table(tmp_path / "runs.csv", **columns, cluster="item")
    for one, other in zip(effective_random_samples(alone), effective_random_samples(plain), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(effective_random_samples(plain)[0], plain.labeled.sum(axis=2))
    np.testing.assert_array_equal(effective_label_outputs(alone), plain.labeled.sum(axis=1))
    draws = [tc.infer(each, RANDOM, engine=tc.Auto(40), seed=1).prevalence for each in (alone, plain)]
    np.testing.assert_array_equal(*draws)


def test_labels_and_items_of_the_same_clusters_tell_one_thing_once():
    """A perfect classifier: half of each question's epochs are labelled, and the others repeat what these say."""
    groups = question_groups(error=0.0, is_shared=True)
    labels, items = effective_random_samples(groups)
    together, number = labels.sum(axis=1) + items.sum(axis=1), KNOWN + NEW
    np.testing.assert_allclose(items, effective_groups(groups)[1] / 2)
    assert (together < number).all()
    assert (together > 0.8 * number).all()


def test_labels_of_one_cluster_count_as_one_item():
    groups = {
        name: tc.count(
            [0, 1] * 30, [0, 1] * 30, [0, 1] * 30, cluster=named, new_cluster=[f"{name}{at}" for at in range(60)]
        )
        for name, named in (("a", ["one"] * 60), ("b", [f"own {at}" for at in range(60)]))
    }
    labels, _ = effective_random_samples(tc.Groups.of(groups))
    assert labels[0].sum() <= 1
    assert labels[1].sum() > 30


def test_weighted_labels_keep_the_shares_of_their_weights():
    """Labels of a group are one sample: rows of another Kish size each would turn 1 : 2 into 50 : 20."""
    tables = {"a": [[50, 0], [0, 100]]}
    groups = tc.Groups(
        tables, {"a": [10, 10]}, labeled_squares={"a": [[50, 0], [0, 500]]}, unlabeled_squares={"a": [10, 10]}
    )
    (found,), _ = effective_random_samples(groups)
    np.testing.assert_allclose(found, np.array([1, 2]) / 3 * 150**2 / 550)


def test_findings_tell_the_design_effect_of_classes():
    answer = tc.infer(question_groups(), RANDOM, engine=tc.Auto(40))
    (told,) = [each for each in answer.findings if each.code == "clustered"]
    np.testing.assert_allclose(told.numbers["design_effects_of_classes"], EPOCHS * KNOWN / (KNOWN - 1))
    assert "Classes of a group's labels, which tell its shares, have a design effect of 6.2" in told.message
    plain = tc.infer(question_groups(), tc.LabelShift(confusion=Varying()), engine=tc.Auto(40))
    (told,) = [each for each in plain.findings if each.code == "clustered"]
    assert "design_effects_of_classes" not in told.numbers


def test_labels_of_one_class_count_as_one_item_for_each_cluster_beside_independent_ones():
    """They do not vary, which says nothing of how alike the items of a cluster are."""
    items = {"classes": [0, 1], "outputs": [0, 1]}
    even = tc.count([1] * 60, [1] * 60, [0, 1] * 50, cluster=["x"] * 20 + ["y"] * 40, new_cluster=range(100), **items)
    names = [f"b{number}" for number in range(60)]
    single = tc.count([0, 1] * 30, [0, 1] * 30, [0, 1] * 50, cluster=names, new_cluster=range(200, 300), **items)
    labels, _ = effective_random_samples(tc.Groups.of({"even": even, "single": single}))
    assert 0 < labels[0].sum() <= 2
    assert labels[1].sum() > 20 * labels[0].sum()
