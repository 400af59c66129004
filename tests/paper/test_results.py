"""The committed page says what the committed tables say, and the quick run can fail."""

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("sklearn")
from experiments.paper import report
from experiments.paper.__main__ import RESULTS, main
from experiments.paper.registry import NAMES, experiment


@pytest.mark.parametrize("name", NAMES)
def test_every_experiment_has_tables_claims_and_a_figure(name):
    tables = report.read(name, RESULTS)
    assert tables
    assert experiment(name).claims(tables)
    assert list(RESULTS.glob(f"{name}-*.png"))


@pytest.mark.parametrize("name", NAMES)
def test_the_verdicts_on_record_are_those_of_the_tables(name):
    for claim in experiment(name).claims(report.read(name, RESULTS)):
        assert claim.holds == claim.expected, claim.says


def test_the_page_is_made_from_the_tables():
    page = (RESULTS.parent / "RESULTS.md").read_text(encoding="utf-8")
    assert report.text(NAMES, RESULTS, RESULTS.parent) == page


def test_a_claim_that_breaks_fails_the_quick_run(monkeypatch, capsys):
    statistic = experiment("statistic")
    likelihoods = statistic._small
    assert main(["--quick", "statistic"]) == 0
    monkeypatch.setattr(statistic, "_small", lambda counts, *rest: likelihoods(counts, *rest) + 1e-3 * rest[0][0])
    assert main(["--quick", "statistic"]) == 1
    assert "BROKEN" in capsys.readouterr().out


def test_wrong_answers_break_the_categorical_claims():
    """Methods that were mixed up: CC under the name of MAP-1, and MAP-1 under that of CC."""
    tables = report.read("categorical", RESULTS)
    errors = tables["errors"].copy()
    kinds = [name.removeprefix("CC ") for name in errors if name.startswith("CC ")]
    ours, theirs = [f"MAP-1 {kind}" for kind in kinds], [f"CC {kind}" for kind in kinds]
    errors[ours + theirs] = errors[theirs + ours].to_numpy()
    assert any(claim.is_broken for claim in experiment("categorical").claims({**tables, "errors": errors}))


def test_narrow_intervals_break_the_claim_of_coverage():
    gaussian, tables = experiment("gaussian"), report.read("gaussian", RESULTS)
    narrow = tables["coverage"].copy()
    middle, half = (narrow["upper"] + narrow["lower"]) / 2, (narrow["upper"] - narrow["lower"]) / 4
    narrow["lower"], narrow["upper"] = middle - half, middle + half
    assert any(claim.is_broken for claim in gaussian.claims({**tables, "coverage": narrow}))


def test_an_experiment_without_its_data_is_skipped_with_a_reason(monkeypatch, capsys, tmp_path):
    monkeypatch.delenv("TRUECOUNT_DATA", raising=False)
    assert main(["cells", "--out", str(tmp_path)]) == 0
    assert "cells skipped: TRUECOUNT_DATA" in capsys.readouterr().err


def test_a_name_that_is_none_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["categoric"])
    assert "no experiment 'categoric'" in capsys.readouterr().err


def test_cuts_of_the_line_have_the_shares_that_the_normal_distribution_gives():
    from scipy.stats import norm

    gaussian = experiment("gaussian")
    rows = sum(gaussian.cut(gaussian.draw("normal", seed), 5).labeled for seed in range(40))
    edges = np.array([-np.inf, *np.linspace(-0.5, 1.5, 4), np.inf])
    exact = np.diff(norm.cdf(edges[None], gaussian.CENTERS[:, None], gaussian.SCALES[:, None]))
    errors = np.sqrt(exact * (1 - exact) / rows.sum(axis=1, keepdims=True))
    np.testing.assert_array_less(np.abs(rows / rows.sum(axis=1, keepdims=True) - exact), 5 * errors + 1e-12)
