"""Stage 8, a door: an answer as metrics, tags and artifacts of a run of MLflow."""

import re
from collections.abc import Iterator
from typing import Any

from truecount import _optional
from truecount.results import PointEstimate, Posterior
from truecount.results.groups.posterior import GroupPosterior

NUMBERS = {"share": "mean", "lower": "lower", "upper": "upper", "counted": "counted"}
"""What a metric is called, and the field that it has in JSON."""


def log_answer(
    answer: Posterior | GroupPosterior | PointEstimate, *, prefix: str = "truecount", step: int | None = None
) -> None:
    """Log an answer to the active run of MLflow: shares, intervals and findings.

    Parameters
    ----------
    answer
        What `infer` or `estimate` returned.
    prefix
        What metrics, tags and artifacts begin with.
    step
        Of the metrics, where a run has several answers.

    Notes
    -----
    Metrics are ``PREFIX/share/CLASS``, ``lower``, ``upper`` and ``counted``, of groups with the group before the class,
    and ``PREFIX/findings/SEVERITY``. The tag ``PREFIX.corrected`` says whether shares are corrected for
    misclassification. Artifacts are ``PREFIX/answer.json``, as `docs/reference/json.md` has it, and
    ``PREFIX/answer.txt``.
    """
    mlflow = _optional.load("mlflow", feature="log_answer()", extra="mlflow")
    values = answer.to_dict()
    mlflow.log_metrics({f"{prefix}/{name}": value for name, value in _metrics(values)}, step=step)
    told = {name: values[name] for name in ("corrected", "status", "level", "method", "version") if name in values}
    mlflow.set_tags({f"{prefix}.{name}": _text(value) for name, value in told.items()})
    mlflow.log_dict(values, f"{prefix}/answer.json")
    mlflow.log_text(str(answer), f"{prefix}/answer.txt")


def _metrics(values: dict[str, Any]) -> Iterator[tuple[str, float]]:
    groups = values.get("groups", [{"group": [], "classes": values["classes"]}] if "classes" in values else [])
    for group in groups:
        for row in group["classes"]:
            where = "/".join(_name(each) for each in (*group["group"], row["class"]))
            for name, field in NUMBERS.items():
                value = row.get("share") if name == "share" and "share" in row else row.get(field)
                if value is not None:
                    yield f"{name}/{where}", value
    for severity in ("info", "caution", "serious"):
        yield f"findings/{severity}", float(sum(each["severity"] == severity for each in values["findings"]))


def _name(name: Any) -> str:
    """Return a name with the signs that MLflow allows in a metric.

    >>> _name("rock & roll"), _name(True)
    ('rock _ roll', 'true')
    """
    return re.sub(r"[^\w .:-]", "_", _text(name), flags=re.ASCII)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
