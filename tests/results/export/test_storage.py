"""What was saved comes back; what was not saved by us is refused."""

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import truecount as tc
from made_posterior import made_posterior
from truecount import Counts, Finding, Posterior, Prior
from truecount.errors import InputError
from truecount.inference.run import ChainRun, ClosedForm, ImportanceRun, JointRun, QuadratureRun, Run

FINDING = Finding("odd", "caution", "Odd.", {"share": 0.5, "classes": ["fail"], "rhat": float("inf")}, "Look.")
WEIGHTED = Counts(
    [[1.5, 2.0], [2.5, 3.0]], [3.5, 4.0], ["a", "b"], labeled_squares=[[1, 2], [2, 3]], unlabeled_squares=[3, 4]
)
PRIORS = [
    Prior(),
    Prior([2.0, 1.0], [[1, 2], [3, 4]]),
    Prior({"fail": 2, "pass": 1}, {"fail": {"fail": 1, "pass": 2}, "pass": 0.5}),
    Prior(0.5, "sparse"),
    Prior.diagonal(2.5),
    Prior.known_confusion([[0.9, 0.1], [float("nan"), float("nan")]]),
]


def round_trip(posterior: Posterior, folder: Path) -> Posterior:
    posterior.save(folder / "result.npz")
    return Posterior.load(folder / "result.npz")


@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_prior_comes_back(prior: Prior, tmp_path: Path) -> None:
    back = round_trip(made_posterior(prior=prior), tmp_path)
    assert back.prior.to_dict() == prior.to_dict()


def test_prior_by_number_keeps_its_numbers(tmp_path: Path) -> None:
    posterior = made_posterior(classes=[3, 7], prior=Prior({3: 2.0, 7: 1.0}))
    assert round_trip(posterior, tmp_path).prior == posterior.prior


MODELS = [
    tc.SamePopulation(),
    tc.ByPrediction(0.5),
    tc.ByPrediction([[1, 2], [3, 4]]),
    tc.SamePopulation({3: 0.5, 7: 1}),
    tc.LabelShift(Prior({3: 2.0, 7: 1.0})),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_model_comes_back(model: Any, tmp_path: Path) -> None:
    back = round_trip(replace(made_posterior(classes=[3, 7]), model=model), tmp_path)
    assert back.model == model


JOINT = JointRun(groups=3, group=2, left_out=0.1)
RUNS = [
    ImportanceRun(proposed=9, share_inside=0.5, share_effective=0.25, is_stacked=True, reason="quick", joint=JOINT),
    ImportanceRun(proposed=9, share_inside=1.0, share_effective=1.0, modes=((0.1, 0.9), (0.8, 0.2))),
    ChainRun(engine="NUTS", chains=4, warmup=50, divergences=3, status="not-converged", not_converged="too few"),
    QuadratureRun(nodes=65, error=1e-9),
    ClosedForm(),
]


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.engine)
def test_run_comes_back(run: Run, tmp_path: Path) -> None:
    posterior = made_posterior()
    back = round_trip(replace(posterior, draws=replace(posterior.draws, run=run)), tmp_path)
    assert back.run == run
    assert type(back.run) is type(run)


@pytest.mark.parametrize(
    "made", [{}, {"chains": 4, "stride": 3}, {"counts": WEIGHTED}, {"classes": [True, False]}], ids=str
)
def test_everything_else_comes_back(made: dict[str, Any], tmp_path: Path) -> None:
    posterior = made_posterior(findings=(FINDING,), **made)
    back = round_trip(posterior, tmp_path)
    np.testing.assert_array_equal(back.prevalence, posterior.prevalence)
    np.testing.assert_array_equal(back.confusion, posterior.confusion)
    assert (back.draws.stride, back.draws.chains, back.run) == (
        posterior.draws.stride,
        posterior.draws.chains,
        posterior.run,
    )
    np.testing.assert_array_equal(back.effective_draws, posterior.effective_draws)
    np.testing.assert_equal(back.rhat, posterior.rhat)
    assert back.counts == posterior.counts
    assert back.classes == posterior.classes
    assert back.findings == posterior.findings
    assert (back.model, back.origin) == (posterior.model, posterior.origin)
    assert back.provenance == posterior.provenance
    assert str(back) == str(posterior)
    np.testing.assert_array_equal(back.labeled_prevalence, posterior.labeled_prevalence)


