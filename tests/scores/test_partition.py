"""Partitions that are cut by a rule; those of the paper first."""

import copy
import json
import pickle

import numpy as np
import pytest
from scipy.stats import norm

from truecount.counts import Counts
from truecount.errors import InputError
from truecount.scores import Argmax, Bins, Intervals, Scores, Thresholds, read_cells
from truecount.scores.cells import ClassCells

GAUSSIANS = ((0.0, 0.3), (1.0, 0.4))


def gaussian_edges(k: int) -> np.ndarray:
    """The paper's cuts of the real line into k intervals (section 3.3)."""
    return np.linspace(-0.5, 1.5, k - 1)


def by_normal_cdf(edges: np.ndarray) -> np.ndarray:
    ends = [-np.inf, *edges, np.inf]
    return np.array([np.diff(norm.cdf(ends, mean, sd)) for mean, sd in GAUSSIANS])


def shares(cells, items: int = 20_000) -> np.ndarray:
    """P(cell | class) at evenly spaced quantiles of each normal: off by at most one item for each edge."""
    levels = (np.arange(items) + 0.5) / items
    assigned = [cells.assign(norm.ppf(levels, mean, sd)) for mean, sd in GAUSSIANS]
    return np.array([np.bincount(each, minlength=cells.size) / items for each in assigned])


@pytest.mark.parametrize("k", [3, 5, 7, 9])
def test_cells_of_normal_classes_have_the_shares_that_the_normal_cdf_says(k: int) -> None:
    edges = gaussian_edges(k)
    cells = Intervals(edges).fit()
    assert cells.size == k
    np.testing.assert_allclose(shares(cells), by_normal_cdf(edges), rtol=0, atol=1 / 20_000)


def test_a_cell_that_is_shifted_by_one_shows() -> None:
    wrong = np.roll(shares(Intervals(gaussian_edges(5)).fit()), 1, axis=1)
    assert np.abs(wrong - by_normal_cdf(gaussian_edges(5))).max() > 0.1


def test_counts_of_normal_samples_agree_with_the_normal_cdf(seed: int) -> None:
    rng, edges = np.random.default_rng(seed), gaussian_edges(7)
    values = np.array([rng.normal(mean, sd, 500) for mean, sd in GAUSSIANS])
    cells = Intervals(edges).fit()
    counted = np.array([np.bincount(cells.assign(row), minlength=7) for row in values])
    expected = by_normal_cdf(edges)
    np.testing.assert_array_less(np.abs(counted - 500 * expected), 5 * np.sqrt(500 * expected * (1 - expected)) + 1)


def test_a_threshold_of_a_half_is_the_most_probable_of_two() -> None:
    """Appendix D: two classes, cut at α; at ½ it is the usual decision."""
    scores = np.random.default_rng(1).dirichlet([1, 1], 1000)
    np.testing.assert_array_equal(Thresholds([0.5]).fit().assign(scores), Argmax().fit(scores).assign(scores))
    stricter = Thresholds([0.9]).fit().assign(scores)
    np.testing.assert_array_equal(stricter, (scores[:, 1] >= 0.9).astype(int))


def test_an_edge_belongs_to_the_cell_above_it() -> None:
    assert Intervals([0.0, 1.0]).fit().assign([-1e-300, 0.0, 1.0]).tolist() == [0, 1, 2]
    assert Thresholds([0.25, 0.5]).fit().assign([[0.75, 0.25], [0.5, 0.5]]).tolist() == [1, 2]


def test_the_whole_line_is_covered() -> None:
    assert Intervals([0.0]).fit().assign([-np.inf, np.inf]).tolist() == [0, 1]


def test_bins_of_equal_width_do_not_look_at_scores() -> None:
    cells = Bins(5).fit([0.9, 0.95])
    assert cells == Bins(5, kind="equal-width").fit()
    assert cells.assign([0.0, 0.19, 0.2, 0.999, 1.0]).tolist() == [0, 0, 1, 4, 4]


def test_quantile_bins_hold_as_many_items_each() -> None:
    scores = np.random.default_rng(2).beta(0.5, 2, 1000)
    cells = Bins(8, kind="quantile").fit(scores)
    assert np.bincount(cells.assign(scores)).tolist() == [125] * 8


def test_quantiles_that_coincide_make_fewer_bins_and_none_empty() -> None:
    scores = [0.0] * 50 + [0.5] * 30 + [1.0] * 20
    cells = Bins(10, kind="quantile").fit(scores)
    assert np.bincount(cells.assign(scores), minlength=cells.size).tolist() == [50, 30, 20]


def test_scores_that_are_all_alike_make_one_cell() -> None:
    cells = Bins(4, kind="quantile").fit([0.3] * 10)
    assert (cells.size, cells.names(())) == (1, ("all",))
    assert cells.assign([0.0, 1.0]).tolist() == [0, 0]


