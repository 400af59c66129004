"""Draws from the posterior of many groups at once: Hamiltonian chains in coordinates that make it nearly normal.

1. Maximise the Laplace approximation of the hyperparameters' posterior, groups integrated out.
2. Whiten there (`whitening`), let chains run, take their mean for a better point, and whiten again, a few times.
3. Draw until every share, the spread and the confusion are known well enough, or the budget ends.
"""

from dataclasses import dataclass, field

import numpy as np

from truecount import _check
from truecount._types import FloatArray
from truecount.inference.whitening import BATCH, Whitening
from truecount.models.pooled import PooledDensity

MOST_CHAINS, FEWEST_CHAINS = 32, 8
CHAIN_NUMBERS = 250_000
"""Shares of all chains together that still stay close to the processor."""
ROUNDS = (30, 30, 60)
"""Iterations of each round of warm-up."""
TUNING = 40
"""Iterations that tune the step after the last whitening."""
TRAJECTORY = 1.5
"""Length of a trajectory; a quarter of a turn in a standard normal is 1.57."""
SHORT_STEP = 0.3
"""Every third trajectory takes steps so much shorter, for chains in a narrow place."""
ACCEPTANCE = 0.8
KEPT_BYTES = 200_000_000
BLOCK = 100
MOST_BLOCKS = 60
START_GROUPS = 200
"""The first guess of the hyperparameters looks at so many groups at most."""
NEWTON_STEPS = 4
RHAT_LIMIT = 1.01
LOW_SPREAD = 2.0
"""Standard deviations below its mean at which the spread decides on the centring."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HyperDraws:
    """Draws from the posterior of many groups, chain after chain.

    Parameters
    ----------
    prevalence
        Shape (draws, groups, classes).
    confusion
        Shape (draws, classes, outputs).
    centre
        Shape (draws, columns, log-ratios): coefficients of the groups' centre.
    spread
        Shape (draws, log-ratios): standard deviation between groups.
    chains
        How many there are.
    iterations, gradients
        Trajectories of each chain, warm-up included, and evaluations of the gradient.
    acceptance
        Mean probability with which trajectories were accepted.
    """

    prevalence: FloatArray
    confusion: FloatArray
    centre: FloatArray
    spread: FloatArray
    chains: int
    iterations: int
    gradients: int
    acceptance: float


@dataclass(slots=True)
class _Chains:
    """Where all chains stand, and the step they take."""

    map: Whitening
    rng: np.random.Generator
    y: FloatArray
    z: FloatArray
    step: float = 0.3
    iterations: int = 0
    gradients: int = 0
    accepted: list[float] = field(default_factory=list)

    def iterate(self) -> float:
        """Move every chain along one trajectory; return the mean probability of acceptance."""
        rng, step = self.rng, self.step * (SHORT_STEP if self.iterations % 3 == 2 else self.rng.uniform(0.8, 1.2))
        steps = max(1, int(np.ceil(TRAJECTORY * rng.uniform(0.6, 1.4) / step)))
        speed_y, speed_z = rng.standard_normal(self.y.shape), rng.standard_normal(self.z.shape)
        start = self.map.value_and_gradient(self.y, self.z)
        energy = start[0] - _kinetic(speed_y, speed_z)
        y, z, (value, by_y, by_z) = self.y, self.z, start
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for _ in range(steps):
                speed_y, speed_z = speed_y + 0.5 * step * by_y, speed_z + 0.5 * step * by_z
                y, z = y + step * speed_y, z + step * speed_z
                value, by_y, by_z = self.map.value_and_gradient(y, z)
                speed_y, speed_z = speed_y + 0.5 * step * by_y, speed_z + 0.5 * step * by_z
            gain = value - _kinetic(speed_y, speed_z) - energy
        gain = np.where(np.isfinite(gain), gain, -np.inf)
        accept = np.log(rng.random(len(gain))) < gain
        self.y, self.z = np.where(accept[:, None], y, self.y), np.where(accept[:, None, None], z, self.z)
        self.iterations += 1
        self.gradients += steps + 1
        self.accepted.append(float(np.exp(np.minimum(gain, 0.0)).mean()))
        return self.accepted[-1]

    def tune(self, iterations: int) -> None:
        """Adapt the step towards the wanted acceptance, by dual averaging."""
        anchor, shortfall, logarithm = np.log(1.5 * self.step), 0.0, np.log(self.step)
        for number in range(1, iterations + 1):
            is_short = self.iterations % 3 == 2
            acceptance = self.iterate()
            if is_short:
                continue
            shortfall += (ACCEPTANCE - acceptance - shortfall) / (number + 10)
            trial = anchor - 2 * np.sqrt(number) * shortfall
            logarithm += number**-0.75 * (trial - logarithm)
            self.step = float(np.exp(np.clip(trial, np.log(0.005), np.log(1.5))))
        self.step = float(np.exp(np.clip(logarithm, np.log(0.005), np.log(1.5))))

    def place(self) -> tuple[FloatArray, FloatArray]:
        """Return hyperparameters and log-ratios of every chain."""
        hyper, latent = self.map.natural(self.y, self.z)
        return hyper, self.map.density.log_ratios(hyper, latent)


def _kinetic(speed_y: FloatArray, speed_z: FloatArray) -> FloatArray:
    total: FloatArray = 0.5 * ((speed_y**2).sum(axis=1) + (speed_z**2).sum(axis=(1, 2)))
    return total


def sample_pooled(density: PooledDensity, *, effective_draws: int, seed: int) -> HyperDraws:
    """Draw until the least known quantity has so many effective draws, or the budget ends."""
    _check.whole_number("effective_draws", effective_draws, least=1)
    rng = np.random.default_rng(seed)
    n_chains = int(np.clip(CHAIN_NUMBERS // (density.n_groups * len(density.centre)), FEWEST_CHAINS, MOST_CHAINS))
    hyper, ratios = _laplace_mode(density)
    chains = _started(density, hyper, ratios, n_chains, rng)
    for iterations in ROUNDS:
        chains = _warmed(chains, iterations)
    chains.tune(TUNING)
    chains.accepted.clear()
    return _drawn(chains, effective_draws)


def _started(
    density: PooledDensity, hyper: FloatArray, ratios: FloatArray, n_chains: int, rng: np.random.Generator
) -> _Chains:
    """Start chains farther from a point than the posterior reaches, their groups where these hyperparameters put them."""
    rough = density.recentred(np.zeros(ratios.shape))
    rough_map = Whitening.at(rough, hyper, rough.latent(hyper[None], ratios[None])[0])
    density = _suitably_centred(density, hyper, ratios, np.sqrt((rough_map.factor**2).sum(axis=1)))
    whitening = Whitening.at(density, hyper, density.latent(hyper[None], ratios[None])[0])
    hypers = hyper + 1.5 * rng.standard_normal((n_chains, density.n_hyper)) @ whitening.factor.T
    plain = density.recentred(np.zeros(ratios.shape))
    latent, blocks = _latent_mode(plain, hypers)
    noise = rng.standard_normal((n_chains, density.n_groups, density.n_ratios, 1))
    latent = latent + np.linalg.solve(np.linalg.cholesky(blocks).swapaxes(2, 3), noise)[..., 0].transpose(0, 2, 1)
    return _Chains(whitening, rng, *whitening.standard(hypers, density.latent(hypers, plain.log_ratios(hypers, latent))))


def _suitably_centred(density: PooledDensity, hyper: FloatArray, ratios: FloatArray, sd: FloatArray) -> PooledDensity:
    """Centre each log-ratio of each group by how much its own items say: 1 − its variance over that of its prior.

    The spread is taken at the lower end of what is likely, because there a centring that is too large makes a funnel.
    """
    plain = density.recentred(np.zeros(ratios.shape))
    hyper = hyper.copy()
    hyper[-density.n_ratios :] -= LOW_SPREAD * sd[-density.n_ratios :]
    blocks = plain.curvature(hyper[None], plain.latent(hyper[None], ratios[None]))[0]
    variances = np.linalg.inv(blocks.transpose(2, 0, 1)).diagonal(axis1=1, axis2=2).T
    return density.recentred(np.clip(1 - variances, 0.0, 1.0))


def _warmed(chains: _Chains, iterations: int) -> _Chains:
    """Run a round of warm-up, and whiten anew at the mean of its second half."""
    chains.tune(iterations // 2)
    hypers, ratio_sum = [], np.zeros(chains.z.shape[1:])
    for _ in range(iterations - iterations // 2):
        chains.iterate()
        hyper, ratios = chains.place()
        hypers.append(hyper)
        ratio_sum += ratios.mean(axis=0)
    seen, middle = np.concatenate(hypers), ratio_sum / len(hypers)
    centre = seen.mean(axis=0)
    density = _suitably_centred(chains.map.density, centre, middle, seen.std(axis=0))
    chains.map = Whitening.at(density, centre, density.latent(centre[None], middle[None])[0])
    chains.y, chains.z = chains.map.standard(hyper, density.latent(hyper, ratios))
    return chains


def _drawn(chains: _Chains, wanted: int) -> HyperDraws:
    """Draw in blocks until enough is known; keep what fits in memory."""
    density = chains.map.density
    size = chains.y.size + chains.z.shape[0] * density.n_groups * len(density.centre)
    most = max(2 * FEWEST_CHAINS, KEPT_BYTES // (8 * size))
    hypers: list[FloatArray] = []
    shares: list[FloatArray] = []
    every = 1
    for _ in range(MOST_BLOCKS):
        for number in range(BLOCK):
            chains.iterate()
            if number % every:
                continue
            hyper, ratios = chains.place()
            hypers.append(hyper)
            shares.append(density.shares(ratios).transpose(0, 2, 1))
            if len(hypers) > most:
                hypers, shares, every = hypers[1::2], shares[1::2], 2 * every
        draws = _gathered(density, hypers, shares, chains)
        if is_enough(draws, wanted):
            break
    return draws


def _gathered(
    density: PooledDensity, hypers: list[FloatArray], shares: list[FloatArray], chains: _Chains
) -> HyperDraws:
    hyper = np.stack(hypers, axis=1).reshape(-1, density.n_hyper)
    rows, centre, scores = density.hyper_parts(hyper)
    prevalence = np.stack(shares, axis=1)
    return HyperDraws(
        prevalence=prevalence.reshape(-1, *prevalence.shape[2:]),
        confusion=density.rows.natural(rows)[0],
        centre=centre,
        spread=density.spread(scores),
        chains=len(chains.y),
        iterations=chains.iterations,
        gradients=chains.gradients,
        acceptance=float(np.mean(chains.accepted)),
    )


def is_enough(draws: HyperDraws, wanted: int) -> bool:
    """Whether chains agree and so many draws of every quantity are effective."""
    from truecount.inference import convergence

    for values in (draws.spread, draws.centre, draws.confusion, draws.prevalence):
        flat = values.reshape(len(values), -1)
        flat = flat[:, flat.std(axis=0) > 0]
        if not flat.shape[1]:
            continue
        if convergence.rhat_fast(flat, draws.chains).max() > RHAT_LIMIT:
            return False
        if convergence.effective_fast(flat, draws.chains).min() < wanted:
            return False
    return True


def _laplace_mode(density: PooledDensity) -> tuple[FloatArray, FloatArray]:
    """Return the mode of the hyperparameters with groups integrated out approximately, and log-ratios given it."""
    from scipy.optimize import minimize

    hyper = np.zeros(density.n_hyper)
    stages = [_thinned(density), density] if density.n_groups > START_GROUPS else [density]
    for stage, most in zip(stages, (60, 12), strict=False):
        found = minimize(
            _negative_marginal, hyper, (stage,), jac=True, method="L-BFGS-B", options={"maxiter": most}
        )
        hyper = np.asarray(found.x)
    plain = density.recentred(np.zeros((density.n_ratios, density.n_groups)))
    latent, _ = _latent_mode(plain, hyper[None])
    return hyper, plain.log_ratios(hyper[None], latent)[0]


def _thinned(density: PooledDensity) -> PooledDensity:
    from dataclasses import replace

    chosen = np.linspace(0, density.n_groups - 1, START_GROUPS).astype(int)
    return replace(density, unlabeled=density.unlabeled[:, chosen], design=density.design[:, chosen])


def _negative_marginal(hyper: FloatArray, density: PooledDensity) -> tuple[float, FloatArray]:
    """Return minus the Laplace approximation of the log marginal density, and its gradient by differences."""
    step = 1e-4
    points = np.vstack([hyper, hyper + step * np.eye(len(hyper)), hyper - step * np.eye(len(hyper))])
    batch = max(1, BATCH // (density.unlabeled.size * density.n_ratios))
    values = np.concatenate([_marginal(density, points[at : at + batch]) for at in range(0, len(points), batch)])
    ahead, behind = values[1 : len(hyper) + 1], values[len(hyper) + 1 :]
    return -float(values[0]), -(ahead - behind) / (2 * step)


def _marginal(density: PooledDensity, hyper: FloatArray) -> FloatArray:
    plain = density.recentred(np.zeros((density.n_ratios, density.n_groups)))
    latent, blocks = _latent_mode(plain, hyper)
    value: FloatArray = plain.value_and_gradient(hyper, latent)[0]
    signs, logs = np.linalg.slogdet(blocks)
    return value - 0.5 * logs.sum(axis=1)


def _latent_mode(plain: PooledDensity, hyper: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Climb to each group's mode given the hyperparameters by Fisher scoring; return it and the curvature there."""
    latent = np.zeros((len(hyper), plain.n_ratios, plain.n_groups))
    for _ in range(NEWTON_STEPS):
        blocks = plain.curvature(hyper, latent).transpose(0, 3, 1, 2)
        gradient = plain.value_and_gradient(hyper, latent)[2].transpose(0, 2, 1)
        step = np.linalg.solve(blocks, gradient[..., None])[..., 0].transpose(0, 2, 1)
        latent = latent + np.clip(step, -3.0, 3.0)
    return latent, plain.curvature(hyper, latent).transpose(0, 3, 1, 2)
