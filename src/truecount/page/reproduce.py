"""Everything that is needed to reproduce an answer."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timezone
from math import isfinite, isnan
from types import NoneType
from typing import Any

from truecount._check import plain_name
from truecount._secrets import masked_command
from truecount._wording import visible
from truecount.inference.importance.many import own_seeds
from truecount.inference.run import ImportanceRun
from truecount.models import LabelShift, Model, Prior
from truecount.models.priors import Diagonal
from truecount.reading.names import group_name
from truecount.results import Posterior
from truecount.results.groups import groups_how
from truecount.results.table import how

SOLVED_TOGETHER = "# Solved together with other problems by infer_many; alone, it has other draws, just as good."
DRAWN_JOINTLY = (
    "# Drawn jointly with other groups by infer_many(..., joint=True); alone, it has other draws, and\n"
    "# shares that may differ a little: every group tells something about the confusion."
)
"""What to say of draws that the counts alone do not reproduce."""
OF_EACH = "one for each group, in the Python above"
"""What is said of a fact that groups do not share."""


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
    has_secrets
        Whether a password or a token was masked in the command.
    """

    command: str | None
    code: str
    facts: list[tuple[str, str]]
    has_secrets: bool = False


def repeat(posterior: Posterior, command: str | None = None) -> Repeat:
    """Say how to repeat this answer."""
    reason = f" Chosen because {posterior.run.reason}." if posterior.run.reason else ""
    seed = str(posterior.origin.seed)
    return _repeat([posterior], command, python(posterior), seed, how(posterior) + visible(reason))


def repeat_groups(posteriors: Mapping[Any, Posterior], command: str | None = None) -> Repeat:
    """Say how to repeat the answers of all groups."""
    code, each = python_of_groups(posteriors), list(posteriors.values())
    seed = str(each[0].origin.common_seed) if _is_one_call(each) else OF_EACH
    return _repeat(each, command, code, seed, groups_how(posteriors))


def _repeat(posteriors: Sequence[Posterior], command: str | None, code: str, seed: str, engine: str) -> Repeat:
    versions = [f"truecount {each.origin.version or 'unknown'}" for each in posteriors]
    facts = [
        ("Version", ", ".join(dict.fromkeys(versions))),
        ("Seed", seed),
        ("Engine", engine),
        *_beliefs([each.model for each in posteriors]),
    ]
    typed, has_secrets = (None, False) if command is None else masked_command(command)
    return Repeat(None if typed is None else visible(typed), code, facts, has_secrets)


def _common(facts: Iterable[str]) -> str:
    """Return what is the same for all groups."""
    different = set(facts)
    return different.pop() if len(different) == 1 else OF_EACH


def python(posterior: Posterior) -> str:
    """Return Python that draws the same again; where `infer_many` drew it with others, that it draws others is said.

    Counts are written as JSON, which any version reads; the prior and the engine as they are called.
    """
    lines = [
        *_notes([posterior]),
        "import truecount as tc",
        "",
        f"counts = {_counts(posterior)}",
        f"model = {_model(posterior.model)}",
        f"posterior = tc.infer(counts, model, {_options(posterior)})",
        "print(posterior)",
    ]
    return "\n".join(lines)


def python_of_groups(posteriors: Mapping[Any, Posterior]) -> str:
    """Return Python that draws all groups again: by one call where one call made them, else group by group."""
    keys, each = _keys(posteriors), list(posteriors.values())
    lines = [
        *([] if _is_one_call(each) else _notes(each)),
        *(["import datetime", ""] if any("datetime." in key for key in keys) else []),
        "import truecount as tc",
        "",
        *(_one_call(keys, each) if _is_one_call(each) else _one_by_one(keys, each)),
        "for group, posterior in posteriors.items():",
        '    print(group, posterior, sep="\\n")',
    ]
    return "\n".join(lines)


def _is_one_call(posteriors: Sequence[Posterior]) -> bool:
    """Whether `infer_many` made these posteriors, all that it made and in this order, as far as they tell."""
    calls = {(each.origin.common_seed, each.origin.engine, _model(each.model), _groups(each)) for each in posteriors}
    if len(calls) > 1:
        return False
    ((seed, _, _, joint),) = calls
    if seed is None or joint is not None:
        return joint == len(posteriors)
    return [each.origin.seed for each in posteriors] == own_seeds(seed, len(posteriors))


def _groups(posterior: Posterior) -> int | None:
    """How many groups were drawn together with this one, itself included."""
    return None if posterior.run.joint is None else posterior.run.joint.groups


