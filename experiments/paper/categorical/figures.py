"""The six panels, for each kind of error."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from experiments.paper.categorical.simulation import METRICS, NAMES, PANELS
from experiments.paper.style import COLORS, MARKERS, legend
from matplotlib.axes import Axes
from matplotlib.figure import Figure

LABELS = {"linf": "ℓ∞ error", "l1": "mean ℓ1 error", "l2": "mean ℓ2 error"}
WIDTH = 0.13


def figures(tables: dict[str, pd.DataFrame]) -> dict[str, Figure]:
    """One figure for each kind of error."""
    return {metric: _six(tables["errors"], metric) for metric in METRICS}


def _six(table: pd.DataFrame, metric: str) -> Figure:
    figure, grid = plt.subplots(2, 3, figsize=(11, 6))
    for axes, (name, panel) in zip(grid.flat, PANELS.items(), strict=True):
        _panel(axes, table[table["panel"] == name], metric)
        axes.set(xlabel=panel.title, ylabel=LABELS[metric])
    legend(figure, NAMES)
    return figure


def _panel(axes: Axes, table: pd.DataFrame, metric: str) -> None:
    values = sorted(table["value"].unique())
    for place, method in enumerate(NAMES):
        errors = [table.loc[table["value"] == value, f"{method} {metric}"].dropna() for value in values]
        x = np.arange(len(values)) + (place - (len(NAMES) - 1) / 2) * WIDTH
        _boxes(axes, x, errors, method)
    axes.set_xticks(np.arange(len(values)), [f"{value:g}" if value < 1e4 else "10⁴" for value in values])
    axes.set_ylim(bottom=0)


def _boxes(axes: Axes, x: np.ndarray, errors: list[pd.Series], method: str) -> None:
    """Median, middle half, and the middle nine tenths as a line."""
    for at, error in zip(x, errors, strict=True):
        if len(error):
            low, lower, median, upper, high = np.quantile(error, [0.05, 0.25, 0.5, 0.75, 0.95])
            axes.vlines(at, low, high, color=COLORS[method], linewidth=0.9)
            axes.bar(at, upper - lower, WIDTH * 0.85, lower, color=COLORS[method], edgecolor="black", linewidth=0.3)
            axes.plot(
                at,
                median,
                MARKERS[method],
                color=COLORS[method],
                markersize=3.2,
                markeredgecolor="black",
                markeredgewidth=0.5,
            )
