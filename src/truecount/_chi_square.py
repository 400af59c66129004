"""Quantiles of the chi-square distribution."""

from statistics import NormalDist


def chi_square_quantile(freedom: int, probability: float) -> float:
    """Wilson and Hilferty's approximation, for which scipy need not be loaded.

    >>> round(chi_square_quantile(4, 0.95), 1)
    9.5
    """
    spread = 2 / (9 * freedom)
    return float(freedom * (1 - spread + NormalDist().inv_cdf(probability) * spread**0.5) ** 3)
