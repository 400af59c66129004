"""A result as one file: everything that is needed to ask it more questions, and no pickles."""

import ast
import json
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from math import inf
from os import PathLike
from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, Any, cast
from zipfile import BadZipFile

import numpy as np

from truecount import _check
from truecount._atomic import whole_file
from truecount._json import read_json
from truecount._types import Name
from truecount.counts import Counts, Ratings
from truecount.errors import InputError
from truecount.inference.draws import Draws
from truecount.inference.run import (
    STATUSES,
    ChainRun,
    ClosedForm,
    ImportanceRun,
    JointRun,
    QuadratureRun,
    Run,
    ScoreRun,
    status_of,
)
from truecount.models import Model, Prior
from truecount.models.priors import Diagonal
from truecount.models.register import MODELS
from truecount.results.export.provenance import Origin
from truecount.results.finding import ORDER, Finding
from truecount.results.raters import RaterRates

if TYPE_CHECKING:
    from truecount.results.posterior import Posterior

SCHEMA = "truecount.posterior/2"
BROKEN = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    EOFError,
    MemoryError,
    NotImplementedError,
    RuntimeError,
    BadZipFile,
    SyntaxError,
    TokenError,
    struct.error,
    zlib.error,
)
"""What reading a file that is broken, or made to do harm, may end in."""
RUNS: dict[str, type[Run]] = {
    kind.__name__: kind for kind in (Run, ImportanceRun, ChainRun, QuadratureRun, ClosedForm, ScoreRun)
}
"""Kinds of runs, by the name that a file has."""
WORDS = ("engine", "not_converged", "reason", "coordinates")
"""What a run has as text."""


def save(posterior: "Posterior", path: str | PathLike[str]) -> None:
    """Write a result to one ``.npz`` file, whole or not at all."""
    draws = posterior.draws
    about: dict[str, Any] = {
        "schema": SCHEMA,
        "corrected": True,
        "counts": posterior.counts.to_dict(),
        "model": {"name": posterior.model.name, **encoded_fields(posterior.model)},
        "findings": [finding.to_dict() for finding in posterior.findings],
        "origin": asdict(posterior.origin),
        "run": {"kind": type(draws.run).__name__, **asdict(draws.run)},
        "draws": {"stride": draws.stride, "chains": draws.chains},
    }
    about |= raters_about(posterior.raters)
    names = ("prevalence", "confusion", "effective", "rhat", "log_weights", "realized")
    arrays: dict[str, Any] = {name: value for name in names if (value := getattr(draws, name)) is not None}
    arrays |= raters_arrays(posterior.raters)
    with whole_file(path) as stream:
        np.savez(stream, about=np.array(json.dumps(about, default=as_python)), **arrays)


def raters_about(rated: RaterRates | None) -> dict[str, Any]:
    """Return what a file says of raters, if there are some."""
    if rated is None:
        return {}
    return {"raters": {"names": list(rated.raters), "items": rated.items.tolist(), "data": rated.data.to_dict()}}


def raters_arrays(rated: RaterRates | None) -> dict[str, Any]:
    """Return the draws of raters, if there are some."""
    return {} if rated is None else {"raters": rated.draws, "labeled_prevalence": rated.labeled_prevalence}


def read_raters(about: Mapping[str, Any], arrays: dict[str, Any], classes: Sequence[Name]) -> RaterRates | None:
    """Return the raters of a saved file, if it has some; their draws are no longer among the arrays."""
    if "raters" not in about:
        return None
    told, draws, shares = about["raters"], arrays.pop("raters"), arrays.pop("labeled_prevalence")
    names, size = tuple(map(str, told["names"])), len(classes)
    if draws.shape[1:] != (len(names), size, size) or shares.shape != (len(draws), size) or not _are_shares(draws):
        raise unsound("raters", "do not match the counts")
    return RaterRates(
        data=Ratings.from_dict(told["data"]),
        raters=names,
        draws=draws,
        labeled_prevalence=shares,
        items=np.array(told["items"], np.float64),
    )


