"""An answer as OpenMetrics text, which Prometheus and what understands it scrapes or reads from a file."""

import re
from collections import Counter as Sums
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

OWN = ("class", "corrected", "level", "method")
"""Labels that shares have whatever their groups are called."""
HELP = {
    "truecount_share": "Share of a class in the unlabelled population; corrected says whether it is corrected for "
    "misclassification (posterior mean or point) or only counted.",
    "truecount_share_lower": "Lower end of the interval of a corrected share.",
    "truecount_share_upper": "Upper end of the interval of a corrected share.",
    "truecount_items": "Unlabelled items that shares are of.",
    "truecount_findings": "Findings of the answer by code; those that are serious say not to rely on it.",
    "truecount_has_answer": "1 where there is an answer, 0 where chains disagree.",
}
"""Metric families, all gauges, in their order."""


class Sample(NamedTuple):
    """A number with labels."""

    family: str
    labels: Mapping[str, Any]
    value: float | None


def to_openmetrics(answer: Mapping[str, Any]) -> str:
    """Return the text for what `to_dict` of a posterior, of groups or of a point returns; it ends with ``# EOF``.

    >>> answer = {"corrected": False, "method": "cc", "classes": [{"class": "pass", "share": 0.5}], "findings": []}
    >>> print(to_openmetrics(answer | {"version": "1"}).splitlines()[2])
    truecount_share{class="pass",corrected="false",method="cc"} 0.5
    """
    samples = [each for each in _samples(answer) if each.value is not None]
    lines = []
    for family, words in HELP.items():
        found = [each for each in samples if each.family == family]
        if found:
            lines += [f"# TYPE {family} gauge", f"# HELP {family} {words}"]
            lines += [f"{family}{_labels(each.labels)} {float(each.value or 0)!r}" for each in found]
    about = {name: answer[name] for name in ("schema", "version", "seed") if answer.get(name) is not None}
    lines += ["# TYPE truecount info", "# HELP truecount What made the shares.", f"truecount_info{_labels(about)} 1"]
    return "\n".join([*lines, "# EOF", ""])


def _samples(answer: Mapping[str, Any]) -> Iterator[Sample]:
    level = answer.get("level")
    for group, rows in _populations(answer):
        for row in rows:
            labels = {**group, "class": row["class"]}
            method = {"method": answer["method"]} if "method" in answer else {}
            share = row["share"] if "share" in row else row["mean"]
            yield Sample("truecount_share", {**labels, "corrected": answer["corrected"], **method}, share)
            yield Sample("truecount_share", {**labels, "corrected": False}, row.get("counted"))
            for end in ("lower", "upper"):
                yield Sample(f"truecount_share_{end}", {**labels, "level": level, **method}, row.get(end))
    yield from _items(answer)
    findings = Sums((finding["code"], finding["severity"]) for finding in answer["findings"])
    for (code, severity), number in findings.items():
        yield Sample("truecount_findings", {"code": code, "severity": severity}, number)
    yield Sample("truecount_has_answer", {}, int(answer.get("status") != "no-answer"))


def _populations(answer: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], Sequence[Mapping[str, Any]]]]:
    """Return the labels of each group, and what is known of its classes; one population has no labels."""
    if "groups" not in answer:
        yield {}, answer["classes"]
        return
    names = _label_names(answer["by"])
    for group in answer["groups"]:
        yield dict(zip(names, group["group"], strict=True)), group["classes"]


def _items(answer: Mapping[str, Any]) -> Iterator[Sample]:
    if "groups" in answer:
        names = _label_names(answer["by"])
        for group in answer["groups"]:
            yield Sample("truecount_items", dict(zip(names, group["group"], strict=True)), group["items"])
    elif "counts" in answer:
        yield Sample("truecount_items", {}, sum(answer["counts"]["unlabeled"]))


def _label_names(columns: Sequence[str]) -> list[str]:
    """Return columns as names of labels: letters, digits and underscores, each of them once.

    >>> _label_names(["model", "metadata.topic", "class"])
    ['model', 'metadata_topic', 'group_class']
    """
    names: list[str] = []
    for place, column in enumerate(columns):
        name = re.sub(r"\W|^(?=\d)", "_", column, flags=re.ASCII)
        name = f"group_{name}" if name in OWN or name.startswith("__") else name
        names.append(f"{name}_{place}" if name in names else name)
    return names


def _labels(labels: Mapping[str, Any]) -> str:
    return "{" + ",".join(f'{name}="{_text(value)}"' for name, value in labels.items()) + "}" if labels else ""


def _text(value: Any) -> str:
    """Return a value as a label holds it, in which backslashes, quotes and line breaks are escaped."""
    text = str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)
    text = text.encode(errors="backslashreplace").decode()
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
