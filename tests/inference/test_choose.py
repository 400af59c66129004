"""Auto: which engine, and whether it says why."""

import numpy as np
import pytest

import truecount as tc
from truecount.errors import ConvergenceWarning
from truecount.inference import Auto, choose
from truecount.inference.chains.gibbs import Gibbs
from truecount.inference.chains.hamiltonian import Hamiltonian


@pytest.mark.parametrize(
    ("counts", "prior", "engine"),
    [
        (tc.Counts([[140, 60], [20, 180]], [600, 400]), tc.Prior(), "Quadrature"),
        (tc.Counts([[14, 6], [2, 18], [9, 9]], [600, 400]), tc.Prior(), "Exact"),
        (tc.Counts([[140, 60], [20, 180]], [600, 400]), tc.Prior(prevalence=0.5), "Quadrature"),
        (tc.Counts(np.eye(7, dtype=int) * 40 + 2, [90, *[20] * 6]), tc.Prior(prevalence=0.5), "Hamiltonian"),
        (tc.Counts(np.eye(12, dtype=int) * 40 + 2, [300, *[4] * 11]), tc.Prior(), "Hamiltonian"),
    ],
)
def test_the_engine_chosen_and_the_reason(counts, prior, engine):
    posterior = tc.infer(counts, prior=prior, engine=Auto(effective_draws=500))
    assert posterior.run.engine == engine
    assert posterior.provenance["chosen_by"] == "Auto"
    said = "integrated by quadrature" if engine == "Quadrature" else "independent draws from the exact posterior were"
    assert said in posterior.run.reason
    assert round(posterior.effective_draws.min()) >= 500


def test_what_did_not_converge_is_a_finding_and_a_warning():
    counts = tc.Counts(np.eye(7, dtype=int) * 40 + 2, [90, *[20] * 6])
    with pytest.warns(ConvergenceWarning, match="There is no answer: the chains are too short to judge"):
        posterior = tc.infer(counts, prior=tc.Prior(prevalence=0.5), engine=Auto(effective_draws=2, budget=2))
    assert [finding.severity for finding in posterior.findings if finding.code == "not-converged"] == ["serious"]
    assert str(posterior).startswith("No answer: the chains are too short to judge")


@pytest.mark.parametrize(("most_cells", "is_tried"), [(1e5, True), (1000, False)])
def test_beyond_so_many_cells_no_hamiltonian_chains_are_tried(most_cells, is_tried, monkeypatch):
    tried = []
    monkeypatch.setattr(choose, "MOST_CELLS", most_cells)
    monkeypatch.setattr(Gibbs, "for_many_classes", lambda *_: Gibbs(8, chains=4, warmup=1))
    sample = Hamiltonian.sample
    monkeypatch.setattr(Hamiltonian, "sample", lambda *given: tried.append(given) or sample(*given))
    counts = tc.Counts(np.eye(34, dtype=int) * 40 + 2, [300, *[4] * 33])
    density = tc.LabelShift(tc.Prior(1.0, "flat")).density(counts)
    assert choose.Auto(16, budget=20)._by_chains(density, 0).run.status != "ok"
    assert bool(tried) == is_tried
