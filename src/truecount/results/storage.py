"""A result as one file: everything that is needed to ask it more questions, and no pickles."""

import ast
import json
import struct
import zlib
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from truecount import _check
from truecount._atomic import whole_file
from truecount._json import read_json
from truecount.counts import Counts
from truecount.errors import InputError
from truecount.inference.draws import Draws
from truecount.models import Prior
from truecount.models.priors import Diagonal
from truecount.results.finding import ORDER, Finding

if TYPE_CHECKING:
    from truecount.results.posterior import Posterior

SCHEMA = "truecount.posterior/1"
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
    """Return the fields of a `Posterior` from the file that `save` wrote; nothing in it is taken on trust."""
    try:
        with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        about = read_json(str(arrays.pop("about")))
        found = about["schema"]
    except OSError as error:
        raise _unreadable(path, f"cannot be read ({error.strerror or error})") from error
    except BROKEN as error:
        raise _unreadable(path, "is no saved posterior, or not a whole one") from error
    if found != SCHEMA:
        raise _unreadable(path, f"has the schema {found!r:.60}")
    try:
        return _fields(about, arrays)
    except InputError as error:
        raise _unreadable(path, f"is not sound: {error.argument} {error.found}") from error
    except (KeyError, TypeError, AttributeError, ValueError, SyntaxError) as error:
        raise _unreadable(path, f"is not whole ({error})") from error


def _unreadable(path: str | PathLike[str], found: str) -> InputError:
    return InputError(str(path), found, f"this version reads {SCHEMA!r}", "Write the file with Posterior.save()")


def _fields(about: Mapping[str, Any], arrays: Mapping[str, Any]) -> dict[str, Any]:
    counts = Counts.from_dict(about["counts"])
    draws = Draws(**arrays, **about["draws"])
    _require_sound_draws(draws, counts)
    _require_sound_provenance(about["provenance"])
    return {
        "draws": draws,
        "counts": counts,
        "prior": _prior_from_plain(about["prior"]),
        "findings": tuple(map(_finding, about["findings"])),
        "provenance": about["provenance"],
    }


def _require_sound_draws(draws: Draws, counts: Counts) -> None:
    """Refuse draws that are no shares, or not those of these counts."""
    n_classes, n_outputs = counts.labeled.shape
    n_draws, stride = len(draws.prevalence), _check.whole_number("stride", draws.stride, least=1)
    chains = 1 if draws.chains is None else _check.whole_number("chains", draws.chains, least=1)
    kept = -(-n_draws // stride)
    shapes = {"prevalence": (n_draws, n_classes), "confusion": (kept, n_classes, n_outputs), "effective": (n_classes,)}
    shapes |= {} if draws.rhat is None else {"rhat": (n_classes,)}
    for name, shape in shapes.items():
        array = getattr(draws, name)
        if array.shape != shape or array.dtype.kind not in "fiu" or not n_draws or n_draws % chains:
            raise _unsound(name, "do not match the counts")
    for name in ("prevalence", "confusion"):
        array = getattr(draws, name)
        if not (array >= 0).all() or not np.allclose(array.sum(axis=-1), 1, rtol=0, atol=1e-6):
            raise _unsound(name, "hold no shares, which are 0 or more and add up to 1")
    if not (draws.effective > 0).all():
        raise _unsound("effective", "hold no effective sample sizes")
    weights = draws.log_weights
    if weights is not None and (weights.ndim != 1 or weights.dtype.kind != "f" or np.isnan(weights).any()):
        raise _unsound("log_weights", "hold no logarithms of weights")
    if not isinstance(draws.record, Mapping):
        raise _unsound("record", "is no mapping")


def _require_sound_provenance(provenance: Any) -> None:
    """Refuse what could not have been the seed and the engine: both are printed, and written as Python on the page."""
    if not isinstance(provenance, Mapping):
        raise _unsound("provenance", "is no mapping")
    for name in ("seed", "common_seed", "group"):
        if provenance.get(name) is not None or name == "seed":
            _check.whole_number(name, provenance.get(name), least=0)
    for name in ("engine", "asked", "version", "reason", "design"):
        value = provenance.get(name)
        if value is not None and not (isinstance(value, str) and value.isprintable()):
            raise _unsound(name, f"is {value!r:.60}")
    asked = provenance.get("asked")
    if asked is not None and not _is_plain_call(ast.parse(asked, mode="eval").body):
        raise _unsound("asked", f"is {asked!r:.60}")


def _is_plain_call(node: ast.expr) -> bool:
    """Whether Python is a call such as ``Auto(draws=4000)``, with nothing but constants and such calls in it."""
    if not isinstance(node, ast.Call):
        return isinstance(node, ast.Constant) or (
            isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)
        )
    return (
        isinstance(node.func, ast.Name) and not node.args and all(_is_plain_call(each.value) for each in node.keywords)
    )


def _finding(values: Mapping[str, Any]) -> Finding:
    finding = Finding(**values)
    words = (finding.code, finding.message, finding.advice)
    if finding.severity not in ORDER or not all(isinstance(word, str) for word in words):
        raise _unsound("findings", f"hold {values!r:.60}")
    if not isinstance(finding.numbers, Mapping):
        raise _unsound("findings", f"hold {finding.numbers!r:.60}")
    return finding


def _unsound(argument: str, found: str) -> InputError:
    return InputError(argument, found, "a saved posterior has others", "Write the file with Posterior.save()")


def _plain(value: Any) -> Any:
    """Give NumPy's values as Python's."""
    return value.tolist()


def _prior_to_plain(prior: Prior) -> dict[str, Any]:
    return {name: _encoded(getattr(prior, name)) for name in ("prevalence", "confusion", "known")}


def _prior_from_plain(values: Mapping[str, Any]) -> Prior:
    decoded = {name: _decoded(value) for name, value in values.items()}
    return Prior(decoded["prevalence"], decoded["confusion"], known=decoded["known"])


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
