"""The simplex: shares that are not negative and sum to one."""

import numpy as np

from truecount._types import FloatArray


def project_to_simplex(points: FloatArray) -> FloatArray:
    """Return the nearest point of the simplex, by sorting.

    Parameters
    ----------
    points
        Shape (..., classes): any finite numbers.

    Returns
    -------
    Shape (..., classes): not negative, summing to one, at the least Euclidean distance.

    Notes
    -----
    The nearest point is ``max(x − t, 0)``; with the numbers sorted from the largest, the threshold is
    ``t = (x_1 + … + x_m − 1) / m`` for the largest m with ``x_m > t``. Shalev-Shwartz & Singer, JMLR 7 (2006).

    Examples
    --------
    >>> project_to_simplex(np.array([1.2, 0.3, -0.5]))
    array([0.95, 0.05, 0.  ])
    """
    falling = -np.sort(-points, axis=-1)
    thresholds = (falling.cumsum(axis=-1) - 1) / np.arange(1, points.shape[-1] + 1)
    last = (falling > thresholds).sum(axis=-1, keepdims=True) - 1
    nearest: FloatArray = np.maximum(points - np.take_along_axis(thresholds, last, axis=-1), 0.0)
    return nearest
