"""Compare every estimator that QuaPy has too with QuaPy's, on real data, and say where the definitions part.

Both get the same scores of the same items, from ``uci.py``. Ends with an error if a method of the same definition
differs by more than 1e-6 anywhere.

    TRUECOUNT_DATA=... python benchmarks/agreement.py [--samples 10]
"""

import argparse
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from machine import about
from peer_quapy import Peer
from uci import ITEMS, samples

from truecount import Scores
from truecount.errors import ConvergenceWarning
from truecount.estimators import ACC, BBSE, CC, EM, PACC, PCC, RLLS, DyS, HDy, InvariantRatio

RESULTS = Path(__file__).parent / "results"
SETS = ("spambase", "cmc", "satimage", "optdigits")
AGREED = 1e-6


class MedianOverBins(Peer):
    """HDy from QuaPy's DyS: Hellinger's distance, 10 to 110 bins, but no grid of prevalences."""

    label = "median of DyS(n_bins=10, …, 110, tol=1e-10)"

    def __call__(self, scores: Scores) -> np.ndarray:
        """The median of eleven estimates."""
        bins = range(10, 111, 10)
        return np.median([Peer("DyS", {"n_bins": number, "tol": 1e-10})(scores) for number in bins], axis=0)


@dataclass(frozen=True)
class Pair:
    """One of our methods beside one of theirs."""

    ours: Any
    peer: Peer
    note: str = ""
    finish: Callable[[np.ndarray], np.ndarray] = np.asarray
    two_classes: bool = False

    @property
    def label(self) -> str:
        """Our method with the settings that are not the default."""
        return repr(self.ours)

    def difference(self, scores: Scores) -> float:
        """The largest over the classes; NaN where QuaPy fails."""
        try:
            other = self.peer(scores)
        except RuntimeError:
            return float("nan")
        return float(np.abs(self.finish(self.ours.prevalence(scores)) - other).max())


def without_negatives(prevalence: np.ndarray) -> np.ndarray:
    return np.maximum(prevalence, 0)


EXACT = {"solver": "exact-raise"}
PLAIN, NEAREST = {**EXACT, "norm": None}, {**EXACT, "norm": "mapsimplex"}
NOTES = {
    "cut": "QuaPy cuts negative weights to zero, and here we do too; as it is, ours returns them with a finding",
    "clarabel": "its objective, solved by Clarabel to 1e-13",
    "steps": "its iteration, until a step is shorter than 1e-13",
    "mixture": "QuaPy's DyS refuses more than two classes; this is the same mixture",
    "inside": "QuaPy looks for the least squares within the simplex; where the solution lies outside, that is another "
    "point than the nearest to it. SLSQP stops once a step gains less than 1e-6",
    "positive": "QuaPy looks for the least squares over weights that are not negative and scales them to sum to one; "
    "ours may leave the simplex",
    "scs": "same definition; SCS stops at 1e-5",
    "short": "same definition; QuaPy stops when a step is shorter than 1e-4, however far the end is",
    "abstention": "same definition; the package that fits for QuaPy stops early, and fails on a score of exactly 0",
    "slsqp": "same definition; SLSQP stops once a step gains less than 1e-6",
    "squares": "QuaPy adds the distances of the columns, we their squares, whose sum is convex; two classes have one "
    "column, and no difference",
    "grid": "QuaPy tries 100 prevalences that are 1/99 apart, we find the best between them",
}
TOPSOE, HELLINGER = {"divergence": "topsoe"}, {"divergence": "HD"}
TIGHT = {"tol": 1e-10}
SAME = (
    Pair(CC(), Peer("CC")),
    Pair(PCC(), Peer("PCC")),
    Pair(ACC(restricted=False), Peer("ACC", PLAIN)),
    Pair(ACC(), Peer("ACC", NEAREST)),
    Pair(PACC(restricted=False), Peer("PACC", PLAIN)),
    Pair(PACC(), Peer("PACC", NEAREST)),
    Pair(InvariantRatio(), Peer("ACC", {"method": "invariant-ratio", **NEAREST})),
    Pair(InvariantRatio(soft=True), Peer("PACC", {"method": "invariant-ratio", **NEAREST})),
    Pair(BBSE(), Peer("BBSEhard", PLAIN), "cut", without_negatives),
    Pair(BBSE(soft=True), Peer("BBSEsoft", PLAIN), "cut", without_negatives),
    Pair(RLLS(), Peer("RLLS", {"mode": "hard"}, patient=True), "clarabel"),
    Pair(RLLS(soft=True), Peer("RLLS", patient=True), "clarabel"),
    Pair(EM(), Peer("EMQ", patient=True), "steps"),
    Pair(DyS(), Peer("DMy", TOPSOE, patient=True), "mixture"),
    Pair(DyS(), Peer("DyS", {**TOPSOE, **TIGHT}), two_classes=True),
    Pair(DyS(distance="hellinger"), Peer("DyS", {**HELLINGER, **TIGHT}), two_classes=True),
    Pair(HDy(), MedianOverBins("HDy"), two_classes=True),
)
OTHER = (
    Pair(ACC(), Peer("ACC"), "inside"),
    Pair(PACC(), Peer("PACC"), "inside"),
    Pair(BBSE(), Peer("BBSEhard"), "positive"),
    Pair(BBSE(soft=True), Peer("BBSEsoft"), "positive"),
    Pair(RLLS(soft=True), Peer("RLLS"), "scs"),
    Pair(EM(), Peer("EMQ"), "short"),
    Pair(EM("temperature"), Peer("EMQ", {"calib": "ts"}, patient=True), "abstention"),
    Pair(EM("bias-corrected"), Peer("EMQ", {"calib": "bcts"}, patient=True), "abstention"),
    Pair(DyS(), Peer("DMy", TOPSOE), "slsqp"),
    Pair(DyS(distance="hellinger"), Peer("DMy", HELLINGER, patient=True), "squares"),
    Pair(HDy(), Peer("HDy"), "grid", two_classes=True),
)


