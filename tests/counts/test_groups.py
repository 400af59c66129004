"""Groups: several populations and the labels that serve them."""

import copy
import json
import pickle
from datetime import date, datetime

import numpy as np
import pytest

import truecount as tc
from truecount import Counts, Groups, InputError

LABELED = [[140, 60], [20, 180]]
NEW = {"A": [600, 400], "B": [300, 200]}


def plain(**options) -> Groups:
    return Groups(**({"labeled": LABELED, "unlabeled": NEW, "classes": ["fail", "pass"]} | options))


def of_studies(**options) -> Groups:
    return plain(labeled={"lab": LABELED, "A": [[1, 2], [3, 4]]}, **options)


def weighted() -> Groups:
    return plain(
        labeled=[[1.5, 0], [0, 2]],
        unlabeled={"A": [3, 0.5], "B": [1, 1]},
        labeled_squares=[[1.25, 0], [0, 4]],
        unlabeled_squares={"B": [1, 1], "A": [9, 0.25]},
    )


KINDS = {
    "plain": plain(),
    "studies": of_studies(),
    "times": plain(times={"B": 2, "A": 1.5}),
    "dates as times": of_studies(times=[date(2024, 5, 27), "2024-06-03"]),
    "weights": weighted(),
    "dates as groups": plain(unlabeled={date(2024, 1, 1): [1, 2], date(2024, 1, 8): [3, 4]}, by="week"),
    "times as groups": plain(unlabeled={datetime(2024, 1, 1, 12): [1, 2], None: [3, 4]}, by=["hour"]),
    "several columns": plain(unlabeled={("north", 1): [1, 2], ("south", None): [3, 4]}, by=["region", "week"]),
    "numbers": plain(unlabeled={2: [1, 2], 0.5: [3, 4]}),
}
kinds = pytest.mark.parametrize("groups", KINDS.values(), ids=KINDS)


@kinds
def test_json_gives_back_what_it_took(groups: Groups) -> None:
    text = groups.to_json()
    assert "\n" not in text
    back = Groups.from_json(text)
    assert back == groups
    assert json.loads(text)["schema"] == "truecount.groups/1"
    for name in ("classes", "outputs", "studies", "by"):
        assert getattr(back, name) == getattr(groups, name)
    for name in ("labeled", "unlabeled", "times", "labeled_squares", "unlabeled_squares"):
        mine, theirs = getattr(back, name), getattr(groups, name)
        assert (mine is None) == (theirs is None)
        if mine is not None:
            assert mine.dtype == theirs.dtype
            np.testing.assert_array_equal(mine, theirs)


@kinds
def test_copies_are_equal_and_read_only(groups: Groups) -> None:
    for again in (pickle.loads(pickle.dumps(groups)), copy.deepcopy(groups)):  # noqa: S301
        assert again == groups
        assert again.groups == groups.groups
        with pytest.raises(ValueError, match="read-only"):
            again.unlabeled[0, 0] = 1


def test_one_group_has_its_items_and_the_labels_of_all_studies() -> None:
    assert plain()["B"] == Counts(LABELED, [300, 200], ["fail", "pass"])
    assert of_studies()["B"] == Counts([[141, 62], [23, 184]], [300, 200], ["fail", "pass"])
    assert dict(of_studies().items()) == dict(zip("AB", of_studies().values(), strict=True))
    assert weighted()["A"].unlabeled_squares.tolist() == [9, 0.25]
    assert (list(plain()), len(plain()), "A" in plain(), "C" in plain()) == (["A", "B"], 2, True, False)


def test_a_group_with_a_study_of_its_name_stands_apart_with_its_own_labels() -> None:
    own = dict(of_studies().apart())
    assert own["A"].labeled.tolist() == [[1, 2], [3, 4]]
    assert own["B"].labeled.tolist() == [[141, 62], [23, 184]]
    assert not of_studies().shares_labels
    assert plain().shares_labels
    assert plain(labeled={"lab": LABELED}).shares_labels


def test_all_groups_together_have_every_label_once() -> None:
    assert plain().total == Counts(LABELED, [900, 600], ["fail", "pass"])
    assert of_studies().total.labeled.sum() == 410
    assert weighted().total.unlabeled_squares.tolist() == [10, 1.25]


