"""Commands of functions: the annotation of each parameter says which option or argument it is."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import Parameter, getdoc, signature
from pathlib import Path
from typing import Any, get_args

import click

from truecount._version import __version__
from truecount._wording import nearest

INTERRUPTED = 130
"""Exit code after Ctrl-C, as of any command: 128 and the number of the signal."""
SHELLS = ("bash", "zsh", "fish")
Complete = Callable[[click.Context, click.Parameter, str], list[str]]
"""What the shell proposes for a word that was begun."""


@dataclass(frozen=True, slots=True)
class Argument:
    """Words without an option before them, any number of them."""

    metavar: str
    help: str

    def parameter(self, name: str, kinds: tuple[Any, ...], default: Any) -> click.Argument:
        """Make the argument of the command; it is needed where the function has no default."""
        needed = default is Parameter.empty
        return click.Argument([name], nargs=-1, required=needed, metavar=self.metavar, callback=_listed)


@dataclass(frozen=True, slots=True)
class Option:
    """An option, called like its parameter unless it has names of its own.

    Its annotation says how often it is given and how many words follow it: a list is repeated, a tuple is as many
    words as it has parts, and a truth is a flag.
    """

    names: tuple[str, ...] = ()
    metavar: str | None = None
    help: str = ""
    callback: Callable[[click.Context, click.Parameter, Any], Any] | None = None
    complete: Complete | None = None

    def parameter(self, name: str, kinds: tuple[Any, ...], default: Any) -> click.Option:
        """Make the option of the command."""
        several = list[str] in kinds
        words = max(len(get_args(kind)) for kind in kinds) if not several else 1
        return click.Option(
            [name, *(self.names or (f"--{name.replace('_', '-')}",))],
            type=click.Path(path_type=Path) if Path in kinds else None,
            is_flag=bool in kinds,
            multiple=several,
            nargs=words or 1,
            default=None if several else default,
            metavar=self.metavar,
            help=self.help,
            callback=_listed if several else self.callback,
            shell_complete=self.complete,
            show_default=True,
        )


def _listed(context: click.Context, parameter: click.Parameter, value: tuple[str, ...] | None) -> list[str] | None:
    """Return what was given as a list, and None where nothing was."""
    return list(value) if value else None


class Verb(click.Command):
    """A command that explains its arguments, and refuses an option of which only the last value would be used."""

    def __init__(self, function: Callable[..., None], text: str) -> None:
        described = [(each, *_described(each)) for each in signature(function).parameters.values()]
        self.arguments = [what for _, what, _ in described if isinstance(what, Argument)]
        params: list[click.Parameter] = [
            what.parameter(each.name, kinds, each.default) for each, what, kinds in described
        ]
        super().__init__(function.__name__, callback=function, params=params, help=text)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; those of a shell that asks for completions are not judged."""
        if not ctx.resilient_parsing:
            _, _, given = self.make_parser(ctx).parse_args(args=list(args))
            for parameter, times in Counter(given).items():
                if times > 1 and isinstance(parameter, click.Option) and not (parameter.multiple or parameter.is_flag):
                    name = max(parameter.opts, key=len)
                    raise click.BadParameter(
                        f"{name} is given {times} times: it takes one value, and all but the last would be ignored. "
                        f"Write {name} once."
                    )
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Explain the arguments before the options."""
        if self.arguments:
            with formatter.section("Arguments"):
                formatter.write_dl([(each.metavar, each.help) for each in self.arguments])
        super().format_options(ctx, formatter)


def _described(parameter: Parameter) -> tuple[Argument | Option, tuple[Any, ...]]:
    """Return the option or argument of an annotation, and the types that its value may have."""
    kind, described = get_args(parameter.annotation)
    return described, get_args(kind) if type(None) in get_args(kind) else (kind,)


class Program(click.Group):
    """Commands in the order in which they are given; Ctrl-C ends one with the exit code of any command."""

    def __init__(self, function: Callable[[], None], commands: Sequence[Verb]) -> None:
        now: dict[str, Any] = {"is_eager": True, "expose_value": False}
        version = click.Option(
            ["--version"], is_flag=True, callback=_print_version, help="Print the version and stop.", **now
        )
        completion = click.Option(
            ["--show-completion"],
            type=click.Choice(SHELLS),
            callback=_print_completion,
            help="Print the script that makes this shell complete options and columns, and stop.",
            **now,
        )
        super().__init__(
            function.__name__,
            commands=commands,
            params=[version, completion],
            help=getdoc(function),
            no_args_is_help=True,
            context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
        )

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, not sorted."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is wanted; a word that is none gets the nearest, as from click 8.4 on."""
        if args[0] not in self.commands and not args[0].startswith("-") and not ctx.resilient_parsing:
            meant = nearest(args[0], self.commands)
            ctx.fail(f"No such command {args[0]!r}." + (f" Did you mean {meant!r}?" if meant else ""))
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that is wanted."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)


def _print_version(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(f"truecount {__version__}")
        context.exit()


def _print_completion(context: click.Context, parameter: click.Parameter, shell: str | None) -> None:
    if shell is not None:
        from click.shell_completion import BashComplete, FishComplete, ZshComplete

        made = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}[shell]
        click.echo(made(context.command, {}, "truecount", "_TRUECOUNT_COMPLETE").source())
        context.exit()
