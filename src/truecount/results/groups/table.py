"""An answer for many groups as tables to read: here its numbers become words."""

from collections.abc import Sequence
from math import ceil, log10

import numpy as np

from truecount._types import FloatArray
from truecount._wording import called, listed, percent, signed, visible
from truecount.reading.names import group_name
from truecount.results.groups.summary import GroupSummary, PairSummary
from truecount.results.summary import SHARE_NAMES, Table

MOST_SHOWN = 72
"""Groups in a table."""
CLEAR = 0.9
"""Probability from which on one group is named as the largest."""
MOST_DECIMALS = 8
ENDS = 20
"""Of more groups than a table shows, so many with the largest shares and with the smallest."""


def group_tables(summary: GroupSummary, *, every_class: bool = True, by_size: bool = False) -> list[Table]:
    """Return the tables that say what an answer says: shares, changes, comparisons; the last has findings.

    Parameters
    ----------
    summary
        Of the answer.
    every_class
        Whether all of three or more classes are shown; the class of interest alone otherwise, as of two.
    by_size
        Whether the group with the largest share comes first.
    """
    if not summary.has_answer:
        return [Table([], [], summary.findings, how(summary), headline=refusal(summary))]
    shares = shares_table(summary, every_class=every_class, by_size=by_size)
    tables = [
        *(Table([], [], (), headline=f"Alert: {visible(alert.message)}") for alert in summary.alerts),
        shares,
        changes_table(summary),
        pairs_table(summary, summary.pairs, "comparison"),
        Table([], [], summary.findings, how(summary)),
    ]
    return [table for table in tables if table is not None]


def group_text(summary: GroupSummary) -> str:
    """Return all tables as text."""
    return "\n".join(table.to_text() for table in group_tables(summary))


def shares_table(summary: GroupSummary, *, every_class: bool, by_size: bool) -> Table:
    """Return a row for each group, or for each of its classes: counted, on its own, true share and interval."""
    classes = range(len(summary.classes)) if every_class and len(summary.classes) > 2 else [summary.place]
    order, left_out = shown_groups(summary, by_size=by_size)
    decimals = decimals_of(summary.interval[:, classes])
    columns = _columns(summary, decimals, of_interest=len(classes) == 1)
    heading = ", ".join(map(visible, summary.by))
    header = [heading, *([] if len(classes) == 1 else ["class"]), *columns]
    rows = [
        [
            visible(summary.names[at]),
            *([] if len(classes) == 1 else [visible(summary.classes[place])]),
            *(cells[at][place] for cells in columns.values()),
        ]
        for at in order
        for place in classes
    ]
    if left_out:
        gap = len(classes) * (0 if summary.in_time else ENDS)
        rows.insert(gap, [f"… {left_out:,} more groups", *[""] * (len(header) - 1)])
    notes = [spread_note(summary), uncounted_note(summary)]
    on_left = (0,) if len(classes) == 1 else (0, 1)
    note = "\n".join(note for note in notes if note)
    return Table(header, rows, (), headline=headline(summary), note=note, on_left=on_left)


def shown_groups(summary: GroupSummary, *, by_size: bool) -> tuple[list[int], int]:
    """Return which groups a table shows, in their order, and how many it leaves out.

    Of too many, the last periods are shown, or the groups with the largest and the smallest shares.
    """
    number = len(summary.groups)
    if number <= MOST_SHOWN:
        return (summary.by_size() if by_size else list(range(number))), 0
    if summary.in_time:
        order = [int(at) for at in np.argsort(np.asarray(summary.times), kind="stable")]
        return order[-MOST_SHOWN:], number - MOST_SHOWN
    order = summary.by_size()
    return [*order[:ENDS], *order[-ENDS:]], number - 2 * ENDS


