"""Two classes: the prevalence of each group integrated over, and drawn, given all that groups have in common.

The integrand of a group, prior times likelihood of its items as a function of the logit x of the first class's share,
has one narrow place and perhaps a long tail. In ``x = mode + width · sinh(t)`` it is smooth, and a trapezoidal sum over
evenly spaced t is nearly exact. Draws are made from the broken line through its values, and some of them rejected so
that what is left has the integrand's own density.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from truecount._log_sum import SMALLEST, finite_log
from truecount._types import BoolArray, FloatArray
from truecount.models.hierarchy import GroupDensity

NORMAL_NODES, DIRICHLET_NODES = 32, 48
STEPS = 8
"""Newton steps to the mode."""
LONGEST = 1.5
"""Change of the logit in one of them."""
PRIOR_REACH, OWN_REACH = 8.0, 9.0
"""Standard deviations of the prior, and widths of the integrand, that are looked at."""
END = 30.0
"""Beyond this logit the items tell nothing, and a Dirichlet prior has an exponential tail."""
WIDEST = 5.0
REJECTIONS, LARGEST_RATIO, ACCEPTED = 5, 1.15, 1e3
"""How often draws are rejected at most; and how much higher than the line the integrand may be."""
BATCH = 100_000
"""Numbers in one array."""


@dataclass(frozen=True, slots=True)
class Common:
    """What all groups have in common, at many points.

    Parameters
    ----------
    rows
        Shape (points, classes, outputs).
    coefficients
        Shape (points, columns, 1): of the groups' centre.
    scores
        Shape (points, spreads): normal scores of what spreads are learned.
    middle
        Shape (points, classes, outputs): where labels come from studies that vary, the rows that they and `rows` vary
        around.
    """

    rows: FloatArray
    coefficients: FloatArray
    scores: FloatArray
    middle: FloatArray | None = None

    def __getitem__(self, part: slice | BoolArray) -> "Common":
        middle = None if self.middle is None else self.middle[part]
        return Common(self.rows[part], self.coefficients[part], self.scores[part], middle)


def integrate_groups(
    density: GroupDensity, common: Common, rng: np.random.Generator | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return the log-likelihood of all groups' items, their prevalences integrated over, shape (point,).

    Beside it, with a generator, shares of the first class drawn in every group, shape (point, group). There are two
    classes, and groups vary independently around their centre.
    """
    values, shares = [np.empty(0)], [np.empty((0, density.n_groups))]
    for integrand, line in _lines(density, common):
        values.append(line.log_integral.sum(axis=1))
        if rng is not None:
            shares.append(_logistic(integrand.draw(line, rng)))
    return np.concatenate(values), np.concatenate(shares)


