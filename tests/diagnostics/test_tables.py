"""The tables of a check hold every class, whatever it is called."""

from typing import Any

import numpy as np
import pytest

import truecount as tc
from truecount.diagnostics.prior import PriorChange
from truecount.diagnostics.tables import prior_rows
from truecount.results.check import value_lines


@pytest.mark.parametrize(
    ("classes", "columns"),
    [
        (["fail", "pass"], ["fail", "pass"]),
        (["prior", "pass"], ["class 'prior'", "class 'pass'"]),
        (["condition", "pass"], ["class 'condition'", "class 'pass'"]),
        ([1, "1"], ["class 1", "class '1'"]),
    ],
)
def test_classes_keep_their_columns_beside_those_of_the_table(classes: list[Any], columns: list[str]) -> None:
    posterior = tc.infer(tc.Counts([[140, 60], [20, 180]], [600, 400], classes), seed=1)
    moved = np.array([0.5, 0.5])
    change = PriorChange(part="prevalence", factor=2.0, mean=moved, moved=moved, pareto_k=None, is_new_run=False)
    rows = prior_rows(posterior, (change,))
    assert [row["prior"] for row in rows] == ["as given", "prevalence × 2"]
    assert [[row[name] for name in columns] for row in rows] == [posterior.mean.tolist(), [0.5, 0.5]]
    assert value_lines(rows)[-1].split()[-4:] == ["50.0", "%", "50.0", "%"]
