"""The verbs that put `infer` itself to the test, on simulated data of sizes like one's own."""

from collections.abc import Sequence
from typing import Any

from truecount import _check
from truecount.api.bayesian import infer, infer_many
from truecount.counts import Counts
from truecount.counts.table import COUNT_FIRST
from truecount.counts.weights import effective_counts
from truecount.diagnostics.calibration import Calibration, calibrate
from truecount.diagnostics.coverage import Coverage, coverage_at
from truecount.errors import InputError
from truecount.inference import Auto
from truecount.inference.draws import Draws, Engine
from truecount.models import Prior
from truecount.models.priors import require_prior
from truecount.results import Posterior

POSTERIOR_FIRST = "Pass what infer(counts) gives"


def calibration(
    counts: Counts,
    *,
    prior: Prior = Prior(),
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
    prior, engine
        What is put to the test.
    data_sets, draws, seed
        How many truths, how many draws each is ranked among, and the seed of it all.
    """
    _check.instance_of("counts", counts, Counts, COUNT_FIRST)
    require_prior(prior)
    labeled, unlabeled = effective_counts(counts)
    sizes = [round(float(items)) for items in labeled.sum(axis=1)]

    def draw(simulated: Counts, believed: Prior, own_seed: int) -> Draws:
        return infer(simulated, prior=believed, engine=engine, seed=own_seed).draws

    shape: dict[str, Any] = {"labeled": sizes, "unlabeled": round(float(unlabeled.sum()))}
    names: dict[str, Any] = {"classes": counts.classes, "outputs": counts.outputs}
    return calibrate(draw, prior, **shape, **names, data_sets=data_sets, draws=draws, seed=seed)


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
        Its means are the truth that data are simulated from; its counts give the sizes, and its prior is used. Of label
        shift alone.
    engine
        What draws for each data set.
    levels
        What the intervals promise.
    data_sets, seed
        How many to simulate, and from which seed.

    Notes
    -----
    On average over the prior intervals hold as often as they promise; at one truth they may hold more or less often.
    """
    _check.instance_of("posterior", posterior, Posterior, POSTERIOR_FIRST)
    of_label_shift("posterior", posterior, "coverage")
    data_sets = _check.whole_number("data_sets", data_sets, least=1)

    def answer(problems: list[Counts]) -> list[Draws]:
        found = infer_many(problems, prior=posterior.prior, engine=engine, seed=seed, progress=False)
        return [each.draws for each in found]

    truth = posterior.mean, posterior.confusion.mean(axis=0)
    return coverage_at(answer, posterior.counts, *truth, data_sets=data_sets, seed=seed, levels=levels)


def of_label_shift(argument: str, posterior: Posterior, asked: str) -> None:
    """Refuse what moves or simulates P(output | class) for an answer that does not rest on it."""
    design = posterior.provenance.get("design")
    if design is not None:
        raise InputError(
            argument,
            f"is an answer with design={design!r}, where P(class | output) carries over",
            f"{asked} can be had under label shift alone, where P(output | class) does",
            "Leave this out, or pass what infer(counts) gives with design='label_shift'",
        )
