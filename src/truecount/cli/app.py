"""The command and what it does when something is wrong."""

import io
import sys
from importlib import import_module
from typing import Annotated, NoReturn

import typer

from truecount.errors import InputError, MissingExtraError

INTERRUPTED = 130
"""Exit code after Ctrl-C, as of any command: 128 and the number of the signal."""
COMMANDS = ("estimate", "check", "counts", "demo")
"""Each is a function in a module of its name, which is loaded when it is wanted: not all need all of the package."""


def build(*names: str) -> typer.Typer:
    """Make the program with some of its commands."""
    app = typer.Typer(
        name="truecount",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(truecount)
    for name in names:
        app.command()(getattr(import_module(f"truecount.cli.{name}"), name))
    return app


def __getattr__(name: str) -> typer.Typer:
    """Make ``app``, the whole program, when somebody asks for it."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return build(*COMMANDS)


def main() -> None:
    """Run the command; bad input ends in one readable message and exit code 1."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    wanted = [name for name in COMMANDS if name in sys.argv[1:2]]
    try:
        build(*(wanted or COMMANDS))(prog_name="truecount")
    except InputError as error:
        from truecount.cli.wording import in_shell

        _fail(str(in_shell(error)))
    except (MissingExtraError, OSError, MemoryError) as error:
        _fail(str(error) or "out of memory")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _fail(message: str) -> NoReturn:
    from truecount._secrets import masked
    from truecount.results.table import visible

    typer.echo(f"Error: {visible(masked(message))}", err=True)
    sys.exit(1)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"truecount {version('truecount')}")
        raise typer.Exit


def truecount(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """How many of each class are really there? A classifier's counts, corrected, with honest uncertainty.

    \b
    truecount demo                                                    see it work
    truecount estimate runs.csv --label human --prediction verdict    your own data
    truecount check runs.csv --label human --prediction verdict       may it be trusted?
    truecount counts 'runs/*.parquet' --label human --prediction verdict -o counts.json
    """  # noqa: D301
