"""The page to work in; this module is not called like its command because ``cli/app.py`` is the whole program."""

from typing import Annotated

from truecount._command import Argument, Option
from truecount.cli.options import read_whole

HIGHEST_PORT = 65535


def app(
    files: Annotated[
        list[str] | None,
        Argument(
            metavar="[FILE|FOLDER]...",
            help="What the page may read; the first file is opened. By default, the files of this folder.",
        ),
    ] = None,
    port: Annotated[str, Option(metavar="NUMBER", help="Port to listen on; 0 takes any that is free.")] = "0",
    host: Annotated[
        str, Option(metavar="ADDRESS", help="Address to listen on. Any other than this lets other machines in.")
    ] = "127.0.0.1",
    no_open: Annotated[bool, Option(help="Do not open a browser.")] = False,
) -> None:
    """Open a page in the browser that does the whole job: type counts, or choose a file.

    \b
      truecount app
      truecount app runs.parquet
      truecount app --port 0 --no-open

    The first line on the standard output is the address of the page, with a token that nobody else has. Ctrl-C ends the
    program. The page reads files that are named here, those inside folders that are named here, and those that are
    dropped on it. Nothing leaves this machine.
    """  # noqa: D301
    from truecount.app.run import Place, run

    number = read_whole("--port", port, least=0, most=HIGHEST_PORT, usual=0)
    run(files or [], Place(host=host, port=number), is_opened=not no_open)