def test_counts_with_labels_of_their_own_become_groups_aligned_by_name() -> None:
    first = Counts([[9, 1], [2, 8]], [30, 20], ["x", "y"])
    second = Counts([[7, 3], [2, 8]], [40, 10], ["y", "x"])
    groups = Groups.of({"A": first, "B": second})
    assert groups.studies == groups.groups == ("A", "B")
    assert dict(groups.apart()) == {"A": first, "B": second.ordered_like(first)}
    heavy = Counts([[9, 1], [2, 8]], [3, 2], ["x", "y"], labeled_squares=[[9, 1], [4, 8]], unlabeled_squares=[9, 2])
    mixed = Groups.of({"A": first, "B": heavy})
    assert mixed["A"].is_weighted
    assert dict(mixed.apart())["B"] == heavy


def test_some_groups_in_another_order() -> None:
    groups = of_studies(times=[1, 2]).select(["B"])
    assert (groups.groups, groups.times.tolist(), groups.unlabeled.tolist()) == (("B",), [2], [[300, 200]])
    assert plain().select(["B", "A"]).unlabeled.tolist() == [[300, 200], [600, 400]]
    assert groups.labeled.sum() == 410
    with pytest.raises(InputError, match="group is 'aa': the groups are 'A' and 'B'"):
        plain().select(["aa"])


def test_permuted_classes_and_outputs_are_the_same_counts() -> None:
    turned = plain(
        labeled=[[180, 20], [60, 140]],
        unlabeled={"A": [400, 600], "B": [200, 300]},
        classes=["pass", "fail"],
        outputs=["pass", "fail"],
    )
    assert turned.ordered_like(plain()) == plain()
    assert plain() + turned == plain() + plain()
    assert weighted().ordered_like(turned).ordered_like(plain()) == weighted()
    straight, other = (tc.infer_many(groups, seed=3) for groups in (plain(), turned))
    for group in plain():
        error = straight[group].sd[0] / np.sqrt(straight[group].effective_draws[0])
        assert abs(straight[group].mean[0] - other[group].mean[1]) < 5 * np.sqrt(2) * error


def test_shards_add_group_by_group_and_study_by_study() -> None:
    more = plain(unlabeled={"B": [1, 2], "C": [3, 4]})
    total = plain() + more
    assert total.groups == ("A", "B", "C")
    assert total.labeled.tolist() == [[[280, 120], [40, 360]]]
    assert total.unlabeled.tolist() == [[600, 400], [301, 202], [3, 4]]
    studies = of_studies() + plain(labeled={"field": LABELED})
    assert studies.studies == ("lab", "A", "field")
    assert studies.labeled.sum() == 810
    timed = plain(times=[1, 2]) + plain(unlabeled={"C": [3, 4]}, times=[3])
    assert timed.times.tolist() == [1, 2, 3]
    heavy = plain() + weighted()
    assert heavy.unlabeled_squares.tolist() == [[609, 400.25], [301, 201]]
    with pytest.raises(TypeError):
        plain() + 1


def test_groups_print_as_a_table() -> None:
    assert str(plain()).splitlines() == [
        "Groups: 400 labelled items, 1500 unlabelled items in 2 groups, 2 classes, 2 outputs",
        "group  fail  pass",
        "A       600   400",
        "B       300   200",
    ]
    assert str(KINDS["several columns"]).splitlines()[1:3] == ["region, week  fail  pass", "north 1          1     2"]
    many = str(plain(unlabeled={number: [1, 2] for number in range(25)})).splitlines()
    assert (len(many), many[-1]) == (23, "… and 5 more groups")
    assert ">600<" in plain()._repr_html_()