def _one_call(keys: Sequence[str], posteriors: Sequence[Posterior]) -> list[str]:
    first = posteriors[0]
    joint = ["joint=True"] if first.run.joint else []
    options = [*_engine(first), f"seed={first.origin.common_seed}", *joint]
    return [
        *(_shared(keys, posteriors) if first.run.groups_sharing_labels else _own(keys, posteriors)),
        f"model = {_model(first.model)}",
        f"posteriors = tc.infer_many(groups, model, {', '.join(options)})",
    ]


def _shared(keys: Sequence[str], posteriors: Sequence[Posterior]) -> list[str]:
    """Write groups that share their labels."""
    first, sides = (
        posteriors[0].counts,
        ["unlabeled", *(["unlabeled_squares"] if posteriors[0].counts.is_weighted else [])],
    )
    lines = ["groups = tc.Groups(", f"    labeled={first.labeled.tolist()},"]
    for side in sides:
        rows = zip(keys, (getattr(each.counts, side).tolist() for each in posteriors), strict=True)
        lines += [f"    {side}={{", *(f"        {key}: {row}," for key, row in rows), "    },"]
    if first.labeled_squares is not None:
        lines.append(f"    labeled_squares={first.labeled_squares.tolist()},")
    return [*lines, f"    classes={list(first.classes)!r},", f"    outputs={list(first.outputs)!r},", ")"]


def _own(keys: Sequence[str], posteriors: Sequence[Posterior]) -> list[str]:
    """Write groups that have labels of their own."""
    rows = zip(keys, posteriors, strict=True)
    return ["groups = tc.Groups.of({", *(f"    {key}: {_counts(each)}," for key, each in rows), "})"]


def _one_by_one(keys: Sequence[str], posteriors: Sequence[Posterior]) -> list[str]:
    calls = [f"tc.infer({_counts(each)}, {_model(each.model)}, {_options(each)})" for each in posteriors]
    return ["posteriors = {", *(f"    {key}: {call}," for key, call in zip(keys, calls, strict=True)), "}"]


def _notes(posteriors: Sequence[Posterior]) -> list[str]:
    """Say where `infer` draws others than these."""
    runs = [each.run for each in posteriors]
    stacked = [SOLVED_TOGETHER] if any(isinstance(run, ImportanceRun) and run.is_stacked for run in runs) else []
    return [*stacked, *([DRAWN_JOINTLY] if any(run.joint for run in runs) else [])]


def _keys(groups: Iterable[Any]) -> list[str]:
    """Write groups as Python; where two would be written alike, all are numbered."""
    keys = [_literal(group) for group in groups]
    return keys if len(set(keys)) == len(keys) else [f"{number}" for number in range(1, len(keys) + 1)]


def _literal(group: Any) -> str:
    """Write a group as Python that gives it again; one that takes more than the standard library becomes text."""
    value: Any = plain_name(group)
    if type(value) is tuple:
        return f"({' '.join(f'{_literal(each)},' for each in value)})"
    is_plain = type(value) in (str, int, bool, NoneType, date) or (type(value) is float and isfinite(value))
    is_time = type(value) is datetime and (value.tzinfo is None or type(value.tzinfo) is timezone)
    return repr(value) if is_plain or is_time else repr(group_name(group))


def _beliefs(models: Sequence[Model]) -> list[tuple[str, str]]:
    """Name the priors, where all models have the same ones."""
    priors = [model.prior.to_dict() for model in models if isinstance(model, LabelShift)]
    if len(priors) == len(models):
        return [
            ("Prior of the shares", _common(_plainly(prior["prevalence"]) for prior in priors)),
            ("Prior of the confusion", _common(_plainly(prior["confusion"]) for prior in priors)),
            ("Known confusion", _common(_plainly(prior["known"] or "none") for prior in priors)),
        ]
    given = [model.to_dict().get("given_output") for model in models]
    return [("Prior of each output's classes", _common(_plainly(each or "the default of the model") for each in given))]


def _counts(posterior: Posterior) -> str:
    return f"tc.Counts.from_json({posterior.counts.to_json()!r})"


def _options(posterior: Posterior) -> str:
    """Write what `infer` is told beyond counts and model."""
    return ", ".join([*_engine(posterior), f"seed={posterior.origin.seed}"])


def _engine(posterior: Posterior) -> list[str]:
    return [f"engine=tc.{posterior.origin.engine}"] if posterior.origin.engine else []


def _model(model: Model) -> str:
    """Write a model as Python."""
    if isinstance(model, LabelShift):
        return f"tc.LabelShift({_prior(model.prior)})"
    given = model.to_dict()["given_output"]
    return f"tc.{type(model).__name__}({'' if given is None else f'given_output={given!r}'})"


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
