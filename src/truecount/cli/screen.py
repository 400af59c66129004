"""What stands on the screen: tables as wide as it is."""

import re
import sys
from shutil import get_terminal_size
from typing import Any

import click

from truecount._wording import display_width
from truecount.results.summary import Table, remark

LEAST_FOR_NAMES = 8
"""Columns of a terminal that longer names of classes are broken into, but not into fewer."""
LEAST_FOR_WORDS = 16
"""Columns of a terminal that the words at the end of a line are broken into, but not into fewer."""
INDENT = "    "
STYLES = {"info": "cyan", "caution": "yellow", "serious": "bold red"}


def print_table(table: Table) -> None:
    """Print to a terminal, as wide as it is."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, width=get_terminal_size().columns)
    if table.headline:
        console.print(Text(table.headline, style="bold"))
    if table.rows:
        console.print(_layout(table, console.width))
    if table.note:
        console.print(Text(table.note))
    for finding in table.findings:
        severity, _, words = remark(finding).partition(":")
        console.print(Text.assemble((severity, STYLES[severity]), ":", words))
    console.print(Text(table.how, style="dim"))


def print_lines(words: str) -> None:
    """Print text; on a terminal, lines that are wider than it go on below, indented."""
    if sys.stdout.isatty():
        width = get_terminal_size().columns
        words = "\n".join(_folded(line, width) for line in words.splitlines())
    click.echo(words)


def _folded(line: str, width: int) -> str:
    """Break between words, else anywhere; signs that take two columns count as two."""
    lines, current, indent = [], "", " " * _hang(line, width)
    for sign in line:
        if display_width(current + sign) > width:
            head, space, tail = current.rpartition(" ")
            lines.append((head if space and head.strip() else current).rstrip())
            current = indent + (tail if space and head.strip() else "")
        current += sign
    return "\n".join([*lines, current])


def _hang(line: str, width: int) -> int:
    """Return how far lines that go on are indented: as far as the words in the last column of a table, if they fit."""
    columns = [display_width(line[: gap.end()]) for gap in re.finditer(r"(?<=\S)  +(?=\S)", line)]
    return columns[-1] if columns and columns[-1] + LEAST_FOR_WORDS <= width else len(INDENT)


def _layout(table: Table, width: int) -> Any:
    """Return columns as wide as they like, or as narrow as they can be, or one class below the other."""
    from rich.text import Text

    columns = list(zip(table.header, zip(*table.rows, strict=True), strict=True))
    natural = [max(map(display_width, (name, *cells))) for name, cells in columns]
    narrow = [max(map(display_width, (*name.split(), *cells))) for name, cells in columns[1:]]
    if sum(natural) + 2 * len(narrow) <= width:
        return _grid(table, natural)
    for_names = width - sum(narrow) - 2 * len(narrow)
    if for_names >= min(natural[0], LEAST_FOR_NAMES):
        return _grid(table, [min(natural[0], for_names), *narrow])
    return Text(_stack(table, width))


def _grid(table: Table, widths: list[int]) -> Any:
    """Lay out the cells; headers break between words and long names anywhere, numbers never."""
    from rich import table as rich_table
    from rich.text import Text

    grid = rich_table.Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for position, (name, width) in enumerate(zip(table.header, widths, strict=True)):
        grid.add_column(
            Text(name), justify="left" if position in table.on_left else "right", overflow="fold", width=width
        )
    for row in table.rows:
        grid.add_row(*map(Text, row))
    return grid


def _stack(table: Table, width: int) -> str:
    """Put each class on a line of its own and its numbers below, where they do not fit beside each other."""
    lines = []
    for name, *cells in table.rows:
        lines.append(name)
        for header, cell in zip(table.header[1:], cells, strict=True):
            side_by_side = f"  {header}: {cell}"
            lines += [side_by_side] if display_width(side_by_side) <= width else [f"  {header}:", f"    {cell}"]
    return "\n".join(lines)
