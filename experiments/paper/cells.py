"""Section 3.3: which immune cells a donor has, by a classifier trained on others."""

import os
from collections.abc import Iterator
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from experiments.paper.atlas import Cells, read_blood, read_h5ad
from experiments.paper.claim import Claim, share
from experiments.paper.progress import repeat
from experiments.paper.style import COLORS, MARKERS, legend, points
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.ensemble import RandomForestClassifier

import truecount as tc
from truecount.estimators import BBSE, CC, EM, MAP, InvariantRatio

TITLE = "Single cells (section 3.3)"
NOTE = """
The paper's cells, from the Kidney Cell Atlas, come with nothing here: `--cells FILE.h5ad` runs this on them. Below, the
same on 1,200 blood cells from three samples, made with three protocols: one trains a random forest, one is labelled,
one is quantified, in three rotations, with the cell types in full (nine) and broad (seven). The truth is the share of
each type among the cells that are quantified, and intervals are for that (*realized*) share. In the picture, bars are
95 % intervals and dashes the truth. EM takes the forest at its word, which was trained at another prevalence than that
of the labelled sample; calibrated EM mends that first, on the labelled cells. Types with no labelled cell in a rotation
are refused by all methods but CC, MAP-1 and the posterior; errors are over what was answered. Some types have one to
three labelled cells, and most of these posteriors warn that their chains had not quite converged.
"""
METHODS = {
    "CC": CC(),
    "BBSE": BBSE(),
    "IR": InvariantRatio(),
    "soft IR": InvariantRatio(soft=True),
    "EM": EM(),
    "calibrated EM": EM("bias-corrected"),
    "MAP-1": MAP(),
}
NAMES = [*METHODS, "posterior"]
BLOOD = {"nine": "cell_type", "seven": "cell_type_broad"}


@dataclass(frozen=True)
class Config:
    """A file and what in it to use, or the blood cells; and how large a forest.

    Parameters
    ----------
    file
        An ``.h5ad`` file; None takes the blood cells.
    donor, cell_type
        Its columns for donor and cell type.
    types
        The cell types to use; all of them where none is named.
    quantify
        The donor to quantify; each of them in turn where none is named.
    trees
        Of the forest.
    effective_draws
        Of each posterior.
    sets
        Ways to name the blood cells.
    """

    file: str | None = None
    donor: str = "donor"
    cell_type: str = "cell_type"
    types: tuple[str, ...] = ()
    quantify: str | None = None
    trees: int = 200
    effective_draws: int = 4000
    sets: tuple[str, ...] = ("nine", "seven")


FULL = Config()
QUICK = Config(trees=50, effective_draws=400, sets=("seven",))


def run(config: Config) -> dict[str, pd.DataFrame]:
    """The share of every type, by every method, in every rotation."""
    if config.file:
        sets = {"file": read_h5ad(config.file, donor=config.donor, cell_type=config.cell_type).of_types(config.types)}
    else:
        sets = {name: read_blood(os.environ.get("TRUECOUNT_DATA"), BLOOD[name]) for name in config.sets}
    turns = [(name, cells, donors) for name, cells in sets.items() for donors in rotations(cells.donors)]
    chosen = [turn for turn in turns if config.quantify in (None, turn[2][0])]
    rows = [row for turn in repeat(chosen, "cells") for row in _rows(*turn, config)]
    return {"shares": pd.DataFrame(rows).round(5)}


