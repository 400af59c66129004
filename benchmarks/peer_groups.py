"""The model of `Pooled` in NumPyro, answering one request on stdin; a peer for ``groups.py``."""

import json
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from arviz_stats.base import array_stats
from numpyro.infer import MCMC, NUTS

WARMUP, DRAWS, CHAINS = 300, 250, 4


def basis_of(n_classes):
    """Logarithms of shares by log-ratios, as in the package."""
    basis = np.zeros((n_classes, n_classes - 1))
    for column in range(n_classes - 1):
        basis[: column + 1, column] = 1 / (column + 1)
        basis[column + 1, column] = -1
        basis[:, column] *= np.sqrt((column + 1) / (column + 2) / 2)
    return basis


def model(labeled, unlabeled, basis):
    """Non-centred log-ratios around a centre whose share is uniform; half-normal spread."""
    n_classes = len(labeled)
    confusion = numpyro.sample("confusion", dist.Dirichlet(labeled + 1.0))
    share = numpyro.sample("share", dist.Dirichlet(jnp.ones(n_classes)))
    centre = 2 * jnp.log(share) @ basis
    spread = numpyro.sample("spread", dist.HalfNormal(1.0).expand([n_classes - 1]).to_event(1))
    noise = numpyro.sample("noise", dist.Normal(0, 1).expand([len(unlabeled), n_classes - 1]).to_event(2))
    prevalence = jax.nn.softmax((centre + spread * noise) @ basis.T, axis=1)
    numpyro.deterministic("prevalence", prevalence)
    numpyro.factor("items", (unlabeled * jnp.log(prevalence @ confusion)).sum())


def effective(draws):
    """The least of bulk, tail and mean, as on our side."""
    values = np.asarray(draws, dtype=np.float64)
    kinds = {"mean": {}, "bulk": {}, "tail": {"prob": (0.05, 0.95)}}
    every = [array_stats.ess(values, chain_axis=0, draw_axis=1, method=kind, **more) for kind, more in kinds.items()]
    return float(np.min(every))


def compared(draws):
    """Quantities whose means are compared with ours, shape (chains, draws)."""
    rows = draws["confusion"]
    return {
        "rate of the first class": rows[..., 0, 0],
        "of the last": rows[..., -1, -1],
        "spread": draws["spread"][..., 0],
    }


def mean_and_error(draws):
    """The mean, and its Monte Carlo standard error."""
    values = np.asarray(draws, dtype=np.float64)
    return float(values.mean()), float(values.std() / np.sqrt(effective(values)))


def main():
    """Compile in a short run, then measure one whole run."""
    numpyro.enable_x64()
    request = json.load(sys.stdin)
    labeled, unlabeled = (jnp.array(request[name], float) for name in ("labeled", "unlabeled"))
    data = (labeled, unlabeled, jnp.array(basis_of(len(labeled))))
    sampler = MCMC(
        NUTS(model),
        num_warmup=WARMUP,
        num_samples=DRAWS,
        num_chains=CHAINS,
        chain_method="sequential",
        progress_bar=False,
    )
    begin = time.process_time()
    sampler.run(jax.random.key(0), *data)
    jax.block_until_ready(sampler.get_samples())
    whole = time.process_time() - begin
    compiling = time.process_time()
    jax.jit(jax.grad(lambda x: (x**2).sum()))(jnp.ones(3))
    short = MCMC(NUTS(model), num_warmup=1, num_samples=1, progress_bar=False)
    short.run(jax.random.key(1), *data)
    compiling = time.process_time() - compiling
    draws = sampler.get_samples(group_by_chain=True)
    seconds = max(whole - compiling, 1e-3)
    share, spread = effective(draws["prevalence"][..., 0]), effective(draws["spread"])
    answer = {
        "seconds": seconds,
        "compile_seconds": compiling,
        "share_per_second": share / seconds,
        "spread_per_second": spread / seconds,
        "spread": np.asarray(draws["spread"]).mean(axis=(0, 1)).tolist(),
        "compared": {name: mean_and_error(values) for name, values in compared(draws).items()},
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
