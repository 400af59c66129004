"""Draws from the posterior of many groups at once: Hamiltonian chains in coordinates that make it nearly normal.

1. Maximise the Laplace approximation of the hyperparameters' posterior, groups integrated out. Where there are two
   classes and groups are independent given the rest, their prevalences are integrated over (`integrated`). Else:
2. Whiten there (`whitening`), let chains run, take their mean for a better point, and whiten again, a few times.
   Many groups with the same rows are integrated over at points (`group_points`). Else, between trajectories, chains
   move where those creep: spreads given deviations, units whose rows vary (`unit_moves`),
   rows and prevalences together (`row_moves`), rows given the classes of items where they are sparse (`row_draws`), and
   the centre where a class may be absent (`centre_moves`).
3. Draw until every share, the spread and the confusion are known well enough, the budget ends, or chains stay where
   they are, so that there would be no answer at its end either.
"""

from dataclasses import dataclass, field

import numpy as np

from truecount import _check
from truecount._advice import Action, Advice
from truecount._progress import detail
from truecount._types import BoolArray, FloatArray
from truecount.errors import InputError
from truecount.inference.centre_moves import move_centre
from truecount.inference.group_draws import GroupDraws, Kept, attainable
from truecount.inference.group_points import (
    can_integrate_at_points,
    move_at_points,
    whitened_by_curvature,
    whitened_by_draws,
)
from truecount.inference.integrated.integral import Common
from truecount.inference.integrated.sampling import can_integrate, sample_integrated
from truecount.inference.row_draws import can_draw_rows, redraw_rows
from truecount.inference.row_moves import RowMoves, can_move_rows
from truecount.inference.unit_moves import UnitMoves
from truecount.inference.whitening import BATCH, Whitening
from truecount.models.hierarchy import GroupDensity

MOST_CHAINS, FEWEST_CHAINS = 32, 8
CHAIN_NUMBERS = 250_000
"""Shares of all chains together that still stay close to the processor."""
ROUNDS = (30, 30, 60)
"""Iterations of each round of warm-up."""
TUNING = 40
"""Iterations that tune the step after the last whitening."""
POINT_ROUNDS, BY_CURVATURE, POINT_TUNING, POINT_TRAJECTORY = (10, 20, 30), 2, 15, 2.5
"""The same where groups are integrated over at points, in how many rounds the curvature is taken, and their length."""
TRAJECTORY = 1.5
"""Length of a trajectory; a quarter of a turn in a standard normal is 1.57."""
MANY_GROUPS, TRIED, MOST_DOUBLINGS = 200, 12, 5
"""Groups beyond which they are integrated over at points, or else longer trajectories are tried; iterations of each
length, and how often it is doubled at most."""
SHORT_STEP = 0.3
EVERY = 4
"""Every fourth trajectory takes steps that much shorter, for chains in a narrow place."""
ACCEPTANCE = 0.8
BLOCK = 100
MOST_BLOCKS = 60
GIVING_UP = (4, 8, 16, 32)
"""Blocks after which chains end if there would be no answer after all blocks either."""
START_GROUPS = 200
"""The first guess of the hyperparameters looks at so many groups at most."""
NEWTON_STEPS = 4
FAR_OUT = 1e100
"""Minus the log-density where it overflows."""
SPREAD_STEPS = (1.0, 0.3, 0.1, 1.0, 0.3, 0.1)
"""Steps of the moves of spreads given deviations, in standard deviations of their prior."""
ROW_DRAWS = 4
"""Draws of sparse rows given the classes of items between two trajectories, which take longer than these."""
CUT_MOVES = 4
"""Trajectories between two draws of rows that are cut off from the items."""
LOW_SPREAD = 2.0
"""Standard deviations below its mean at which the spread decides on the centring."""
START_POINTS, WIDER = 400, 1.3
"""Points around the mode from which proposals of integrated groups start, and how much wider they lie than normal."""


