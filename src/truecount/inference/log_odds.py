"""Shares by their log odds, in which nothing is lost near 0 and 1, and the likelihood of unlabelled counts in them."""

from dataclasses import dataclass

import numpy as np

from truecount._types import FloatArray

NEGLIGIBLE = 36.0
"""What lies so many nats below the peak is left out."""
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(32)


def log_share(odds: FloatArray) -> FloatArray:
    """Return log p of log odds; those of 1 − p are the negative."""
    return -np.logaddexp(0.0, -odds)


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
        """Draw logit q from ``Beta(n₀ + 1, n₁ + 1)``."""
        gammas = rng.standard_gamma([[self.first + 1], [self.second + 1]], (2, size))
        logs: FloatArray = np.log(gammas)
        return logs[0] - logs[1]

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
        first, second = (self.first + 1) / (self.first + self.second + 2), (self.second + 1) / (self.first + self.second + 2)
        away = share - first if first < second else second - rest
        value = np.zeros_like(away)
        for items, peak, at, off in ((self.first, first, share, away), (self.second, second, rest, -away)):
            if items:
                near = np.abs(off) < 0.5 * peak
                value += items * np.where(near, np.log1p(np.where(near, off / peak, 0.0)), np.log(np.maximum(at, 1e-300) / peak))
        return value

    def log_tails(self, odds: FloatArray) -> FloatArray:
        """Return the log of the integral over logit q from `odds` away from the peak."""
        outward = np.where(odds >= self.peak, 1.0, -1.0)
        height = self.log_height(odds)
        at = share(odds)
        slope = np.abs((self.first + 1) * share(-odds) - (self.second + 1) * at)
        curvature = (self.first + self.second + 2) * at * share(-odds)
        reach = 2 * NEGLIGIBLE / (slope + np.sqrt(slope**2 + 2 * NEGLIGIBLE * curvature) + 1e-300)
        for _ in range(2):
            drop = height - self.log_height(odds + outward * reach)
            reach = reach * np.clip(NEGLIGIBLE / np.maximum(drop, 1e-300), 0.1, 1e6)
        steps = 0.5 * (_POINTS + 1) * reach[..., None]
        fallen = self.log_height(odds[..., None] + outward[..., None] * steps) - height[..., None]
        total: FloatArray = np.log(0.5 * reach * (np.exp(fallen) @ _WEIGHTS)) + height
        return total

    def log_between(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """Return ``log ∫ q^n₀ (1 − q)^n₁ dq / (q₁ − q₀)`` for every pair: the mean likelihood between two shares.

        Parameters
        ----------
        low, high
            Shapes (..., n, 1) and (..., 1, m), in either order of size.
        """
        tails_low, tails_high = self.log_tails(low), self.log_tails(high)
        whole = np.logaddexp(*self.log_tails(np.array([self.peak, np.nextafter(self.peak, -np.inf)])))
        is_swapped = low > high
        x, y = np.where(is_swapped, high, low), np.where(is_swapped, low, high)
        at_x, at_y = np.where(is_swapped, tails_high, tails_low), np.where(is_swapped, tails_low, tails_high)
        is_right, is_left = x >= self.peak, y < self.peak
        more = np.where(is_right, at_x, np.where(is_left, at_y, whole))
        less = np.where(is_right, at_y, np.where(is_left, at_x, np.logaddexp(at_x, at_y)))
        middle, gap = 0.5 * (x + y), y - x
        at = share(middle)
        steepness = np.abs((self.first + 1) * (1 - at) - (self.second + 1) * at) + np.sqrt(
            (self.first + self.second + 2) * at * (1 - at)
        )
        is_near = (gap * steepness < 1e-3) & (gap < 1e-3)
        with np.errstate(divide="ignore", invalid="ignore"):
            apart = more + np.log(-np.expm1(np.minimum(less - more, 0.0))) - log_difference(y, x)
        value: FloatArray = np.where(is_near, self.log_value(middle), apart)
        return value

    def _smaller_side(self) -> tuple[float, float, float]:
        """Return the sign of the output with fewer items, how many of it there are, and of both."""
        first, second = self.first + 1, self.second + 1
        return (1.0, first, first + second) if first <= second else (-1.0, second, first + second)