def _lines(density: GroupDensity, common: Common) -> Iterator[tuple["_Integrand", "_Line"]]:
    """Yield the integrand of some points after the others, so that arrays stay close to the processor."""
    nodes = NORMAL_NODES if density.dirichlet is None else DIRICHLET_NODES
    size = max(1, BATCH // (density.n_groups * (nodes + 1)))
    for at in range(0, len(common.rows), size):
        integrand = _integrand(density, common[at : at + size])
        yield integrand, integrand.integrate(nodes)


def _integrand(density: GroupDensity, common: Common) -> "_Integrand":
    located = density.centre.located(common.coefficients)
    spread = density.all_spreads(common.scores)[:, :1]
    if density.dirichlet is None:
        return _Integrand(density.unlabeled, common.rows, _NormalPrior(located[:, 0], spread))
    concentration = density.dirichlet.concentration(located, spread[:, 0])
    return _Integrand(density.unlabeled, common.rows, _BetaPrior(concentration[:, 0], concentration[:, 1]))


@dataclass(frozen=True, slots=True)
class _Line:
    """A broken line: heights (node, point, group) at evenly spaced t, over the exponential of `top`."""

    mode: FloatArray
    width: FloatArray
    start: FloatArray
    step: FloatArray
    top: FloatArray
    heights: FloatArray
    masses: FloatArray
    tails: FloatArray

    @property
    def log_integral(self) -> FloatArray:
        """Logarithm of the integral, shape (point, group)."""
        value: FloatArray = np.log(self.masses.sum(axis=0) + self.tails.sum(axis=0)) + self.top
        return value

    @property
    def below(self) -> FloatArray:
        """Integral below each node, that of the left tail first; the last is the whole."""
        return np.cumsum(np.concatenate([self.tails[:1], self.masses, self.tails[1:]]), axis=0)


@dataclass(frozen=True, slots=True)
class _NormalPrior:
    """Of logits: mean (point, group) and standard deviation (point, 1)."""

    mean: FloatArray
    sd: FloatArray

    def log_density(self, logits: FloatArray) -> FloatArray:
        """Return the log-density."""
        value: FloatArray = -0.5 * ((logits - self.mean) / self.sd) ** 2 - np.log(np.sqrt(2 * np.pi) * self.sd)
        return value

    def slopes(self, logits: FloatArray, _shares: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the derivative, and minus the second one."""
        precision = np.broadcast_to(self.sd**-2, logits.shape)
        return (self.mean - logits) * precision, precision

    def ends(self, mode: FloatArray, width: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the logits between which the integrand lies."""
        low = np.minimum(self.mean - PRIOR_REACH * self.sd, mode - OWN_REACH * width)
        return low, np.maximum(self.mean + PRIOR_REACH * self.sd, mode + OWN_REACH * width)

    def tails(self) -> None:
        """There is nothing beyond the ends."""


@dataclass(frozen=True, slots=True)
class _BetaPrior:
    """Of shares: concentrations of both classes (point, group)."""

    first: FloatArray
    second: FloatArray

    def log_density(self, logits: FloatArray) -> FloatArray:
        """Return the log-density of the logits."""
        from scipy.special import betaln

        log_share = -np.logaddexp(0, -logits)
        value = (self.first + self.second) * log_share - self.second * logits
        return np.asarray(value - betaln(self.first, self.second))

    def slopes(self, _logits: FloatArray, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the derivative, and minus the second one."""
        total = self.first + self.second
        return self.first - total * shares, total * shares * (1 - shares)

    def ends(self, mode: FloatArray, _width: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the logits beyond which the tails are exponential."""
        return np.full_like(mode, -END), np.full_like(mode, END)

    def tails(self) -> tuple[FloatArray, FloatArray]:
        """Return the rates at which the density falls off beyond the ends."""
        return self.first, self.second


@dataclass(frozen=True, slots=True)
class _Integrand:
    """Prior times likelihood of each group's items.

    Parameters
    ----------
    unlabeled
        Shape (outputs, groups).
    rows
        Shape (points, classes, outputs).
    prior
        Of the logits.
    """

    unlabeled: FloatArray
    rows: FloatArray
    prior: _NormalPrior | _BetaPrior

    def log_value(self, logits: FloatArray) -> FloatArray:
        """Return the logarithm of the integrand at logits (…, point, group)."""
        shares = _logistic(logits)
        value = self.prior.log_density(logits)
        for items, first, second in self._by_output():
            value += items * finite_log(second + shares * (first - second))
        return value

    def integrate(self, nodes: int) -> "_Line":
        """Return the broken line through the integrand, whose integral is nearly that of the integrand."""
        mode, width = self._mode()
        low, high = self.prior.ends(mode, width)
        mode = np.clip(mode, low + 1e-3, high - 1e-3)
        start, stop = np.arcsinh((low - mode) / width), np.arcsinh((high - mode) / width)
        step = (stop - start) / nodes
        sinh = np.sinh(start + step * np.arange(nodes + 1)[:, None, None])
        heights = self.log_value(mode + width * sinh)
        top = heights.max(axis=0)
        line = np.exp(heights - top) * np.sqrt(1 + sinh * sinh) * width
        masses = 0.5 * step * (line[1:] + line[:-1])
        return _Line(mode, width, start, step, top, line, masses, self._tail_masses(heights[[0, -1]] - top))

    def draw(self, line: "_Line", rng: np.random.Generator) -> FloatArray:
        """Draw the logits of all groups (point, group), by rejection of draws from the line."""
        below = line.below
        logits, surplus = self._proposed(line, below, rng)
        for _ in range(REJECTIONS):
            rejected = np.log(rng.random(logits.shape)) > surplus - np.log(LARGEST_RATIO)
            if not rejected.any():
                break
            again, anew = self._proposed(line, below, rng)
            logits, surplus = np.where(rejected, again, logits), np.where(rejected, anew, ACCEPTED)
        return logits

    def _proposed(self, line: "_Line", below: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draw logits from the line; return them and how much larger the integrand is there, as a logarithm."""
        nodes = len(line.heights) - 1
        wanted = rng.random(line.mode.shape) * below[-1]
        interval = np.minimum((below <= wanted).sum(axis=0) - 1, nodes)
        inside = np.clip(interval, 0, nodes - 1)[None]
        left, right = (np.take_along_axis(line.heights, inside + each, axis=0)[0] for each in (0, 1))
        rest = wanted - np.take_along_axis(below, inside, axis=0)[0]
        part = np.clip(rest / np.maximum(0.5 * line.step * (left + right), SMALLEST), 0.0, 1.0)
        part = part * (left + right) / np.maximum(left + np.sqrt(left**2 + part * (right**2 - left**2)), SMALLEST)
        t = line.start + line.step * (inside[0] + part)
        logits = line.mode + line.width * np.sinh(t)
        jacobian = line.width * np.cosh(t) / np.maximum(left + part * (right - left), SMALLEST)
        surplus = self.log_value(logits) - line.top + np.log(jacobian)
        beyond, rates = (interval < 0) | (interval == nodes), self.prior.tails()
        if rates is not None and beyond.any():
            noise = rng.standard_exponential(logits.shape)
            logits = np.where(beyond, np.where(interval < 0, -END - noise / rates[0], END + noise / rates[1]), logits)
            surplus = np.where(beyond, 0.0, surplus)
        return logits, surplus

    def _mode(self) -> tuple[FloatArray, FloatArray]:
        """Return the mode, found from where the likelihood is largest, and the width there."""
        logits = self._start()
        total = self.unlabeled.sum(axis=0)
        for number in range(STEPS + 1):
            shares = _logistic(logits)
            slope = shares * (1 - shares)
            gradient, curvature = self.prior.slopes(logits, shares)
            for items, first, second in self._by_output():
                outputs = np.maximum(second + shares * (first - second), SMALLEST)
                by_logit = slope * (first - second)
                gradient = gradient + items * by_logit / outputs
                curvature = curvature + total * by_logit**2 / outputs
            if number < STEPS:
                logits = logits + np.clip(gradient / np.maximum(curvature, SMALLEST), -LONGEST, LONGEST)
        return logits, 1 / np.sqrt(np.maximum(curvature, WIDEST**-2))

    def _start(self) -> FloatArray:
        """Return the logit of a least squares estimate of the share; the prior's where that is none."""
        total = self.unlabeled.sum(axis=0)
        observed = self.unlabeled / np.maximum(total, 1)
        weight = 1 / (observed.mean(axis=1) + 0.01)
        apart = (self.rows[:, 0] - self.rows[:, 1]) * weight
        scale = (apart * (self.rows[:, 0] - self.rows[:, 1])).sum(axis=1)[:, None]
        share = (apart @ observed - (apart * self.rows[:, 1]).sum(axis=1)[:, None]) / np.maximum(scale, SMALLEST)
        usual = self._centre()
        is_inside = (share > 0.001) & (share < 0.999) & (total > 0)
        inside = np.where(is_inside, share, 0.5)
        return np.where(is_inside, np.log(inside / (1 - inside)), usual)

    def _centre(self) -> FloatArray:
        if isinstance(self.prior, _NormalPrior):
            return self.prior.mean
        return np.clip(np.log(self.prior.first / self.prior.second), -END, END)

    def _by_output(self) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
        return [
            (items, self.rows[:, 0, at, None], self.rows[:, 1, at, None])
            for at, items in enumerate(self.unlabeled)
            if items.any()
        ]

    def _tail_masses(self, ends: FloatArray) -> FloatArray:
        rates = self.prior.tails()
        return np.zeros_like(ends) if rates is None else np.exp(ends) / np.stack(rates)


def _logistic(logits: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-np.clip(logits, -700, 700))))
