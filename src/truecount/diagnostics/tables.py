"""The tables behind a check, in plain values."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from truecount._types import FloatArray, Name
from truecount._wording import listed_classes
from truecount.counts import Counts
from truecount.diagnostics.blind_spots import trade_in_words
from truecount.diagnostics.homogeneity import HomogeneityTest
from truecount.diagnostics.identify import blind_spots, contraction
from truecount.diagnostics.label_error import LabelErrorEffect
from truecount.diagnostics.prior import PriorChange
from truecount.diagnostics.shift import ShiftTest
from truecount.models import Density, GivenOutput
from truecount.results.check import NO_SHARES
from truecount.results.posterior import Posterior

Rows = tuple[dict[str, Any], ...]


def class_rows(posterior: Posterior, model: Density, *, has_rows: bool = True) -> Rows:
    """What was learned of each class: labels, the row prior's weight if any, how uncertain its share was and is."""
    before, after = contraction(model, posterior.draws)
    items = posterior.counts.effective.labeled.sum(axis=1)
    weight = np.where(model.is_known, np.nan, model.rows.sum(axis=1) - items)
    columns = {
        "class": posterior.classes,
        "labeled": items.tolist(),
        **({"row_prior": [None if np.isnan(each) else each for each in weight.tolist()]} if has_rows else {}),
        "sd_before": before.tolist(),
        "sd_after": after.tolist(),
        "kept": np.divide(after, before, out=np.zeros_like(after), where=before > 0).tolist(),
    }
    return rows_of(columns)


def given_output_rows(posterior: Posterior, model: GivenOutput) -> Rows:
    """What each class was inferred from, where P(class | output) carries over: labels, and the prior's weight."""
    columns = {
        "class": posterior.classes,
        "labeled": model.labeled.sum(axis=1).tolist(),
        "output_prior": model.prior.sum(axis=1).tolist(),
        "share": posterior.mean.tolist(),
        "sd_after": posterior.sd.tolist(),
    }
    return rows_of(columns)


def identifiability_rows(counts: Counts, model: Density) -> Rows:
    """How many directions the outputs see, how unevenly, and which they do not see, in words."""
    sizes = np.linalg.svd(model.mean_confusion, compute_uv=False)
    is_seen = model.n_classes <= model.n_outputs and sizes[-1] > 0
    spots = blind_spots(model, counts.effective.labeled)
    merged = sum(len(group) - 1 for group in spots.groups)
    unseen = [listed_classes([counts.classes[row] for row in group]) + " look alike" for group in spots.groups]
    unseen += [trade_in_words(counts.classes, direction) for direction in spots.directions]
    return (
        {
            "classes": model.n_classes,
            "outputs": model.n_outputs,
            "rank": model.n_classes - merged - len(spots.directions),
            "condition": float(sizes[0] / sizes[-1]) if is_seen else None,
            "unseen": "; ".join(unseen) or "nothing",
            "barely_seen": "; ".join(trade_in_words(counts.classes, each) for each in spots.faint) or "nothing",
        },
    )


def output_rows(posterior: Posterior, test: ShiftTest, level: float) -> Rows:
    """What was seen of each output, the nearest mix of the labelled rows, and what the posterior predicts."""
    lower, upper = np.zeros(len(test.seen)), np.ones(len(test.seen))
    if items := round(float(posterior.counts.effective.unlabeled.sum())):
        in_order = np.sort(posterior.predicted, axis=0)  # which quantiles are found in far faster
        lower, upper = np.quantile(in_order, [(1 - level) / 2, (1 + level) / 2], axis=0) / items
    columns = {
        "output": test.outputs,
        "seen": test.seen.tolist(),
        "nearest_mix": test.expected.tolist(),
        "predicted_lower": lower.tolist(),
        "predicted_upper": upper.tolist(),
    }
    return rows_of(columns)


def prior_rows(posterior: Posterior, changes: tuple[PriorChange, ...]) -> Rows:
    """A row for each other prior, with the mean of every class and how far it moved at most."""
    first = {"prior": "as given", "most_moved": 0.0, **_by_name(posterior, posterior.mean)}
    rest = [
        {
            "prior": change.name,
            "most_moved": float(change.moved.max()) if change.is_seen else None,
            **_by_name(posterior, change.mean),
        }
        for change in changes
    ]
    return (first, *rest)


def _by_name(posterior: Posterior, values: FloatArray) -> dict[str, float]:
    """Return a column for each class, which says that it is one where its name means something else in such a table."""
    names = [str(name) for name in posterior.classes]
    if len({*names, "prior", *NO_SHARES}) < len(names) + 1 + len(NO_SHARES):
        names = [f"class {name!r}" for name in posterior.classes]
    return dict(zip(names, values.tolist(), strict=True))


def label_error_rows(classes: tuple[Name, ...], effects: Sequence[LabelErrorEffect]) -> Rows:
    """A row for each class at each rate of wrong labels."""
    return tuple(
        {"label_error": effect.rate, "class": name, "right": right, "mean": mean}
        | {"lowest": lowest, "highest": highest, "lower": lower, "upper": upper}
        for effect in effects
        for name, right, mean, lowest, highest, (lower, upper) in zip(
            classes,
            effect.right.tolist(),
            effect.mean.tolist(),
            effect.lowest.tolist(),
            effect.highest.tolist(),
            effect.interval.tolist(),
            strict=True,
        )
    )


def design_rows(answers: Sequence[Posterior], level: float) -> Rows:
    """A row for each class of each answer, which differ in how the labels were sampled."""
    return tuple(
        {"design": answer.model.name, "class": name, "mean": mean, "lower": lower, "upper": upper}
        for answer in answers
        for name, mean, (lower, upper) in zip(
            answer.classes, answer.mean.tolist(), answer.interval(level).tolist(), strict=True
        )
    )


def audit_rows(kind: str, names: tuple[Name, ...], sides: FloatArray, test: HomogeneityTest) -> Rows:
    """A row for each class, or each output: how many labels each side has, and whether they differ."""
    labeled, audited = sides.sum(axis=2).tolist()
    columns = {
        kind: names,
        "labeled": labeled,
        "audited": audited,
        "p_value": test.by_class.tolist(),
    }
    return rows_of(columns)


def rows_of(columns: Mapping[str, Sequence[Any]]) -> Rows:
    """Turn columns into rows."""
    return tuple(dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
