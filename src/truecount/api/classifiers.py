"""Several classifiers at once: what each of them adds."""

from functools import partial

from truecount import _check
from truecount.api.bayesian import infer
from truecount.counts import Counts
from truecount.counts.classifiers import of_classifiers
from truecount.errors import InputError
from truecount.inference import Auto
from truecount.inference.draws import Engine
from truecount.models import LabelShift, Model, Prior
from truecount.results.each_classifier import Contribution, EachClassifier, Kind


def each_classifier(
    counts: Counts,
    model: Model = LabelShift(),
    *,
    prior: Prior | None = None,
    engine: Engine = Auto(1000),
    level: float = 0.95,
    seed: int = 0,
) -> EachClassifier:
    """Infer with each classifier alone, with all but each, and with all together, to show what each adds.

    Parameters
    ----------
    counts
        Of several classifiers, as ``count_table(..., prediction=[...])`` returns them.
    model, prior, engine, seed
        As in `infer`.
    level
        Of the intervals.

    Examples
    --------
    >>> from truecount.counts import count
    >>> known = {"x": ["a", "a", "b", "b"] * 20, "y": ["a", "b", "b", "a"] * 20}
    >>> counts = count(["a", "a", "b", "b"] * 20, known, {"x": ["a"] * 30 + ["b"] * 10, "y": ["a", "b"] * 20})
    >>> [row.label for row in each_classifier(counts).rows]
    ['x alone', 'y alone', 'all']
    """
    _check.instance_of("counts", counts, Counts, "Pass Counts of several classifiers, one population")
    level = _check.level(level)
    if counts.combinations is None:
        needed = "what each of several adds is asked of counts of several"
        raise InputError("counts", "are of one classifier", needed, "Count with prediction=['first', 'second']")
    names = counts.combinations.columns
    asked: list[tuple[Kind, str | None, tuple[str, ...]]] = [("alone", name, (name,)) for name in names]
    if len(names) > 2:
        asked += [("without", name, tuple(other for other in names if other != name)) for name in names]
    asked.append(("all", None, names))
    draw = partial(infer, model=model, prior=prior, engine=engine, seed=seed)
    rows = []
    for kind, name, used in asked:
        answer = draw(counts if kind == "all" else of_classifiers(counts, used))
        rows.append(
            Contribution(
                kind=kind, classifier=name, mean=answer.mean, interval=answer.interval(level), status=answer.status
            )
        )
    return EachClassifier(classes=counts.classes, level=level, rows=tuple(rows))
