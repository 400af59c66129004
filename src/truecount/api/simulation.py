"""The verbs that put `infer` itself to the test, on simulated data of sizes like one's own."""

from collections.abc import Sequence
from typing import Any

from truecount import _check
from truecount.api.bayesian import infer, infer_many, label_shift_model
from truecount.counts import Counts
from truecount.counts.table import COUNT_FIRST
from truecount.diagnostics.calibration import Calibration, Coverage, calibrate, coverage_at
from truecount.errors import InputError
from truecount.inference import Auto
from truecount.inference.draws import Draws, Engine
from truecount.models import LabelShift, Model, Prior
from truecount.models.register import require_plain_label_shift
from truecount.results import Posterior

POSTERIOR_FIRST = "Pass what infer(counts) gives"


def calibration(
    counts: Counts,
    model: Model = LabelShift(),
    *,
    prior: Prior | None = None,
    engine: Engine = Auto(400),
    data_sets: int = 200,
    draws: int = 19,
    seed: int = 0,
) -> Calibration:
    """Calibrate `infer` by simulation on sizes like these: truths from the prior, ranked among their draws.

    Parameters
    ----------
    counts
        How many labelled items each class has, how many outputs and unlabelled items there are, at effective sizes.
    model, prior, engine
        What is put to the test: `LabelShift`, or its prior alone.
    data_sets, draws, seed
        How many truths, how many draws each is ranked among, and the seed of it all.
    """
    _check.instance_of("counts", counts, Counts, COUNT_FIRST)
    believed = label_shift_model(model, prior, "calibration").prior
    labeled, unlabeled = counts.effective
    sizes = [round(float(items)) for items in labeled.sum(axis=1)]

    def draw(simulated: Counts, prior: Prior, own_seed: int) -> Draws:
        return infer(simulated, prior=prior, engine=engine, seed=own_seed).draws

    shape: dict[str, Any] = {"labeled": sizes, "unlabeled": round(float(unlabeled.sum()))}
    names: dict[str, Any] = {"classes": counts.classes, "outputs": counts.outputs}
    return calibrate(draw, believed, **shape, **names, data_sets=data_sets, draws=draws, seed=seed)


def coverage(
    posterior: Posterior,
    *,
    engine: Engine = Auto(1000),
    levels: Sequence[float] = (0.5, 0.8, 0.9, 0.95),
    data_sets: int = 200,
    seed: int = 0,
) -> Coverage:
    """Measure how often intervals hold, on data simulated from the answer itself and of the same sizes.

    Parameters
    ----------
    posterior
        Its means are the truth that data are simulated from; its counts give the sizes, and its model is used, which
        must be `LabelShift`.
    engine
        What draws for each data set.
    levels
        Nominal levels of the intervals.
    data_sets, seed
        How many to simulate, and from which seed.

    Notes
    -----
    On average over the prior intervals hold as often as their level says; at one truth more or less often.
    """
    _check.instance_of("posterior", posterior, Posterior, POSTERIOR_FIRST)
    of_label_shift("posterior", posterior, "coverage")
    data_sets = _check.whole_number("data_sets", data_sets, least=1)

    def answer(problems: list[Counts]) -> list[Draws]:
        found = infer_many(problems, posterior.model, engine=engine, seed=seed, progress=False)
        return [each.draws for each in found]

    truth = posterior.mean, posterior.confusion.mean(axis=0)
    return coverage_at(answer, posterior.counts, *truth, data_sets=data_sets, seed=seed, levels=levels)


def of_label_shift(argument: str, posterior: Posterior, asked: str) -> None:
    """Refuse what moves or simulates P(output | class) for an answer that does not rest on it."""
    model = posterior.model
    require_plain_label_shift(model, asked)
    if not isinstance(model, LabelShift):
        raise InputError(
            argument,
            f"is an answer with model={model!r:.60}, where {model.carries_over} carries over",
            f"{asked} exist only under label shift, where {LabelShift.carries_over} does",
            "Leave this out, or pass what infer(counts) returns with model=LabelShift()",
        )