@dataclass(slots=True)
class _Chains:
    """Where all chains stand, and the step they take."""

    map: Whitening
    rng: np.random.Generator
    y: FloatArray
    z: FloatArray
    held: BoolArray
    cut: bool = False
    at_points: bool = False
    step: float = 0.3
    length: float = TRAJECTORY
    iterations: int = 0
    gradients: int = 0
    accepted: list[float] = field(default_factory=list)

    def iterate(self) -> float:
        """Move every chain; return the mean probability of acceptance.

        Where the rows are cut off from the items, draw them anew from the labels, and move the rest given them a few
        times.
        """
        if not self.cut:
            return self._trajectory()
        hyper, _ = self.map.natural(self.y, self.z)
        rows = self.map.density.rows
        hyper[:, : rows.size] = rows.draw(len(hyper), self.rng)
        self.y[:, : rows.size] = self.map.standard_hyper(hyper)[:, : rows.size]
        return float(np.mean([self._trajectory() for _ in range(CUT_MOVES)]))

    def _trajectory(self) -> float:
        """Move every chain along one trajectory; return the mean probability of acceptance."""
        if self.at_points:
            return self._trajectory_at_points()
        rng, step = (
            self.rng,
            self.step * (SHORT_STEP if self.iterations % EVERY == EVERY - 1 else self.rng.uniform(0.8, 1.2)),
        )
        steps = max(1, int(np.ceil(self.length * rng.uniform(0.6, 1.4) / step)))
        speed_y, speed_z = rng.standard_normal(self.y.shape), rng.standard_normal(self.z.shape)
        held = self.held
        speed_y[:, held] = 0
        value, by_y, by_z = self.map.value_and_gradient(self.y, self.z)
        by_y[:, held] = 0
        energy = value - _kinetic(speed_y, speed_z)
        y, z = self.y, self.z
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for _ in range(steps):
                speed_y, speed_z = speed_y + 0.5 * step * by_y, speed_z + 0.5 * step * by_z
                y, z = y + step * speed_y, z + step * speed_z
                value, by_y, by_z = self.map.value_and_gradient(y, z)
                by_y[:, held] = 0
                speed_y, speed_z = speed_y + 0.5 * step * by_y, speed_z + 0.5 * step * by_z
            gain = value - _kinetic(speed_y, speed_z) - energy
        gain = np.where(np.isfinite(gain), gain, -np.inf)
        accept = np.log(rng.random(len(gain))) < gain
        self.y, self.z = np.where(accept[:, None], y, self.y), np.where(accept[:, None, None], z, self.z)
        self._move_spreads()
        self._move_units()
        self._move_rows()
        self._draw_rows()
        self._move_centre()
        self._count()
        self.gradients += steps + 1
        self.accepted.append(float(np.exp(np.minimum(gain, 0.0)).mean()))
        return self.accepted[-1]

    def _trajectory_at_points(self) -> float:
        """Move every chain with its groups integrated over; return the mean probability of acceptance."""
        step = self.step * self.rng.uniform(0.8, 1.2)
        steps = max(1, int(np.ceil(self.length * self.rng.uniform(0.6, 1.4) / step)))
        moved = [move_at_points(self.map, y, z, step, steps, self.rng) for y, z in zip(self.y, self.z, strict=True)]
        self.y, self.z = (np.stack([each[part] for each in moved]) for part in (0, 1))
        self._count()
        self.gradients += steps + 2
        self.accepted.append(float(np.mean([np.exp(min(gain, 0.0)) for _, _, gain in moved])))
        return self.accepted[-1]

    def _count(self) -> None:
        """Count an iteration, and say so: those of many classes take seconds."""
        self.iterations += 1
        detail(f"iteration {self.iterations:,}")

    def _move_spreads(self) -> None:
        """Move the spreads given the deviations from the centre, which then say all there is about them.

        Trajectories move them given standard latents instead. Where the data determine the deviations, this move is the
        long one; where they do not, the other is.
        """
        density = self.map.density
        if not density.n_spreads:
            return
        hyper, latent = self.map.natural(self.y, self.z)
        before, standard = hyper[:, -density.n_spreads :], density.standard_latent(hyper, latent)
        deviation, log_density = density.spreads_given_deviations(hyper, standard)
        scores, value = before, log_density(before)
        for scale in SPREAD_STEPS:
            trial = scores + scale * self.rng.standard_normal(scores.shape)
            found = log_density(trial)
            accept = np.log(self.rng.random(scores.shape)) < found - value
            scores, value = np.where(accept, trial, scores), np.where(accept, found, value)
        hyper = np.concatenate([hyper[:, : -density.n_spreads], scores], axis=1)
        moved = deviation / density.all_spreads(scores)[:, density.spread_of_latent, None]
        standard = np.where(density.tells_spread > 0, moved, standard)
        self.y, self.z = self.map.standard(hyper, density.own_latent(hyper, standard))

    def _move_units(self) -> None:
        """Draw prevalence and rows of each unit anew, where rows vary and units are independent."""
        density = self.map.density
        if density.labeled is None or density.loadings is not None:
            return
        hyper, standard = self.place()
        moves = UnitMoves(density.recentred(np.zeros(density.latent_shape)))
        standard = moves.move(hyper, standard, self.rng)
        self.y, self.z = self.map.standard(hyper, density.own_latent(hyper, standard))

    def _move_rows(self) -> None:
        """Move the rows and take prevalences with them, where all groups have the same rows."""
        plain = self.map.density.recentred(np.zeros(self.map.density.latent_shape))
        if self.cut or not can_move_rows(plain):
            return
        hyper, standard = RowMoves.at(plain, self.map.hyper).move(*self.place(), self.rng)
        self.y, self.z = self.map.standard(hyper, self.map.density.own_latent(hyper, standard))

    def _draw_rows(self) -> None:
        """Draw rows anew given the class of every item, where rows are sparse."""
        density = self.map.density
        if self.cut or not can_draw_rows(density):
            return
        hyper, latent = self.map.natural(self.y, self.z)
        prevalence = density.prevalence(hyper, latent)
        for _ in range(ROW_DRAWS):
            hyper = redraw_rows(density, hyper, prevalence, self.rng)
        self.y, self.z = self.map.standard(hyper, latent)

    def _move_centre(self) -> None:
        """Move the centre far along one class, given standard latents."""
        density = self.map.density
        if not len(density.centre.design):
            return
        hyper, standard = self.place()
        hyper = move_centre(density.recentred(np.zeros(density.latent_shape)), hyper, standard, self.rng)
        self.y, self.z = self.map.standard(hyper, density.own_latent(hyper, standard))

    def tune(self, iterations: int) -> None:
        """Adapt the step towards the wanted acceptance, by dual averaging."""
        anchor, shortfall, logarithm = np.log(1.5 * self.step), 0.0, np.log(self.step)
        for number in range(1, iterations + 1):
            is_short = self.iterations % EVERY == EVERY - 1
            acceptance = self.iterate()
            if is_short:
                continue
            shortfall += (ACCEPTANCE - acceptance - shortfall) / (number + 10)
            trial = anchor - 2 * np.sqrt(number) * shortfall
            logarithm += number**-0.75 * (trial - logarithm)
            self.step = float(np.exp(np.clip(trial, np.log(0.005), np.log(1.5))))
        self.step = float(np.exp(np.clip(logarithm, np.log(0.005), np.log(1.5))))

    def lengthen(self) -> None:
        """Double the length of trajectories as long as the slowest hyperparameter then moves further by gradient.

        Rows and prevalences that have the same outputs' shares lie on a bent ridge. The bends of all groups add up: the
        way along it is longer the more groups there are, and short trajectories only diffuse.
        """
        before, _ = self._squares_by_gradient()
        for _ in range(MOST_DOUBLINGS):
            self.length *= 2
            now, variance = self._squares_by_gradient()
            if (now / variance).min(initial=np.inf) <= (before / variance).min(initial=np.inf):
                self.length /= 2
                return
            before = now

    def _squares_by_gradient(self) -> tuple[FloatArray, FloatArray]:
        """Return the mean squared move of each hyperparameter by gradient, and its variance in these iterations."""
        start, points = self.gradients, [self.y]
        for _ in range(TRIED):
            self.iterate()
            points.append(self.y)
        every = np.stack(points)
        return (np.diff(every, axis=0) ** 2).mean(axis=(0, 1)) / (self.gradients - start), every.var(axis=(0, 1))

    def place(self) -> tuple[FloatArray, FloatArray]:
        """Return hyperparameters and standard latents of every chain."""
        hyper, latent = self.map.natural(self.y, self.z)
        return hyper, self.map.density.standard_latent(hyper, latent)


