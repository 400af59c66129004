"""What a run tells, and what becomes of it in an export."""

import numpy as np
import pytest

import truecount as tc
from truecount.inference.run import ChainRun, ClosedForm, ImportanceRun, QuadratureRun, status_of

pytestmark = pytest.mark.filterwarnings("ignore::truecount.errors.ConvergenceWarning")  # chains are short here
TWO = tc.Counts([[140, 60], [20, 180]], [600, 400])
THREE = tc.Counts([[30, 5, 3], [4, 40, 6], [2, 5, 50]], [200, 100, 50])


@pytest.mark.parametrize(
    ("not_converged", "rhat", "status"),
    [
        (None, None, "ok"),
        (None, [1.0, 1.1], "ok"),
        ("R-hat is 1.02", [1.0, 1.02], "not-converged"),
        ("too short", None, "not-converged"),
        ("R-hat is 1.2", [1.0, 1.2], "no-answer"),
        (None, [1.0, np.nan], "no-answer"),
    ],
)
def test_a_status_follows_rhat_and_the_complaint(not_converged, rhat, status):
    assert status_of(not_converged, None if rhat is None else np.array(rhat)) == status


@pytest.mark.parametrize(
    ("counts", "model", "engine", "kind"),
    [
        (TWO, tc.LabelShift(), tc.Auto(200), QuadratureRun),
        (THREE, tc.LabelShift(), tc.Auto(200), ImportanceRun),
        (THREE, tc.LabelShift(), tc.Gibbs(800), ChainRun),
        (THREE, tc.LabelShift(), tc.Hamiltonian(640), ChainRun),
        (THREE, tc.SamePopulation(), tc.Auto(200), ClosedForm),
    ],
)
def test_every_engine_has_a_kind_of_run_and_a_name(counts, model, engine, kind):
    posterior = tc.infer(counts, model, engine=engine)
    assert type(posterior.run) is kind
    assert (posterior.run.reason is not None) == (isinstance(engine, tc.Auto) and kind is not ClosedForm)
    assert posterior.status == posterior.run.status
    told = posterior.to_dict()["engine"]
    assert told["name"] == posterior.run.engine
    assert told["asked"] == repr(engine)


def test_what_chains_did_is_told():
    run = tc.infer(THREE, engine=tc.Hamiltonian(640, chains=8, warmup=60)).run
    assert (run.engine, run.chains, run.warmup) == ("Hamiltonian", 8, 60)
    assert 0 < run.acceptance <= 1
