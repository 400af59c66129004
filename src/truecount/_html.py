"""A table for a notebook, which takes its colours from the page around it."""

from collections.abc import Iterable, Sequence
from html import escape

NAME = "text-align:left;max-width:30em;overflow-wrap:anywhere"
NUMBER = "text-align:right;white-space:pre"


def html_table(lines: Sequence[Sequence[str]], remarks: Iterable[str] = (), caption: str = "") -> str:
    """Return lines of cells as HTML: the first is the header, names stand on the left and numbers on the right.

    Parameters
    ----------
    lines
        The header, then the rows.
    remarks
        Go into a list below.
    caption
        Goes below the table.
    """
    header, *rows = lines
    head = "".join(
        f'<th scope="col" style="text-align:{"right" if place else "left"}">{escape(name)}</th>'
        for place, name in enumerate(header)
    )
    body = "".join(f"<tr>{_cells(row)}</tr>" for row in rows)
    listed = "".join(f"<li>{escape(remark)}</li>" for remark in remarks)
    below = f'<caption style="caption-side:bottom;text-align:left">{escape(caption)}</caption>' if caption else ""
    return f"<table>{below}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" + (
        f"<ul>{listed}</ul>" if listed else ""
    )


def _cells(row: Sequence[str]) -> str:
    name, *numbers = map(escape, row)
    cells = "".join(f'<td style="{NUMBER}">{number}</td>' for number in numbers)
    return f'<th scope="row" style="{NAME}">{name}</th>{cells}'
