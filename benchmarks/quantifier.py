"""What ``accuracy.py`` measures of `Quantifier` and of recalibrated probabilities on one set."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from repetitions import Echo, Repetition, repetitions

import truecount as tc
from truecount.estimators import ACC, BBSE, CC, EM, calibrate
from truecount.sklearn import Argmax, Bins, Quantifier, Tree

LEVELS = (0.5, 0.8, 0.95)
AT_ONCE = 100
ENGINE = tc.Auto(1000)
SOURCES = {"crossed": "crossed", "refitted": "crossed", "separate": "separate"}
"""Where outputs come from, and which quantifier the point estimators that count those are held against: refitting is
what other software does."""
POINTS = {"CC": CC(), "ACC": ACC(), "BBSE": BBSE(), "EM": EM(), "EM, bias-corrected": EM("bias-corrected")}
FLAT, SPARSE = tc.Prior(), tc.Prior(confusion="sparse")
MANY, FEW = 6, 300
"""From so many classes on the row prior is sparse; the flat one and `refitted` are tried on so few repetitions."""
BINARY = {
    "Bins(5)": (Bins(5), FLAT),
    "Bins(5), quantile": (Bins(5, kind="quantile"), FLAT),
    "Tree(5)": (Tree(5), FLAT),
}
TRUTHS = {"realized": "realized", "population": "prevalence"}
PROBABILITIES = ("uncorrected", "EM", "Recalibrated", "EM, bias-corrected", "Recalibrated, bias-corrected")
SHARES, SCORES = 10, 10
"""Bins of a class's true share, and of its probability, within which calibration is looked at."""


def quantifiers(n_classes: int, source: str, done: int) -> dict[str, tuple[Any, tc.Prior]]:
    """Partitions and priors to try by so many classes, after so many repetitions."""
    if n_classes < MANY:
        chosen = {"Argmax": (Argmax(), FLAT)}
        return chosen | BINARY if n_classes == 2 and source == "crossed" else chosen
    chosen = {"Argmax, sparse": (Argmax(), SPARSE)}
    if source == "refitted" and done >= FEW:
        return {}
    return chosen | {"Argmax": (Argmax(), FLAT)} if done < FEW and source == "crossed" else chosen


def measure(name: str, number: int) -> dict[str, Any]:
    """Errors of every method, coverage and width of every interval, losses of every kind of probability."""
    errors: dict[str, list[float]] = {}
    ends: dict[str, list[np.ndarray]] = {}
    mass: dict[str, list[float]] = {}
    truths: dict[str, list[np.ndarray]] = {target: [] for target in TRUTHS}
    losses = Losses()
    for batch in batches(name, number):
        for target, attribute in TRUTHS.items():
            truths[target] += [getattr(each, attribute) for each in batch]
        for source in SOURCES:
            posteriors = infer(batch, source, len(truths["realized"]) - len(batch))
            for method, values in points(batch, source).items():
                errors.setdefault(f"{method} ({source})", []).extend(values)
            for method, found in posteriors.items():
                for target in TRUTHS:
                    key = f"{method} ({source}), {target}"
                    errors.setdefault(key, []).extend(map(off, found, batch, [target] * len(found)))
                    kept = [np.array([p.interval(level, target=target) for level in LEVELS]) for p in found]
                    ends.setdefault(key, []).extend(kept)
                    mass.setdefault(key, []).extend(map(inside, found, kept, [target] * len(found)))
            if source == "crossed":
                losses.add(batch, next(iter(posteriors.values())))
    return {
        "repetitions": number,
        "classes": len(truths["realized"][0]),
        "errors": {method: summary(values) for method, values in errors.items()},
        "against_best": {source: against_best(errors, source) for source in SOURCES},
        "intervals": {
            method: {
                **coverage(np.array(found), np.array(truths[method.rpartition(", ")[2]])[: len(found)]),
                "mass": np.mean(mass[method], axis=0).tolist(),
            }
            for method, found in ends.items()
        },
        "probabilities": losses.summary(),
    }


def batches(name: str, number: int) -> Iterator[list[Repetition]]:
    batch = []
    for each in repetitions(name, number):
        batch.append(each)
        if len(batch) == AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch


def points(batch: list[Repetition], source: str) -> dict[str, list[float]]:
    """Mean absolute errors of the point estimators."""
    return {
        name: [float(np.abs(method.prevalence(getattr(each, source)) - each.realized).mean()) for each in batch]
        for name, method in POINTS.items()
    }


def infer(batch: list[Repetition], source: str, done: int) -> dict[str, list[tc.Posterior]]:
    """Posteriors of every kind of quantifier that applies."""
    kinds = quantifiers(len(batch[0].prevalence), source, done)
    return {
        name: tc.infer_many(
            [counted(getattr(each, source), partition) for each in batch], prior=prior, engine=ENGINE, progress=False
        )
        for name, (partition, prior) in kinds.items()
    }


