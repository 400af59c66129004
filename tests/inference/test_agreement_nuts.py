"""NUTS against the oracle, in both coordinate systems (extra ``nuts``); two problems, for its steps run in Python."""

import warnings

import pytest

from agreement import assert_agrees, by_oracle
from problems import PROBLEMS
from truecount.inference import NUTS

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("nutpie")


@pytest.mark.parametrize("name", ["two classes, none of the first", "two classes, a million unlabelled"])
def test_nuts_agrees(name):
    density = PROBLEMS[name].density
    assert_agrees(NUTS(3000, chains=20, warmup=200), density, by_oracle(density))
