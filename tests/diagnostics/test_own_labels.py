"""Labels of the groups themselves: told where they could say more, and where they are no random sample."""

import numpy as np
import pytest
from numpy.typing import NDArray

from truecount import Groups, LabelShift, Prior, Varying, count
from truecount.counts.weights import effective_groups
from truecount.diagnostics.homogeneity import labels_differ
from truecount.diagnostics.own_labels import OwnLabels, own_labels_finding

LABELED = np.array([[16, 4], [3, 27]])
ITEMS = LABELED.sum(axis=0) * 20
RANDOM = LabelShift(confusion=Varying(random_labels=True))


def _groups(items: dict[str, NDArray[np.int64]], *, studies: bool = False, times: list[int] | None = None) -> Groups:
    own = dict.fromkeys(items, LABELED)
    if studies:
        return Groups(own, items, by=["Model Name"], times=times)
    return Groups(LABELED * len(items), items, by=["Model Name"], label_groups=own, times=times)


@pytest.mark.parametrize("studies", [False, True], ids=["pooled", "apart"])
def test_labels_that_could_be_random_are_told_with_the_options_to_type(studies: bool) -> None:
    model = LabelShift(confusion=Varying()) if studies else LabelShift()
    found = own_labels_finding(_groups({"a": ITEMS, "b": ITEMS}, studies=studies), model)
    assert found is not None
    assert (found.code, found.severity) == ("labels-of-groups", "info")
    assert "random_labels=True" in found.advice
    words = found.advice.words("estimate")  # type: ignore[attr-defined]
    assert words.endswith("--random-labels.")
    assert ("--study 'Model Name'" in words) != studies


def test_labels_with_other_outputs_are_not_suggested_and_are_serious_if_said_to_be_random() -> None:
    groups = _groups({"a": ITEMS, "b": np.array([1900, 100])}, studies=True)
    assert own_labels_finding(groups, LabelShift(confusion=Varying())) is None
    found = own_labels_finding(groups, RANDOM)
    assert found is not None
    assert (found.code, found.severity, found.numbers["groups"]) == ("not-a-random-sample", "serious", ["b"])


def test_nothing_is_said_where_labels_are_few_or_of_no_group_or_of_periods() -> None:
    few = {name: np.eye(2, dtype=int) for name in "ab"}
    assert (
        own_labels_finding(Groups(np.eye(2, dtype=int) * 2, {"a": [9, 9], "b": [9, 9]}, label_groups=few), LabelShift())
        is None
    )
    assert own_labels_finding(Groups(LABELED, {"a": ITEMS, "b": ITEMS}), LabelShift()) is None
    assert own_labels_finding(_groups({"a": ITEMS, "b": ITEMS}, times=[0, 1]), LabelShift()) is None
    assert own_labels_finding(_groups({"a": ITEMS, "b": ITEMS}, studies=True), RANDOM) is None


def test_random_samples_are_rarely_called_something_else(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shares = np.array([0.3, 0.5, 0.2])
    alarms = [
        len(OwnLabels(np.arange(4), np.stack([rng.multinomial([50, 800], shares) for _ in range(4)])).differing()) > 0
        for _ in range(500)
    ]
    assert sum(alarms) <= 3, "the level is 1 in 10,000; at 5 % it would be some 25"


@pytest.mark.parametrize("are_studies", [True, False], ids=["own study", "one table"])
def test_outputs_of_clustered_labels_count_by_their_clusters(are_studies: bool) -> None:
    """Forty labelled questions of six epochs with one true class tell as much of the outputs as forty items at most.

    Outputs given classes vary as those of independent items: their design effect says nothing here.
    """
    counts = {}
    for name in "ab":
        truth = (np.arange(100) % 5 < 3).astype(int).repeat(6)
        questions = np.array([f"{name}{each}" for each in range(100)]).repeat(6)
        ids = {"cluster": questions[:240], "new_cluster": questions[240:]}
        counts[name] = count(truth[:240], truth[:240], truth[240:], **ids, classes=[0, 1], outputs=[0, 1])
    groups = Groups.of(counts)
    if not are_studies:
        own = {name: each.labeled for name, each in counts.items()}
        assert groups.clusters is not None
        clusters = groups.clusters.changed(lambda each: each.sum(axis=1), lambda each: each)
        items = dict(zip("ab", groups.unlabeled, strict=True))
        groups = Groups(sum(own.values()), items, clusters=clusters, label_groups=own, outputs=[0, 1])
    found = OwnLabels.of(groups)
    assert found is not None
    assert (found.outputs[:, 0].sum(axis=1) < 42).all()
    assert effective_groups(groups)[0].sum() > 200


def test_periods_are_not_advised_to_be_studies() -> None:
    """A study is a column, and periods are no column."""
    own = {name: np.array([[30, 2], [2, 30]][:: 1 if name == "a" else -1]) for name in "ab"}
    options = {"by": ["time"], "label_groups": own}
    pooled, items = sum(own.values()), {"a": [50, 50], "b": [50, 50]}
    apart, in_time = (labels_differ(Groups(pooled, items, times=times, **options), Prior()) for times in (None, [0, 1]))
    assert apart is not None
    assert in_time is not None
    assert "study" in apart.advice
    assert "study" not in in_time.advice
