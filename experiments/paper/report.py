"""Tables become files, figures and a page: RESULTS.md."""

import re
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from experiments.paper.claim import Claim
from experiments.paper.registry import Experiment, Tables, experiment
from experiments.paper.style import styled

HEAD = """\
# The paper's claims, measured

Ziegler & Czyż, *Bayesian Quantification with Black-Box Estimators*: what each sentence about an experiment says, what
was measured, and whether it holds. `python -m experiments.paper` makes the tables and figures in `results/` and writes
this page from them; `--report` writes it again from the tables alone. A mean comes with its standard error; a
comparison holds if it does by more than three standard errors, unless the line says otherwise.
"""


def save(name: str, tables: Tables, folder: Path) -> None:
    """Write each table as CSV, in place of those that the experiment had."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in _files(name, folder):
        old.unlink()
    for table, frame in tables.items():
        frame.to_csv(folder / f"{name}-{table}.csv", index=False)


def read(name: str, folder: Path) -> Tables:
    """Read the tables of an experiment; empty where it has not been run."""
    return {path.stem.removeprefix(f"{name}-"): pd.read_csv(path) for path in _files(name, folder)}


def draw(name: str, folder: Path) -> None:
    """Draw an experiment's figures from its tables."""
    tables = read(name, folder)
    with styled():
        for figure_name, figure in experiment(name).figures(tables).items():
            figure.savefig(folder / f"{name}-{figure_name}.png", metadata={"Software": None})
            plt.close(figure)


def write(names: tuple[str, ...], folder: Path, page: Path) -> None:
    """Write the page about every experiment that has tables in the folder."""
    page.write_text(text(names, folder, page.parent), encoding="utf-8")


def text(names: tuple[str, ...], folder: Path, home: Path) -> str:
    """Return the page, with figures linked as seen from `home`."""
    parts = [HEAD, *(section(name, folder, home) for name in names if _files(name, folder))]
    return "\n".join([*parts, _time(folder)])


def section(name: str, folder: Path, home: Path) -> str:
    """Write about one experiment: what was done, each claim, the figures."""
    module = experiment(name)
    rows = [
        "| where | the paper says | measured | holds |",
        "|---|---|---|---|",
        *map(line, module.claims(read(name, folder))),
    ]
    pictures = [
        f"![{_caption(module, path)}]({path.relative_to(home).as_posix()})"
        for path in sorted(folder.glob(f"{name}-*.png"))
    ]
    return "\n".join([f"## {module.TITLE}", "", module.NOTE.strip(), "", *rows, "", *pictures, ""])


def line(claim: Claim) -> str:
    """Write a claim as a row of the table."""
    return f"| {claim.where} | {claim.says} | {claim.measured} | {'yes' if claim.holds else '**no**'} |"


def note_seconds(name: str, seconds: dict[str, float], folder: Path) -> None:
    """Keep how long an experiment took, by the clock and by the processor."""
    rows = {row["experiment"]: row for row in _seconds(folder)} | {name: {"experiment": name, **seconds}}
    pd.DataFrame([rows[key] for key in sorted(rows)]).round().to_csv(folder / "seconds.csv", index=False)


def _seconds(folder: Path) -> list[dict[str, Any]]:
    path = folder / "seconds.csv"
    return pd.read_csv(path).to_dict("records") if path.exists() else []


def _time(folder: Path) -> str:
    rows = _seconds(folder)
    lines = [f"| {row['experiment']} | {row['clock']:.0f} | {row['processor']:.0f} |" for row in rows]
    total = f"| together | {sum(row['clock'] for row in rows):.0f} | {sum(row['processor'] for row in rows):.0f} |"
    head = [
        "## Time",
        "",
        "On two cores.",
        "",
        "| experiment | seconds by the clock | by the processor |",
        "|---|---|---|",
    ]
    return "\n".join([*head, *lines, total, ""])


def _files(name: str, folder: Path) -> list[Path]:
    return sorted(folder.glob(f"{name}-*.csv"))


def _caption(module: Experiment, path: Path) -> str:
    return f"{re.sub(r' [(].*', '', module.TITLE)}: {path.stem.rpartition('-')[2]}"
