"""Cells as lines of text and as HTML: names on the left, numbers on the right."""

from collections.abc import Collection, Iterable, Sequence
from html import escape

from truecount._wording import display_width

NAME = "text-align:left;max-width:30em;overflow-wrap:anywhere"
NUMBER = "text-align:right;white-space:pre"


def aligned(lines: Sequence[Sequence[str]], *, on_left: Collection[int] = (0,)) -> list[str]:
    """Return each line of cells as text, padded so that columns stand below each other.

    >>> aligned([["class", "share"], ["日本", "7 %"]])
    ['class  share', '日本     7 %']
    """
    columns = []
    for place, column in enumerate(zip(*lines, strict=True)):
        widths = [display_width(cell) for cell in column]
        spaces = [" " * (max(widths) - width) for width in widths]
        cells = zip(column, spaces, strict=True)
        columns.append([cell + space if place in on_left else space + cell for cell, space in cells])
    return ["  ".join(line).rstrip() for line in zip(*columns, strict=True)]


def html_table(lines: Sequence[Sequence[str]], remarks: Iterable[str] = (), caption: str = "") -> str:
    """Return lines of cells as HTML for a notebook, in the colours of the page around it; the first is the header.

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