def read(path: str | PathLike[str]) -> dict[str, Any]:
    """Return the fields of a `Posterior` from the file that `save` wrote; everything in it is checked."""
    return read_saved(path, SCHEMA, _fields)


def read_saved(
    path: str | PathLike[str], schema: str, fields: Callable[[Mapping[str, Any], dict[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    """Return what `fields` makes of a saved file, or say what is wrong with it."""
    try:
        with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        about = read_json(str(arrays.pop("about")))
        found = about["schema"]
    except OSError as error:
        raise _unreadable(path, schema, f"cannot be read ({error.strerror or error})") from error
    except BROKEN as error:
        raise _unreadable(path, schema, "is no saved posterior, or not a whole one") from error
    if found != schema:
        raise _unreadable(path, schema, f"has the schema {found!r:.60}")
    try:
        return fields(about, arrays)
    except InputError as error:
        raise _unreadable(path, schema, f"is not sound: {error.argument} {error.found}") from error
    except (KeyError, TypeError, AttributeError, ValueError, SyntaxError) as error:
        raise _unreadable(path, schema, f"is not whole ({error})") from error


def _unreadable(path: str | PathLike[str], schema: str, found: str) -> InputError:
    writer = "Posterior" if schema == SCHEMA else "GroupPosterior"
    return InputError(str(path), found, f"this version reads {schema!r}", f"Write the file with {writer}.save()")


def _fields(about: Mapping[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
    counts = Counts.from_dict(about["counts"])
    raters = read_raters(about, arrays, counts.classes)
    draws = Draws(**arrays, **about["draws"], run=_run(about["run"], len(counts.classes)))
    _require_sound_draws(draws, counts)
    return {
        "draws": draws,
        "counts": counts,
        "model": _model(about["model"]),
        "findings": tuple(map(read_finding, about["findings"])),
        "origin": read_origin(about["origin"]),
        "raters": raters,
    }


def _require_sound_draws(draws: Draws, counts: Counts) -> None:
    """Refuse draws that are no shares, or not those of these counts."""
    n_classes, n_outputs = counts.labeled.shape
    n_draws, stride = len(draws.prevalence), _check.whole_number("stride", draws.stride, least=1)
    chains = 1 if draws.chains is None else _check.whole_number("chains", draws.chains, least=1)
    kept = -(-n_draws // stride)
    shapes = {"prevalence": (n_draws, n_classes), "confusion": (kept, n_classes, n_outputs), "effective": (n_classes,)}
    shapes |= {} if draws.rhat is None else {"rhat": (n_classes,)}
    shapes |= {} if draws.realized is None else {"realized": (n_draws, n_classes)}
    for name, shape in shapes.items():
        array = getattr(draws, name)
        if array.shape != shape or array.dtype.kind not in "fiu" or not n_draws or n_draws % chains:
            raise unsound(name, "do not match the counts")
    for name in ("prevalence", "confusion", "realized"):
        array = getattr(draws, name)
        if array is not None and not _are_shares(array):
            raise unsound(name, "hold no shares, which are 0 or more and add up to 1")
    if not (draws.effective > 0).all():
        raise unsound("effective", "hold no effective sample sizes")
    weights = draws.log_weights
    if weights is not None and (weights.ndim != 1 or weights.dtype.kind != "f" or np.isnan(weights).any()):
        raise unsound("log_weights", "hold no logarithms of weights")
    if draws.run.status != status_of(draws.run.not_converged, draws.rhat):
        raise unsound("status", f"is {draws.run.status!r}, and R-hat says otherwise")


def _are_shares(array: Any) -> bool:
    return bool((array >= 0).all() and np.allclose(array.sum(axis=-1), 1, rtol=0, atol=1e-6))


def _run(values: Mapping[str, Any], n_classes: int) -> Run:
    """Return how draws were made; what is printed must be text, and what is counted with must be numbers."""
    told = dict(values)
    kind, modes, joint = RUNS[told.pop("kind")], told.pop("modes"), told.pop("joint")
    for name in WORDS:
        _require_text(name, told.get(name))
    numbers = {name: told[name] for name in told if name not in WORDS}
    if told["engine"] is None or numbers.pop("status") not in STATUSES:
        raise unsound("run", f"is {values!r:.60}")
    for name, value in {**numbers, **(joint or {})}.items():
        if not (value is None or isinstance(value, int | float)):
            raise unsound(name, f"is {value!r:.60}")
    if joint is not None:
        joint = JointRun(**joint)
        _check.whole_number("groups", joint.groups, least=1)
        _check.whole_number("group", joint.group, least=0)
    found = np.array(modes, dtype=np.float64)
    if found.size and found.shape != (len(found), n_classes):
        raise unsound("modes", "do not match the counts")
    return kind(**told, modes=tuple(map(tuple, found.tolist())), joint=joint)


def read_origin(values: Mapping[str, Any]) -> Origin:
    """Return what was asked for; the seed and the engine are printed, and written as Python on the page."""
    origin = Origin(**values)
    _check.whole_number("seed", origin.seed, least=0)
    if origin.common_seed is not None:
        _check.whole_number("common_seed", origin.common_seed, least=0)
    _require_text("version", origin.version)
    _require_text("engine", origin.engine)
    if origin.engine is not None and not _is_plain_call(ast.parse(origin.engine, mode="eval").body):
        raise unsound("engine", f"is {origin.engine!r:.60}")
    return origin


def _require_text(name: str, value: Any) -> None:
    if value is not None and not (isinstance(value, str) and value.isprintable()):
        raise unsound(name, f"is {value!r:.60}")


def _is_plain_call(node: ast.expr) -> bool:
    """Whether Python is a call such as ``Auto(draws=4000)``, with nothing but constants and such calls in it."""
    if not isinstance(node, ast.Call):
        return isinstance(node, ast.Constant) or (
            isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)
        )
    return (
        isinstance(node.func, ast.Name) and not node.args and all(_is_plain_call(each.value) for each in node.keywords)
    )


def read_finding(values: Mapping[str, Any]) -> Finding:
    """Return a finding; its words must be text."""
    finding = Finding(**{name: value for name, value in values.items() if name != "docs"})
    words = (finding.code, finding.message, finding.advice)
    if finding.severity not in ORDER or not all(isinstance(word, str) for word in words):
        raise unsound("findings", f"hold {values!r:.60}")
    if not isinstance(finding.numbers, Mapping):
        raise unsound("findings", f"hold {finding.numbers!r:.60}")
    return finding


def unsound(argument: str, found: str) -> InputError:
    """Return the error for a value that a saved file cannot have."""
    return InputError(argument, found, "a saved posterior has others", "Write the file with save()")


def as_python(value: Any) -> Any:
    """Return NumPy's values as Python's."""
    return value.tolist()


def _model(values: Mapping[str, Any]) -> Model:
    told = dict(values)
    kind: Any = MODELS[told.pop("name")]
    return cast("Model", kind(**{name: decoded(value) for name, value in told.items()}))


def encoded_fields(value: Any) -> dict[str, Any]:
    """Return the fields of a model as JSON can hold them."""
    return {field.name: _encoded(getattr(value, field.name)) for field in fields(value)}


def _encoded(value: Any) -> Any:
    """Keep the kind of a name, which a JSON object would turn into text."""
    if isinstance(value, Prior):
        return {"prior": encoded_fields(value)}
    if isinstance(value, Diagonal):
        return {"diagonal": value.strength}
    if value == inf:
        return {"infinite": True}
    if isinstance(value, Mapping):
        return {"by_name": [[name, _encoded(entry)] for name, entry in value.items()]}
    return value


def decoded(value: Any) -> Any:
    """Return what `encoded_fields` was given."""
    if not isinstance(value, Mapping):
        return value
    if "prior" in value:
        return Prior(**{name: decoded(entry) for name, entry in value["prior"].items()})
    if "infinite" in value:
        return inf
    if "diagonal" in value:
        return Diagonal(value["diagonal"])
    return {name: decoded(entry) for name, entry in value["by_name"]}
