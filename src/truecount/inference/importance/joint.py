"""Groups that share a labelled table, drawn together: each draw of the confusion goes with a prevalence of every group.

The joint posterior is ``Π_l Dir(φ_l) · Π_g Dir(π_g) Π_k (φᵀπ_g)_k ^ n_gk``. Where there are as many outputs as
classes, independent draws of it can be drawn as for one group: draw φ from what the labels say, and for each group the
shares of the outputs, solve for the prevalence, and weight by its prior over |det φ|. The weight of φ is the product
over groups, in which several candidates of each group are averaged; one of them is kept, by its weight. Many groups say
more of φ than the labels do; most proposals then come from what first ones have shown, and some still from the labels,
so that what these allow is not out of reach; of two classes, some have the rows exchanged, which groups cannot tell
from the right way round.

A classifier that treats all classes alike explains groups with like outputs whatever their shares, so with many groups
the posterior may have a second mode there, far from what the labels say. It is left out, and the run says how probable
it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from truecount._log_sum import softmax
from truecount._types import FloatArray
from truecount.inference import convergence
from truecount.inference.draws import Draws, dirichlet, draw_rows, groups_apart, within_digits
from truecount.inference.importance.driver import grow, refusal, resampled, tail
from truecount.inference.importance.proposal import DirichletMixture, Pool, prior_term
from truecount.inference.run import JointRun
from truecount.models import Density

CANDIDATES = 4
"""Prevalences of each group for one confusion, of which one is kept."""
LEAST_SHARE = 0.002
"""Share of the confusions that must count; below it the items are imputed instead."""
BATCH = 8192
ENOUGH_SHARE, REFITS, TO_FIT, TIMES = 0.5, 6, 200, 4
"""Share of confusions that count below which better ones are proposed; how often; on so many that count; how many times
as many as by the labels."""
ALIKE = (30.0, 100.0, 300.0, 1000.0, 3000.0)
"""Concentrations of rows that are all nearly the outputs of all groups together."""
OUT_OF_REACH = 0.001
"""Quantile of the proposals' density below which a confusion is out of their reach."""


def exact_jointly(densities: Sequence[Density], size: int, asked: int, seed: int) -> list[Draws]:
    """Propose until the pool is worth `size` draws, then resample it for all groups alike.

    Parameters
    ----------
    densities
        One for each group, alike but for the unlabelled counts.
    size, asked
        Draws, and effective draws.
    seed
        Same seed, same draws.
    """
    if not densities:
        return []
    _require_square(densities)
    densities = [within_digits(density) for density in densities]
    rng = np.random.default_rng(seed)
    pool, shapes = _pool(densities, max(size, asked), rng)
    together = resampled(pool, size, asked, rng)
    return groups_apart(together, JointRun(groups=len(densities), left_out=_left_out(densities, pool, shapes, rng)))


def _left_out(
    densities: Sequence[Density], pool: Pool, shapes: Sequence[FloatArray], rng: np.random.Generator
) -> float:
    """Estimate how probable confusions are that the pool does not reach: those that treat all classes alike."""
    shared, outputs = densities[0], np.sum([density.unlabeled for density in densities], axis=0) + 1.0
    if len(densities) < 2 or shared.is_known.all():
        return 0.0
    alike = np.tile(outputs / outputs.sum(), (shared.n_classes, 1))
    reached = np.quantile(_log_density(shared, shapes, pool.confusion), OUT_OF_REACH)
    rivals = []
    for concentration in ALIKE:
        rival = _propose(densities, [concentration * alike], BATCH, rng)
        is_new = _log_density(shared, shapes, rival.confusion) < reached
        rivals.append(_evidence(replace(rival, log_weights=rival.log_weights[is_new])))
    return float(1 / (1 + np.exp(np.clip(_evidence(pool) - max(rivals), -700, 700))))


def _evidence(pool: Pool) -> float:
    """Log of the mean weight of what was proposed."""
    return float(np.logaddexp.reduce(pool.log_weights, initial=-np.inf) - np.log(pool.proposed))


@dataclass(frozen=True, slots=True)
class GroupsProposal:
    """Rows by several Dirichlet shapes in equal parts, and a prevalence of every group."""

    densities: Sequence[Density]
    shapes: Sequence[FloatArray]
    least_share: float = LEAST_SHARE

    @property
    def numbers(self) -> int:
        """Shares of all groups, and cells."""
        return len(self.densities) * self.densities[0].n_classes + self.densities[0].rows.size

    def draw(self, size: int, rng: np.random.Generator) -> Pool:
        """Draw so many, and keep those that are possible."""
        return _propose(self.densities, self.shapes, size, rng)