def _kinetic(speed_y: FloatArray, speed_z: FloatArray) -> FloatArray:
    total: FloatArray = 0.5 * ((speed_y**2).sum(axis=1) + (speed_z**2).sum(axis=(1, 2)))
    return total


def sample_groups(
    density: GroupDensity, *, effective_draws: int, seed: int, groups: int | None = None, cut: bool = False
) -> GroupDraws:
    """Draw until the least known quantity has this effective sample size, or the budget ends.

    Parameters
    ----------
    density
        What to draw from.
    effective_draws
        The least effective sample size that is wanted; fewer where memory does not hold so many draws.
    seed
        Same seed, same draws.
    groups
        How many units to return, the first ones; all by default.
    cut
        Whether the rows of the confusion are drawn from the labels alone.
    """
    _check.whole_number("effective_draws", effective_draws, least=1)
    if density.is_one_study and (cut or not can_integrate(density)):
        needed = "groups that are one new study have two classes, at most three outputs, no own labels and no trend"
        found = Advice("is {}", Action("Varying(new_study='one')", "that of --new-study one"))
        pooled = Action("groups=Pooled() in place of Walk(), ", "--by COLUMN:PERIOD in place of --trend, ")
        each = Action("Varying(new_study='each')", "--new-study each")
        remedy = Advice("Use {}{}{}", *([pooled, "or "] if density.loadings is not None else ["", ""]), each)
        raise InputError("confusion", found, needed, remedy)
    rng, plain = np.random.default_rng(seed), density.recentred(np.zeros(density.latent_shape))
    detail("looking for the mode")
    mode = _laplace_mode(plain)
    whitening = Whitening.at(plain, mode, _latent_mode(plain, mode[None])[0][0])
    if not cut and can_integrate(density):
        start = _rough_start(whitening, rng)
        integrated = sample_integrated(plain, start, effective_draws=effective_draws, rng=rng)
        if integrated is not None:
            return integrated
    at_points = density.n_groups > MANY_GROUPS and not cut and can_integrate_at_points(density)
    chains = _started(whitening, MOST_CHAINS if at_points else _number_of_chains(density), rng, cut=cut)
    if at_points:
        _warm_at_points(chains)
    else:
        for iterations in ROUNDS:
            _warm(chains, iterations)
        chains.tune(TUNING)
        if density.n_groups > MANY_GROUPS:
            chains.lengthen()
    chains.accepted.clear()
    return _drawn(chains, effective_draws, density.n_groups if groups is None else groups)


