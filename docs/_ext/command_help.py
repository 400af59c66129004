"""Fill the page of the command with what ``--help`` prints for each command, asked while the site is built."""

from click.testing import CliRunner
from sphinx.application import Sphinx

PAGE, PLACE = "reference/command", "ALL_COMMANDS"


def help_of(*words: str) -> str:
    """Return what the command prints, as in a terminal of 100 columns."""
    from truecount.cli.app import app

    done = CliRunner().invoke(app, [*words, "--help"], prog_name="truecount", env={"COLUMNS": "100", "TERM": "dumb"})
    if done.exit_code:
        raise RuntimeError(f"truecount {' '.join(words)} --help ended with exit code {done.exit_code}")
    return done.output.strip("\n")


def fill(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put a section for the program and for each of its commands where the page wants them."""
    if docname == PAGE:
        from truecount.cli.app import COMMANDS

        asked = [("truecount", ()), *((name, (name,)) for name in COMMANDS)]
        parts = [f"## {title}\n\n````text\n{help_of(*words)}\n````\n" for title, words in asked]
        source[0] = source[0].replace(PLACE, "\n".join(parts))


def setup(app: Sphinx) -> dict[str, bool]:
    """Fill the page when it is read."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
