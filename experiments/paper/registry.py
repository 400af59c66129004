"""Every experiment by its name."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Protocol

import pandas as pd
from experiments.paper.claim import Claim
from matplotlib.figure import Figure

Tables = dict[str, pd.DataFrame]
NAMES = ("categorical", "nearly", "cancer", "cells", "gaussian", "asymptotic", "sensitivity", "statistic")


class AbsentError(Exception):
    """What an experiment needs is not there: the message says what."""


class Experiment(Protocol):
    """What the module of an experiment holds."""

    TITLE: str
    NOTE: str
    FULL: Any
    QUICK: Any

    def run(self, config: Any) -> Tables:
        """Make tables, by name, or raise `AbsentError`."""

    def claims(self, tables: Tables) -> list[Claim]:
        """Judge the paper's claims by the tables."""

    def figures(self, tables: Tables) -> Mapping[str, Figure]:
        """Draw the tables."""


def experiment(name: str) -> Experiment:
    """Load an experiment's module."""
    return import_module(f"experiments.paper.{name}")  # type: ignore[return-value]
