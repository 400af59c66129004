"""A result as plain values and as ArviZ's container."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from made_posterior import made_posterior
from truecount import Counts, Finding, Prior
from truecount.errors import InputError, MissingExtraError

TOP = [
    "schema",
    "status",
    "corrected",
    "level",
    "interval",
    "target",
    "classes",
    "findings",
    "counts",
    "model",
    "prior",
]
TOP += ["engine", "seed", "version"]
ROW = ["class", "counted", "mean", "median", "sd", "lower", "upper", "effective_draws", "rhat"]


def strict(values: object) -> object:
    """Write and read strict JSON."""
    return json.loads(json.dumps(values, allow_nan=False), parse_constant=pytest.fail)


def test_dictionary_has_the_schema_and_the_numbers() -> None:
    posterior = made_posterior()
    summary = posterior.to_dict(level=0.8)
    assert list(summary) == TOP
    assert all(list(row) == ROW for row in summary["classes"])
    assert (summary["schema"], summary["level"], summary["interval"], summary["target"]) == (
        "truecount.estimate/1",
        0.8,
        "equal-tailed",
        "population",
    )
    columns = {name: [row[name] for row in summary["classes"]] for name in ROW}
    np.testing.assert_allclose(columns["mean"], posterior.mean)
    np.testing.assert_allclose(columns["median"], posterior.median)
    np.testing.assert_allclose(columns["sd"], posterior.sd)
    np.testing.assert_allclose(np.transpose([columns["lower"], columns["upper"]]), posterior.interval(0.8))
    assert columns["counted"] == [0.6, 0.4]
    assert columns["rhat"] == [None, None]
    assert columns["effective_draws"] == [400.0, 400.0]
    assert summary["counts"] == posterior.counts.to_dict()
    assert summary["engine"] == {"name": "Exact"}
    assert (summary["seed"], summary["version"]) == (3, "0.0")
    assert strict(summary) == summary


def test_target_and_kind_change_the_numbers() -> None:
    posterior = made_posterior()
    usual, realized = posterior.to_dict(), posterior.to_dict(target="realized")
    assert realized["classes"][0]["mean"] == pytest.approx(posterior.realized.mean(axis=0)[0])
    assert realized["classes"][0]["lower"] == pytest.approx(posterior.interval(target="realized")[0, 0])
    assert realized["classes"][0]["mean"] != usual["classes"][0]["mean"]
    assert posterior.to_dict(kind="hdi")["classes"][0]["lower"] == pytest.approx(posterior.interval(kind="hdi")[0, 0])


def test_realized_shares_are_worth_no_more_draws_than_there_are() -> None:
    summary = made_posterior(stride=4).to_dict(target="realized")
    assert summary["classes"][0]["effective_draws"] == 100


def test_chains_bring_rhat_and_effective_draws() -> None:
    rows = made_posterior(chains=4).to_dict()["classes"]
    assert [row["rhat"] for row in rows] == [1.001, 1.007]
    assert [row["effective_draws"] for row in rows] == [100, 100]


def test_no_number_that_strict_json_lacks() -> None:
    finding = Finding(
        "odd", "info", "Odd.", {"nan": float("nan"), "array": np.array([1.0, np.inf]), "count": np.int64(3)}
    )
    prior = Prior({"fail": 2, "pass": 1}, 1.0, known=[[0.9, 0.1], [np.nan, np.nan]])
    summary = made_posterior(findings=(finding,), prior=prior).to_dict()
    assert strict(summary)
    assert summary["findings"][0]["numbers"] == {"nan": None, "array": [1.0, None], "count": 3}
    assert summary["prior"] == {
        "prevalence": {"fail": 2, "pass": 1},
        "confusion": 1.0,
        "known": [[0.9, 0.1], None],
        "given_output": None,
    }
    assert summary["model"] == {"name": "label_shift", "prior": prior.to_dict()}


def test_counted_is_null_where_outputs_are_not_the_classes() -> None:
    counts = Counts([[5, 3, 1], [2, 4, 6]], [10, 10, 10])
    assert [row["counted"] for row in made_posterior(counts=counts).to_dict()["classes"]] == [None, None]


@pytest.mark.parametrize("wrong", [{"level": 1.0}, {"kind": "central"}, {"target": "items"}])
def test_dictionary_refuses_what_interval_refuses(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        made_posterior().to_dict(**wrong)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("chains", [None, 4])
def test_arviz_gets_every_draw_by_chain(chains: int | None) -> None:
    pytest.importorskip("arviz")
    posterior = made_posterior(chains=chains, classes=["fail", "pass"])
    data = posterior.to_arviz()
    group = data["posterior"]
    assert group["prevalence"].dims == ("chain", "draw", "class")
    assert group["confusion"].dims == ("chain", "draw", "class", "output")
    assert group["prevalence"].shape == (chains or 1, 400 // (chains or 1), 2)
    np.testing.assert_array_equal(group["prevalence"].values.reshape(400, 2), posterior.prevalence)
    np.testing.assert_array_equal(
        group["confusion"].sel({"class": "pass", "output": "fail"}).values.ravel(), posterior.confusion[:, 1, 0]
    )
    assert data["observed_data"]["unlabeled"].values.tolist() == [600, 400]
    assert (group.attrs["seed"], group.attrs["corrected"]) == ("3", "true")


@pytest.mark.filterwarnings("ignore")
def test_arviz_can_use_what_it_gets() -> None:
    arviz = pytest.importorskip("arviz")
    posterior = made_posterior(chains=4)
    summary = arviz.summary(posterior.to_arviz(), var_names=["prevalence"], round_to="none")
    np.testing.assert_allclose(summary["mean"].astype(float), posterior.mean)


@pytest.mark.filterwarnings("ignore")
def test_arviz_gets_pairs_where_the_confusion_was_thinned() -> None:
    pytest.importorskip("arviz")
    posterior = made_posterior(chains=4, stride=3)
    group = posterior.to_arviz()["posterior"]
    assert group["prevalence"].shape == (4, 33, 2)
    assert group.attrs["stride"] == 3
    for chain, draw in [(0, 0), (1, 0), (2, 5), (3, 32)]:
        kept = next(
            i for i, row in enumerate(posterior.confusion) if (row == group["confusion"].values[chain, draw]).all()
        )
        np.testing.assert_array_equal(group["prevalence"].values[chain, draw], posterior.prevalence[3 * kept])
        assert 3 * kept // 100 == chain


@pytest.mark.filterwarnings("ignore")
def test_arviz_keeps_the_kind_of_names() -> None:
    pytest.importorskip("arviz")
    assert made_posterior(classes=[3, 7]).to_arviz()["posterior"]["class"].values.tolist() == [3, 7]
    assert made_posterior(classes=[3, "x"]).to_arviz()["posterior"]["class"].values.tolist() == [3, "x"]


def test_missing_arviz_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'truecount\[arviz\]'"):
        made_posterior().to_arviz()


def test_independent_draws_need_neither_scipy_nor_arviz() -> None:
    code = (
        "import sys; from made_posterior import made_posterior; p = made_posterior()\n"
        "str(p), p.to_dict(), p._repr_html_()\n"
        "print([name for name in sys.modules if name.split('.')[0] in {'scipy', 'arviz_stats', 'rich'}])"
    )
    tests = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tests, check=True)
    assert done.stdout == "[]\n"
