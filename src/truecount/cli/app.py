"""The command and what it does when something is wrong."""

import io
import sys
from typing import Annotated, NoReturn

import typer

from truecount.cli.check import check
from truecount.cli.counts import counts
from truecount.cli.demo import demo
from truecount.cli.estimate import estimate
from truecount.cli.wording import in_shell
from truecount.errors import InputError, MissingExtraError

app = typer.Typer(
    name="truecount",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command()(estimate)
app.command()(check)
app.command()(counts)
app.command()(demo)


def main() -> None:
    """Run the command; bad input ends in one readable message and exit code 1."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app(prog_name="truecount")
    except InputError as error:
        _fail(str(in_shell(error)))
    except (MissingExtraError, OSError, MemoryError) as error:
        _fail(str(error) or "out of memory")


def _fail(message: str) -> NoReturn:
    from truecount.results.table import visible

    typer.echo(f"Error: {visible(message)}", err=True)
    sys.exit(1)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"truecount {version('truecount')}")
        raise typer.Exit


@app.callback()
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
    """  # noqa: D301
