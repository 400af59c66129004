"""What the shell proposes when Tab is pressed."""

from collections.abc import Callable, Iterable

import click

from truecount._command import Complete
from truecount.errors import InputError


def among(choices: Iterable[str] | Callable[[], Iterable[str]]) -> Complete:
    """Propose those of the choices that begin like what was typed; a function gives them when they are needed."""

    def propose(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
        known = choices() if callable(choices) else choices
        return [choice for choice in known if choice.startswith(incomplete)]

    return propose


def methods() -> list[str]:
    """Return the names of the estimators."""
    from truecount.estimators.register import NAMED

    return list(NAMED)


def columns(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Propose the columns of the first table that was named; nothing where it cannot be read.

    Behind an option without a value the arguments have not been sorted yet, and are still in ``context.args``.
    """
    named = [*(context.params.get("tables") or ()), *context.args]
    if not named:
        return []
    from truecount.reading.files import File

    try:
        known = File(str(named[0])).columns()
    except InputError:
        return []
    return [name for name in known if name.startswith(incomplete)]