def _pool(densities: Sequence[Density], size: int, rng: np.random.Generator) -> tuple[Pool, Sequence[FloatArray]]:
    pool, shapes = _first_proposals(densities, rng)
    pool = grow(pool, GroupsProposal(densities, shapes), size, rng)
    if (k := tail(pool)) > convergence.PARETO_K_LIMIT:
        raise refusal(f"the weights' tail is too heavy (Pareto k {k:.2f})")
    return pool, shapes


def _first_proposals(densities: Sequence[Density], rng: np.random.Generator) -> tuple[Pool, list[FloatArray]]:
    """Find Dirichlet shapes of the rows from which many confusions count: the labels', and better ones beside them."""
    labels = densities[0].rows
    shapes = [labels]
    pool = _propose(densities, shapes, BATCH, rng)
    for _ in range(REFITS):
        if not len(pool.log_weights) or pool.effective >= ENOUGH_SHARE * pool.proposed:
            break
        better = _refitted(pool, labels)
        tried = [labels, *[better] * TIMES, *([better[::-1]] if len(labels) == 2 else [])]
        other = _propose(densities, tried, BATCH, rng)
        if other.effective <= pool.effective:
            break
        pool, shapes = other, tried
    return pool, shapes


def _refitted(pool: Pool, shapes: FloatArray) -> FloatArray:
    """Shapes of rows with the mean and a little more than the spread of what counts; weights are levelled if few do."""
    power = 1.0
    while replace(pool, log_weights=power * pool.log_weights).effective < min(TO_FIT, 0.5 * len(pool.log_weights)):
        power /= 2
    weights = softmax(power * pool.log_weights)
    rows = zip(shapes, pool.confusion.transpose(1, 0, 2), strict=True)
    return np.stack([DirichletMixture(shape[None]).fitted(drawn, weights).concentrations[-1] for shape, drawn in rows])


def _propose(densities: Sequence[Density], shapes: Sequence[FloatArray], size: int, rng: np.random.Generator) -> Pool:
    """Draw equal parts of confusions by these shapes, and for each a prevalence of every group; weight them all."""
    shared = densities[0]
    parts = [draw_rows(rng, replace(shared, rows=each), 0.0, (size // len(shapes),)) for each in shapes]
    confusion = np.concatenate(parts)
    log_det = np.linalg.slogdet(confusion)[1]
    confusion, log_det = confusion[np.isfinite(log_det)], log_det[np.isfinite(log_det)]
    inverse = np.linalg.inv(confusion.transpose(0, 2, 1)) if len(confusion) else confusion
    prevalence = np.empty((len(confusion), len(densities), shared.n_classes))
    log_weights = _log_density(shared, [shared.rows], confusion) - _log_density(shared, shapes, confusion)
    for group, density in enumerate(densities):
        if density.unlabeled.any():
            prevalence[:, group], log_weight = _candidate(density, inverse, rng)
            log_weights += log_weight - log_det
        else:
            prevalence[:, group] = dirichlet(rng, density.prevalence, (len(confusion),))
    counting = np.isfinite(log_weights)
    together = prevalence[counting].reshape(-1, len(densities) * shared.n_classes)
    return Pool(together, confusion[counting], log_weights[counting], size)


def _log_density(shared: Density, shapes: Sequence[FloatArray], confusion: FloatArray) -> FloatArray:
    """Log-density of each confusion by these shapes, in equal parts; known rows do not count."""
    learned = np.flatnonzero(~shared.is_known)
    parts = [
        np.add.reduce([DirichletMixture(rows[[row]]).log_density(confusion[:, row]) for row in learned])
        if len(learned)
        else np.zeros(len(confusion))
        for rows in shapes
    ]
    value: FloatArray = np.logaddexp.reduce(parts, axis=0) - np.log(len(parts))
    return value


def _candidate(density: Density, inverse: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Keep one of several prevalences for each confusion, by its weight, and give the mean weight."""
    kept = np.full((len(inverse), density.n_classes), 1 / density.n_classes)
    total = np.full(len(inverse), -np.inf)
    for _ in range(CANDIDATES):
        outputs = dirichlet(rng, density.unlabeled + 1, (len(inverse),))
        prevalence = np.einsum("slk,sk->sl", inverse, outputs)
        inside = (prevalence >= 0).all(axis=1)
        prevalence = np.where(inside[:, None], prevalence, 1 / density.n_classes)
        log_weight = np.where(inside, prior_term(density, prevalence), -np.inf)
        total = np.logaddexp(total, log_weight)
        with np.errstate(invalid="ignore"):
            is_chosen = inside & (np.log(rng.random(len(inverse))) < log_weight - total)
        kept[is_chosen] = prevalence[is_chosen]
    return kept, total - np.log(CANDIDATES)


def _require_square(densities: Sequence[Density]) -> None:
    shared = densities[0]
    if shared.n_classes != shared.n_outputs:
        raise refusal("it needs as many outputs as classes")
    if (shared.prevalence < 1).any():
        raise refusal("a prevalence prior below 1 makes the weights' tail too heavy")
