"""What ``accuracy.py peers`` measures on one row: `Quantifier(classifier)` beside QuaPy's methods, on the same splits.

A row is a set, a classifier and a number of labelled items. Each repetition splits the set anew, as ``repetitions.py``
does. QuaPy's methods are at their defaults; those that calibrate or aggregate get the same cross-validated scores of
the labelled items, and all of them scores of new items by a classifier fitted to all labelled items, as QuaPy does.
BCTS gets scores smoothed by 1e-6, because zeros break it. What QuaPy makes of a split is kept; `Quantifier` fits a
classifier of its own, as a user would.
"""

import importlib
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import gettempdir
from time import process_time
from types import ModuleType
from typing import Any

import numpy as np
from quapy.method import _bayesian
from quapy.method.aggregative import ACC, EMQ, PACC, DMy, KDEyML
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import scale
from uci import read

import truecount as tc
from truecount.sklearn import Quantifier

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
FOLDS, OF_ARGMAX, MOST_OF_ARGMAX = 5, 5, 12
"""Folds, and splits on which `Argmax` is tried beside, with so many classes at most: more of them take minutes."""
BAYESIAN = {("spambase", "logistic", 400), ("waveform-21", "logistic", 400)}
"""Rows where BayesianKDEy is timed, which takes some ten seconds."""
KEPT = Path(gettempdir()) / "truecount_peers"
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


def recorded(name: str, kind: str, labeled: int, number: int) -> dict[str, np.ndarray]:
    """What QuaPy's methods make of so many splits.

    It is kept in a folder for temporary files as it comes, so that a run that is cut short goes on where it was.
    """
    path = KEPT / f"{name.replace(' ', '_')}_{kind}_{labeled}.npz"
    kept = dict(np.load(path)) if path.exists() else {}
    done = len(kept.get("labels", ()))
    for place, split in enumerate(splits(name, labeled, number)):
        if place < done:
            continue
        for key, value in scored(CLASSIFIERS[kind], *split).items():
            kept[key] = np.concatenate([kept[key], value[None]]) if key in kept else value[None]
        KEPT.mkdir(exist_ok=True)
        np.savez_compressed(path, **kept)
    return {key: values[:number] for key, values in kept.items()}


def scored(
    classifier: BaseEstimator,
    known: np.ndarray,
    labels: np.ndarray,
    new: np.ndarray,
    hidden: np.ndarray,
    prevalence: np.ndarray,
) -> dict[str, np.ndarray]:
    """One split: QuaPy's estimates from cross-validated scores and from those of a classifier fitted to all items."""
    crossed = np.empty((len(labels), len(prevalence)))
    for training, held in StratifiedKFold(FOLDS).split(known, labels):
        fitted = clone(classifier).fit(known[training], labels[training])
        crossed[held] = fitted.predict_proba(known[held])
    refitted = clone(classifier).fit(known, labels).predict_proba(new)
    found = [by_quapy(method, crossed.copy(), labels, refitted.copy()) for method in POINTS]
    return {"labels": labels, "hidden": hidden, "prevalence": prevalence, "quapy": np.array(found)}