BAD = {
    "no mapping": ({"unlabeled": [[1, 2]]}, "unlabeled is of type list: it must be Mapping. Pass {group: [items"),
    "no groups": ({"unlabeled": {}}, "unlabeled is empty: at least one group is needed. Pass"),
    "no studies": ({"labeled": {}}, "labeled is empty: at least one study is needed. Pass a table"),
    "a short group": (
        {"unlabeled": {"A": [1, 2], "B": [1]}},
        "unlabeled['B'] counts 1 outputs and unlabeled['A'] 2: all groups have the same outputs. Write 0 for none.",
    ),
    "a negative item": ({"unlabeled": {"A": [1, -2]}}, "unlabeled['A'] has -2 at 1: it must not be negative. Check"),
    "half an item": ({"unlabeled": {"A": [1, 0.5]}}, "unlabeled has 0.5 at (0, 1): counts are whole numbers. Give"),
    "other outputs": (
        {"labeled": [[1, 2, 3], [4, 5, 6]]},
        "labeled has 3 output columns but unlabeled has shape (2,): both must count the same outputs. Name every",
    ),
    "one class": ({"labeled": [[1, 2]]}, "labeled has 1 class: a share needs at least two classes. Name every class"),
    "a study of other classes": (
        {"labeled": {"x": LABELED, "y": [[1, 2], [3, 4], [5, 6]]}},
        "labeled['y'] has shape (3, 2) and the first study (2, 2): all studies have the same classes and outputs.",
    ),
    "too few names": ({"classes": ["a"]}, "classes names 1: labeled counts 2 classes. Give each row a class"),
    "a number and its text": (
        {"unlabeled": {1: [1, 2], "1": [3, 4]}},
        "unlabeled hold both 1 and '1': a number and a string that look alike would be counted apart. Rename one",
    ),
    "a key that is no name": (
        {"unlabeled": {b"A": [1, 2]}},
        "unlabeled names b'A': groups and studies are named by strings, numbers or dates. Rename it",
    ),
    "keys of several lengths": (
        {"unlabeled": {("a", "b"): [1, 2], "c": [1, 2]}},
        "unlabeled has keys of 1 and of 2 parts: all groups are made alike. Use as many parts in every key.",
    ),
    "columns for other keys": ({"by": ["x", "y"]}, "by names 2: the key 'A' has 1 part. Name a column for each part"),
    "a time too few": ({"times": [1]}, "times are 1: there are 2 groups. Give one for each group."),
    "a group without a time": ({"times": {"A": 1}}, "times lack the group 'B': every group needs a time. Add it."),
    "times of two kinds": ({"times": [1, "May"]}, "times hold 1: times must be all numbers or all dates, so that"),
    "a gap in time": ({"times": [1, float("nan")]}, "times have gaps: every group needs a time. Leave out"),
    "half the weights": (
        {"labeled_squares": LABELED},
        "labeled_squares and unlabeled_squares came apart: weighted counts need both. Where items",
    ),
    "squares of other groups": (
        {"labeled_squares": LABELED, "unlabeled_squares": {"A": [1, 1]}},
        "unlabeled_squares does not match the counts: it must name the same groups. Give a table for each.",
    ),
    "squares too large": (
        {"labeled_squares": [[1e6, 60], [20, 180]], "unlabeled_squares": NEW},
        "labeled_squares do not match the weights: squares are 0 where the weight is, and above 0 but at most",
    ),
}


@pytest.mark.parametrize(("options", "message"), BAD.values(), ids=BAD)
def test_what_is_no_groups_is_refused_in_four_parts(options: dict, message: str) -> None:
    with pytest.raises(InputError) as caught:
        plain(**options)
    assert str(caught.value).startswith(message)
    assert all((caught.value.argument, caught.value.found, caught.value.needed, caught.value.remedy))


DOCUMENT = plain().to_dict()
BAD_DOCUMENTS = {
    "no JSON": ("{", "groups are not JSON"),
    "another schema": (json.dumps(DOCUMENT | {"schema": "truecount.counts/1"}), "schema is 'truecount.counts/1'"),
    "an entry too many": (json.dumps(DOCUMENT | {"tables": []}), "counts hold 'tables'"),
    "an entry too few": (json.dumps({k: v for k, v in DOCUMENT.items() if k != "by"}), "counts lack 'by'"),
    "a group twice": (json.dumps(DOCUMENT | {"groups": [["A"], ["A"]]}), r"groups hold \['A'\] 2 times"),
    "keys without columns": (json.dumps(DOCUMENT | {"by": ["x", "y"]}), "groups do not match by"),
}


@pytest.mark.parametrize(("text", "message"), BAD_DOCUMENTS.values(), ids=BAD_DOCUMENTS)
def test_bad_documents_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Groups.from_json(text)


BAD_SUMS = {
    "other classes": (plain(classes=["a", "b"]), "classes differ: only one side has 'a'"),
    "other columns": (plain(by="region"), "groups are made in different ways"),
    "studies": (of_studies(), "groups are made in different ways"),
    "another time": (plain(times=[1, 2]), "times are missing on one side|times of the group 'A' differ"),
}


@pytest.mark.parametrize(("other", "message"), BAD_SUMS.values(), ids=BAD_SUMS)
def test_groups_made_otherwise_do_not_add(other: Groups, message: str) -> None:
    one = plain(times=[5, 6]) if other.times is not None else plain()
    with pytest.raises(InputError, match=message):
        one + other


def test_groups_are_selected_without_a_search_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of groups would be searched for millions of times."""
    monkeypatch.setattr(Groups, "index", lambda *_: pytest.fail("searched"))
    assert plain().select(["B", "A"]).groups == ("B", "A")
