"""An answer for many groups as one file: everything that is needed to ask it more questions, and no pickles."""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from datetime import date, datetime
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from truecount import _check
from truecount._atomic import whole_file
from truecount.counts.groups import Groups
from truecount.inference.group_draws import GroupDraws
from truecount.models import Cut, ErringLabels, Independent, IndependentClassifiers, LabelShift, Pooled, Varying, Walk
from truecount.results.export.storage import (
    as_python,
    decoded,
    encoded_fields,
    raters_about,
    raters_arrays,
    read_finding,
    read_origin,
    read_raters,
    read_saved,
    unsound,
)

if TYPE_CHECKING:
    from truecount.results.groups.posterior import GroupPosterior

SCHEMA = "truecount.group_posterior/1"
CHOICES: dict[str, Any] = {kind.__name__: kind for kind in (Pooled, Walk, Independent, Varying, Cut)}
"""How groups and their confusion vary, by the name that a file has."""
SHARES = ("prevalence", "confusion", "common_rows")


def save(answer: "GroupPosterior", path: str | PathLike[str]) -> None:
    """Write an answer to one ``.npz`` file, whole or not at all."""
    draws = {field.name: getattr(answer.draws, field.name) for field in fields(answer.draws)}
    arrays: dict[str, Any] = {name: value for name, value in draws.items() if isinstance(value, np.ndarray)}
    about: dict[str, Any] = {
        "schema": SCHEMA,
        "corrected": True,
        "data": answer.data.to_dict(),
        "keys": [_encoded(group) for group in answer.data.groups],
        "studies": None if answer.data.studies is None else [_encoded(study) for study in answer.data.studies],
        "prior": encoded_fields(answer.model)["prior"],
        "groups": _encoded(answer.model.groups),
        "confusion": _encoded(answer.model.confusion),
        "findings": [finding.to_dict() for finding in answer.findings],
        "origin": asdict(answer.origin),
        "draws": {name: value for name, value in draws.items() if name not in arrays},
        **raters_about(answer.raters),
    }
    if isinstance(answer.model, IndependentClassifiers):
        about["independent"] = {"rows": answer.model.rows}
    if isinstance(answer.model, ErringLabels):
        about["raters"]["options"] = _encoded(answer.model.options())
    arrays |= raters_arrays(answer.raters)
    with whole_file(path) as stream:
        np.savez(stream, about=np.array(json.dumps(about, default=as_python)), **arrays)


def read(path: str | PathLike[str]) -> dict[str, Any]:
    """Return the fields of a `GroupPosterior` from the file that `save` wrote; everything in it is checked."""
    return read_saved(path, SCHEMA, _fields)


def _fields(about: Mapping[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
    studies = about["studies"]
    raters = read_raters(about, arrays, about["data"]["classes"])
    options = {} if raters is None else _decoded(about["raters"]["options"])
    kind: type[LabelShift] = LabelShift if raters is None else ErringLabels
    if "independent" in about:
        kind, options = IndependentClassifiers, about["independent"]
    data = Groups.from_dict(about["data"]).renamed(
        [_decoded(key) for key in about["keys"]], None if studies is None else [_decoded(study) for study in studies]
    )
    draws = GroupDraws(**arrays, **about["draws"])
    _require_sound(draws, data)
    return {
        "draws": draws,
        "data": data,
        "model": kind(
            decoded(about["prior"]), groups=_decoded(about["groups"]), confusion=_decoded(about["confusion"]), **options
        ),
        "raters": raters,
        "findings": tuple(map(read_finding, about["findings"])),
        "origin": read_origin(about["origin"]),
    }


def _require_sound(draws: GroupDraws, data: Groups) -> None:
    """Refuse draws that are no shares, or not those of these groups."""
    number, chains = len(draws.prevalence), _check.whole_number("chains", draws.chains, least=1)
    rows = (len(data.classes), len(data.outputs))
    shapes: dict[str, Any] = {
        "prevalence": [(number, len(data), len(data.classes))],
        "confusion": [(number, *rows), (number, len(data), *rows)],
        "common_rows": [(number, *rows)],
    }
    for field in fields(draws):
        array = getattr(draws, field.name)
        if not isinstance(array, np.ndarray):
            if not (array is None or (isinstance(array, int | float) and np.isfinite(array))):
                raise unsound(field.name, f"is {array!r:.60}")
            continue
        is_fitting = array.ndim > 1 and len(array) == number and number and not number % chains
        if array.dtype.kind != "f" or not is_fitting or array.shape not in shapes.get(field.name, [array.shape]):
            raise unsound(field.name, "do not match the counts")
        if not np.isfinite(array).all():
            raise unsound(field.name, "hold numbers that are not finite")
    for name in SHARES:
        array = getattr(draws, name)
        if array is not None and not ((array >= 0).all() and np.allclose(array.sum(axis=-1), 1, rtol=0, atol=1e-6)):
            raise unsound(name, "hold no shares, which are 0 or more and add up to 1")


def _encoded(value: Any) -> Any:
    """Keep the kinds that JSON lacks: times, keys of several parts, mappings by such keys, and choices."""
    if type(value).__name__ in CHOICES:
        values = {field.name: _encoded(getattr(value, field.name)) for field in fields(value)}
        return {"choice": type(value).__name__, "fields": values}
    if isinstance(value, datetime):
        return {"time": value.isoformat()}
    if isinstance(value, date):
        return {"date": value.isoformat()}
    if isinstance(value, tuple | list):
        return {"tuple": [_encoded(part) for part in value]}
    if isinstance(value, Mapping):
        return {"by_name": [[_encoded(name), _encoded(entry)] for name, entry in value.items()]}
    return value


def _decoded(value: Any) -> Any:
    match value:
        case {"choice": name, "fields": entries}:
            return CHOICES[name](**{field: _decoded(entry) for field, entry in entries.items()})
        case {"time": text}:
            return datetime.fromisoformat(text)
        case {"date": text}:
            return date.fromisoformat(text)
        case {"tuple": parts}:
            return tuple(_decoded(part) for part in parts)
        case {"by_name": entries}:
            return {_decoded(name): _decoded(entry) for name, entry in entries}
        case _:
            return value