def _columns(summary: GroupSummary, decimals: int, *, of_interest: bool) -> dict[str, list[list[str]]]:
    """Return cells by the name of their column, group and class; of the class of interest also ranks and claims."""
    number = len(summary.classes)
    columns = {"items": [[f"{items:,.0f}"] * number for items in summary.items]}
    if summary.counted is not None:
        columns["counted"] = _percents(summary.counted, decimals)
    if summary.own is not None:
        columns["on its own"] = _percents(summary.own, decimals)
    columns[SHARE_NAMES[summary.target]] = _percents(summary.mean, decimals)
    columns[summary.interval_name] = _spans(summary.interval, decimals)
    if summary.borrowed is not None:
        columns["borrowed"] = [[f"{100 * share:.0f} %"] * number for share in summary.borrowed]
    if of_interest and summary.ranks is not None:
        ranks = [f"{low} \N{EN DASH} {high}" if low < high else f"{low}" for low, high in summary.ranks.interval]
        columns["rank"] = [[rank] * number for rank in ranks]
        columns["P(largest)"] = [[probability(largest)] * number for largest in summary.ranks.largest]
    for claim in summary.claims:
        is_of_row = not of_interest or claim.name == summary.of
        head = f"{claim.side} {percent(claim.threshold)}"
        cells = columns.setdefault(
            f"P({head})" if is_of_row else f"P({visible(claim.name)} {head})", [[""] * number for _ in summary.groups]
        )
        places = [summary.classes.index(claim.name)] if is_of_row else range(number)
        for row, each in zip(cells, claim.probability, strict=True):
            for place in places:
                row[place] = probability(each)
    return columns


def pairs_table(summary: GroupSummary, pairs: Sequence[PairSummary], heading: str) -> Table | None:
    """Return a row for each pair: the difference in points, its interval, the ratio, the probability of larger."""
    if not pairs:
        return None
    shown, left_out = pairs[:MOST_SHOWN], len(pairs[MOST_SHOWN:])
    told = _differences(summary, shown)
    header = [heading, "points", summary.interval_name, "ratio", "P(larger)"]
    rows = [
        [
            visible(f"{group_name(pair.first)} \N{MINUS SIGN} {group_name(pair.second)}"),
            points,
            span,
            f"{pair.ratio[summary.place]:.2f}" if np.isfinite(pair.ratio[summary.place]) else "",
            larger,
        ]
        for pair, (points, span, larger) in zip(shown, told, strict=True)
    ]
    rows += [[f"… {left_out:,} more pairs", "", "", "", ""]] if left_out else []
    return Table(header, rows, (), headline=f"Share of {visible(summary.of)} compared, in percentage points:")


def changes_table(summary: GroupSummary) -> Table | None:
    """Return a row for each period: the change from the one before, and since the baseline or the first."""
    if not summary.changes:
        return None
    since = {pair.first: pair for pair in summary.since}
    shown = summary.changes[-MOST_SHOWN:]
    start = "baseline" if summary.baseline is not None else "first"
    header = [", ".join(map(visible, summary.by)), "change", summary.interval_name, "P(growth)"]
    header += [f"since {start}", summary.interval_name, "P(growth)"]
    steps = _differences(summary, shown)
    known = [pair for pair in shown if pair.first in since]
    starts = dict(
        zip([pair.first for pair in known], _differences(summary, [since[p.first] for p in known]), strict=True)
    )
    rows = [
        [visible(group_name(pair.first)), *step, *starts.get(pair.first, ("", "", ""))]
        for pair, step in zip(shown, steps, strict=True)
    ]
    left_out = len(summary.changes) - len(shown)
    rows = [[f"… {left_out:,} earlier", *[""] * 6], *rows] if left_out else rows
    return Table(header, rows, (), headline=f"Change of the share of {visible(summary.of)}, in percentage points:")


def _differences(summary: GroupSummary, pairs: Sequence[PairSummary]) -> list[tuple[str, str, str]]:
    """Return difference, interval and probability of larger in words, with the same decimals for all."""
    if not pairs:
        return []
    place = summary.place
    decimals = decimals_of(np.array([pair.interval[[place]] for pair in pairs]))
    ends = [[signed(100 * end, decimals) for end in pair.interval[place]] for pair in pairs]
    widths = [max(len(each[side]) for each in ends) for side in (0, 1)]
    return [
        (
            signed(100 * pair.difference[place], decimals),
            f"{low:>{widths[0]}} \N{EN DASH} {high:>{widths[1]}}",
            probability(float(pair.larger[place])),
        )
        for pair, (low, high) in zip(pairs, ends, strict=True)
    ]


