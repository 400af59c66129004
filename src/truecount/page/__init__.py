"""Stage 7b: a result becomes one HTML page."""

from truecount.page.write import report

__all__ = ["report"]