def measure(name: str, kind: str, labeled: int, number: int, before: dict[str, Any] | None = None) -> dict[str, Any]:
    """One row: errors of all methods, coverage and width of the intervals, seconds.

    What QuaPy's methods did on the same splits may be taken from a row that was measured before.
    """
    runs = list(splits(name, labeled, number))
    classes = len(runs[0][-1])
    truths = {
        "realized": np.array([np.bincount(hidden, minlength=classes) / len(hidden) for *_, hidden, _ in runs]),
        "population": np.array([prevalence for *_, prevalence in runs]),
    }
    found = recorded(name, kind, labeled, number)["quapy"] if before is None else np.empty((number, 0, classes))
    shares = {method: found[:, place] for place, method in enumerate(POINTS) if before is None}
    ends: dict[str, list[np.ndarray]] = {}
    means: dict[str, list[np.ndarray]] = {"Quantifier": [], "argmax": []}
    calibrated, inside = [], []
    for place, (known, labels, unknown, _, _) in enumerate(runs):
        quantifier = Quantifier(clone(CLASSIFIERS[kind]), target="realized").fit(known, labels)
        answers = {"Quantifier": quantifier.posterior(unknown)}
        if place < OF_ARGMAX and classes <= MOST_OF_ARGMAX:
            answers["argmax"] = tc.infer(quantifier.counts(unknown))
        means["Quantifier"].append(quantifier.predict(unknown))
        means["argmax"] += [answers["argmax"].realized.mean(axis=0)] if "argmax" in answers else []
        for method, posterior in answers.items():
            for target in truths:
                intervals = np.array([posterior.interval(level, target=target) for level in LEVELS])
                ends.setdefault(f"{method}, {target}", []).append(intervals)
        calibrated.append(quantifier.score_model_.fitted is not None)
        inside.append(_inside(answers["Quantifier"], ends["Quantifier, realized"][-1]))
    shares |= {method: np.array(each) for method, each in means.items() if each}
    errors = {method: np.abs(each - truths["realized"][: len(each)]).mean(axis=1) for method, each in shares.items()}
    told = {method: [float(each.mean()), _standard_error(each)] for method, each in errors.items()}
    if before is not None:
        told |= {method: before["errors"][method] for method in POINTS}
    best = min(POINTS, key=lambda method: told[method][0])
    beyond = (
        _standard_error(errors["Quantifier"] - errors[best])
        if before is None
        else float(np.hypot(told["Quantifier"][1], told[best][1]))
    )
    return {
        "set": name,
        "classifier": kind,
        "labeled": labeled,
        "repetitions": number,
        "classes": classes,
        "errors": told,
        "beyond the best": beyond,
        "seconds": seconds(name, kind, labeled),
        "intervals": {
            method: _held(np.array(each), truths[method.rpartition(", ")[2]][: len(each)])
            for method, each in ends.items()
        },
        "width of argmax": _width(ends, "Quantifier") / _width(ends, "argmax") if means["argmax"] else None,
        "calibrated": float(np.mean(calibrated)),
        "inside": np.mean(inside, axis=0).tolist(),
    }


def seconds(name: str, kind: str, labeled: int, number: int = 3) -> dict[str, float]:
    """Processor seconds of all that ``fit`` and ``predict`` do, with nothing shared: the least of some splits."""
    spent: dict[str, list[float]] = {}
    for known, labels, new, _, _ in splits(name, labeled, number):
        makers: dict[str, Callable[[], Any]] = {
            "Quantifier": lambda: Quantifier(clone(CLASSIFIERS[kind]), target="realized"),
            "EMQ": lambda: EMQ(clone(CLASSIFIERS[kind])),
            "PACC": lambda: PACC(clone(CLASSIFIERS[kind])),
        }
        if (name, kind, labeled) in BAYESIAN:
            makers["BayesianKDEy"] = lambda: bayesian()(clone(CLASSIFIERS[kind]))
        for method, made in makers.items():
            start = process_time()
            made().fit(known, labels).predict(new)
            spent.setdefault(method, []).append(process_time() - start)
    return {method: min(each) for method, each in spent.items()}


def bayesian() -> Any:
    """QuaPy's BayesianKDEy, whose module asks for Stan, too, which this method does not use."""
    for name in ("stan", "stan.common"):
        sys.modules.setdefault(name, ModuleType(name))
    return importlib.reload(_bayesian).BayesianKDEy


