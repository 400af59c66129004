"""What the page shows: counts, a model and a verb of the library become numbers, sentences and pictures."""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from truecount.app.picture import tree
from truecount.app.request import Request
from truecount.cli.estimate import as_read, quiet_infer
from truecount.cli.groups import infer_groups, questions_of, variation_of
from truecount.cli.model import with_studies
from truecount.cli.options import named_class, read_share, read_whole
from truecount.counts import Counts, Groups, Ratings
from truecount.errors import InputError
from truecount.inference import Auto
from truecount.models import LabelShift, Model
from truecount.models.erring_labels import behind_labels
from truecount.page.answer import content, render
from truecount.page.frame import Drawing, drawing_of
from truecount.page.groups import group_content, render_groups
from truecount.page.reproduce import model_in_python, python
from truecount.results import Posterior
from truecount.results.export.values import plain, rows_of, to_dict
from truecount.results.groups import export as groups_export
from truecount.results.groups.posterior import GroupPosterior
from truecount.results.groups.summary import GroupSummary
from truecount.results.summary import Table

MOST_LABELS = 10**9
OF_ANSWER = ("interval", "of_interest", "baseline", "independent")
"""Options that only an estimate has."""
FILE = "file."
"""How the kind of what is made begins, where that is a file to save."""
ROGAN_GLADEN = "The estimate of Rogan and Gladen, with the interval of Lang and Reiczigel."
METHODS = {
    "cc": "classify and count, which corrects nothing",
    "acc": "adjusted count",
    "invariantratio": "the invariant ratio estimator",
    "bbse": "black-box shift estimation",
    "rlls": "regularized learning under label shift",
    "map": "the mode of the posterior",
}
"""What the abbreviations of the field stand for."""
ONE = "it is asked of one population"


def answer(values: Any) -> dict[str, Any]:
    """Return all that the page shows of an answer; of groups, other sections."""
    request = Request.read(values)
    data, model = request.data()
    if isinstance(_counts(data), Groups):
        return _of_groups(request, data, model)
    posterior = _inferred(request, data, model)
    shown = content(posterior, request.look, classes=_classes(request, posterior), command=request.shell())
    return {
        "kind": "one",
        "classes": list(map(str, posterior.classes)),
        "numbers": to_dict(posterior, request.look),
        **{name: shaped(value) for name, value in shown.items()},
    }


def _counts(data: Counts | Groups | Ratings) -> Counts | Groups:
    return data.counts if isinstance(data, Ratings) else data


def _inferred(request: Request, data: Any, model: Model) -> Posterior:
    posterior = quiet_infer(data, model, Auto(), request.seed_number)
    return as_read(posterior, request.interval)


def _classes(request: Request, posterior: Posterior) -> tuple[Any, ...] | None:
    if request.of_interest is None:
        return None
    return (named_class("--class", request.of_interest, posterior.classes),)


def _of_groups(request: Request, data: Any, model: Model) -> dict[str, Any]:
    found, summary = _inferred_groups(request, data, model)
    return {
        "kind": "groups",
        "classes": list(map(str, summary.classes)),
        "groups": list(map(str, summary.names)),
        "numbers": groups_export.to_dict(summary, found.data),
        **{name: shaped(value) for name, value in group_content(found, summary, request.shell()).items()},
    }


def _inferred_groups(request: Request, data: Any, model: Model) -> tuple[GroupPosterior, GroupSummary]:
    """Infer as the command does: the same model of the groups, the same questions."""
    groups: Any = behind_labels(data) if isinstance(data, Ratings) else data
    model = with_studies(model, groups, request.groups, is_survey=request.survey is not None)
    groups, variation = variation_of(request.groups, groups)
    questions = questions_of(request.groups, groups, request.of_interest)
    inferred_from = data if isinstance(data, Ratings) else groups
    found = infer_groups(inferred_from, replace(model, groups=variation), Auto(), request.seed_number)
    look = request.look
    return found, found.summary(look.level, kind=look.kind, target=look.target, questions=questions)


