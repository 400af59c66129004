"""Everything that is needed to reproduce an answer."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import isnan
from typing import TYPE_CHECKING, Any

from truecount._secrets import masked_command
from truecount._wording import visible
from truecount.models import ErringLabels, IndependentClassifiers, LabelShift, Model, Prior, TargetLabels
from truecount.models.priors import Diagonal
from truecount.results import Posterior
from truecount.results.summary import USUAL_LOOK, Look, how

if TYPE_CHECKING:
    from truecount.results.groups.summary import GroupSummary

SOLVED_TOGETHER = "# Solved together with other problems by infer_many; alone, it has other draws, just as good."
FROM_SCORES = (
    "# Drawn from the scores themselves by infer(scores); these counts, of each item's most probable class,\n"
    "# give a wider answer."
)
"""What to say of draws that the counts alone do not reproduce."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """How to reproduce an answer.

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


def repeat(posterior: Posterior, command: str | None = None, look: Look = USUAL_LOOK) -> Repeat:
    """Say how to reproduce this answer."""
    reason = f" Chosen because {posterior.run.reason}." if posterior.run.reason else ""
    facts = [
        ("Version", f"truecount {posterior.origin.version or 'unknown'}"),
        ("Seed", str(posterior.origin.seed)),
        ("Engine", how(posterior) + visible(reason)),
        *beliefs(posterior.model),
    ]
    typed, has_secrets = (None, False) if command is None else masked_command(command)
    return Repeat(None if typed is None else visible(typed), python(posterior, look), facts, has_secrets)


def python(posterior: Posterior, look: Look = USUAL_LOOK) -> str:
    """Return Python that draws the same again; where `infer_many` drew it with others, that it draws others is said.

    Counts are written as JSON, which any version reads; the prior and the engine as they are called. Intervals are
    printed as they are shown.
    """
    engine = f"engine=tc.{posterior.origin.engine}, " if posterior.origin.engine else ""
    lines = [
        *_notes(posterior),
        "import truecount as tc",
        "",
        f"counts = {_counts(posterior)}",
        f"model = {model_in_python(posterior.model)}",
        f"posterior = tc.infer(counts, model, {engine}seed={posterior.origin.seed})",
        printed_in_python("posterior", look_in_python(look)),
    ]
    return "\n".join(lines)


def look_in_python(look: "Look | GroupSummary") -> list[str]:
    """Write which intervals are shown as arguments, where they are not the usual ones."""
    names = [field.name for field in fields(USUAL_LOOK)]
    return [f"{name}={getattr(look, name)!r}" for name in names if getattr(look, name) != getattr(USUAL_LOOK, name)]


def printed_in_python(name: str, arguments: Sequence[str]) -> str:
    """Write how an answer is printed."""
    return f"print({name}.to_text({', '.join(arguments)}))" if arguments else f"print({name})"


def _notes(posterior: Posterior) -> list[str]:
    """Say where `infer` draws others than these."""
    run = posterior.run
    return [*([SOLVED_TOGETHER] if run.is_stacked else []), *([FROM_SCORES] if run.is_of_scores else [])]


def beliefs(model: Model) -> list[tuple[str, str]]:
    """Name the priors of a model."""
    if isinstance(model, LabelShift):
        prior = model.prior.to_dict()
        return [
            ("Prior of the shares", _plainly(prior["prevalence"])),
            ("Prior of the confusion", _plainly(prior["confusion"])),
            ("Known confusion", _plainly(prior["known"] or "none")),
            *_of_target(model),
        ]
    given = model.to_dict().get("given_output")
    return [("Prior of each output's classes", _plainly(given or "the default of the model"))]


def _of_target(model: LabelShift) -> list[tuple[str, str]]:
    """Name the labels of the population itself, and what those from elsewhere may be worth."""
    if not isinstance(model, TargetLabels):
        return []
    worth = "learned" if model.worth is None else f"{model.worth:g} labels"
    rows = json.dumps([list(row) for row in model.labeled])
    return [("Labels of the population", rows), ("Worth of a class's labels from elsewhere", worth)]


def _counts(posterior: Posterior) -> str:
    if posterior.raters is not None:
        return f"tc.Ratings.from_json({posterior.raters.data.to_json()!r})"
    return f"tc.Counts.from_json({posterior.counts.to_json()!r})"


def model_in_python(model: Model) -> str:
    """Write a model as Python."""
    if isinstance(model, TargetLabels):
        worth = "" if model.worth is None else f", worth=float({str(model.worth)!r})"
        table = f"labeled={[list(row) for row in model.labeled]}, counted={model.counted}{worth}"
        return f"tc.TargetLabels(prior={prior_in_python(model.prior)}, {table})"
    if isinstance(model, ErringLabels):
        options = [f"{name}={value!r}" for name, value in model.options().items()]
        return f"tc.ErringLabels({', '.join([prior_in_python(model.prior), *options])})"
    if isinstance(model, IndependentClassifiers):
        return f"tc.IndependentClassifiers({prior_in_python(model.prior)}, rows={model.rows!r})"
    if isinstance(model, LabelShift):
        return f"tc.LabelShift({prior_in_python(model.prior)})"
    given = model.to_dict()["given_output"]
    return f"tc.{type(model).__name__}({'' if given is None else f'given_output={given!r}'})"


def prior_in_python(prior: Prior) -> str:
    """Write a prior as Python."""
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
