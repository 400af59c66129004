"""Run the command: ``python -m truecount``."""

from truecount.cli import main

main()
