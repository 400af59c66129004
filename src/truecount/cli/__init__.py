"""Stage 8: the command."""

from truecount.cli.app import main

__all__ = ["main"]
