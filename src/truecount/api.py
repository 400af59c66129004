"""The verbs."""

import warnings
from importlib.metadata import version

from truecount import _check
from truecount.counts import Counts
from truecount.errors import ConvergenceWarning
from truecount.inference import Auto
from truecount.inference.draws import Engine
from truecount.models import Prior, density
from truecount.results import Posterior
from truecount.results.cautions import cautions


def infer(counts: Counts, *, prior: Prior = Prior(), engine: Engine = Auto(), seed: int = 0) -> Posterior:
    """Infer the true share of every class in the unlabelled population.

    Parameters
    ----------
    counts
        Labelled items by class and output, unlabelled items by output.
    prior
        What is believed before; flat by default, as in the paper.
    engine
        What draws; `Auto` chooses and says why in ``posterior.provenance``.
    seed
        Same seed, same counts, same version: same draws.

    Notes
    -----
    It assumes that P(output | class) is the same in both populations, and that the labelled items were not chosen by
    their output. Neither can be seen in square counts.

    Examples
    --------
    >>> counts = Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])
    >>> print(infer(counts, seed=1))
    class  counted  true share  95 % interval
    fail    60.0 %      83.9 %  74.2 – 94.9 %
    pass    40.0 %      16.1 %   5.1 – 25.8 %
    """
    seed = _check.whole_number("seed", seed, least=0)
    draws = engine.sample(density(counts, prior), seed)
    findings = cautions(counts, prior, draws)
    for finding in findings:
        if finding.code == "not-converged":
            warnings.warn(finding.message, ConvergenceWarning, stacklevel=2)
    provenance = {**draws.record, "seed": seed, "version": version("truecount")}
    return Posterior(draws=draws, counts=counts, prior=prior, findings=findings, provenance=provenance)
