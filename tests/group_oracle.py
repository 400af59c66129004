"""Two classes, two outputs, many groups around a centre: the posterior by quadrature, sharing no code with the package.

Four outer dimensions: logit of sensitivity and of specificity, the centre's logit, and the spread's normal score
under its prior; the inner one, each group's logit given centre and spread, by Gauss–Hermite. The outer integral is a
trapezoidal sum over a lattice that is rotated and scaled to the posterior; such sums converge faster than any power of
the step.
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
