"""Simulation-based calibration of many groups: truths from the prior, data from the truths, ranks among the draws."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import chisquare, ttest_1samp

from truecount import Groups, Pooled, Prior, Varying, Walk
from truecount.inference.hierarchical import sample_groups
from truecount.models.groups import group_density
from truecount.models.hierarchy.log_ratios import log_ratio_basis

TIMES = np.array([0, 1, 2, 6, 7])
N_GROUPS = len(TIMES)
FALSE_ALARMS = 1e-4
"""A sound engine fails a test of ranks so often."""


@dataclass(frozen=True)
class Setting:
    """How many classes and outputs, how groups vary, and how many data sets a short test looks at."""

    n_classes: int
    n_outputs: int
    groups: Pooled | Walk
    confusion: Varying | None = None
    data_sets: int = 60
    cell: float = 1.0
    """Concentration of a cell of the rows' prior."""

    @property
    def prior(self):
        return Prior(confusion=self.cell + 4.0 * np.eye(self.n_classes, self.n_outputs))


SETTINGS = {
    "pooled, 2 classes": Setting(2, 2, Pooled()),
    "pooled, 3 classes, 4 outputs": Setting(3, 4, Pooled()),
    "pooled, 3 classes, 2 outputs": Setting(3, 2, Pooled()),
    "pooled, 5 classes": Setting(5, 5, Pooled(), data_sets=40),
    "sparse rows, 3 classes, 4 outputs": Setting(3, 4, Pooled(), data_sets=30, cell=0.05),
    "Dirichlet, 2 classes": Setting(2, 2, Pooled(kind="dirichlet")),
    "Dirichlet, 3 classes": Setting(3, 3, Pooled(kind="dirichlet")),
    "walk, 2 classes": Setting(2, 2, Walk()),
    "walk, 3 classes, 4 outputs": Setting(3, 4, Walk()),
    "walk, 5 classes": Setting(5, 5, Walk(), data_sets=30),
    "varying, 2 classes": Setting(2, 2, Pooled(), Varying(), data_sets=12),
    "varying, 3 classes, 4 outputs": Setting(3, 4, Pooled(), Varying(), data_sets=10),
    "one new study, 2 classes": Setting(2, 2, Pooled(), Varying(new_study="one"), data_sets=20),
    "varying, 5 classes": Setting(5, 5, Pooled(), Varying(), data_sets=8),
    "random labels, 2 classes": Setting(2, 2, Pooled(), Varying(random_labels=True), data_sets=12),
    "random labels, 3 classes, 4 outputs": Setting(3, 4, Pooled(), Varying(random_labels=True), data_sets=10),
}


@dataclass(frozen=True)
class Truth:
    """What data were simulated from."""

    shares: np.ndarray
    centre: np.ndarray
    spread: np.ndarray
    rows: np.ndarray
    """Shape (units, classes, outputs): of the groups, then of three studies."""
    common: np.ndarray
    row_spread: np.ndarray


def simulated(setting, rng):
    """Draw a truth from the prior, and data from the truth."""
    n_ratios, n_units = setting.n_classes - 1, N_GROUPS + 3
    basis, row_basis = log_ratio_basis(setting.n_classes), log_ratio_basis(setting.n_outputs)
    common = np.array([rng.dirichlet(row) for row in np.asarray(setting.prior.confusion)])
    share = rng.dirichlet(np.ones(setting.n_classes))
    centre = np.linalg.lstsq(basis, np.log(share), rcond=None)[0]
    spread = np.abs(rng.normal(size=n_ratios)) * setting.groups.spread
    noise = rng.normal(size=(N_GROUPS, n_ratios))
    if isinstance(setting.groups, Walk):
        gaps = np.diff(TIMES) / np.median(np.diff(TIMES))
        noise = np.vstack([np.zeros(n_ratios), np.cumsum(noise[1:] * np.sqrt(gaps)[:, None], axis=0)])
    shares = softmax((centre + spread * noise) @ basis.T)
    if isinstance(setting.groups, Pooled) and setting.groups.kind == "dirichlet":
        spread = spread[:1]
        shares = np.maximum(rng.dirichlet(2 * setting.n_classes / spread[0] ** 2 * share, N_GROUPS), 1e-12)
    row_spread = np.zeros(setting.n_classes)
    if setting.confusion is not None:
        row_spread = np.abs(rng.normal(size=setting.n_classes)) * setting.confusion.spread
    moved = rng.normal(size=(n_units, setting.n_classes, setting.n_outputs - 1)) * row_spread[:, None]
    rows = softmax(np.log(np.maximum(common, 1e-300)) + moved @ row_basis.T)
    is_one = setting.confusion is not None and setting.confusion.new_study == "one"
    if is_one:
        rows[:N_GROUPS] = rows[0]
    items = {at: rng.multinomial(60, shares[at] @ rows[at]) for at in range(N_GROUPS)}
    sizes = np.full((n_units, setting.n_classes), 15)
    if setting.confusion is not None and setting.confusion.random_labels:
        sizes[0] = rng.multinomial(sizes[0].sum(), shares[0])
    labeled = {
        unit if unit == 0 else f"study {unit}": np.stack(list(map(rng.multinomial, sizes[unit], rows[unit])))
        for unit in (0, N_GROUPS, N_GROUPS + 1, N_GROUPS + 2)[is_one:]
    }
    return Groups(labeled, items, times=TIMES), Truth(shares, centre, spread, rows, common, row_spread)