def rotations(donors: np.ndarray) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each donor in turn is quantified; the next ones, three at most, are labelled; the others train."""
    names = sorted(set(donors))
    labeled = min(3, (len(names) - 1) // 2)
    for place in range(len(names)):
        turned = names[place:] + names[:place]
        yield turned[0], turned[1 : 1 + labeled], turned[1 + labeled :]


def scores(cells: Cells, donors: tuple[str, list[str], list[str]], trees: int) -> tuple[tc.Scores, np.ndarray]:
    """Train, and score the labelled and the quantified cells; give the true shares too."""
    quantified, labeled, training = (np.isin(cells.donors, part) for part in donors)
    forest = RandomForestClassifier(trees, random_state=0).fit(cells.expression[training], cells.types[training])
    classes = np.unique(cells.types)
    places = np.searchsorted(classes, forest.classes_)

    def predict(chosen: np.ndarray) -> np.ndarray:
        table = np.zeros((chosen.sum(), len(classes)))
        table[:, places] = forest.predict_proba(cells.expression[chosen])
        return table

    found = tc.Scores(predict(labeled), cells.types[labeled], predict(quantified), classes=classes)
    return found, np.array([(cells.types[quantified] == name).mean() for name in classes])


def _rows(
    name: str, cells: Cells, donors: tuple[str, list[str], list[str]], config: Config
) -> Iterator[dict[str, object]]:
    found, truth = scores(cells, donors, config.trees)
    posterior = tc.infer(found.to_counts(), engine=tc.Auto(config.effective_draws))
    estimates = {method: _point(found, method) for method in METHODS} | {"posterior": posterior.mean}
    ends = {target: posterior.interval(0.95, target=target) for target in ("population", "realized")}
    for place, cell_type in enumerate(found.classes):
        yield {
            "types": name,
            "donor": donors[0],
            "cell type": cell_type,
            "labelled": found.items[place],
            "truth": truth[place],
            **{method: shares[place] for method, shares in estimates.items()},
            **{
                f"{target} {end}": ends[target][place, side]
                for target in ends
                for side, end in enumerate(("lower", "upper"))
            },
        }


def _point(found: tc.Scores, method: str) -> np.ndarray:
    """The estimate; none where the method refuses, as some do for a type without labelled cells."""
    try:
        return tc.estimate(found, METHODS[method]).prevalence
    except tc.InputError:
        return np.full(len(found.classes), np.nan)


def claims(tables: dict[str, pd.DataFrame]) -> list[Claim]:
    """What section 3.3 says of cells."""
    return [claim for name, shares in tables["shares"].groupby("types", sort=False) for claim in _set(name, shares)]


def _set(name: str, shares: pd.DataFrame) -> Iterator[Claim]:
    errors = {method: (shares[method] - shares["truth"]).abs().mean() for method in NAMES}
    held = {
        target: share(
            (shares[f"{target} lower"] <= shares["truth"]) & (shares["truth"] <= shares[f"{target} upper"]), 0.95
        )
        for target in ("population", "realized")
    }
    yield Claim(
        "3.3",
        f"{name} types: the method performs quite well",
        "mean absolute error of a share: "
        + ", ".join(f"{method} {error:.3f}" for method, error in errors.items())
        + "; taken as well: no worse than plain counting (CC)",
        errors["posterior"] <= errors["CC"],
        expected=False,
    )
    yield Claim(
        "3.3",
        f"{name} types: it quantifies the uncertainty",
        f"of {len(shares)} 95 % intervals {held['realized'].value:.0%} hold the true share of these cells (and those "
        f"for a population behind them {held['population'].value:.0%}); intervals of one donor are not independent",
        not held["realized"].is_below(0.95),
        is_main=True,
    )


def figures(tables: dict[str, pd.DataFrame]) -> dict[str, Figure]:
    """A row for each set of types, a panel for each donor."""
    shares = tables["shares"]
    sets = list(shares["types"].unique())
    columns = max(shares[shares["types"] == name]["donor"].nunique() for name in sets)
    figure, grid = plt.subplots(len(sets), columns, figsize=(4.2 * columns, 3.3 * len(sets) + 0.4), squeeze=False)
    for row, name in zip(grid, sets, strict=True):
        of_set = shares[shares["types"] == name]
        for axes, (donor, part) in zip(row, of_set.groupby("donor", sort=False), strict=False):
            _panel(axes, part, f"{len(part)} types, donor {donor}")
    legend(figure, NAMES)
    return {"shares": figure}


def _panel(axes: Axes, part: pd.DataFrame, title: str) -> None:
    x = np.arange(len(part))
    reach = [part["posterior"] - part["realized lower"], part["realized upper"] - part["posterior"]]
    reach = np.maximum(reach, 0)
    look = {"fmt": MARKERS["posterior"], "markeredgecolor": "black", "markeredgewidth": 0.4, "markersize": 4}
    axes.errorbar(x + 0.32, part["posterior"], reach, color=COLORS["posterior"], linewidth=1.2, **look)
    for place, name in enumerate(METHODS):
        points(axes, x - 0.4 + 0.1 * place, part[name], name, markersize=4, linestyle="")
    axes.hlines(part["truth"], x - 0.45, x + 0.45, color="black", linestyle=(0, (4, 2)), linewidth=1)
    axes.axhline(0, color="grey", linewidth=0.5)
    axes.set_xticks(x, part["cell type"], rotation=35, ha="right", fontsize=8)
    axes.set(title=title, ylabel="share")
