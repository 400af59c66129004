"""How pages look: one frame for all, whose colours are those of the pictures, on screen, in the dark, on paper."""

from functools import cache
from pathlib import Path
from typing import Any

from truecount._wording import visible
from truecount.plots.theme import DARK, LIGHT, Theme


def variables(theme: Theme) -> dict[str, str]:
    """Return the page's name of each colour of a theme."""
    plain = {getattr(theme, name): f"--{name}" for name in ("paper", "ink", "soft", "grid", "heat")}
    return plain | {color: f"--class-{place}" for place, color in enumerate(theme.classes)}


def rendered(template: str, *, title: str, **content: Any) -> str:
    """Return the page of that template, which extends ``base.html``, with its style sheet."""
    text: str = _machine().get_template(template).render(title=visible(title), style=style(), **content)
    return text


@cache
def _machine() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    folder = FileSystemLoader(Path(__file__).parent)
    return Environment(loader=folder, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)


def style() -> Any:
    """Return the style sheet: light, dark where the reader prefers it, light again on paper."""
    from markupsafe import Markup

    sheet = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    light, dark = _rule(LIGHT), _rule(DARK)
    return Markup(  # noqa: S704 - all of it is ours
        f"{light}\n@media screen and (prefers-color-scheme: dark) {{ {dark} }}\n{sheet}"
    )


def _rule(theme: Theme) -> str:
    return ":root { " + " ".join(f"{name}: {color};" for color, name in variables(theme).items()) + " }"