def compare(pair: Pair, problems: dict[tuple[str, bool], list[Scores]]) -> dict[str, Any]:
    """The largest difference over the samples of each set, and on how many QuaPy failed."""
    differences = {name: [pair.difference(scores) for scores in problems[name, pair.two_classes]] for name in SETS}
    return {
        "truecount": pair.label,
        "quapy": pair.peer.label,
        "two_classes": pair.two_classes,
        "difference": {
            name: None if np.isnan(each).all() else float(np.nanmax(each)) for name, each in differences.items()
        },
        "quapy_failed": {name: int(np.isnan(each).sum()) for name, each in differences.items()},
        "note": NOTES.get(pair.note, ""),
    }


def outside(problems: list[Scores]) -> float:
    """The share of samples whose unrestricted ACC leaves the simplex."""
    return float(np.mean([(ACC(restricted=False).prevalence(scores) < 0).any() for scores in problems]))


def table(results: list[dict[str, Any]]) -> list[str]:
    header = ["truecount", "QuaPy", *SETS, ""]
    rows = [header, ["---"] * len(header)]
    for previous, result in zip([None, *results], results, strict=False):
        cells = [shown(result["difference"][name], result["quapy_failed"][name]) for name in SETS]
        two = " on the commonest class against the rest" if result["two_classes"] else ""
        note = "as above" if previous and result["note"] == previous["note"] != "" else result["note"]
        rows.append([f"`{result['truecount']}`{two}", f"`{result['quapy']}`", *cells, note])
    return [f"| {' | '.join(row)} |" for row in rows]


def shown(difference: float | None, failed: int) -> str:
    number = "fails" if difference is None else f"{difference:.0e}"
    return f"{number} ({failed} failed)" if failed and difference is not None else number


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=10)
    options = parser.parse_args()
    machine = about()
    warnings.simplefilter("error", ConvergenceWarning)
    kinds = [(name, two_classes) for name in SETS for two_classes in (False, True)]
    problems = {kind: [scores for scores, _ in samples(*kind, number=options.samples)] for kind in kinds}
    same, other = ([compare(pair, problems) for pair in pairs] for pairs in (SAME, OTHER))
    left = ", ".join(f"{name} {outside(problems[name, False]):.0%}" for name in SETS)
    lines = [
        f"Largest difference of any class over {options.samples} samples of {ITEMS} items from each set.",
        f"The exact solution of ACC lies outside the simplex in: {left}.",
        "",
        "Where the definition is the same:",
        "",
        *table(same),
        "",
        "Where it is not, or where QuaPy stops before its own optimum:",
        "",
        *table(other),
    ]
    print("\n".join(lines))
    document = {"machine": machine, "samples": options.samples, "items": ITEMS, "same": same, "other": other}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "agreement.json").write_text(json.dumps(document, indent=1) + "\n")
    (RESULTS / "agreement.md").write_text("\n".join(lines) + "\n")
    worst = max(value for result in same for value in result["difference"].values())
    if worst > AGREED:
        raise SystemExit(f"a method of the same definition differs by {worst:.1e}")


if __name__ == "__main__":
    main()