def headline(summary: GroupSummary) -> str:
    """Say in one sentence where the share of the class of interest is largest and smallest, or how it went."""
    place, names = summary.place, summary.names
    decimals = decimals_of(summary.interval[:, [place]])
    share, name = summary.mean[:, place], called(visible(summary.of))

    def told(at: int) -> str:
        low, high = (f"{100 * end:.{decimals}f}" for end in summary.interval[at, place])
        return f"{100 * share[at]:.{decimals}f} % ({low} \N{EN DASH} {high} %) in {visible(names[at])}"

    if len(names) == 1:
        return f"{name}: {told(0)}, {summary.interval_name}."
    if summary.is_one_series:
        order = np.argsort(np.asarray(summary.times), kind="stable")
        return f"{name}: from {told(int(order[0]))} to {told(int(order[-1]))}, {summary.interval_name}."
    order = np.argsort(share, kind="stable")
    sure = largest_in_words(summary, [visible(each) for each in names])
    return f"{name}: from {told(int(order[0]))} to {told(int(order[-1]))}, {summary.interval_name}.{sure}"


def largest_in_words(summary: GroupSummary, names: Sequence[str]) -> str:
    """Say which group has the largest share, or that it is not known; nothing where groups have no ranks."""
    if summary.ranks is None:
        return ""
    first, second = np.argsort(-summary.ranks.largest, kind="stable")[:2].tolist()
    of_first, of_second = (probability(summary.ranks.largest[at]) for at in (first, second))
    if summary.ranks.largest[first] >= CLEAR:
        return f" {names[first]} has the largest with a probability of {of_first}."
    return (
        f" These data do not tell which group has the largest: {names[first]} with a probability of {of_first}, "
        f"{names[second]} with {of_second}."
    )


def spread_note(summary: GroupSummary) -> str:
    """Say how much groups differ, and the share in all of them."""
    if len(summary.groups) == 1:
        return ""
    middle, low, high = 100 * summary.spread[summary.place]
    mean, lower, upper = 100 * summary.total[summary.place]
    together = f"All together: {mean:.1f} % ({lower:.1f} \N{EN DASH} {upper:.1f} %)."
    differ = f"Groups differ by {middle:.1f} points (standard deviation; {low:.1f} \N{EN DASH} {high:.1f})."
    return f"{differ} {together}"


def uncounted_note(summary: GroupSummary) -> str:
    """Say how many items plain counting leaves out, because their output is no class."""
    if summary.counted is None or not summary.uncounted:
        return ""
    share = sum(summary.uncounted.values())
    which = listed([visible(name) for name in summary.uncounted])
    return f"Counted shares are of all unlabelled items; {percent(share)} have an output that is no class ({which})."


def how(summary: GroupSummary) -> str:
    """Say in one line how the draws were made and what they are worth."""
    number = f"{len(summary.groups):,} groups, {summary.variation}, drawn jointly"
    effective, rhat = float(summary.effective_draws.min()), float(summary.rhat.max())
    worth = f"effective sample size at least {effective:,.0f}, R-hat at most {rhat:.3f}"
    return f"{'1 group' if len(summary.groups) == 1 else number}: {worth}. Seed {summary.origin.seed}."


def refusal(summary: GroupSummary) -> str:
    """Say that there is no answer."""
    return (
        f"No answer: the chains of the {len(summary.groups):,} groups disagree, and shares and intervals would depend "
        "on where they began."
    )


def decimals_of(interval: FloatArray) -> int:
    """Return as many decimals of a percentage as leave two digits to the typical interval that has a width."""
    widths = 100 * (interval[..., 1] - interval[..., 0]).ravel()
    widths = widths[widths > 1e-9]
    return min(max(1, ceil(1 - log10(float(np.median(widths))))), MOST_DECIMALS) if len(widths) else 1


def _spans(interval: FloatArray, decimals: int) -> list[list[str]]:
    """Return intervals whose ends stand below each other."""
    ends = [[[f"{100 * end:.{decimals}f}" for end in pair] for pair in each] for each in interval]
    widths = [max(len(pair[side]) for each in ends for pair in each) for side in (0, 1)]
    return [[f"{low:>{widths[0]}} \N{EN DASH} {high:>{widths[1]}} %" for low, high in each] for each in ends]


def _percents(shares: FloatArray, decimals: int) -> list[list[str]]:
    return [[f"{100 * share:.{decimals}f} %" if np.isfinite(share) else "" for share in each] for each in shares]


def probability(value: float) -> str:
    """Return a probability in words; those near 0 and 1 say so, since draws do not tell more.

    >>> probability(0.0), probability(0.42), probability(1.0)
    ('< 0.001', '0.420', '> 0.999')
    """
    return "< 0.001" if value < 0.001 else "> 0.999" if value > 0.999 else f"{value:.3f}"