def compare(values: Any) -> dict[str, Any]:
    """Return the estimators of the field beside the posterior; of a test Rogan and Gladen's, alone for known rates."""
    from truecount.api.points import compare as compared
    from truecount.plots.against import draw_side_by_side, methods_data

    request, counts, model = _one(values)
    if request.survey is not None and request.survey.published():
        needed = "the estimators of the field take counts of the test, or rates that are known"
        raise InputError("a range", "has no estimator beside the posterior", needed, "Write counts such as 103/122")
    of_test = None if request.survey is None else _rogan_gladen(request, counts, model)
    if of_test is not None and isinstance(model, LabelShift) and model.prior.known is not None:
        return of_test
    level = request.look.level
    found = compared(counts, level=level, seed=request.seed_number)
    about = "A row for each method. The numbers are in the table."
    picture = drawing_of("methods", draw_side_by_side, methods_data(found), "Estimators beside the posterior", about)
    hidden = ("design", "prior_confusion", *OF_ANSWER)
    table = replace(found.table(), findings=(), how="")
    names = "; ".join(f"{row[0]}: {METHODS[row[0]]}" for row in table.rows if row[0] in METHODS)
    return {
        "table": shaped(table),
        "notes": [f"{names}.", *found.notes()],
        "picture": shaped(picture),
        "shell": request.shell("estimate", "--all-methods", without=hidden),
        "python": _python(request, counts, f"print(tc.compare(counts, level={level}, seed={request.seed_number}))"),
        "of_test": of_test,
    }


def _rogan_gladen(request: Request, counts: Counts, model: Model) -> dict[str, Any]:
    """Return the corrected share of a test, by the rates that are known or were counted."""
    from truecount.api.points import estimate
    from truecount.cli.methods import known_rates
    from truecount.estimators.binary import RoganGladen

    known = model.prior.known if isinstance(model, LabelShift) else None
    rates = {} if known is None else known_rates(np.array(known))
    method = RoganGladen(level=request.look.level, **rates)
    found = estimate(counts, method)
    settings = ", ".join(f"{name}={value}" for name, value in {"level": method.level, **rates}.items())
    return {
        "table": shaped(replace(found.table(), findings=())),
        "notes": [ROGAN_GLADEN, *(finding.message for finding in found.findings)],
        "picture": None,
        "shell": request.shell(
            "estimate", "--method", method.name, without=("design", "seed", "prior_confusion", *OF_ANSWER)
        ),
        "python": _python(request, counts, f"print(tc.estimate(counts, tc.estimators.RoganGladen({settings})))"),
    }


def drift(values: Any) -> dict[str, Any]:
    """Return intervals that hold although every row of the confusion may have moved so far."""
    from truecount.api.trust import sensitivity

    request, counts, model = _one(values)
    size = read_share("drift", str(values.get("drift", "")), "Write 5%")
    posterior, level = _inferred(request, counts, model), request.look.level
    found = sensitivity(posterior, size, level=level, seed=request.seed_number)
    call = f"print(tc.sensitivity(posterior, {size:g}, level={level}, seed={request.seed_number}))"
    return {
        "drift": size,
        "rows": [
            {"class": str(name), "now": now.tolist(), "drifted": ends.tolist(), "mean": float(mean)}
            for name, now, ends, mean in zip(
                posterior.classes, posterior.interval(level), found.interval[0], posterior.mean, strict=True
            )
        ],
        "shell": request.shell("check", "--drift", f"{100 * size:g}%", without=OF_ANSWER),
        "python": f"{_python_of(posterior)}\n{call}",
    }


def plan(values: Any) -> dict[str, Any]:
    """Return what more labels would give, or how many are needed for a narrower interval."""
    from truecount.api.plan import plan as planned
    from truecount.planning.goal import Goal
    from truecount.plots.plan import draw_plan, plan_data

    request = Request.read(values)
    counts, model = request.data()
    if isinstance(counts, Ratings):
        raise _of_raters()
    level, seed = request.look.level, request.seed_number
    if values.get("half_width"):
        share = read_share("half_width", str(values["half_width"]), "Write 3%")
        asked: dict[str, Any] = {"goal": Goal.narrow(share)}
        words, call = ["--half-width", f"{100 * share:g}%"], f"goal=tc.Goal.narrow({share:g})"
    else:
        labels = read_whole("labels", str(values.get("labels", "")), least=0, most=MOST_LABELS, usual=100)
        asked, words, call = {"labels": labels}, ["--labels", str(labels)], f"labels={labels}"
    found = planned(counts, model, level=level, seed=seed, **asked)
    drawn = None
    if found.curve is not None:
        about = "The numbers are in the table of costs."
        drawn = drawing_of("plan", draw_plan, plan_data(found), "Width against cost", about)
    line = f"print(tc.plan(counts, model, {call}, level={level}, seed={seed}))"
    return {
        "headline": found.headline,
        "half_width": found.half_width,
        "tables": [shaped(replace(table, headline="", findings=())) for table in found.tables()],
        "sentences": [finding_words(each) for each in found.sentences],
        "picture": shaped(drawn),
        "shell": request.shell("plan", *words, without=OF_ANSWER),
        "python": _python(request, counts, line, model),
    }


