"""Shares by their log odds, in which nothing is lost near 0 and 1, and the likelihood of unlabelled counts in them."""

from dataclasses import dataclass

import numpy as np

from truecount._types import FloatArray

NEGLIGIBLE = 36.0
"""What lies so many nats below the peak is left out."""
EXPONENTIAL = 1e6
"""Slope² over curvature from which on a tail is exponential; its steps may be too short for a float."""
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(24)


def log_share(odds: FloatArray) -> FloatArray:
    """Return log p of log odds; those of 1 − p are the negative."""
    return np.minimum(odds, 0.0) - np.log1p(np.exp(-np.abs(odds)))


def share(odds: FloatArray) -> FloatArray:
    """Return p of log odds."""
    value: FloatArray = np.exp(log_share(odds))
    return value


def log_difference(high: FloatArray, low: FloatArray) -> FloatArray:
    """Return log(p − q) of two log odds, without loss of digits where p and q are close or nearly 0 or 1."""
    with np.errstate(divide="ignore"):
        return log_share(high) + log_share(-low) + np.log(-np.expm1(low - high))


@dataclass(frozen=True, slots=True)
class OutputLikelihood:
    """``q^n₀ (1 − q)^n₁`` and its integral, where x = logit q; relative to the peak, so that any count will do."""

    first: float
    second: float

    @property
    def peak(self) -> float:
        """Log odds at which ``q^(n₀+1) (1 − q)^(n₁+1)`` is largest."""
        return float(np.log((self.first + 1) / (self.second + 1)))

    @property
    def spread(self) -> float:
        """About the standard deviation of logit q."""
        return float(np.sqrt(1 / (self.first + 1) + 1 / (self.second + 1)))

    def draw(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw q, or 1 − q where that is the smaller one, from ``Beta(n₀ + 1, n₁ + 1)``, with all its digits."""
        gammas = rng.standard_gamma([[self.first + 1], [self.second + 1]], (2, size))
        smaller: FloatArray = gammas[int(self.peak > 0)] / gammas.sum(axis=0)
        return smaller

    def log_height(self, odds: FloatArray) -> FloatArray:
        """Return ``(n₀+1) log q + (n₁+1) log(1 − q)``: the density of logit q, relative to its peak."""
        side, less, total = self._smaller_side()
        away = side * (odds - self.peak)
        ratio = less / total
        near = np.log1p(ratio * np.expm1(np.clip(away, -1.0, 1.0)))
        far = np.logaddexp(np.log1p(-ratio), np.log(ratio) + away)
        height: FloatArray = less * away - total * np.where(np.abs(away) < 1, near, far)
        return height

    def log_value(self, odds: FloatArray) -> FloatArray:
        """Return ``n₀ log q + n₁ log(1 − q)`` up to a constant."""
        return self.log_height(odds) - log_share(odds) - log_share(-odds)

    def log_value_at(self, share: FloatArray, rest: FloatArray) -> FloatArray:
        """Return the same of shares and what they leave to one, which may be far smaller than rounding them."""
        total = self.first + self.second + 2
        peaks = (self.first + 1) / total, (self.second + 1) / total
        away = share - peaks[0] if peaks[0] < peaks[1] else peaks[1] - rest
        value = np.zeros_like(away)
        for items, peak, at, off in zip((self.first, self.second), peaks, (share, rest), (away, -away), strict=True):
            if items:
                near = np.abs(off) < 0.5 * peak
                apart = np.log(np.maximum(at, 1e-300) / peak)
                value += items * np.where(near, np.log1p(np.where(near, off / peak, 0.0)), apart)
        return value

    def log_tails(self, odds: FloatArray) -> FloatArray:
        """Return the log of the integral over logit q from `odds` away from the peak."""
        outward = np.where(odds >= self.peak, 1.0, -1.0)
        height = self.log_height(odds)
        at = share(odds)
        slope = np.abs((self.first + 1) * share(-odds) - (self.second + 1) * at)
        curvature = (self.first + self.second + 2) * at * share(-odds)
        is_exponential = slope**2 > EXPONENTIAL * curvature
        reach = 2 * NEGLIGIBLE / (slope + np.sqrt(slope**2 + 2 * NEGLIGIBLE * curvature) + 1e-300)
        for _ in range(6):
            drop = np.maximum(height - self.log_height(odds + outward * reach), 1e-300)
            reach = np.where(is_exponential, reach, reach * np.clip((NEGLIGIBLE / drop) ** 0.6, 0.1, 100.0))
        steps = 0.5 * (_POINTS + 1) * reach[..., None]
        fallen = self.log_height(odds[..., None] + outward[..., None] * steps) - height[..., None]
        total = np.where(is_exponential, 1 / np.maximum(slope, 1e-300), 0.5 * reach * (np.exp(fallen) @ _WEIGHTS))
        tails: FloatArray = height + np.log(total)
        return tails

    def log_between(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """Return ``log ∫ q^n₀ (1 − q)^n₁ dq / (q₁ − q₀)`` for every pair: the mean likelihood between two shares.

        Parameters
        ----------
        low, high
            Shapes (..., n, 1) and (..., 1, m), in either order of size.
        """
        ends = np.concatenate([low.ravel(), high.ravel(), [self.peak, np.nextafter(self.peak, -np.inf)]])
        tails = self.log_tails(ends)
        whole = np.logaddexp(tails[-2], tails[-1])
        is_swapped = low > high

        def ordered(values: FloatArray) -> tuple[FloatArray, FloatArray]:
            """Return what belongs to the smaller and to the larger share of every pair."""
            of_low, of_high = values[: low.size].reshape(low.shape), values[low.size : -2].reshape(high.shape)
            return np.where(is_swapped, of_high, of_low), np.where(is_swapped, of_low, of_high)

        (x, y), (at_x, at_y) = ordered(ends), ordered(tails)
        miss_x, hit_y = ordered(log_share(-ends))[0], ordered(log_share(ends))[1]
        is_right, is_left = x >= self.peak, y < self.peak
        more = np.where(is_right, at_x, np.where(is_left, at_y, whole))
        less = np.where(is_right, at_y, np.where(is_left, at_x, np.logaddexp(at_x, at_y)))
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = np.log(np.expm1(np.minimum(less - more, 0.0)) / np.expm1(x - y))
        value: FloatArray = more - hit_y - miss_x + inside
        near = np.nonzero(y - x < 1e-3)
        value[near] = self._between_near(x[near], y[near], value[near])
        return value

    def _between_near(self, low: FloatArray, high: FloatArray, apart: FloatArray) -> FloatArray:
        """Return the value in the middle where little changes between two ends, else what was found by subtraction."""
        middle = 0.5 * (low + high)
        at, rest = share(middle), share(-middle)
        first, second = self.first + 1, self.second + 1
        steepness = np.abs(first * rest - second * at) + np.sqrt((first + second) * at * rest)
        value: FloatArray = np.where((high - low) * steepness < 1e-3, self.log_value(middle), apart)
        return value

    def _smaller_side(self) -> tuple[float, float, float]:
        """Return the sign of the output with fewer items, how many of it there are, and of both."""
        first, second = self.first + 1, self.second + 1
        return (1.0, first, first + second) if first <= second else (-1.0, second, first + second)
