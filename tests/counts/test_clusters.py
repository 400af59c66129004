"""Items that belong together, from rows to bins of clusters, and what they are worth."""

import csv
import json
from itertools import product

import numpy as np
import pytest

import truecount as tc
from truecount.counts import merge_counts
from truecount.counts.clusters import MOST_BINS, Clusters, bin_of
from truecount.counts.design_effect import DesignEffect, _own_parts
from truecount.counts.exchange import read_counts
from truecount.counts.weights import (
    design_effect,
    effective_by_output,
    effective_counts,
    effective_groups,
    group_design_effects,
)
from truecount.errors import InputError

COLUMNS = {"label": "truth", "prediction": "verdict", "cluster": "question"}


def rows_of(clusters: int = 30, epochs: int = 5, seed: int = 0) -> list[dict[str, str]]:
    """Epochs of questions, which all have the same truth and, mostly, the same verdict; every other one is labelled."""
    rng, rows = np.random.default_rng(seed), []
    for number in range(clusters):
        truth = "yes" if rng.random() < 0.5 else "no"
        usual = truth if rng.random() < 0.8 else {"yes": "no", "no": "yes"}[truth]
        for _ in range(epochs):
            verdict = usual if rng.random() < 0.9 else {"yes": "no", "no": "yes"}[usual]
            label = truth if number % 2 else ""
            rows.append({"question": f"q{number}", "truth": label, "verdict": verdict, "model": "AB"[number // 2 % 2]})
    return rows


def written(path, rows):
    with path.open("w") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def as_columns(rows):
    known, new = [row for row in rows if row["truth"]], [row for row in rows if not row["truth"]]
    columns = [[row[name] for row in known] for name in ("truth", "verdict")]
    clusters = {"cluster": [row["question"] for row in known], "new_cluster": [row["question"] for row in new]}
    return (*columns, [row["verdict"] for row in new]), clusters


def test_every_door_counts_the_same_clusters(tmp_path):
    rows = rows_of()
    columns, clusters = as_columns(rows)
    counts = tc.count(*columns, **clusters)
    assert counts.clusters.number == 30
    np.testing.assert_array_equal(counts.clusters.labeled.sum(axis=0), counts.labeled)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows).replace("", None)
    for table in (written(tmp_path / "runs.csv", rows), frame):
        assert tc.count_table(table, **COLUMNS) == counts


def test_json_and_shards_keep_clusters(tmp_path):
    rows = rows_of()
    whole = tc.count_table(written(tmp_path / "all.csv", rows), **COLUMNS)
    assert tc.Counts.from_json(whole.to_json()) == whole
    columns, clusters = as_columns(rows)
    half = [slice(None, None, 2), slice(1, None, 2)]  # a cluster is in both
    parts = [
        tc.count(*(each[part] for each in columns), **{name: each[part] for name, each in clusters.items()})
        for part in half
    ]
    for merged in (parts[0] + parts[1], merge_counts(*parts)):
        assert merged.clusters.number == 60
        np.testing.assert_array_equal(merged.clusters.bins, whole.clusters.bins)
        np.testing.assert_array_equal(merged.clusters.labeled, whole.clusters.labeled)
        np.testing.assert_array_equal(merged.clusters.unlabeled, whole.clusters.unlabeled)


def test_groups_keep_clusters(tmp_path):
    groups = tc.count_table(written(tmp_path / "runs.csv", rows_of()), **COLUMNS, by="model")
    assert tc.Groups.from_json(groups.to_json()) == groups
    plain = tc.count_table(written(tmp_path / "runs.csv", rows_of()), **COLUMNS)
    np.testing.assert_array_equal(groups.total.clusters.unlabeled, plain.clusters.unlabeled)
    one = groups["B"]
    np.testing.assert_array_equal(one.clusters.unlabeled.sum(axis=0), one.unlabeled)
    np.testing.assert_array_equal(groups.select(["B"]).clusters.unlabeled[:, 0], one.clusters.unlabeled)
    both = tc.Groups.of({"A": plain, "B": plain})
    np.testing.assert_array_equal(both["A"].clusters.unlabeled, plain.clusters.unlabeled)
    twice = groups + groups
    np.testing.assert_array_equal(twice.clusters.unlabeled, 2 * groups.clusters.unlabeled)
    labels, items = effective_groups(groups)
    assert labels.sum() < groups.labeled.sum()
    assert (items.sum(axis=1) < groups.unlabeled.sum(axis=1)).all()


def test_several_classifiers_have_clusters_too():
    rows = rows_of(60)
    (truth, said, new), clusters = as_columns(rows)
    second, new_second = (["maybe", *side[1:]] for side in (said, new))  # a combination that is too rare to learn
    counts = tc.count(truth, {"one": said, "two": second}, {"one": new, "two": new_second}, **clusters)
    found = tc.infer(counts)
    assert len(found.counts.outputs) < len(counts.outputs)
    np.testing.assert_array_equal(found.counts.clusters.unlabeled.sum(axis=0), found.counts.unlabeled)
    assert "clustered" in [finding.code for finding in found.findings]


def test_reordering_classes_reorders_clusters():
    columns, clusters = as_columns(rows_of())
    forth, back = (
        tc.count(*columns, **clusters, classes=names, outputs=names) for names in (["no", "yes"], ["yes", "no"])
    )
    assert back.ordered_like(forth) == forth
    assert design_effect(back).value == pytest.approx(design_effect(forth).value)


@pytest.mark.parametrize("number", [1, 3, 10**6])
def test_a_bin_is_of_a_name_alone(number):
    assert 0 <= bin_of(number) == bin_of(str(number)) < MOST_BINS


def test_large_tables_have_fewer_bins():
    cells = [(bin_, 0, (0, 0), 1.0) for bin_ in range(MOST_BINS)]
    found = Clusters.of_cells(((100, 100), (100,)), cells, MOST_BINS)
    assert found.size == len(found.bins) == 32
    assert found.labeled.sum() == MOST_BINS


def test_perfect_classifier_gives_the_variance_of_a_ratio_of_cluster_totals():
    """Cochran, Sampling Techniques (1977), equation 11.31, with the correction of Bell & McCaffrey for sizes."""
    rng = np.random.default_rng(3)
    sizes, shares = rng.integers(1, 9, 40), rng.beta(1, 1, 40)
    positive = rng.binomial(sizes, shares)
    new = np.repeat(["+", "-"] * 40, np.column_stack([positive, sizes - positive]).ravel())
    clusters = np.repeat([f"h{number}" for number in range(40)], sizes)
    counts = tc.count(
        ["+"] * 10**4 + ["-"] * 10**4,
        ["+"] * 10**4 + ["-"] * 10**4,
        new.tolist(),
        cluster=[f"p{number}" for number in range(2 * 10**4)],
        new_cluster=clusters.tolist(),
    )
    share = positive.sum() / sizes.sum()
    part = sizes / sizes.sum()
    ratio = ((positive - share * sizes) ** 2 / (1 - 2 * part + (part**2).sum())).sum() / sizes.sum() ** 2
    binomial = share * (1 - share) / sizes.sum()
    found = design_effect(counts)
    bins = len(set(map(bin_of, clusters)))
    assert bins == 40  # no two households share a bin here, so the formula holds exactly
    assert found.value == pytest.approx(ratio / binomial)
    assert counts.unlabeled.sum() / effective_counts(counts)[1].sum() == pytest.approx(found.divisor)


def test_few_clusters_of_unequal_size_have_their_variance_on_the_average():
    """All items of a cluster are alike: the mean over all samples is the true variance, whatever the sizes."""
    sizes, chance, mean = np.array([40.0, 9, 5, 1]), 0.3, 0.0
    for sample in product((0, 1), repeat=len(sizes)):
        clusters = (sizes[:, None] * np.column_stack([sample, 1 - np.array(sample)]))[:, None]
        whole = clusters.sum(axis=0)
        parts = _own_parts(clusters, whole, whole / whole.sum(), np.eye(2))[:, 0, 0]
        mean += np.prod(np.where(sample, chance, 1 - chance)) * (parts**2).sum()
    assert mean == pytest.approx(chance * (1 - chance) * (sizes**2).sum() / sizes.sum() ** 2)


def test_alone_items_are_worth_themselves():
    labels, outputs = ["a", "b"] * 300, ["a", "b", "b"] * 200
    new = ["a", "b", "a", "b", "b"] * 100
    counts = tc.count(labels, outputs, new, cluster=range(600), new_cluster=range(1000, 1500))
    found = design_effect(counts)
    assert found.value == pytest.approx(1.0, abs=5 * np.sqrt(2 / found.freedom))


def test_clusters_of_one_item_each_change_nothing(tmp_path):
    """Also where chance alone would make items of a bin seem alike."""
    rows = rows_of(clusters=300, epochs=1, seed=3)
    counts = tc.count_table(written(tmp_path / "runs.csv", rows), **COLUMNS)
    assert counts.clusters.is_single
    assert design_effect(counts) == DesignEffect()
    [finding] = [each for each in tc.infer(counts).findings if each.code == "clustered"]
    assert finding.message.startswith("Every item is a cluster of its own, so items count as independent")
    assert tc.Counts.from_dict(json.loads(json.dumps(counts.to_dict()))).clusters.is_single
    (tmp_path / "counts.json").write_text(counts.to_json(), encoding="utf-8")
    assert read_counts(tmp_path / "counts.json").to_data().clusters.is_single
    assert not merge_counts(counts, counts).clusters.is_single  # the same questions twice
    with pytest.raises(InputError, match=r"clusters\.single"):
        tc.Counts.from_dict({**counts.to_dict(), "clusters": {**counts.to_dict()["clusters"], "single": "yes"}})
    groups = tc.count_table(written(tmp_path / "runs.csv", rows), by="model", **COLUMNS)
    assert group_design_effects(groups) == (DesignEffect(), [DesignEffect()] * 2)


def test_whole_clusters_count_as_one_item_each():
    labels, outputs, new = ["a", "b"] * 100, ["a", "b", "b", "b"] * 50, ["a", "b", "b"] * 60
    alone = tc.count(labels, outputs, new, cluster=range(200), new_cluster=range(200, 380))
    epochs = 7
    several = tc.count(
        np.repeat(labels, epochs),
        np.repeat(outputs, epochs),
        np.repeat(new, epochs),
        cluster=np.repeat(range(200), epochs),
        new_cluster=np.repeat(range(200, 380), epochs),
    )
    assert design_effect(several).value == pytest.approx(epochs * design_effect(alone).value, rel=0.1)
    assert effective_counts(several)[1].sum() == pytest.approx(effective_counts(alone)[1].sum(), rel=0.15)


def test_few_clusters_cost_more_than_the_design_effect():
    assert DesignEffect(2.0).divisor == 2
    assert DesignEffect(2.0, 4.0).divisor == pytest.approx(2 * (2.776445 / 1.959964) ** 2, rel=1e-6)


def test_a_single_cluster_counts_as_one_item():
    counts = tc.count(["a", "b"] * 50, ["a", "b"] * 50, ["a", "b"] * 50, cluster=range(100), new_cluster=["one"] * 100)
    assert effective_counts(counts)[1].sum() <= 1.05


def test_weights_and_clusters_go_together(tmp_path):
    rows = rows_of(60)
    weighted = written(tmp_path / "w.csv", [{**row, "w": "2"} for row in rows])
    plain = tc.count_table(written(tmp_path / "p.csv", rows), **COLUMNS)
    heavy = tc.count_table(weighted, **COLUMNS, weight="w")
    assert design_effect(heavy).value == pytest.approx(design_effect(plain).value)
    for one, two in zip(effective_counts(heavy), effective_counts(plain), strict=True):
        np.testing.assert_allclose(one, two)


def test_groups_borrow_design_effects(tmp_path):
    rows = rows_of(200)
    groups = tc.count_table(written(tmp_path / "runs.csv", rows), **COLUMNS, by="model")
    of_labels, of_groups = group_design_effects(groups)
    assert of_labels.value > 2
    assert all(each.value > 2 and each.freedom > 20 for each in of_groups)
    assert "clustered" in [finding.code for finding in tc.infer(groups, engine=tc.Auto(50)).findings]


def test_findings_tell_the_design_effect():
    columns, clusters = as_columns(rows_of(60))
    counts = tc.count(*columns, **clusters)
    for model in (tc.LabelShift(), tc.SamePopulation(), tc.ByPrediction()):
        (finding,) = [each for each in tc.infer(counts, model).findings if each.code == "clustered"]
        assert finding.severity == "info"
        assert "60 clusters" in finding.message
        assert finding.numbers["design_effect"] > 2
    few = tc.count(*as_columns(rows_of(10))[0], **as_columns(rows_of(10))[1])
    assert [each.severity for each in tc.infer(few).findings if each.code == "clustered"] == ["caution"]


@pytest.mark.parametrize(
    ("model", "by"),
    [(tc.LabelShift(), "model"), (tc.LabelShift(), None), (tc.SamePopulation(), None), (tc.ByPrediction(), None)],
)
def test_weighted_clusters_count_as_many_items_in_both_findings(model, by, tmp_path):
    weights = np.random.default_rng(0).choice(["0.4", "2.1"], 300)
    rows = [{**row, "w": weight} for row, weight in zip(rows_of(60), weights, strict=True)]
    data = tc.count_table(written(tmp_path / "runs.csv", rows), **COLUMNS, weight="w", by=by)
    found = {each.code: each.numbers for each in tc.infer(data, model, engine=tc.Auto(50)).findings}
    if by is not None:
        worth = [side.sum() for side in effective_groups(data)]
    elif type(model) is tc.LabelShift:
        worth = [side.sum() for side in data.effective]
    else:
        is_random = type(model) is tc.SamePopulation
        worth = [side.sum() for side in effective_by_output(data, labels_tell_outputs=is_random)]
    for code in ("clustered", "weighted-counts"):
        assert [found[code][side] for side in ("labeled", "unlabeled")] == pytest.approx(worth)
    assert worth[0] < 0.95 * data.labeled.sum() / found["clustered"]["design_effect"]


@pytest.mark.parametrize("side", ["cluster", "new_cluster"])
def test_a_cluster_with_most_of_the_items_is_a_caution(side):
    columns, clusters = as_columns(rows_of(60))
    for share, severity in ((0.7, "caution"), (0.2, "info")):
        named = np.array(clusters[side], dtype=object)
        is_one = np.random.default_rng(0).random(len(named)) < share
        found = tc.count(*columns, **{**clusters, side: np.where(is_one, "one", named)})
        for model in (tc.LabelShift(), tc.SamePopulation()):
            (told,) = [each for each in tc.infer(found, model, engine=tc.Auto(50)).findings if each.code == "clustered"]
            assert (told.severity, "One cluster holds" in told.message) == (severity, severity == "caution")
            assert (told.numbers["largest_cluster"] > 0.5) == (severity == "caution")


def test_the_page_names_clusters(tmp_path):
    columns, clusters = as_columns(rows_of(40))
    tc.report(tc.infer(tc.count(*columns, **clusters)), tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "Items belong to 40 clusters, such as" in page
    assert "design effect" in page


def test_bad_clusters_are_refused(tmp_path):
    rows = rows_of()
    crossing = [{**row, "model": "AB"[place % 2]} for place, row in enumerate(rows)]
    with pytest.raises(InputError, match=r"has the cluster 'q\d+' in the groups 'A' and 'B'"):
        tc.count_table(written(tmp_path / "a.csv", crossing), **COLUMNS, by="model")
    absent = [{**row, "question": ""} if not place else row for place, row in enumerate(rows)]
    with pytest.raises(InputError, match=r"1 row without a cluster in column 'question'"):
        tc.count_table(written(tmp_path / "b.csv", absent), **COLUMNS)
    with pytest.raises(InputError, match="new_cluster"):
        tc.count(["a", "b"], ["a", "b"], ["a"], cluster=[1, 2])
    with pytest.raises(InputError, match="3 rows"):
        tc.count(["a", "b"], ["a", "b"], ["a"], cluster=[1, 2, 3], new_cluster=[4])
    with pytest.raises(InputError, match="verdict"):
        tc.count_table(written(tmp_path / "c.csv", rows), label="truth", prediction="verdict", cluster="verdict")
    columns, clusters = as_columns(rows)
    with pytest.raises(InputError, match="clusters"):
        tc.count(*columns) + tc.count(*columns, **clusters)
    with pytest.raises(InputError, match="clusters"):
        merge_counts(tc.count(*columns), tc.count(*columns, **clusters))


@pytest.mark.parametrize("change", [{"bins": [1, 1]}, {"labeled": [[[1]]]}, {"number": -1}, {"more": 1}])
def test_broken_json_of_clusters_is_refused(change):
    columns, clusters = as_columns(rows_of(8))
    told = json.loads(tc.count(*columns, **clusters).to_json())
    told["clusters"] |= change
    with pytest.raises(InputError):
        tc.Counts.from_json(json.dumps(told))


def test_equal_clusters_have_the_design_effect_of_sample_size_formulas():
    """``D = 1 + (b − 1) ρ``, as epiR's epi.ssclus1estb plans with: b items a cluster, intraclass correlation ρ."""
    rng, number, size, correlation = np.random.default_rng(8), 600, 20, 0.09
    shares = rng.beta(*(np.array([0.3, 0.7]) * (1 - correlation) / correlation), number)
    positive = rng.binomial(size, shares)
    new = np.repeat(["+", "-"] * number, np.column_stack([positive, size - positive]).ravel())
    alone = ["+", "-"] * 5000
    clusters = {"cluster": [f"p{place}" for place in range(10**4)], "new_cluster": np.repeat(np.arange(number), size)}
    found = design_effect(tc.count(alone, alone, new, **clusters))
    assert found.value == pytest.approx(1 + (size - 1) * correlation, rel=5 * np.sqrt(2 / found.freedom))
    assert found.value > 2


def test_an_interval_is_as_wide_as_epir_plans():
    """epiR, epi.sssimpleestb: 3,166 items in clusters of 20 (ρ = 0.09) tell a share of 15 % to 3 points.

    The test has a sensitivity of 94 % and a specificity of 88 %, known, as many labels that stand alone nearly tell.
    """
    rng, number, size, correlation, items = np.random.default_rng(4), 158, 20, 0.09, 20_000
    said = 0.15 * 0.94 + 0.85 * 0.12
    shares = rng.beta(said * (1 - correlation) / correlation, (1 - said) * (1 - correlation) / correlation, number)
    positive = rng.binomial(size, shares)
    new = np.repeat(["+", "-"] * number, np.column_stack([positive, size - positive]).ravel())
    labels = ["+"] * items + ["-"] * items
    outputs = np.repeat(["+", "-", "+", "-"], np.array([94, 6, 12, 88]) * items // 100)
    clusters = {
        "cluster": [f"p{place}" for place in range(2 * items)],
        "new_cluster": np.repeat(np.arange(number), size),
    }
    counts = tc.count(labels, outputs, new, **clusters)
    low, high = tc.infer(counts).interval()[0]
    assert (high - low) / 2 == pytest.approx(0.03, rel=5 * np.sqrt(1 / (2 * design_effect(counts).freedom)))


def test_outputs_that_tell_nothing_of_the_classes_change_nothing():
    """Each output in two flavours, as often in every class and cluster: the shares vary as they did."""
    columns, clusters = as_columns(rows_of(60))
    twice = [[*(f"{each}1" for each in side), *(f"{each}2" for each in side)] for side in columns[1:]]
    doubled = tc.count(columns[0] * 2, *twice, **{side: ids * 2 for side, ids in clusters.items()})
    plain = tc.count(*(side * 2 for side in columns), **{side: ids * 2 for side, ids in clusters.items()})
    assert design_effect(doubled).value == pytest.approx(design_effect(plain).value)


def test_a_rare_class_in_whole_clusters_is_not_hidden_by_the_others():
    """Its share is told by 100 clusters of 30 alike items: 30 · 100/99. The shares of the others are told by items."""
    rng = np.random.default_rng(1)
    truth = np.repeat(["a", "b", "c"], 300)
    new = np.where(np.repeat(rng.random(100) < 0.05, 30), "a", np.where(rng.random(3000) < 0.5, "b", "c"))
    ids = {"cluster": range(900), "new_cluster": np.repeat(np.arange(1000, 1100), 30)}
    assert design_effect(tc.count(truth, truth, new, **ids)).value == pytest.approx(30 * 100 / 99)