def softmax(logs):
    exponents = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return exponents / exponents.sum(axis=-1, keepdims=True)


def with_bug(density, bug):
    """Return the density with a mistake in it."""
    times = {"items counted sixteen times": 16, "items counted four times": 4, "items left out": 0}.get(bug, 1)
    if bug == "random labels counted sixteen times":
        more = replace(density.random_labels, counts=16 * density.random_labels.counts)
        return replace(density, random_labels=more)
    return replace(density, unlabeled=times * density.unlabeled)


def log_likelihood(groups, prevalence, confusion):
    """Of the items, shape (draws,), for shares (draws, groups, classes) and rows of all groups or of each."""
    rows = confusion if confusion.ndim == 4 else confusion[:, None]
    outputs = np.einsum("dgl,dglk->dgk", prevalence, np.broadcast_to(rows, (*prevalence.shape, rows.shape[-1])))
    return (groups.unlabeled * np.log(np.maximum(outputs, 1e-300))).sum(axis=(1, 2))


def ranks_of_truth(setting, seed, data_sets, *, bug=None, effective_draws=100):
    """Return names of quantities, and the share of draws below the truth (data sets, quantities).

    The likelihood is among them because it sees what each share by itself hardly shows: draws that fit the items closer
    than the truth does, or less close.
    """
    rng = np.random.default_rng([seed, setting.n_classes, setting.n_outputs])
    found = []
    for number in range(data_sets):
        groups, truth = simulated(setting, rng)
        density = with_bug(group_density(groups, setting.prior, setting.groups, setting.confusion), bug)
        draws = sample_groups(density, effective_draws=effective_draws, seed=number, groups=N_GROUPS)
        pairs = {
            "share": (draws.prevalence[:, 1, 0], truth.shares[1, 0]),
            "difference": (
                draws.prevalence[:, 4, 0] - draws.prevalence[:, 0, 0],
                truth.shares[4, 0] - truth.shares[0, 0],
            ),
            "spread": (draws.spread[:, 0], truth.spread[0]),
            "centre": (draws.centre[:, 0, 0], truth.centre[0]),
        }
        if density.random_labels is not None:
            pairs["labelled share"] = (draws.prevalence[:, 0, 0], truth.shares[0, 0])
        if setting.confusion is None:
            pairs["rate"] = (draws.confusion[:, 0, 0], truth.common[0, 0])
            pairs["other rate"] = (draws.confusion[:, 1, 0], truth.common[1, 0])
        else:
            pairs["rate"] = (draws.confusion[:, 1, 0, 0], truth.rows[1, 0, 0])
            pairs["labelled rate"] = (draws.confusion[:, 0, 1, 0], truth.rows[0, 1, 0])
            pairs["common rate"] = (draws.common_rows[:, 0, 0], truth.common[0, 0])
            pairs["spread of rows"] = (draws.row_spread[:, 0], truth.row_spread[0])
        rows = truth.rows[:N_GROUPS] if setting.confusion is not None else truth.common
        pairs["likelihood"] = (
            log_likelihood(groups, draws.prevalence, draws.confusion),
            log_likelihood(groups, truth.shares[None], rows[None])[0],
        )
        found.append([(values < value).mean() for values, value in pairs.values()])
    return list(pairs), np.array(found)


def p_values(ranks):
    """Whether ranks are uniform: by bins, by their mean, and by how far from the middle they lie."""
    bins = 10 if len(ranks) >= 50 else 4
    counts = [np.histogram(column, bins=bins, range=(0, 1))[0] for column in ranks.T]
    by_bins = np.array([chisquare(count).pvalue for count in counts])
    by_mean = ttest_1samp(ranks, 0.5).pvalue
    by_distance = ttest_1samp(np.abs(ranks - 0.5), 0.25).pvalue
    return np.minimum(np.min([by_bins, by_mean, by_distance], axis=0) * 3, 1.0)