def _held(density: GroupDensity, *, cut: bool) -> BoolArray:
    """Return which hyperparameters trajectories leave as they are, shape (hyper,): rows that are drawn otherwise."""
    held = np.zeros(density.n_hyper, bool)
    held[: density.rows.size] = cut or (density.rows.is_sparse & can_draw_rows(density))
    return held


def _number_of_chains(density: GroupDensity) -> int:
    """Return how many chains run, a multiple of four: fewer where there are many groups."""
    width = density.n_ratios + 1 + density.n_row_ratios * len(density.centre.basis)
    number = CHAIN_NUMBERS // (4 * density.n_groups * width)
    return 4 * int(np.clip(number, FEWEST_CHAINS // 4, MOST_CHAINS // 4))


def _started(rough: Whitening, n_chains: int, rng: np.random.Generator, *, cut: bool) -> _Chains:
    """Start chains farther from the mode than the posterior reaches, latents where their hyperparameters put them."""
    plain, hyper, middle = rough.density, rough.hyper, rough.latent
    density = _suitably_centred(plain, hyper, middle, np.sqrt((rough.factor**2).sum(axis=1)))
    whitening = Whitening.at(density, hyper, density.own_latent(hyper[None], middle[None])[0])
    hypers = hyper + 1.5 * rng.standard_normal((n_chains, density.n_hyper)) @ whitening.factor.T
    latent = _rough_latents(plain, hypers, rng)
    y, z = whitening.standard(hypers, density.own_latent(hypers, latent))
    return _Chains(whitening, rng, y, z, _held(density, cut=cut), cut)


def _rough_start(rough: Whitening, rng: np.random.Generator) -> Common:
    """Return points around the mode of what groups have in common; of their study, where rows vary between studies."""
    plain = rough.density
    hyper = rough.hyper + WIDER * rng.standard_normal((START_POINTS, plain.n_hyper)) @ rough.factor.T
    row_points, coefficients, scores = plain.parts(hyper)
    common = plain.rows.natural(row_points)[0]
    if plain.labeled is None:
        return Common(common, coefficients, scores)
    rows = plain.unit_rows(hyper, _rough_latents(plain, hyper, rng))[:, 0]
    return Common(rows, coefficients, scores, common)


def _rough_latents(plain: GroupDensity, hyper: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw latents from a normal approximation of their density given the hyperparameters."""
    latent, blocks = _latent_mode(plain, hyper)
    noise = rng.standard_normal((*blocks.shape[:-1], 1))
    steps = np.linalg.solve(np.linalg.cholesky(blocks).swapaxes(2, 3), noise)[..., 0]
    return np.asarray(latent + steps.transpose(0, 2, 1))


def _suitably_centred(plain: GroupDensity, hyper: FloatArray, latent: FloatArray, sd: FloatArray) -> GroupDensity:
    """Centre each latent by how much its own items say: 1 − its variance over that of its prior.

    The spread is taken at the lower end of what is likely, because there a centring that is too large makes a funnel.
    """
    hyper = hyper.copy()
    spreads = slice(plain.n_hyper - plain.n_spreads, None)
    hyper[spreads] -= LOW_SPREAD * sd[spreads]
    blocks = plain.curvature(hyper[None], latent[None])[0]
    variances = np.linalg.inv(blocks.transpose(2, 0, 1)).diagonal(axis1=1, axis2=2).T
    return plain.recentred(np.clip(1 - variances, 0.0, 1.0))


def _warm_at_points(chains: _Chains) -> None:
    """Warm up with groups integrated over: whiten by the curvature first, then by the draws of a round."""
    chains.at_points, chains.length = True, POINT_TRAJECTORY
    for number, iterations in enumerate(POINT_ROUNDS):
        factor, hyper = chains.map.factor, _warm(chains, iterations)
        places = chains.map.natural(chains.y, chains.z)
        if number < BY_CURVATURE:
            chains.map = whitened_by_curvature(chains.map, chains.rng)
        else:
            chains.map = whitened_by_draws(chains.map, factor, hyper)
        chains.y, chains.z = chains.map.standard(*places)
    chains.tune(POINT_TUNING)


def _warm(chains: _Chains, iterations: int) -> FloatArray:
    """Run a round of warm-up, and whiten anew at the mean of its second half; return the hyperparameters there."""
    chains.tune(iterations // 2)
    hypers, total = [], np.zeros(chains.z.shape[1:])
    for _ in range(iterations - iterations // 2):
        chains.iterate()
        hyper, latent = chains.place()
        hypers.append(hyper)
        total += latent.mean(axis=0)
    seen, middle = np.concatenate(hypers), total / len(hypers)
    centre = seen.mean(axis=0)
    plain = chains.map.density.recentred(np.zeros(middle.shape))
    density = _suitably_centred(plain, centre, middle, seen.std(axis=0))
    chains.map = Whitening.at(density, centre, density.own_latent(centre[None], middle[None])[0])
    chains.y, chains.z = chains.map.standard(hyper, density.own_latent(hyper, latent))
    return seen


def _drawn(chains: _Chains, wanted: int, groups: int) -> GroupDraws:
    """Draw in blocks until enough is known; keep what fits in memory."""
    density, kept, block = chains.map.density, Kept(), 0
    of_group = len(density.centre.basis) * (1 if density.labeled is None else 1 + len(density.unlabeled))
    wanted = attainable(wanted, density.n_hyper + groups * of_group)
    while True:
        for _ in range(BLOCK):
            chains.iterate()
            hyper, latent = chains.map.natural(chains.y, chains.z)
            prevalence = density.prevalence(hyper, latent)[:, :, :groups].transpose(0, 2, 1)
            rows = None if density.labeled is None else density.unit_rows(hyper, latent)[:, :groups]
            kept.add(hyper, prevalence, rows)
        block += 1
        draws = _gathered(chains, kept)
        if block == MOST_BLOCKS or draws.is_enough(wanted):
            return draws
        if block in GIVING_UP and not draws.may_converge(MOST_BLOCKS / block):
            return draws
        del draws


def _gathered(chains: _Chains, kept: Kept) -> GroupDraws:
    density, stacked = chains.map.density, kept.stacked()
    _, centre, scores = density.parts(stacked.hyper)
    spread, common = density.spread(scores), density.common_rows(stacked.hyper)
    return GroupDraws(
        prevalence=stacked.prevalence,
        confusion=common if stacked.rows is None else stacked.rows,
        centre=centre,
        spread=spread[:, : density.n_prevalence_spreads],
        common_rows=None if stacked.rows is None else common,
        row_spread=spread[:, density.n_prevalence_spreads :],
        chains=len(chains.y),
        iterations=chains.iterations,
        gradients=chains.gradients,
        acceptance=float(np.mean(chains.accepted)),
    )


def _laplace_mode(plain: GroupDensity) -> FloatArray:
    """Return the mode of the hyperparameters, with the groups integrated out approximately; sparse cells stay at 0."""
    from scipy.optimize import minimize

    hyper, free = np.zeros(plain.n_hyper), ~_held(plain, cut=False)
    if not free.any():
        return hyper  # scipy before 1.15 does not minimize over nothing
    stages = [(plain, 60)]
    if plain.loadings is None and plain.n_groups > START_GROUPS:
        chosen = np.linspace(0, plain.n_groups - 1, START_GROUPS).astype(int)
        stages = [(plain.of_groups(chosen), 60), (plain, 12)]
    for density, most in stages:
        about, options = (density, np.eye(len(hyper))[free]), {"maxiter": most}
        hyper[free] = minimize(_negative_marginal, hyper[free], about, jac=True, method="L-BFGS-B", options=options).x
    return hyper


def _negative_marginal(values: FloatArray, plain: GroupDensity, directions: FloatArray) -> tuple[float, FloatArray]:
    """Return minus the Laplace approximation of the log marginal density, and its gradient by differences.

    Hyperparameters are the sum of directions (values, hyper), each times its value.
    """
    step = 1e-4
    points = values @ directions + np.concatenate([np.zeros((1, plain.n_hyper)), step * directions, -step * directions])
    n_latent, n_blocks = plain.latent_shape
    batch = max(1, BATCH // (n_latent * max(plain.unlabeled.size, n_latent * n_blocks)))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        found = np.concatenate([_marginal(plain, points[at : at + batch]) for at in range(0, len(points), batch)])
    if not np.isfinite(found).all():
        return FAR_OUT, np.zeros_like(values)
    ahead, behind = found[1 : len(values) + 1], found[len(values) + 1 :]
    return -float(found[0]), -(ahead - behind) / (2 * step)


def _marginal(plain: GroupDensity, hyper: FloatArray) -> FloatArray:
    latent, blocks = _latent_mode(plain, hyper)
    value: FloatArray = plain.value_and_gradient(hyper, latent)[0] - 0.5 * np.linalg.slogdet(blocks)[1].sum(axis=1)
    return value


def _latent_mode(plain: GroupDensity, hyper: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Ascend to the latents' mode given the hyperparameters by Fisher scoring; return it and the curvature there."""
    latent = np.zeros((len(hyper), *plain.latent_shape))
    plain = plain.recentred(np.zeros(plain.latent_shape))
    for _ in range(NEWTON_STEPS):
        blocks = plain.curvature(hyper, latent).transpose(0, 3, 1, 2)
        gradient = plain.value_and_gradient(hyper, latent)[2].transpose(0, 2, 1)
        step = np.linalg.solve(blocks, gradient[..., None])[..., 0].transpose(0, 2, 1)
        latent = latent + np.clip(step, -3.0, 3.0)
    return latent, plain.curvature(hyper, latent).transpose(0, 3, 1, 2)
