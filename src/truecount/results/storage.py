"""A result as one file: everything that is needed to ask it more questions, and no pickles."""

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from truecount._atomic import whole_file
from truecount.counts import Counts
from truecount.errors import InputError
from truecount.inference.draws import Draws
from truecount.models import Prior
from truecount.models.priors import Diagonal
from truecount.results.finding import Finding

if TYPE_CHECKING:
    from truecount.results.posterior import Posterior

SCHEMA = "truecount.posterior/1"
FIELDS_OF_PRIOR = ("prevalence", "confusion", "known", "given_output")


def save(posterior: "Posterior", path: str | PathLike[str]) -> None:
    """Write a result to one ``.npz`` file, whole or not at all."""
    draws = posterior.draws
    about = {
        "schema": SCHEMA,
        "counts": posterior.counts.to_dict(),
        "prior": _prior_to_plain(posterior.prior),
        "findings": [finding.to_dict() for finding in posterior.findings],
        "provenance": dict(posterior.provenance),
        "draws": {"stride": draws.stride, "chains": draws.chains, "record": dict(draws.record)},
    }
    names = ("prevalence", "confusion", "effective", "rhat", "log_weights")
    arrays: dict[str, Any] = {name: value for name in names if (value := getattr(draws, name)) is not None}
    with whole_file(path) as stream:
        np.savez(stream, about=np.array(json.dumps(about, default=_plain)), **arrays)


def read(path: str | PathLike[str]) -> dict[str, Any]:
    """Give the fields of a `Posterior` from the file that `save` wrote."""
    try:
        with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        about = json.loads(str(arrays.pop("about")))
        found = about["schema"]
    except OSError as error:
        raise _unreadable(path, f"cannot be read ({error.strerror or error})") from error
    except (ValueError, KeyError, TypeError, AttributeError, BadZipFile, EOFError) as error:
        raise _unreadable(path, "is no saved posterior, or not a whole one") from error
    if found != SCHEMA:
        raise _unreadable(path, f"has the schema {found!r}")
    return _fields(path, about, arrays)


def _unreadable(path: str | PathLike[str], found: str) -> InputError:
    return InputError(str(path), found, f"this version reads {SCHEMA!r}", "Write the file with Posterior.save()")


def _fields(path: str | PathLike[str], about: Mapping[str, Any], arrays: Mapping[str, Any]) -> dict[str, Any]:
    try:
        counts = Counts.from_dict(about["counts"])
        fields = {
            "draws": Draws(**arrays, **about["draws"]),
            "counts": counts,
            "prior": _prior_from_plain(about["prior"]),
            "findings": tuple(Finding(**finding) for finding in about["findings"]),
            "provenance": about["provenance"],
        }
    except (KeyError, TypeError) as error:
        raise _unreadable(path, f"is not whole ({error})") from error
    if (
        arrays["prevalence"].shape[1:] != (len(counts.classes),)
        or arrays["confusion"].shape[1:] != counts.labeled.shape
    ):
        raise _unreadable(path, "has draws that do not match its counts")
    return fields


def _plain(value: Any) -> Any:
    """Give NumPy's values as Python's."""
    return value.tolist()


def _prior_to_plain(prior: Prior) -> dict[str, Any]:
    return {name: _encoded(getattr(prior, name)) for name in FIELDS_OF_PRIOR}


def _prior_from_plain(values: Mapping[str, Any]) -> Prior:
    return Prior(**{name: _decoded(values[name]) for name in FIELDS_OF_PRIOR})


def _encoded(value: Any) -> Any:
    """Keep the kind of a name, which a JSON object would turn into text."""
    if isinstance(value, Diagonal):
        return {"diagonal": value.strength}
    if isinstance(value, Mapping):
        return {"by_name": [[name, _encoded(entry)] for name, entry in value.items()]}
    return value


def _decoded(value: Any) -> Any:
    if isinstance(value, Mapping) and "diagonal" in value:
        return Diagonal(value["diagonal"])
    if isinstance(value, Mapping):
        return {name: _decoded(entry) for name, entry in value["by_name"]}
    return value