def test_new_scores_beyond_the_fitted_ones_fall_into_the_outer_bins() -> None:
    cells = Bins(3, kind="quantile").fit([0.4, 0.5, 0.6])
    assert cells.assign([0.0, 1.0]).tolist() == [0, 2]


BAD_SCORES = {
    "no number": (Intervals([0.0]).fit(), [0.1, np.nan], "nan at 1"),
    "a probability above one": (Thresholds([0.5]).fit(), [0.3, 1.2], "1.2 at 1"),
    "a negative probability": (Bins(2).fit(), [-0.1], "-0.1 at 0"),
    "three classes in a row of bins": (Thresholds([0.5]).fit(), [[0.2, 0.3, 0.5]], "Clusters(k) or Tree(k)"),
    "another number of classes": (Argmax().fit([[0.2, 0.8]]), [[0.2, 0.3, 0.5]], "these cells are of 2 classes"),
    "a table on the line": (Intervals([0.0]).fit(), [[0.1, 0.9]], "one number for each item"),
    "words": (Intervals([0.0]).fit(), ["low"], "must be numbers"),
}


@pytest.mark.parametrize(("cells", "scores", "told"), BAD_SCORES.values(), ids=BAD_SCORES.keys())
def test_what_fits_no_cell_is_refused_and_never_dropped(cells, scores, told: str) -> None:
    with pytest.raises(InputError) as caught:
        cells.assign(scores)
    assert told in str(caught.value)


BAD_CHOICES = {
    "falling edges": (lambda: Intervals([1.0, 0.0]), "each above the one before"),
    "a repeated edge": (lambda: Intervals([1.0, 1.0]), "drop repeats"),
    "an infinite edge": (lambda: Intervals([-np.inf, 0.0]), "finite"),
    "no edge": (lambda: Intervals([]), "one or more"),
    "words": (lambda: Intervals(["low"]), "must be numbers"),
    "a threshold of zero": (lambda: Thresholds([0.0, 0.5]), "above 0 and below 1"),
    "one bin": (lambda: Bins(1), "2 or more"),
    "an unknown kind": (lambda: Bins(3, kind="even"), "one of"),
    "quantiles of nothing": (lambda: Bins(3, kind="quantile").fit([]), "fitted to scores"),
    "unknown cells": (lambda: read_cells({"schema": "truecount.cells/1", "kind": "moons"}), "'moons'"),
    "an unhashable kind": (lambda: read_cells({"schema": "truecount.cells/1", "kind": ["line"]}), "kind .'line'."),
    "cells of nothing": (lambda: read_cells(None), "cells is of type NoneType"),
    "half of the cells": (
        lambda: read_cells({"schema": "truecount.cells/1", "kind": "line", "takes": "values"}),
        "cells lack 'edges'",
    ),
    "more than the cells": (lambda: read_cells(ClassCells(2).to_dict() | {"edges": [1]}), "cells hold 'edges'"),
}


@pytest.mark.parametrize(("make", "told"), BAD_CHOICES.values(), ids=BAD_CHOICES.keys())
def test_a_bad_choice_is_refused(make, told: str) -> None:
    with pytest.raises(InputError, match=told):
        make()


def test_edges_close_together_keep_different_names() -> None:
    names = Intervals([0.5, 0.5001, 0.50011]).fit().names(())
    assert names == ("< 0.5", "0.5 to < 0.5001", "0.5001 to < 0.50011", "≥ 0.50011")


FITTED = {
    "argmax": Argmax().fit([[0.2, 0.8]]),
    "thresholds": Thresholds([0.2, 0.7]).fit(),
    "intervals": Intervals([-1.0, 2.5]).fit(),
    "bins": Bins(3, kind="quantile").fit([0.1, 0.2, 0.7, 0.9]),
}


@pytest.mark.parametrize("cells", FITTED.values(), ids=FITTED.keys())
def test_cells_survive_pickle_copies_and_json(cells) -> None:
    assert pickle.loads(pickle.dumps(cells)) == cells  # noqa: S301
    assert copy.deepcopy(cells) == cells
    assert read_cells(json.loads(json.dumps(cells.to_dict()))) == cells
    with pytest.raises(AttributeError):
        setattr(cells, cells.__match_args__[0], 5)


def test_scores_are_counted_by_cell() -> None:
    scores = Scores([[0.9, 0.1], [0.3, 0.7], [0.5, 0.5]], ["a", "b", "b"], [[0.0, 1.0]], classes=["a", "b"])
    counts = scores.to_counts(Thresholds([0.4, 0.6]).fit())
    assert counts == Counts([[1, 0, 0], [0, 1, 1]], [0, 0, 1], ["a", "b"], ["< 0.4", "0.4 to < 0.6", "≥ 0.6"])
    assert scores.to_counts(Argmax().fit(scores.labeled)) == scores.to_counts()
