"""A directive that shows what ``truecount COMMAND --help`` prints, asked while the site is built."""

from typing import ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from typer.testing import CliRunner


class CommandHelp(SphinxDirective):
    """``{command-help} estimate``: the help of that command; without a name, that of the program."""

    optional_arguments = 1
    option_spec: ClassVar[dict[str, object]] = {}

    def run(self) -> list[nodes.Node]:
        """Ask the command, as a shell of 100 columns would."""
        from truecount.cli.app import app

        words = ["truecount", *self.arguments, "--help"]
        done = CliRunner().invoke(app, words[1:], prog_name="truecount", env={"COLUMNS": "100", "TERM": "dumb"})
        if done.exit_code:
            raise self.error(f"{' '.join(words)} ended with exit code {done.exit_code}")
        return [nodes.literal_block("", done.output.strip("\n"), language="text")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
