"""What ``accuracy.py peers`` measures on one row: `Quantifier(classifier)` beside QuaPy's methods, on the same splits.

A row is a set, a classifier and a number of labelled items. Each repetition splits the set anew, as ``repetitions.py``
does. QuaPy's methods are at their defaults; those that calibrate or aggregate get the same cross-validated scores of
the labelled items, and all of them scores of new items by a classifier fitted to all labelled items, as QuaPy does.
BCTS gets scores smoothed by 1e-6, because zeros break it. Seconds are of all that ``fit`` and ``predict`` do.
"""

import os
import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from quapy.method.aggregative import ACC, EMQ, PACC, DMy, KDEyML
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import scale
from uci import read

from truecount.sklearn import Argmax, Quantifier

os.environ.setdefault("SAMPLE_SIZE", "200")
GOOD = (6, 7, 8, 9)
SETS: dict[str, tuple[int, ...] | None] = {
    "spambase": None,
    "page-blocks": (1,),
    "wine-quality-white": GOOD,
    "wine-quality-red": GOOD,
    "cmc": None,
    "waveform-21": None,
    "nursery": None,
    "yeast": None,
    "satimage": None,
    "optdigits": None,
    "letter": None,
    "digits": None,
    "breast cancer": None,
}
OWN: dict[str, Callable[..., Any]] = {"digits": load_digits, "breast cancer": load_breast_cancer}
CLASSIFIERS: dict[str, BaseEstimator] = {
    "logistic": LogisticRegression(tol=1e-3, max_iter=300),
    "forest": RandomForestClassifier(random_state=0),
}
RARE = 150
"""Classes of fewer items are put together, where they are not already."""
FEWEST = 5
"""Labels that every class has in every split."""
NEW = {"breast cancer": 100}
LEVELS = (0.5, 0.8, 0.95)
POINTS = {"ACC": ACC, "PACC": PACC, "EMQ": EMQ, "EMQ, BCTS": EMQ.EMQ_BCTS, "DMy": DMy, "KDEyML": KDEyML}
ZERO = 1e-6


def items_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features, standardised, and class codes; rare classes together."""
    features, labels = OWN[name](return_X_y=True) if name in OWN else read(name, SETS[name])
    sizes = np.bincount(labels)
    if (sizes < RARE).sum() > 1:
        labels = np.unique(np.where(sizes[labels] < RARE, -1, labels), return_inverse=True)[1]
    return scale(features), labels


def splits(name: str, labeled: int, number: int) -> Any:
    """Labelled and new items, and the prevalence that the new ones are drawn from."""
    features, labels = items_of(name)
    classes = labels.max() + 1
    for seed in range(number):
        rng = np.random.default_rng([seed, *name.encode()])
        order = rng.permutation(len(labels))
        while np.bincount(labels[order[:labeled]], minlength=classes).min() < FEWEST:
            order = rng.permutation(len(labels))
        known, pool = order[:labeled], order[labeled:]
        prevalence = rng.dirichlet(np.ones(classes))
        sizes = rng.multinomial(NEW.get(name, 200), prevalence)
        drawn = [_some(rng, pool[labels[pool] == label], size) for label, size in enumerate(sizes)]
        new = rng.permutation(np.concatenate(drawn))
        yield features[known], labels[known], features[new], labels[new], prevalence


def _some(rng: np.random.Generator, members: np.ndarray, size: int) -> np.ndarray:
    return members[:size] if size <= len(members) else rng.choice(members, size)


def measure(name: str, kind: str, labeled: int, number: int) -> dict[str, Any]:
    """One row: errors of all methods, coverage and width of the intervals, seconds."""
    errors: dict[str, list[float]] = {}
    seconds: dict[str, list[float]] = {}
    ends: dict[str, list[np.ndarray]] = {}
    truths: dict[str, list[np.ndarray]] = {"realized": [], "population": []}
    engines: list[str] = []
    for known, labels, new, hidden, prevalence in splits(name, labeled, number):
        realized = np.bincount(hidden, minlength=len(prevalence)) / len(hidden)
        truths["realized"].append(realized)
        truths["population"].append(prevalence)
        found, spent = by_quapy(CLASSIFIERS[kind], known, labels, new)
        for method, partition in (("Quantifier", None), ("argmax", Argmax())):
            start = perf_counter()
            quantifier = Quantifier(clone(CLASSIFIERS[kind]), partition, target="realized").fit(known, labels)
            posterior = quantifier.posterior(new)
            found[method] = posterior.realized.mean(axis=0)
            spent[method] = perf_counter() - start
            for target in truths:
                intervals = np.array([posterior.interval(level, target=target) for level in LEVELS])
                ends.setdefault(f"{method}, {target}", []).append(intervals)
            if partition is None:
                engines.append(posterior.run.engine)
        for method, shares in found.items():
            errors.setdefault(method, []).append(float(np.abs(shares - realized).mean()))
        for method, each in spent.items():
            seconds.setdefault(method, []).append(each)
    return {
        "set": name,
        "classifier": kind,
        "labeled": labeled,
        "repetitions": number,
        "classes": len(truths["realized"][0]),
        "errors": {method: [float(np.mean(each)), _standard_error(each)] for method, each in errors.items()},
        "seconds": {method: float(np.median(each)) for method, each in seconds.items()},
        "intervals": {
            method: _held(np.array(each), np.array(truths[method.rpartition(", ")[2]])) for method, each in ends.items()
        },
        "calibrated": float(np.mean([engine == "calibrated scores" for engine in engines])),
    }


def by_quapy(
    classifier: BaseEstimator, known: np.ndarray, labels: np.ndarray, new: np.ndarray
) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Estimates of every method, and the seconds that fitting and answering take with nothing shared."""
    start = perf_counter()
    crossed = cross_val_predict(clone(classifier), known, labels, cv=5, method="predict_proba")
    crossing = perf_counter() - start
    start = perf_counter()
    scores = clone(classifier).fit(known, labels).predict_proba(new)
    fitting = perf_counter() - start
    found, spent = {}, {}
    for method, made in POINTS.items():
        quantifier = made(clone(classifier))
        quantifier.classifier.classes_ = quantifier.classes = np.unique(labels)
        quantifier.train_prevalence = np.bincount(labels) / len(labels)
        start = perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found[method] = _aggregated(quantifier, method, crossed, labels, scores)
        spent[method] = perf_counter() - start + fitting + (0 if method == "EMQ" else crossing)
    return found, spent