def test_file_has_just_the_name_given_and_nothing_lies_beside_it(tmp_path: Path) -> None:
    made_posterior().save(tmp_path / "odd name")
    assert [path.name for path in tmp_path.iterdir()] == ["odd name"]


def test_what_stood_there_stays_when_saving_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "result.npz"
    file.write_text("before")

    def full_disk(stream: Any, **_: Any) -> None:
        stream.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full_disk)
    with pytest.raises(InputError, match=r"result\.npz cannot be written: No space"):
        made_posterior().save(file)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("result.npz", "before")]


def other_schema(file: Path) -> None:
    np.savez(file, about=np.array(json.dumps({"schema": "truecount.posterior/99"})))


def other_arrays(file: Path) -> None:
    np.savez(file, x=np.ones(3))


def with_pickle(file: Path) -> None:
    np.savez(file, about=np.array([{"schema": "truecount.posterior/2"}], dtype=object))


def half_of_one(file: Path) -> None:
    made_posterior().save(file)
    file.write_bytes(file.read_bytes()[:3000])


def lacking_draws(file: Path) -> None:
    made_posterior().save(file)
    with np.load(file) as whole:
        np.savez(file, about=whole["about"], prevalence=whole["prevalence"])


def mismatched_draws(file: Path) -> None:
    made_posterior().save(file)
    with np.load(file) as whole:
        np.savez(file, **{**whole, "prevalence": np.ones((4, 3))})


def plain_text(file: Path) -> None:
    file.write_text("hello")


def one_array(file: Path) -> None:
    with file.open("wb") as stream:
        np.save(stream, np.ones(3))


def nothing(file: Path) -> None:
    file.touch()


def absent(file: Path) -> None:
    file.unlink(missing_ok=True)


WRONG = [
    other_schema,
    other_arrays,
    with_pickle,
    half_of_one,
    lacking_draws,
    mismatched_draws,
    plain_text,
    one_array,
    nothing,
    absent,
]


@pytest.mark.parametrize("write", WRONG)
def test_wrong_file_is_refused_by_name(write: Any, tmp_path: Path) -> None:
    file = tmp_path / "wrong.npz"
    write(file)
    with pytest.raises(InputError, match=r"wrong\.npz .*truecount\.posterior/2.*Posterior\.save") as error:
        Posterior.load(file)
    assert "pickle" not in str(error.value)


@pytest.mark.parametrize("write", [plain_text, one_array, nothing, half_of_one])
def test_other_file_is_no_saved_posterior(write: Any, tmp_path: Path) -> None:
    write(tmp_path / "x.csv")
    with pytest.raises(InputError, match=r"x\.csv is no saved posterior"):
        Posterior.load(tmp_path / "x.csv")


def rewritten(file: Path, change: Any = None, **arrays: Any) -> None:
    """Save a posterior and change what is said about it, or its arrays."""
    tc.infer(Counts([[9, 1], [1, 9]], [5, 5], ["a", "b"]), seed=1).save(file)
    with np.load(file) as whole:
        held = dict(whole)
    about = json.loads(str(held["about"]))
    if change is not None:
        change(about)
    made = {name: value(held[name].copy()) for name, value in arrays.items()}
    np.savez(file, **{**held, "about": np.array(json.dumps(about)), **made})


def put(place: Any, value: Any) -> Any:
    def change(array: Any) -> Any:
        array[place] = value
        return array

    return change


ARRAYS = {
    "shares of 7": {"prevalence": put((0, 0), 7.0)},
    "NaN": {"prevalence": put((3, 1), np.nan)},
    "negative": {"prevalence": put(0, [-0.5, 1.5])},
    "rates of 7": {"confusion": put((0, 0, 0), 7.0)},
    "NaN rates": {"confusion": put((0, 0, 0), np.nan)},
    "text": {"prevalence": lambda array: array.astype(str)},
    "complex": {"prevalence": lambda array: array.astype(complex)},
    "no draws": {"prevalence": lambda array: array[:0]},
    "few rates": {"confusion": lambda array: array[:3]},
    "flat": {"prevalence": lambda array: array[:, 0]},
    "number": {"prevalence": lambda array: array[0, 0]},
    "no effective draws": {"effective": put(0, np.nan)},
    "other effective draws": {"effective": lambda array: array[:1]},
}


