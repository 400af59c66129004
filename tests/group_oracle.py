"""Two classes, two outputs: posteriors by quadrature, sharing no code with the package.

`pooled_oracle`, many groups around a centre. Four outer dimensions: logit of sensitivity and of specificity, the
centre's logit, and the spread's normal score under its prior; the inner one, each group's logit given centre and
spread, by Gauss–Hermite. The outer integral is a trapezoidal sum over a lattice that is rotated and scaled to the
posterior; such sums converge faster than any power of the step.

`studies_oracle`, one survey whose sensitivity and specificity vary between studies. The survey's own rates depend on
those of the studies through the mean and spread of their logits alone, so the integral falls into low dimensions.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, ndtr, ndtri


@dataclass(frozen=True)
class Oracle:
    """Means and standard deviations: of sensitivity, specificity, centre (logit), spread, and each group's share."""

    mean: dict[str, float]
    sd: dict[str, float]
    share: np.ndarray


def pooled_oracle(positive, total, sensitivity, specificity, *, spread_scale=1.0, nodes=48, step=0.75, reach=5.25):
    """Integrate the model of `Pooled` with flat priors; `sensitivity` and `specificity` are (right, of so many)."""
    positive, total = np.asarray(positive, float), np.asarray(total, float)
    points, weights = np.polynomial.hermite_e.hermegauss(nodes)
    log_weights = np.log(weights) - 0.5 * np.log(2 * np.pi)

    def spread_of(score):
        return -spread_scale * ndtri(ndtr(-score) / 2)

    def log_density(theta):
        a, b, centre, score = theta
        sens, spec, spread = expit(a), expit(b), spread_of(score)
        value = (sensitivity[0] + 1) * np.log(sens) + (sensitivity[1] - sensitivity[0] + 1) * np.log(expit(-a))
        value += (specificity[0] + 1) * np.log(spec) + (specificity[1] - specificity[0] + 1) * np.log(expit(-b))
        value += np.log(expit(centre)) + np.log(expit(-centre)) - 0.5 * score**2
        share = expit(centre + spread * points)
        rate = share * sens + (1 - share) * (1 - spec)
        inner = positive[:, None] * np.log(rate) + (total - positive)[:, None] * np.log1p(-rate) + log_weights
        top = inner.max(axis=1, keepdims=True)
        mass = np.exp(inner - top)
        return value + (top[:, 0] + np.log(mass.sum(axis=1))).sum(), (mass @ share) / mass.sum(axis=1)

    rough = positive.sum() / total.sum()
    start = [
        *(np.log((r + 0.5) / (n - r + 0.5)) for r, n in (sensitivity, specificity)),
        np.log(rough / (1 - rough)),
        -1,
    ]
    mode = minimize(lambda theta: -log_density(theta)[0], start, method="BFGS").x
    curvature = _curvature(lambda theta: log_density(theta)[0], mode)
    for _ in range(2):
        root = np.linalg.cholesky(np.linalg.inv(curvature))
        lattice = np.array(list(product(np.arange(-reach, reach + step / 2, 1.5), repeat=4)))
        thetas = mode + lattice @ root.T
        logs = np.array([log_density(theta)[0] for theta in thetas])
        mass = np.exp(logs - logs.max())
        mass /= mass.sum()
        mode = mass @ thetas
        curvature = np.linalg.inv((thetas - mode).T @ ((thetas - mode) * mass[:, None]))
    root = np.linalg.cholesky(np.linalg.inv(curvature))
    axis = np.arange(-reach, reach + step / 2, step)
    lattice = np.array([y for y in product(axis, repeat=4) if np.dot(y, y) < reach**2])
    thetas = mode + lattice @ root.T
    found = [log_density(theta) for theta in thetas]
    logs = np.array([each[0] for each in found])
    mass = np.exp(logs - logs.max())
    mass /= mass.sum()
    values = {
        "sensitivity": expit(thetas[:, 0]),
        "specificity": expit(thetas[:, 1]),
        "centre": thetas[:, 2],
        "spread": spread_of(thetas[:, 3]),
    }
    mean = {name: float(mass @ value) for name, value in values.items()}
    sd = {name: float(np.sqrt(mass @ (value - mean[name]) ** 2)) for name, value in values.items()}
    return Oracle(mean, sd, mass @ np.array([each[1] for each in found]))


def flat_logit(mean):
    """Log-density of the logit of a uniform share."""
    return np.log(expit(mean)) + np.log(expit(-mean))


def gelman_carpenter_logit(mean):
    """The normal prior of Gelman & Carpenter, mean 4 and standard deviation 2."""
    return -0.5 * ((mean - 4) / 2) ** 2