def by_quapy(method: str, crossed: np.ndarray, labels: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The estimate of a method of QuaPy, from cross-validated scores of labelled items and scores of new ones."""
    quantifier = POINTS[method](LogisticRegression())
    quantifier.classifier.classes_ = quantifier.classes = np.unique(labels)
    quantifier.train_prevalence = np.bincount(labels) / len(labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _aggregated(quantifier, method, crossed, labels, scores)


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


def _inside(posterior: tc.Posterior, ends: np.ndarray) -> np.ndarray:
    """Shape (levels,): how much of the posterior of realized shares, which are whole items, closed intervals hold."""
    low, high = ends[..., 0, None], ends[..., 1, None]
    shares = posterior.realized.T
    return ((low <= shares + 1e-12) & (shares - 1e-12 <= high)).mean(axis=(1, 2))


def _width(ends: dict[str, list[np.ndarray]], method: str) -> float:
    """Mean width of 95 % intervals, on those splits that `Argmax` was tried on."""
    return float(np.diff(np.array(ends[f"{method}, realized"])[:OF_ARGMAX, -1], axis=-1).mean())


def _standard_error(values: list[float]) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def _by_classifier(rows: list[dict[str, Any]], ratios: list[float]) -> list[str]:
    of_kind: dict[str, list[float]] = {}
    for row, ratio in zip(rows, ratios, strict=True):
        of_kind.setdefault(row["classifier"], []).append(ratio)
    return [f"{kind} {np.mean(each):.3f}" for kind, each in of_kind.items()]


def lines(rows: list[dict[str, Any]]) -> list[str]:
    """The tables."""
    methods = ["Quantifier", *POINTS]
    shown = [
        "Mean absolute error of the share among the new items, in points of 100, and that of `Quantifier` over that of "
        "the best of QuaPy's methods of the row (standard error of the difference, over the same).",
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
        error = row["beyond the best"] / min(errors[method] for method in POINTS)
        shown.append(f"| {of_row} | {cells} | {ratios[-1]:.2f} ({error:.2f}) |")
    shown += [
        "",
        f"Mean ratio {np.mean(ratios):.3f}, largest {np.max(ratios):.2f}; {' · '.join(_by_classifier(rows, ratios))}.",
        "",
        "Percentage of intervals that hold the truth at 50 · 80 · 95 %, mean width of 95 % intervals of the realized "
        "share and what that is of `Argmax`'s in the first five repetitions, how often the scores were calibrated (and "
        "not counted), and processor seconds of fit and predict with nothing shared, the least of some runs. EMQ and "
        "`Quantifier` fit these classifiers once; PACC once for each of five folds and once for all items. *Inside* is "
        "how much of the posterior of the realized shares the closed intervals hold: more than their level, because "
        "shares are whole items.",
        "",
        "| set | classifier | labels | realized | inside | population | width | of Argmax | calibrated | seconds | EMQ "
        "| PACC |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    kept, narrower, slower = [], [], []
    for row in rows:
        realized, population = (row["intervals"][f"Quantifier, {target}"] for target in ("realized", "population"))
        width = realized["width"][-1]
        narrow = row["width of argmax"]
        narrower += [] if narrow is None else [narrow]
        levels = realized["coverage"], row["inside"], population["coverage"]
        kept.append([*realized["coverage"], *row["inside"], *population["coverage"]])
        told = " | ".join(" · ".join(f"{100 * each:.0f}" for each in kind) for kind in levels)
        seconds = " | ".join(f"{row['seconds'][method]:.3f}" for method in ("Quantifier", "EMQ", "PACC"))
        slower.append(row["seconds"]["Quantifier"] / row["seconds"]["EMQ"])
        shown.append(
            f"| {row['set']} | {row['classifier']} | {row['labeled']:,} | {told} | {width:.3f} | "
            f"{'' if narrow is None else f'{narrow:.2f}'} | {row['calibrated']:.2f} | {seconds} |"
        )
    means = " · ".join(f"{100 * each:.1f}" for each in np.mean(kept, axis=0))
    slow = [f"{row['seconds']['BayesianKDEy']:.1f} on {row['set']}" for row in rows if "BayesianKDEy" in row["seconds"]]
    return [
        *shown,
        "",
        *([f"BayesianKDEy took {' and '.join(slow)} (logistic regression, 400 labels).", ""] if slow else []),
        f"Time over EMQ's, the mean: {' · '.join(_by_classifier(rows, slower))}.",
        "",
        f"Mean coverage {means} (realized, inside, population), mean width {np.mean(narrower):.2f} of `Argmax`'s.",
    ]
