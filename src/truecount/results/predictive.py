"""What the posterior expects of the outputs of as many items again."""

import numpy as np

from truecount._types import FloatArray
from truecount.counts.weights import effective_counts
from truecount.results.posterior import Posterior


def predicted_counts(posterior: Posterior) -> FloatArray:
    """Shape (kept, outputs): unlabelled items by output, simulated once for each draw of the confusion.

    There are as many items as unlabelled ones, weighted ones at their effective size. The same posterior has the same
    simulated counts wherever they are shown. They are a picture and no test: the posterior has already seen the outputs
    that it predicts.
    """
    items = round(float(effective_counts(posterior.counts)[1].sum()))
    outputs = np.einsum("dl,dlk->dk", posterior.prevalence[:: posterior.draws.stride], posterior.confusion)
    simulated = posterior.random("predictive").multinomial(items, outputs / outputs.sum(axis=1, keepdims=True))
    return np.asarray(simulated, dtype=np.float64)
