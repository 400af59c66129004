"""The page of groups: what changes between them first, then everything that one answer has too."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from truecount._types import Name
from truecount.counts import Counts
from truecount.page import text
from truecount.page.pictures import groups_drawing
from truecount.page.reproduce import repeat_groups
from truecount.page.tables import Grid, counts_table
from truecount.plots.groups import first_of, groups_data
from truecount.plots.labels import labels
from truecount.plots.theme import LIGHT
from truecount.reading.names import group_name
from truecount.results import Posterior
from truecount.results.groups import answered, changes_table, groups_findings, groups_table, is_joint
from truecount.results.summary import Kind, Target
from truecount.results.table import ShareInWords, refusal, shares_in_words


def groups_content(
    posteriors: Mapping[Any, Posterior],
    *,
    level: float,
    kind: Kind,
    target: Target,
    classes: Sequence[Name] | None,
    command: str | None,
) -> dict[str, Any]:
    """Return what the template needs for groups; those without an answer have a row that says so, and nothing else."""
    look: dict[str, Any] = {"level": level, "kind": kind, "target": target}
    first = first_of(posteriors, "posterior")
    sound = answered(posteriors)
    has_changes = is_joint(posteriors) and len(sound) > 1
    places = [first.place(name) % len(LIGHT.classes) for name in (first.classes if classes is None else classes)]
    return {
        "is_of_groups": True,
        "answer": groups_answer(sound, **look, classes=classes) if sound else refusal(first),
        "findings": text.remarks(groups_findings(posteriors)),
        "table": groups_table(posteriors, **look, classes=classes),
        "colors": [place for each in posteriors.values() for place in (places if each.has_answer else [None])],
        "changes": changes_table(posteriors, **look, classes=classes) if has_changes else None,
        "change_colors": places * max(len(sound) - 1, 0),
        "picture": groups_drawing(sound, **look, classes=classes) if sound else None,
        "method": text.method(first, **look, items=items_of(each.counts for each in posteriors.values())),
        "assumptions": first.model.assumptions,
        "confusion": None,
        "fit": [],
        "counts": shared_counts(posteriors),
        "repeat": repeat_groups(posteriors, command),
    }


def groups_answer(
    posteriors: Mapping[Any, Posterior],
    *,
    level: float,
    kind: Kind,
    target: Target,
    classes: Sequence[Name] | None = None,
) -> str:
    """Say in one sentence how a class goes from the first to the last, or where it is extreme.

    It is the class of interest, or that which varies most.
    """
    look: dict[str, Any] = {"level": level, "kind": kind, "target": target}
    each = list(posteriors.values())
    if len(each) == 1:
        return text.answer(each[0], **look, classes=classes)
    data = groups_data(posteriors, **look, classes=each[0].classes)
    place = int(np.ptp(data.mean, axis=0).round(12).argmax())
    if classes is not None and len(classes) == 1:
        place = each[0].place(classes[0])
    shares = data.mean[:, place]
    ends = (0, len(each) - 1) if data.in_order else (int(shares.argmin()), int(shares.argmax()))
    names = [text.isolated(labels(data.groups, text.LONGEST_NAME)[group]) for group in ends]
    share = f"the true share of “{text.isolated(labels(data.classes, text.LONGEST_NAME)[place])}”"
    promises = (f"{data.interval_name.removesuffix('s')} ", "")
    low, high = (
        _told(shares_in_words(each[group].summary(**look))[place], promise)
        for group, promise in zip(ends, promises, strict=True)
    )
    if data.in_order:
        return text.unbroken(f"From {names[0]} to {names[1]}, {share} goes from about {low} to {high}.")
    found = f"is smallest in {names[0]}, about {low}, and largest in {names[1]}, about {high}"
    return text.unbroken(f"Of {len(each):,} groups, {share} {found}.")


def _told(one: ShareInWords, promise: str) -> str:
    """Say a share and its interval."""
    return f"{one.share} ({promise}{one.interval})"


def items_of(counts: Iterable[Counts]) -> tuple[float, float]:
    """Return how many items are labelled and how many are not; labels that groups share count once."""
    each = list(counts)
    labeled = {(one.outputs, one.labeled.tobytes()): one.labeled.sum() for one in each}
    return float(sum(labeled.values())), float(sum(one.unlabeled.sum() for one in each))


def shared_counts(posteriors: Mapping[Any, Posterior]) -> Grid | None:
    """Return the labelled table with the unlabelled items of every group below; None where the groups share none."""
    counts = [(f"unlabelled, {group_name(group)}", posterior.counts) for group, posterior in posteriors.items()]
    (_, first), *others = counts
    if any(other.outputs != first.outputs or not np.array_equal(other.labeled, first.labeled) for _, other in others):
        return None
    return counts_table(first, counts)