def counted(scores: tc.Scores, partition: Any) -> tc.Counts:
    """Count as a quantifier does whose classifier gave these scores."""
    quantifier = Quantifier(Echo(len(scores.classes)), partition, cv="prefit")
    return quantifier.fit(scores.labeled, scores.labels).counts(scores.unlabeled)


def summary(values: list[float]) -> dict[str, float]:
    array = np.array(values)
    return {
        "repetitions": len(array),
        "mean": float(array.mean()),
        "standard_error": float(array.std(ddof=1) / np.sqrt(len(array))),
    }


def against_best(errors: dict[str, list[float]], source: str) -> dict[str, Any]:
    """The difference between the quantifier's error and that of the better one of ACC and BBSE, pair by pair."""
    peers = {name: np.array(errors[f"{name} ({source})"]) for name in ("ACC", "BBSE")}
    best = min(peers, key=lambda name: float(peers[name].mean()))
    kinds = (f"{name} ({SOURCES[source]})" for name in ("Argmax, sparse", "Argmax"))
    chosen = next(kind for kind in kinds if f"{kind}, realized" in errors)
    difference = np.array(errors[f"{chosen}, realized"]) - peers[best]
    return {"best": best, "quantifier": chosen, **summary(list(difference))}


def off(posterior: tc.Posterior, repetition: Repetition, target: str) -> float:
    """The mean absolute error of a posterior mean, as an estimate of the shares among the new items."""
    return float(np.abs(posterior.shares(target).mean(axis=0) - repetition.realized).mean())


def inside(posterior: tc.Posterior, ends: np.ndarray, target: str) -> np.ndarray:
    """How much of the posterior each interval holds, ends included: more than its level where shares are few."""
    draws = posterior.shares(target)
    return np.array([((draws >= low) & (draws <= high)).mean() for low, high in ends.transpose(0, 2, 1)])


def coverage(ends: np.ndarray, truths: np.ndarray) -> dict[str, Any]:
    """How often intervals hold the truth, how wide they are, and their interval score; by level."""
    low, high, truth = ends[..., 0], ends[..., 1], truths[:, None]
    held, width = (low <= truth + 1e-12) & (truth - 1e-12 <= high), high - low
    missed = np.maximum(low - truth, 0) + np.maximum(truth - high, 0)
    tails = 1 - np.array(LEVELS)[:, None]
    scores = width + 2 / tails * missed
    by_set = held.mean(axis=2)
    return {
        "repetitions": len(ends),
        "coverage": by_set.mean(axis=0).tolist(),
        "standard_error": (by_set.std(axis=0, ddof=1) / np.sqrt(len(by_set))).tolist(),
        "width": width.mean(axis=(0, 2)).tolist(),
        "interval_score": scores.mean(axis=(0, 2)).tolist(),
    }


class Losses:
    """Log loss and calibration of probabilities, gathered over repetitions."""

    def __init__(self) -> None:
        self.loss: dict[str, list[float]] = {name: [] for name in PROBABILITIES}
        self.sums = {name: np.zeros((3, SHARES * SCORES)) for name in PROBABILITIES}

    def add(self, batch: list[Repetition], posteriors: list[tc.Posterior]) -> None:
        """Look at the new items of a batch."""
        for each, posterior in zip(batch, posteriors, strict=True):
            for name, values in corrected(each.refitted, posterior).items():
                of_truth = values[np.arange(len(values)), each.labels]
                self.loss[name].append(float(-np.log(np.maximum(of_truth, 1e-12)).mean()))
                self._bin(name, values, each)

    def _bin(self, name: str, values: np.ndarray, each: Repetition) -> None:
        is_class = np.eye(values.shape[1])[each.labels]
        share = np.minimum((each.realized * SHARES).astype(int), SHARES - 1)
        cells = (share * SCORES + np.minimum((values * SCORES).astype(int), SCORES - 1)).ravel()
        for place, weights in enumerate((values, is_class, np.ones_like(values))):
            self.sums[name][place] += np.bincount(cells, weights.ravel(), minlength=SHARES * SCORES)

    def summary(self) -> dict[str, Any]:
        """Mean log loss, and how far probabilities are from frequencies, on average."""
        return {
            name: {
                "log_loss": summary(self.loss[name]),
                "calibration_error": float(np.abs(said - seen).sum() / items.sum()),
            }
            for name, (said, seen, items) in self.sums.items()
        }


def corrected(scores: tc.Scores, posterior: tc.Posterior) -> dict[str, np.ndarray]:
    """Probabilities of the new items: as they were, by EM, and by the posterior."""
    old, better = scores.items / len(scores.labels), calibrate(scores, "bias-corrected")
    found = {"uncorrected": scores.unlabeled}
    for suffix, each in (("", scores), (", bias-corrected", better)):
        weighted = each.unlabeled * EM().prevalence(each) / old
        found[f"EM{suffix}"] = weighted / weighted.sum(axis=1, keepdims=True)
        found[f"Recalibrated{suffix}"] = tc.recalibrate(each.unlabeled, posterior, trained_on=old, draws=100).mean
    return found
