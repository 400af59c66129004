"""The command and what it does when something is wrong."""

import errno
import io
import os
import sys
from importlib import import_module
from inspect import getdoc
from textwrap import fill
from typing import NoReturn

import click

from truecount._advice import Door, worded
from truecount._command import INTERRUPTED, Program, Verb
from truecount._progress import progress_style
from truecount.errors import InputError, MissingExtraError
from truecount.results.finding import serious_codes

COMMANDS: tuple[Door, ...] = ("estimate", "check", "plan", "counts", "demo", "app")
"""Each is a function in a module of its name, which is loaded when it is wanted: not all need all of the package."""
MODULES = {"app": "browser"}
"""Where the module has another name."""
VERBS = {"estimate": ("infer", "infer of groups", "estimate"), "check": ("infer", "check")}
"""Verbs of the library that a command calls, whose findings it may show."""
OPTIONS = (
    *("label", "prediction", "missing", "by", "weight", "cluster", "prior", "positive", "sensitivity", "specificity"),
    *("target", "engine", "above", "below", "drift", "label_error"),
    *("prevalence", "labels", "items", "budget", "assurance", "half_width", "large_sample"),
)
"""Arguments of the library that are options of the same name."""


def build(*names: str) -> Program:
    """Make the program with some of its commands."""
    return Program(truecount, [_command(name) for name in names])


def truecount() -> None:
    """How many of each class are really there? A classifier's counts, corrected, with honest uncertainty.

    \b
    truecount demo                                                    see it work
    truecount estimate runs.csv --label human --prediction verdict    your own data
    truecount check runs.csv --label human --prediction verdict       may it be trusted?
    truecount plan runs.csv --label human --prediction verdict --half-width 3%    how many labels?
    truecount counts 'runs/*.parquet' --label human --prediction verdict -o counts.json
    truecount app                                                     the same in a browser
    """  # noqa: D301


def _command(name: str) -> Verb:
    """Make a command of the function of that name, whose docstring is its help."""
    function = getattr(import_module(f"truecount.cli.{MODULES.get(name, name)}"), name)
    serious = fill(f"Serious findings: {serious_codes(*VERBS.get(name, ()))}.", 76, break_on_hyphens=False)
    return Verb(function, (getdoc(function) or "").replace("{serious}", serious))


def __getattr__(name: str) -> Program:
    """Make ``app``, the whole program, when somebody asks for it."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return build(*COMMANDS)


def main() -> None:
    """Run the command; bad input ends in one readable message and exit code 1, options at odds in 2."""
    _open_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    wanted = [name for name in COMMANDS if name in sys.argv[1:2]]
    try:
        with progress_style("bar" if sys.stderr.isatty() else "log"):
            build(*(wanted or COMMANDS))(prog_name="truecount")
    except InputError as error:
        from truecount.cli.options import MisuseError

        code = 2 if isinstance(error, MisuseError) else 1
        _fail(str(in_options(error, wanted[0] if wanted else "estimate")), code)
    except OSError as error:
        _fail(_said_of_output(error) if error.filename is None else str(error))
    except (MissingExtraError, MemoryError) as error:
        _fail(str(error) or "out of memory")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def in_options(error: InputError, verb: Door) -> InputError:
    """Return an error whose argument and remedy can be typed."""
    argument = f"--{error.argument.replace('_', '-')}" if error.argument in OPTIONS else error.argument
    return InputError(argument, worded(error.found, verb), error.needed, worded(error.remedy, verb))


def _fail(message: str, code: int = 1) -> NoReturn:
    from truecount._secrets import masked
    from truecount._wording import visible

    click.echo(f"Error: {visible(masked(message))}", err=True)
    sys.exit(code)


def _open_closed_streams() -> None:
    """Put the null device where a standard stream was closed, so that no file takes its number.

    It is opened for reading in place of the standard output: writing then fails, as it should. Nothing that goes to the
    standard error is the answer, so that it may be lost.
    """
    for number, mode in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.dup2(os.open(os.devnull, mode), number)
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(os.fdopen(0, "rb"))
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(os.fdopen(1, "wb"), encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = io.TextIOWrapper(os.fdopen(2, "wb"), encoding="utf-8")


def _said_of_output(error: OSError) -> str:
    """Blame the standard output, the only stream that is written without a name, and drop what it could not take."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    found = "is closed" if error.errno == errno.EBADF else f"cannot be written ({error.strerror})"
    needed, remedy = "the answer is printed there", "Write to a file, with --json or --csv, if it has to be so"
    return str(InputError("standard output", found, needed, remedy))
