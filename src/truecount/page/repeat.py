"""Everything that is needed to get the same answer again."""

import json
from dataclasses import dataclass
from math import isnan
from typing import Any

from truecount.models import Prior
from truecount.models.priors import Diagonal
from truecount.results import Posterior
from truecount.results.table import how, visible

OTHER_DRAWS = {
    "stacked": "# Solved together with other problems by infer_many; alone, it has other draws, just as good.",
    "joint": "# Drawn jointly with other groups by infer_many(..., joint=True); alone, it has other draws, and\n"
    "# shares that may differ a little: every group tells something about the confusion.",
}
"""What to say of draws that the counts alone do not give again, by what their provenance has."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """How to repeat an answer.

    Parameters
    ----------
    command
        What was typed, if anything was.
    code
        Python that gives the same draws, or says that it gives others.
    facts
        What it depends on, as pairs of a name and a value.
    """

    command: str | None
    code: str
    facts: list[tuple[str, str]]


def repeat(posterior: Posterior, command: str | None = None) -> Repeat:
    """Say how to repeat this answer."""
    made = posterior.provenance
    reason = f" Chosen because {made['reason']}." if made.get("reason") else ""
    facts = [
        ("Version", f"truecount {made.get('version', 'unknown')}"),
        ("Seed", str(made["seed"])),
        ("Engine", how(posterior) + visible(reason)),
        ("Prior of the shares", _plainly(posterior.prior.to_dict()["prevalence"])),
        ("Prior of the confusion", _plainly(posterior.prior.to_dict()["confusion"])),
        ("Known confusion", _plainly(posterior.prior.to_dict()["known"] or "none")),
    ]
    return Repeat(None if command is None else visible(command), python(posterior), facts)


def python(posterior: Posterior) -> str:
    """Give Python that draws the same again; where `infer_many` drew it with others, that it draws others is said.

    Counts are written as JSON, which any version reads; the prior and the engine as they are called.
    """
    notes = [note for key, note in OTHER_DRAWS.items() if posterior.provenance.get(key)]
    asked, design = posterior.provenance.get("asked"), posterior.provenance.get("design")
    options = ([f"engine=tc.{asked}"] if asked else []) + ([f"design={design!r}"] if design else [])
    seed = f"seed={posterior.provenance['seed']}"
    lines = [
        *notes,
        "import truecount as tc",
        "",
        f"counts = tc.Counts.from_json({posterior.counts.to_json()!r})",
        f"prior = {_prior(posterior.prior)}",
        f"posterior = tc.infer({', '.join(['counts', 'prior=prior', *options, seed])})",
        "print(posterior)",
    ]
    return "\n".join(lines)


def _prior(prior: Prior) -> str:
    rows = prior.confusion
    confusion = f"tc.Prior.diagonal({rows.strength!r}).confusion" if isinstance(rows, Diagonal) else repr(rows)
    known = "" if prior.known is None else f", known={_rows(prior.known)}"
    return f"tc.Prior({prior.prevalence!r}, {confusion}{known})"


def _rows(known: tuple[tuple[float, ...], ...]) -> str:
    """Write rows of a known confusion; one that is learned is NaN throughout."""
    rows = [", ".join('float("nan")' if isnan(entry) else repr(entry) for entry in row) for row in known]
    return f"[{', '.join(f'[{row}]' for row in rows)}]"


def _plainly(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)
