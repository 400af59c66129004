"""Pictures as the command writes them."""

import warnings
from io import BytesIO
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

from truecount.results.summary import refusal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from truecount._types import Name
    from truecount.results import Posterior
    from truecount.results.summary import Look

FORMATS = ("png", "svg", "pdf")
DOTS = 200
"""An inch."""
CORRECTED = {"truecount:corrected": True}
"""The flag of a picture whose shares are corrected for misclassification, as a page of HTML has it."""
FONTS = "Install one that does, such as Noto Sans CJK, or use --html, which leaves letters to the browser."


def picture_format(path: str) -> str:
    """Return the format that the name of a file asks for."""
    ending = Path(path).suffix.lower().removeprefix(".")
    if ending not in FORMATS:
        raise click.BadParameter(f"--plot {path!r} must end in {', '.join(f'.{each}' for each in FORMATS)}.")
    return ending


def shares(answer: "Posterior", look: "Look", classes: "Sequence[Name] | None", path: str) -> bytes:
    """Return the picture of the shares."""
    from truecount.plots import prevalence

    if not answer.has_answer:
        return encoded(no_answer(refusal(answer)), path, flags=CORRECTED)
    ax = prevalence(answer, level=look.level, kind=look.kind, target=look.target, classes=classes)
    return encoded(ax, path, flags=CORRECTED)


def no_answer(words: str) -> "Axes":
    """Draw that there is no answer."""
    from truecount.plots.canvas import FONT, LIGHT, WIDTH, new_axes

    ax = new_axes(WIDTH, 1.2, LIGHT)
    ax.set_axis_off()
    ax.text(0, 0.5, fill(words, 80), fontsize=FONT, color=LIGHT.ink, va="center", parse_math=False)
    return ax


def encoded(ax: "Axes", path: str, *, flags: "Mapping[str, bool] | None" = None) -> bytes:
    """Return a picture as the bytes of its file, the same each time; letters that no font has become empty squares.

    `flags` say which shares in it are corrected for misclassification, and are keywords of the file.
    """
    ending, stream = picture_format(path), BytesIO()
    dated: dict[str, Any] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[ending]
    if flags:
        dated["Keywords"] = ", ".join(f"{name}={str(flag).lower()}" for name, flag in flags.items())
    with warnings.catch_warnings(record=True) as told:
        warnings.filterwarnings("always", "Glyph .* missing", UserWarning)
        ax.figure.savefig(stream, format=ending, dpi=DOTS, metadata=dated)  # type: ignore[union-attr]
    if told:
        click.echo(f"Note: {path} has empty squares where no font here has the letters. {FONTS}", err=True)
    return stream.getvalue()