def _aggregated(
    quantifier: Any, method: str, crossed: np.ndarray, labels: np.ndarray, scores: np.ndarray
) -> np.ndarray:
    if method == "ACC":
        crossed, scores = crossed.argmax(axis=1), scores.argmax(axis=1)
    if method == "EMQ, BCTS":
        crossed, scores = ((each + ZERO) / (1 + each.shape[1] * ZERO) for each in (crossed, scores))
    fitted_to = (None, None) if method == "EMQ" else (crossed, labels)
    quantifier.aggregation_fit(*fitted_to)
    return np.asarray(quantifier.aggregate(scores))


def _held(ends: np.ndarray, truths: np.ndarray) -> dict[str, list[float]]:
    low, high, truth = ends[..., 0], ends[..., 1], truths[:, None]
    held = (low <= truth + 1e-12) & (truth - 1e-12 <= high)
    return {"coverage": held.mean(axis=(0, 2)).tolist(), "width": (high - low).mean(axis=(0, 2)).tolist()}


def _standard_error(values: list[float]) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def lines(rows: list[dict[str, Any]]) -> list[str]:
    """The tables."""
    methods = ["Quantifier", "argmax", *POINTS]
    shown = [
        "Mean absolute error of the share among the new items, in points of 100, and that of `Quantifier` over that of "
        "the best of QuaPy's methods of the row.",
        "",
        f"| set | classifier | labels | repetitions | {' | '.join(methods)} | ratio |",
        f"| --- | --- | --- | --- |{' --- |' * (len(methods) + 1)}",
    ]
    ratios = []
    for row in rows:
        errors = {method: row["errors"][method][0] for method in methods}
        ratios.append(errors["Quantifier"] / min(errors[method] for method in POINTS))
        cells = " | ".join(f"{100 * errors[method]:.2f}" for method in methods)
        of_row = f"{row['set']} | {row['classifier']} | {row['labeled']:,} | {row['repetitions']}"
        shown.append(f"| {of_row} | {cells} | {ratios[-1]:.2f} |")
    shown += [
        "",
        f"Mean ratio {np.mean(ratios):.3f}, largest {np.max(ratios):.2f}.",
        "",
        "Percentage of intervals that hold the truth at 50 · 80 · 95 %, mean width of 95 % intervals of the realized "
        "share and what that is of `Argmax`'s, how often the scores were calibrated (and not counted), and seconds of "
        "fit and predict, median.",
        "",
        "| set | classifier | labels | realized | population | width | of Argmax | calibrated | seconds | EMQ | BCTS |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    kept, narrower = [], []
    for row in rows:
        realized, population = (row["intervals"][f"Quantifier, {target}"] for target in ("realized", "population"))
        width = realized["width"][-1]
        narrower.append(width / row["intervals"]["argmax, realized"]["width"][-1])
        kept.append([*realized["coverage"], *population["coverage"]])
        told = [" · ".join(f"{100 * each:.0f}" for each in kind["coverage"]) for kind in (realized, population)]
        seconds = " | ".join(f"{row['seconds'][method]:.2f}" for method in ("Quantifier", "EMQ", "EMQ, BCTS"))
        shown.append(
            f"| {row['set']} | {row['classifier']} | {row['labeled']:,} | {told[0]} | {told[1]} | {width:.3f} | "
            f"{narrower[-1]:.2f} | {row['calibrated']:.2f} | {seconds} |"
        )
    means = " · ".join(f"{100 * each:.1f}" for each in np.mean(kept, axis=0))
    return [
        *shown,
        "",
        f"Mean coverage {means} (realized, population), mean width {np.mean(narrower):.2f} of `Argmax`'s.",
    ]
