"""Data that ships with the package."""

from pathlib import Path

JUDGE = Path(__file__).with_name("judge.csv")
"""A judge's verdicts on answers, some of which people judged too; `make_judge` made it."""
