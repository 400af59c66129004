"""Everything that is needed to get the same answer again."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from typing import Any

from truecount.models import Prior
from truecount.models.priors import Diagonal
from truecount.results import Posterior
from truecount.results.groups import groups_how, is_joint
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
    return _repeat(posterior, command, python(posterior), str(made["seed"]), how(posterior) + visible(reason))


def repeat_groups(posteriors: Mapping[Any, Posterior], command: str | None = None) -> Repeat:
    """Say how to repeat the answers of all groups."""
    first = next(iter(posteriors.values()))
    seed = str(first.provenance.get("common_seed", "unknown"))
    return _repeat(first, command, python_of_groups(posteriors), seed, groups_how(posteriors))


def _repeat(posterior: Posterior, command: str | None, code: str, seed: str, engine: str) -> Repeat:
    prior = posterior.prior.to_dict()
    facts = [
        ("Version", f"truecount {posterior.provenance.get('version', 'unknown')}"),
        ("Seed", seed),
        ("Engine", engine),
        ("Prior of the shares", _plainly(prior["prevalence"])),
        ("Prior of the confusion", _plainly(prior["confusion"])),
        ("Known confusion", _plainly(prior["known"] or "none")),
    ]
    return Repeat(None if command is None else visible(command), code, facts)


def python(posterior: Posterior) -> str:
    """Give Python that draws the same again; where `infer_many` drew it with others, that it draws others is said.

    Counts are written as JSON, which any version reads; the prior and the engine as they are called.
    """
    notes = [note for key, note in OTHER_DRAWS.items() if posterior.provenance.get(key)]
    design = posterior.provenance.get("design")
    options = [*_engine(posterior), *([f"design={design!r}"] if design else [])]
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


def python_of_groups(posteriors: Mapping[Any, Posterior]) -> str:
    """Give Python that draws all groups again."""
    first = next(iter(posteriors.values()))
    groups = [f"    {group!r}: tc.Counts.from_json({each.counts.to_json()!r})," for group, each in posteriors.items()]
    joint = ["joint=True"] if is_joint(posteriors) else []
    seed = f"seed={first.provenance.get('common_seed', 0)}"
    lines = [
        *(["import datetime", ""] if any("datetime." in group for group in groups) else []),
        "import truecount as tc",
        "",
        "groups = {",
        *groups,
        "}",
        f"prior = {_prior(first.prior)}",
        f"posteriors = tc.infer_many({', '.join(['groups', 'prior=prior', *_engine(first), seed, *joint])})",
        "for group, posterior in posteriors.items():",
        '    print(group, posterior, sep="\\n")',
    ]
    return "\n".join(lines)


def _engine(posterior: Posterior) -> list[str]:
    asked = posterior.provenance.get("asked")
    return [f"engine=tc.{asked}"] if asked else []


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
