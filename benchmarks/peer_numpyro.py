"""The paper's model in NumPyro, answering one request a line on stdin; a peer for ``speed.py``."""

import json
import sys
import time

import jax
import numpy as np
import numpyro
import numpyro.distributions as dist
from arviz_stats.base import array_stats
from numpyro.infer import MCMC, NUTS

WARMUP, DRAWS = 500, 1000


def model(labeled, unlabeled, totals, total):
    """Flat priors; multinomial rows and a multinomial mixture."""
    n_classes, n_outputs = labeled.shape
    prevalence = numpyro.sample("prevalence", dist.Dirichlet(np.ones(n_classes)))
    with numpyro.plate("class", n_classes):
        confusion = numpyro.sample("confusion", dist.Dirichlet(np.ones(n_outputs)))
        numpyro.sample("labeled", dist.Multinomial(totals, probs=confusion), obs=labeled)
    numpyro.sample("unlabeled", dist.Multinomial(total, probs=prevalence @ confusion), obs=unlabeled)


def timed_run(sampler: MCMC, data: tuple, seed: int) -> float:
    """Seconds of one run, results ready."""
    begin = time.perf_counter()
    sampler.run(jax.random.key(seed), *data)
    jax.block_until_ready(sampler.get_samples())
    return time.perf_counter() - begin


def answer(sampler: MCMC, seconds: float, compile_seconds: float | None) -> dict:
    """Diagnostics by the same library as ours."""
    draws = np.asarray(sampler.get_samples()["prevalence"], dtype=np.float64)[None]
    ess = array_stats.ess(draws, chain_axis=0, draw_axis=1, method="bulk")
    tail = array_stats.ess(draws, chain_axis=0, draw_axis=1, method="tail", prob=(0.05, 0.95))
    effective = float(np.minimum(ess, tail).min())
    return {
        "seconds": seconds,
        "compile_seconds": compile_seconds,
        "effective": effective,
        "rate": effective / seconds,
        "rhat": float(array_stats.rhat(draws.reshape(4, -1, draws.shape[2]), chain_axis=0, draw_axis=1).max()),
        "mean": draws[0].mean(axis=0).tolist(),
        "mcse": array_stats.mcse(draws, chain_axis=0, draw_axis=1, method="mean").tolist(),
    }


def main() -> None:
    """Answer until stdin ends; a problem is compiled when it is first seen."""
    if sys.argv[1] == "x64":
        numpyro.enable_x64()
    known, sampler, data = None, None, None
    for line in sys.stdin:
        request = json.loads(line)
        compile_seconds = None
        if known != (request["labeled"], request["unlabeled"]):
            known = (request["labeled"], request["unlabeled"])
            labeled, unlabeled = np.array(request["labeled"]), np.array(request["unlabeled"])
            data = (labeled, unlabeled, labeled.sum(axis=1), int(unlabeled.sum()))
            sampler = MCMC(NUTS(model), num_warmup=WARMUP, num_samples=DRAWS, progress_bar=False)
            first = timed_run(sampler, data, request["seed"])
            seconds = timed_run(sampler, data, request["seed"])
            compile_seconds = max(0.0, first - seconds)
        else:
            seconds = timed_run(sampler, data, request["seed"])
        print(json.dumps(answer(sampler, seconds, compile_seconds)), flush=True)


if __name__ == "__main__":
    main()