def finding_words(sentence: str) -> str:
    """Return a sentence in the words of the page."""
    from truecount._advice import Advice

    return sentence.words("plan").on_page() if isinstance(sentence, Advice) else sentence


def save(values: Any) -> tuple[str, bytes]:
    """Return the kind and the bytes of a file: the report as one page, a picture, a table, or JSON."""
    request, ending = Request.read(values), str(values.get("format"))
    makers = {
        "html": _as_html,
        "json": _as_json,
        "csv": _as_csv,
        "png": _as_picture,
        "svg": _as_picture,
        "pdf": _as_picture,
    }
    if ending not in makers:
        raise InputError(
            "format", f"is {ending!r:.20}", f"it must be one of {', '.join(makers)}", "Choose one of these"
        )
    data, model = request.data()
    if isinstance(_counts(data), Groups):
        return f"{FILE}{ending}", makers[ending](request, *_inferred_groups(request, data, model), ending)
    return f"{FILE}{ending}", makers[ending](request, _inferred(request, data, model), None, ending)


def _as_html(request: Request, found: Any, summary: GroupSummary | None, _: str) -> bytes:
    if summary is not None:
        page = render_groups(found, summary, command=request.shell())
    else:
        page = render(found, request.look, classes=_classes(request, found), command=request.shell())
    return page.encode(errors="backslashreplace")


def _as_json(request: Request, found: Any, summary: GroupSummary | None, _: str) -> bytes:
    values = to_dict(found, request.look) if summary is None else groups_export.to_dict(summary, found.data)
    return (json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode(errors="backslashreplace")


def _as_csv(request: Request, found: Any, summary: GroupSummary | None, _: str) -> bytes:
    from truecount.results.export.frame import to_csv

    rows = rows_of(found, request.look) if summary is None else groups_export.rows_of(summary)
    return to_csv(rows).encode(errors="backslashreplace")


def _as_picture(request: Request, found: Any, summary: GroupSummary | None, ending: str) -> bytes:
    from truecount.cli.pictures import CORRECTED, encoded, no_answer, shares
    from truecount.plots.groups import groups as draw
    from truecount.results.groups.table import refusal

    path = f"shares.{ending}"
    if summary is None:
        return shares(found, request.look, _classes(request, found), path)
    ax = draw(summary) if summary.has_answer else no_answer(refusal(summary))
    return encoded(ax, path, flags=CORRECTED)


def _one(values: Any) -> tuple[Request, Counts, Model]:
    """Return a request and its data that are of one population: of groups, the one that is named, by itself."""
    request = Request.read(values)
    counts, model = request.data()
    if isinstance(counts, Groups):
        request = request.of_group(str(values.get("group", "")), variation_of(request.groups, counts)[0])
        counts, model = request.data()
    if isinstance(counts, Ratings):
        raise _of_raters()
    if isinstance(counts, Groups):
        raise InputError("groups", "are there", ONE, "Choose one of them")
    return request, counts, model


def _of_raters() -> InputError:
    needed = "it is asked of labels that are right, and those of several raters may be wrong"
    return InputError("labels", "are of several raters", needed, "Choose one column of true classes to ask it")


def _python(request: Request, counts: Counts | Groups, call: str, model: Model | None = None) -> str:
    """Return Python that makes counts, and a model where one is used, and the call."""
    made = f"tc.{type(counts).__name__}.from_json({counts.to_json()!r})"
    lines = ["import truecount as tc", "", f"counts = {made}"]
    return "\n".join([*lines, *([] if model is None else [f"model = {model_in_python(model)}"]), call])


def _python_of(posterior: Posterior) -> str:
    return python(posterior).removesuffix("\nprint(posterior)")


def shaped(value: Any) -> Any:
    """Return what the page is made of as plain values for JSON."""
    if isinstance(value, Table):
        return {name: shaped(getattr(value, name)) for name in ("header", "rows", "headline", "note", "how")} | {
            "on_left": list(value.on_left)
        }
    if isinstance(value, Drawing):
        return tree(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: shaped(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, str):
        return str(value)
    if isinstance(value, list | tuple):
        return [shaped(each) for each in value]
    if isinstance(value, Mapping):
        return {str(name): shaped(each) for name, each in value.items()}
    return plain(value)


TASKS: Mapping[str, Callable[[Any], Any]] = {
    "answer": answer,
    "compare": compare,
    "drift": drift,
    "plan": plan,
    "save": save,
}