class _Rate:
    """Mean and spread of the logit of a rate on a grid, given studies; and the rate of a new study."""

    edges = np.linspace(-12, 25, 1481)

    def __init__(self, right, total, scale, prior, nodes=80):
        points, weights = np.polynomial.hermite_e.hermegauss(nodes)
        log_weights = np.log(weights) - 0.5 * np.log(2 * np.pi)
        means, spreads = np.linspace(-3, 14, 171), scale * (np.arange(90) + 0.5) / 20
        self.mean, self.spread = (each.ravel() for each in np.meshgrid(means, spreads, indexing="ij"))
        logs = prior(self.mean) - 0.5 * (self.spread / scale) ** 2
        logits = self.mean[:, None] + self.spread[:, None] * points
        up, down = np.log(expit(logits)), np.log(expit(-logits))
        for r, n in zip(right, total, strict=True):
            logs = logs + np.logaddexp.reduce(r * up + (n - r) * down + log_weights, axis=1)
        self.mass = np.exp(logs - logs.max())
        self.mass /= self.mass.sum()
        self.logits, self.weights = logits, np.exp(log_weights)

    def of_new_study(self):
        """Return logits and their mass, split between the nearest points of a grid."""
        place = (self.logits - self.edges[0]) / (self.edges[1] - self.edges[0])
        place = np.clip(place, 0, len(self.edges) - 1.001)
        low, part = place.astype(int), place % 1
        mass = self.mass[:, None] * self.weights
        total = np.bincount(low.ravel(), (mass * (1 - part)).ravel(), len(self.edges))
        total += np.bincount(low.ravel() + 1, (mass * part).ravel(), len(self.edges))
        return total

    def reweighted(self, likelihood):
        """Return the mass of mean and spread, given the likelihood of a new study's logit on the grid."""
        mass = self.mass * (np.interp(self.logits, self.edges, likelihood) @ self.weights)
        return mass / mass.sum()


def studies_oracle(survey, sensitivity, specificity, *, scale, prior=flat_logit):
    """Integrate: rates of studies vary normally on the logit around a mean; the survey has rates of its own.

    `survey` is (positive, tested), `sensitivity` and `specificity` are (right in each study, of so many). Return means
    and standard deviations by name.
    """
    rates = [_Rate(*studies, scale, prior) for studies in (sensitivity, specificity)]
    new = [rate.of_new_study() for rate in rates]
    kept = [np.flatnonzero(mass > 1e-9 * mass.max()) for mass in new]
    shares = (np.arange(2000) + 0.5) / 2000
    shares = shares**3
    width = 3 * shares ** (2 / 3)
    sens, spec = (expit(rate.edges[at]) for rate, at in zip(rates, kept, strict=True))
    table, by_share = np.zeros((len(sens), len(spec))), np.zeros(len(shares))
    top = survey[0] * np.log(survey[0] / survey[1]) + (survey[1] - survey[0]) * np.log1p(-survey[0] / survey[1])
    for at, value in enumerate(sens):
        positive = shares[:, None] * value + (1 - shares[:, None]) * (1 - spec)
        logs = survey[0] * np.log(positive) + (survey[1] - survey[0]) * np.log1p(-positive) - top
        likelihood = np.exp(logs) * width[:, None]
        table[at] = likelihood.sum(axis=0)
        by_share += new[0][kept[0][at]] * (likelihood @ new[1][kept[1]])
    by_share /= by_share.sum()
    joint = new[0][kept[0]][:, None] * table * new[1][kept[1]]
    joint /= joint.sum()
    of_rows = [np.zeros(len(rate.edges)) for rate in rates]
    of_rows[0][kept[0]], of_rows[1][kept[1]] = table @ new[1][kept[1]], new[0][kept[0]] @ table
    masses = [rate.reweighted(likelihood) for rate, likelihood in zip(rates, of_rows, strict=True)]
    values = {
        "prevalence": (shares, by_share),
        "sensitivity": (sens, joint.sum(axis=1)),
        "specificity": (spec, joint.sum(axis=0)),
        "sensitivity spread": (rates[0].spread, masses[0]),
        "specificity spread": (rates[1].spread, masses[1]),
        "sensitivity mean": (rates[0].mean, masses[0]),
        "specificity mean": (rates[1].mean, masses[1]),
    }
    mean = {name: float(mass @ value) for name, (value, mass) in values.items()}
    sd = {name: float(np.sqrt(mass @ (value - mean[name]) ** 2)) for name, (value, mass) in values.items()}
    return Oracle(mean, sd, by_share)


def _curvature(function, point, step=1e-3):
    size = len(point)
    result = np.empty((size, size))
    for i, j in product(range(size), repeat=2):
        total = 0.0
        for a, b in product((1, -1), repeat=2):
            moved = np.array(point)
            moved[i] += a * step
            moved[j] += b * step
            total += a * b * function(moved)
        result[i, j] = -total / (4 * step * step)
    return result