@pytest.mark.parametrize("case", ARRAYS)
def test_draws_of_others_are_validated(case: str, tmp_path: Path) -> None:
    rewritten(tmp_path / "wrong.npz", **ARRAYS[case])
    with pytest.raises(InputError, match=r"wrong\.npz is not .*Posterior\.save"):
        Posterior.load(tmp_path / "wrong.npz")


def setting(*way: Any, value: Any) -> Any:
    def change(about: Any) -> None:
        for step in way[:-1]:
            about = about[step]
        about[way[-1]] = value

    return change


ABOUT = {
    "engine with control sequences": setting("run", "engine", value="Ex\x1b[2Jact"),
    "engine that is no text": setting("run", "engine", value=[1]),
    "no engine": setting("run", "engine", value=None),
    "reason with control sequences": setting("run", "reason", value="\x07"),
    "kind of run": setting("run", "kind", value="Odd"),
    "status": setting("run", "status", value="odd"),
    "status that R-hat contradicts": setting("run", "status", value="no-answer"),
    "proposals": setting("run", "proposed", value="many"),
    "group": setting("run", "joint", value={"groups": 2, "group": -1, "left_out": None}),
    "groups": setting("run", "joint", value={"groups": "two", "group": 1, "left_out": None}),
    "modes": setting("run", "modes", value=[[1.0]]),
    "no run": setting("run", value=None),
    "version with control sequences": setting("origin", "version", value="\x07"),
    "seed": setting("origin", "seed", value="1"),
    "negative seed": setting("origin", "seed", value=-1),
    "common seed": setting("origin", "common_seed", value="1"),
    "no origin": setting("origin", value=None),
    "code": setting("origin", "engine", value="Auto(); __import__('os').system('x')"),
    "call": setting("origin", "engine", value="Auto(draws=__import__('os').getpid())"),
    "no code": setting("origin", "engine", value="Auto("),
    "counts": setting("counts", "unlabeled", value=[-1, 2]),
    "no counts": setting("counts", value=7),
    "classes": setting("counts", "classes", value=["a", "a"]),
    "prior": setting("model", "prior", "prior", "prevalence", value=-1),
    "no prior": setting("model", "prior", value=None),
    "no model": setting("model", value=None),
    "name of a model": setting("model", "name", value="odd"),
    "another model": setting("model", "name", value="by_prediction"),
    "stride": setting("draws", "stride", value=0),
    "chains": setting("draws", "chains", value=-3),
    "more": setting("draws", "more", value=3),
    "severity": setting("findings", value=[{"code": "x", "severity": "odd", "message": "m"}]),
    "message": setting("findings", value=[{"code": "x", "severity": "info", "message": 7}]),
    "findings": setting("findings", value=7),
}


@pytest.mark.parametrize("case", ABOUT)
def test_what_others_say_is_validated(case: str, tmp_path: Path) -> None:
    rewritten(tmp_path / "wrong.npz", ABOUT[case])
    with pytest.raises(InputError, match=r"wrong\.npz is not .*Posterior\.save") as error:
        Posterior.load(tmp_path / "wrong.npz")
    assert str(error.value).isprintable()


@pytest.mark.parametrize(
    "engine", [tc.Auto(), tc.Exact(), tc.Hamiltonian(), tc.Gibbs(), tc.NUTS()], ids=lambda engine: type(engine).__name__
)
def test_what_engines_call_themselves_is_taken(engine: Any, tmp_path: Path) -> None:
    rewritten(tmp_path / "t.npz", setting("origin", "engine", value=repr(engine)))
    assert Posterior.load(tmp_path / "t.npz").origin.engine == repr(engine)


def test_flipped_bits_are_noticed_or_change_nothing(tmp_path: Path) -> None:
    rewritten(tmp_path / "t.npz")
    content, whole = (tmp_path / "t.npz").read_bytes(), Posterior.load(tmp_path / "t.npz")
    places = [*range(200), *range(len(content) - 600, len(content)), *range(200, len(content), len(content) // 400)]
    for place in places:
        flipped = bytearray(content)
        flipped[place] ^= 1 << place % 8
        (tmp_path / "t.npz").write_bytes(flipped)
        with suppress(InputError):
            back = Posterior.load(tmp_path / "t.npz")
            np.testing.assert_array_equal(back.prevalence, whole.prevalence)
            np.testing.assert_array_equal(back.confusion, whole.confusion)
            assert (back.counts, back.origin, back.run) == (whole.counts, whole.origin, whole.run)
