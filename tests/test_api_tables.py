"""A table of groups becomes a table of answers where it is: the same draws in Spark, in Dask and here."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import numpy as np
import pytest

import truecount as tc
from frames import of_dask, of_duckdb, of_pandas, of_spark
from truecount.results.separate.rows import COLUMNS

ASKED = {"label": "y", "prediction": "c", "by": {"store": None, "day": "week"}, "seed": 4}


def made_values() -> dict[str, list]:
    """Rows of 12 stores in two weeks; some names have blanks around them, which are no part of them."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 1500)
    output = np.where(rng.random(1500) < 0.85, truth, 1 - truth)
    return {
        "store": [f" s{at}" if odd else f"s{at}" for at, odd in rng.integers(0, [12, 2], (1500, 2))],
        "day": [datetime(2024, 1, int(day), 12) for day in rng.integers(1, 15, 1500)],
        "y": [("no", "yes")[of] if known else None for of, known in zip(truth, rng.random(1500) < 0.2, strict=True)],
        "c": [("no", "yes")[of] for of in output],
    }


@pytest.fixture(scope="module")
def expected() -> dict:
    counts = tc.count_table(
        of_duckdb(made_values(), None), **{name: ASKED[name] for name in ("label", "prediction", "by")}
    )
    with ThreadPoolExecutor(1) as thread:
        return by_place(tc.infer(counts, executor=thread, seed=ASKED["seed"]).rows)


def by_place(rows) -> dict:
    """The numbers of each group and class, whatever the order of the rows and the type of the days."""
    return {(row["store"], str(row["day"]), row["class"]): (row["items"], row["mean"], row["upper"]) for row in rows}


@pytest.mark.parametrize("make", [of_pandas, of_duckdb])
def test_a_table_here(make, expected):
    pd = pytest.importorskip("pandas")
    frame = tc.infer_table(make(made_values(), None), **ASKED)
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["store", "day", *COLUMNS]
    assert by_place(frame.to_dict("records")) == expected


def test_dask_stays_lazy_and_has_the_same_draws(expected):
    dask = pytest.importorskip("dask.dataframe")
    frame = tc.infer_table(of_dask(made_values(), None), **ASKED)
    assert isinstance(frame, dask.DataFrame)
    assert by_place(frame.compute(scheduler="synchronous").to_dict("records")) == expected


@pytest.mark.slow
@pytest.mark.parametrize("connect", [False, True])
def test_spark_keeps_the_rows_and_has_the_same_draws(connect, expected, sparks):
    pytest.importorskip("pyarrow")
    frame = tc.infer_table(of_spark(made_values(), sparks, connect=connect), **ASKED)
    assert frame.columns == ["store", "day", *COLUMNS]
    assert by_place(row.asDict() for row in frame.collect()) == expected


@pytest.mark.slow
def test_labels_may_stand_in_a_table_of_their_own(expected, sparks):
    pytest.importorskip("pyarrow")
    values = made_values()
    keep = [at for at, label in enumerate(values["y"]) if label is not None]
    labeled = {name: [values[name][at] for at in keep] for name in values}
    rest = {
        name: [each for at, each in enumerate(values[name]) if at not in set(keep)] for name in ("store", "day", "c")
    }
    frame = tc.infer_table(of_spark(rest, sparks), labeled=of_pandas(labeled, None), **ASKED)
    assert by_place(row.asDict() for row in frame.collect()) == expected


def test_a_group_that_fails_in_a_worker_stands_beside_the_others(monkeypatch):
    pytest.importorskip("dask.dataframe")

    def fail_at_first(keys, posterior, look):
        if keys["store"] == "s0":
            raise FloatingPointError("no such luck")
        return kept(keys, posterior, look)

    import truecount.api.separate

    kept = truecount.api.separate.rows_of_posterior
    monkeypatch.setattr(truecount.api.separate, "rows_of_posterior", fail_at_first)
    frame = tc.infer_table(of_dask(made_values(), None), **ASKED).compute(scheduler="synchronous")
    failed = frame[frame["store"] == "s0"]
    assert set(failed["error"]) == {"FloatingPointError: no such luck"}
    assert set(frame[frame["store"] != "s0"]["status"]) == {"ok"}


def test_what_cannot_be_is_refused():
    table = of_duckdb(made_values(), None)
    with pytest.raises(tc.InputError, match="by is empty"):
        tc.infer_table(table, label="y", prediction="c", by=[])
    with pytest.raises(tc.InputError, match=r"model asks for groups one by one, and the model has Pooled\(\)"):
        tc.infer_table(table, **ASKED, model=tc.LabelShift(groups=tc.Pooled()))
    with pytest.raises(tc.InputError, match="model is SamePopulation"):
        tc.infer_table(table, **ASKED, model=tc.SamePopulation())


def test_a_table_of_spark_or_dask_takes_no_executor():
    pytest.importorskip("dask.dataframe")
    with ThreadPoolExecutor(1) as thread, pytest.raises(tc.InputError, match="inferred inside Spark or Dask"):
        tc.infer_table(of_dask(made_values(), None), **ASKED, executor=thread)
