"""A result as plain values and as ArviZ's container."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from unicodedata import category

import numpy as np

from truecount._optional import load
from truecount._types import FloatArray, Name
from truecount._wording import is_number
from truecount.inference.convergence import by_chain
from truecount.models import Model

if TYPE_CHECKING:
    from truecount.results.posterior import Posterior
    from truecount.results.summary import Look

SCHEMA = "truecount.estimate/1"
FORMULA = ("=", "+", "-", "@")
"""How a cell begins that a spreadsheet takes for a formula."""


def to_dict(posterior: "Posterior", look: "Look") -> dict[str, Any]:
    """Return the summary in schema ``truecount.estimate/1``: plain values, no NaN, ready for strict JSON.

    Without an answer, all numbers that are read off the draws are None.
    """
    engine = posterior.provenance
    seed, version = engine.pop("seed"), engine.pop("version")
    result = {
        "schema": SCHEMA,
        "status": posterior.status,
        "corrected": True,
        "level": look.level,
        "interval": look.kind,
        "target": look.target,
        "classes": look.of(posterior).rows(),
        "findings": [finding.to_dict() for finding in posterior.findings],
        "counts": posterior.counts.to_dict(),
        "model": posterior.model.to_dict(),
        "prior": _prior(posterior.model),
        "engine": {"name": engine.pop("engine"), **engine},
        "seed": seed,
        "version": version,
    }
    if posterior.raters is not None:
        result["raters"] = posterior.raters.to_dict(look.level)
    values: dict[str, Any] = plain(result)
    return values


def rows_of(posterior: "Posterior", look: "Look") -> list[dict[str, Any]]:
    """Return a row of plain values for each class, with the status of the answer and its flag."""
    rows = look.of(posterior).rows()
    return [{**plain(row), "status": posterior.status, "corrected": True} for row in rows]


def _prior(model: Model) -> dict[str, Any]:
    """Return the concentrations of any model under one set of names; None for those that it does not have."""
    names = ("prevalence", "confusion", "known", "given_output")
    told = model.to_dict()
    return dict.fromkeys(names) | {name: value for name, value in told.get("prior", told).items() if name in names}


def spreadsheet_cell(value: Any) -> Any:
    """Return a value for CSV: text that a spreadsheet would run gets an apostrophe, control signs are written out.

    >>> spreadsheet_cell("=1+1"), spreadsheet_cell("-1"), spreadsheet_cell(-0.5)
    ("'=1+1", '-1', -0.5)
    """
    if not isinstance(value, str):
        return value
    shown = "".join(sign.encode("unicode_escape").decode() if category(sign) == "Cc" else sign for sign in value)
    is_formula = shown.lstrip().startswith(FORMULA) and not is_number(value)
    return f"'{shown}" if is_formula else shown


def plain(value: Any) -> Any:
    """Turn arrays and tuples into lists and numbers that are not finite into None."""
    if isinstance(value, Mapping):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def to_arviz(posterior: "Posterior") -> Any:
    """Return the draws as an ``InferenceData`` (ArviZ 0.x) or a ``DataTree`` (1.x).

    Where draws of the confusion were thinned to save memory, the prevalence is thinned alike, so that the two belong
    together draw by draw; the attribute ``stride`` says by how much.
    """
    arviz = load("arviz", feature="to_arviz()", extra="arviz")
    xarray = load("xarray", feature="to_arviz()", extra="arviz")
    counts = posterior.counts
    names = {"class": _coordinate(counts.classes), "output": _coordinate(counts.outputs)}
    observed = {"labeled": (("class", "output"), counts.labeled), "unlabeled": (("output",), counts.unlabeled)}
    groups = {
        "posterior": xarray.Dataset(_paired_draws(posterior), coords=names, attrs=_attributes(posterior)),
        "observed_data": xarray.Dataset(observed, coords=names),
    }
    if arviz.__version__.startswith("0."):
        return arviz.InferenceData(**groups)
    return xarray.DataTree.from_dict(groups)


def _paired_draws(posterior: "Posterior") -> dict[str, tuple[tuple[str, ...], FloatArray]]:
    """Chain by chain, the draws of the prevalence for which the confusion was kept; as many of each chain."""
    kept = np.arange(0, len(posterior.prevalence), posterior.draws.stride)
    chain = kept // (len(posterior.prevalence) // posterior.chains)
    each = np.bincount(chain).min()
    chosen = np.concatenate([np.flatnonzero(chain == number)[:each] for number in range(posterior.chains)])
    draws = by_chain(posterior.prevalence[kept[chosen]], posterior.chains)
    confusion = by_chain(posterior.confusion[chosen], posterior.chains)
    return {
        "chain": (("chain",), np.arange(posterior.chains)),
        "draw": (("draw",), np.arange(each)),
        "prevalence": (("chain", "draw", "class"), draws),
        "confusion": (("chain", "draw", "class", "output"), confusion),
    }


def _attributes(posterior: "Posterior") -> dict[str, str | int]:
    made = {name: str(value) for name, value in posterior.provenance.items()}
    return {**made, "inference_library": "truecount", "corrected": "true", "stride": posterior.draws.stride}


def _coordinate(names: tuple[Name, ...]) -> Any:
    """Keep numbers numbers where all are; otherwise keep each name as it is."""
    alike = len({type(name) for name in names}) == 1
    return np.array(names) if alike else np.array(names, dtype=object)
