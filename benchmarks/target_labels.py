"""Labels of the population beside labels from elsewhere: width and coverage of 95 % intervals, by how many there are.

    python benchmarks/target_labels.py [--sets N] [--part xstest|uci] [--data NAME] [--again] [--more] [--tables]

Each setting is a table of classes and outputs elsewhere and one of the population, counted on real data, from which
samples are drawn: 400 labels from elsewhere, 500 items of the population, of which none, 20, 50 or 200 are labelled, at
random. Labels from elsewhere alone are used with all 500. Where label shift holds, elsewhere has the rows of the
population. XSTest: the population is one model, elsewhere are the four others. UCI: a logistic regression; the
population is the half of each class that lies further in a random direction, elsewhere the other half. Results go to
``benchmarks/results/target_labels.json`` and ``.md``, as each setting is done; data that are not asked for stay as they
are. With ``--again`` only both sources together are measured, on the same data sets as before.

A second table has what misses the bar: both sources together more than 5 % wider than the narrower one where label
shift holds, or intervals that hold less than 92 % under drift. Two more have what other priors would have made of the
same draws, which are weighted by the ratio of the priors: other chances of label shift, and other ways to drift.

Nothing can be as narrow as the better source where label shift holds and hold the truth where it does not, if the
labels of the population are too few to tell. `least_width` says what is possible, with normal distributions: labels
from elsewhere err by a drift of unknown sign, whose size is known from how often they hold alone, or may be any. The
last table has the same for the prior of the model and for others: how wide they are there, how often they hold under
the drift that they hold least under, and the least width of all that hold as often. With ``--tables`` nothing is
measured and all tables are written anew; ``--more`` measures only twenty labels under drift, in other data sets.
"""

import argparse
import json
import os
import time
import warnings
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from machine import about
from scipy.optimize import brentq, linprog
from scipy.special import gammaln, logsumexp, ndtr
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truecount as tc
from truecount.models.target_labels import AROUND, CHANCES, WORTHS

RESULTS = Path(__file__).parent / "results"
ELSEWHERE, ITEMS, LABELS, FEW = 400, 500, (0, 20, 50, 200), 20
SETS_OF_UCI = ("spambase", "waveform-21", "cmc", "wine-quality-white", "page-blocks", "satimage", "nursery", "yeast")
SETS_OF_UCI += ("wine-quality-red",)
FEWEST_ITEMS = 300
TRUTHS = ("label shift", "drift")
METHODS = ("from elsewhere", "of the population", "both, label shift assumed", "both")
ENGINE = tc.Auto(1000)


@dataclass(frozen=True)
class Other:
    """A prior of the rows.

    Label shift holds for all classes with a `chance`. Otherwise labels of a class are worth from `least` to 100, either
    all classes the same or, `by_class`, each its own; then its row carries over by itself with the chance `alone`. Rows
    are `around` those elsewhere in that part of the prior, and drift towards the general prior of rows in the rest.
    """

    chance: float = 1 / 4
    by_class: bool = False
    alone: float = 0.0
    least: float = 1.0
    around: float = 1 / 2


OTHERS = {
    "label shift 1 in 8": Other(1 / 8),
    "label shift 1 in 2": Other(1 / 2),
    "label shift 7 in 10": Other(0.7),
    "1 in 4, else drift to the general prior of rows": Other(around=0.0),
    "1 in 4, else drift around rows elsewhere": Other(around=1.0),
    "1 in 4, else a worth for each class": Other(by_class=True),
    "1 in 4, else each class 1 in 2": Other(by_class=True, alone=1 / 2),
    "1 in 4, else small drifts (worth 10 to 100)": Other(least=9.9),
}
NEWEST = "1 in 4, else drift around rows elsewhere"
OLDER = (
    "† Both sources were measured, here or in some of the data, when rows drifted towards the general prior of rows "
    "alone; `--again` measures them anew."
)
BAR, WIDEST = 0.92, 1.05
NORMAL, CLASSES = 1.96, 2
ANY_DRIFT = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0)
"""In standard errors of labels from elsewhere."""
IN_THEORY = [((1, 100), chance) for chance in (0.0, 1 / 8, 1 / 4, 1 / 2, 0.7)]
IN_THEORY += [((1, 10), 0.4), ((3, 30), 0.4), ((10, 100), 1 / 4)]
"""What labels of a class are worth where label shift does not hold, and the chance that it holds."""
RATIO, SIMULATED = 1.8, 4000
"""Of the widths by twenty labels and by labels from elsewhere on spambase and waveform-21; data sets of `in_theory`."""


def xstest(wanted):
    """Yield the place and the name of a wanted judge, and tables of the other models and of one."""
    frame = pd.read_csv(Path(os.environ["TRUECOUNT_DATA"]) / "xstest_refusals" / "labels.csv")
    for first, judge in enumerate(("gpt4_label", "strmatch_label")):
        name = f"XSTest, {judge.removesuffix('_label')}"
        if wanted not in name:
            continue
        classes, outputs = sorted(set(frame["truth"])), sorted(set(frame[judge]))
        tables = {}
        for model, answers in frame.groupby("group"):
            crossed = pd.crosstab(answers["truth"], answers[judge])
            tables[model] = crossed.reindex(index=classes, columns=outputs, fill_value=0).to_numpy()
        for place, (model, table) in enumerate(tables.items(), start=first * len(tables)):
            yield place, (name, sum(each for other, each in tables.items() if other != model), table)


def uci(wanted):
    """Yield the place and the name of a wanted set, and tables of two halves of each class that differ in a direction.

    The direction is random.
    """
    for place, (name, seed) in enumerate(product(SETS_OF_UCI, range(5))):
        if wanted not in f"UCI, {name}":
            continue
        frame = pd.read_csv(Path(os.environ["TRUECOUNT_DATA"]) / "uci" / f"{name}.tsv.gz", sep="\t")
        target = frame.pop("target")
        kept = target.isin(target.value_counts()[lambda sizes: sizes >= FEWEST_ITEMS].index)
        features, labels = frame[kept].to_numpy(float), np.unique(target[kept], return_inverse=True)[1]
        rng = np.random.default_rng(seed)
        training, rest = np.array_split(rng.permutation(len(labels)), 2)
        classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=5000))
        outputs = classifier.fit(features[training], labels[training]).predict(features[rest])
        along = StandardScaler().fit_transform(features[rest]) @ rng.normal(size=features.shape[1])
        middle = np.array([np.median(along[labels[rest] == each]) for each in range(labels.max() + 1)])
        is_far = along > middle[labels[rest]]
        sides = (_crossed(labels[rest][side], outputs[side], labels.max() + 1) for side in (~is_far, is_far))
        yield place, (f"UCI, {name}", *sides)


def _crossed(labels, outputs, number):
    table = np.zeros((number, number), int)
    np.add.at(table, (labels, outputs), 1)
    return table


def answers(known, own, new, seed, skipped):
    """Return the posterior of each method that applies, and the seconds of processor time that each took."""
    counts, found = tc.Counts(known, new), {}
    asked = {"from elsewhere": (counts, tc.LabelShift())}
    if own.any():
        asked = {
            "of the population": (tc.Counts(own, new), tc.SamePopulation()),
            "both, label shift assumed": (counts, tc.TargetLabels(labeled=own, worth=np.inf)),
            "both": (counts, tc.TargetLabels(labeled=own)),
        }
    for name, (data, model) in asked.items():
        if name in skipped:
            continue
        start = time.process_time()
        posterior = tc.infer(data, model, engine=ENGINE, seed=seed)
        found[name] = posterior.interval(), time.process_time() - start
    if own.any():
        found |= {name: (ends, 0.0) for name, ends in other_priors(posterior, known, model.density(counts)).items()}
    return found


def other_priors(posterior, known, density):
    """Return the intervals that other priors would have made of these draws."""
    beliefs, elsewhere = density.learned_rows.spread[:, None], known[:, None]
    counted, total = 1 / (1 + known.sum() / len(known) / WORTHS)[:, None], beliefs + elsewhere
    means = total / total.sum(axis=2, keepdims=True)
    centre = AROUND * beliefs.sum(axis=2, keepdims=True) * means + (1 - AROUND) * beliefs
    towards, around = beliefs + counted * elsewhere, (1 - counted) * centre + counted * total
    logs = np.log(np.maximum(posterior.confusion, 1e-300))
    heights = np.stack([log_dirichlets(logs, shapes) for shapes in (towards, around)])
    shares = posterior.prevalence[:: len(posterior.prevalence) // len(logs)][: len(logs)]
    used, found = log_prior(heights, Other(CHANCES[-1])), {}
    for name, other in OTHERS.items():
        ratio = log_prior(heights, other) - used
        weights = np.exp(ratio - ratio.max())
        found[name] = np.array([weighted_interval(each, weights / weights.sum()) for each in shares.T])
    return found


def log_dirichlets(logs, shapes):
    """Return log-densities, shape (draws, classes, worths), of rows by their logarithms, (draws, classes, outputs)."""
    return np.einsum("dlk,lsk->dls", logs, shapes - 1) + gammaln(shapes.sum(axis=2)) - gammaln(shapes).sum(axis=2)


def log_prior(heights, prior):
    """Return the log-density of rows, whose log-densities have the shape (ways to drift, draws, classes, worths)."""
    with np.errstate(divide="ignore"):
        ways = np.log([1 - prior.around, prior.around])[:, None, None]
        alone, drifts = np.log(prior.alone), np.log1p(-prior.alone)
    drifting, alike = heights[..., :-1][..., WORTHS[:-1] >= prior.least], heights[0, ..., -1]
    number = np.log(drifting.shape[3])
    if prior.by_class:
        drift = logsumexp(drifting + ways[..., None], axis=(0, 3)) - number
        drift = np.logaddexp(alone + alike, drifts + drift).sum(axis=1)
    else:
        drift = logsumexp(drifting.sum(axis=2) + ways, axis=(0, 2)) - number
    return np.logaddexp(np.log(prior.chance) + alike.sum(axis=1), np.log1p(-prior.chance) + drift)


def weighted_interval(values, weights):
    """Return the central 95 % interval of weighted draws."""
    order = np.argsort(values)
    return np.interp([0.025, 0.975], np.cumsum(weights[order]) - weights[order] / 2, values[order])


def measured(settings, sets, skipped=()):
    """Return rows of width and coverage of one source, whose settings these are, without some methods."""
    told = {}
    for place, (source, elsewhere, population) in settings:
        rows = population / population.sum(axis=1, keepdims=True)
        own_mix = elsewhere.sum(axis=1, keepdims=True) / elsewhere.sum()
        for truth, joint in zip(TRUTHS, (own_mix * rows, elsewhere / elsewhere.sum()), strict=True):
            for seed in range(sets):
                rng = np.random.default_rng([place, seed, 5])
                shares = population.sum(axis=1) / population.sum()
                if source.startswith("UCI"):
                    shares = rng.dirichlet(np.ones(len(rows)))
                here = shares[:, None] * rows
                known = rng.multinomial(ELSEWHERE, joint.ravel()).reshape(rows.shape)
                alone = {}
                for labels in LABELS:
                    own = rng.multinomial(labels, here.ravel()).reshape(rows.shape)
                    new = rng.multinomial(ITEMS - labels, here.sum(axis=0))
                    found = answers(known, own, new, seed, skipped)
                    alone = found if not labels else alone
                    if not labels and found:
                        found["both"] = found["from elsewhere"]  # without labels it is the same posterior
                    for method, (ends, seconds) in {**alone, **found}.items():
                        inside = (ends[:, 0] <= shares) & (shares <= ends[:, 1])
                        result = np.mean(np.diff(ends)), inside.mean(), seconds
                        told.setdefault((source, truth, labels, method), []).append(result)
    return [
        dict(zip(("source", "truth", "labels", "method"), key, strict=True))
        | dict(zip(("width", "held", "seconds"), np.mean(each, axis=0).tolist(), strict=True))
        | {"data_sets": len(each), "held_error": float(np.std(each, axis=0)[1] / np.sqrt(len(each)))}
        | ({"over_error": over_error(told, key)} if key[-1] == "both" and not skipped else {})
        for key, each in told.items()
    ]


def over_error(told, key):
    """Return the standard error of the width by both sources over that by the narrower one."""
    widths = {method: np.array(told[*key[:3], method])[:, 0] for method in METHODS if (*key[:3], method) in told}
    narrower = min((widths[method] for method in METHODS[:2] if method in widths), key=np.mean)
    both, number = widths["both"], len(narrower)
    rest = both - both.mean() / narrower.mean() * narrower
    return float(rest.std() / np.sqrt(number) / narrower.mean())


@cache
def least_width(ratio, held=None, coverage=BAR):
    """Return the least mean width where label shift holds that leaves such a coverage under drift.

    It is that over the width by the narrower source, of all ways to make a set of shares from two estimates that move
    with them: by linear programming over which to make, whose dual is the drift that is hardest (Neyman & Pearson).

    Parameters
    ----------
    ratio
        The width by labels of the population over that by labels from elsewhere.
    held
        How often the latter alone hold under drift, which tells its size; None where the drift may be any.
    coverage
        What is left under each such drift.
    """
    drifts = ANY_DRIFT
    if held is not None:
        drifts = [brentq(lambda size: norm.cdf(NORMAL - size) - norm.cdf(-NORMAL - size) - held, 0, 10)]
    gap, share = np.linspace(-15, 15, 151), np.linspace(-4.5, 4.5, 73) * max(1, ratio)
    area = (gap[1] - gap[0]) * (share[1] - share[0])
    first = norm.pdf(share / ratio) / ratio * area
    kept = np.array(
        [sum(norm.pdf(gap[:, None] - share - sign * drift) for sign in (-1, 1)).ravel() / 2 for drift in drifts]
    )
    of_gap = np.repeat(norm.pdf(gap, scale=np.hypot(1, ratio)) * area, len(share))
    found = linprog(of_gap, A_ub=-kept * np.tile(first, len(gap)), b_ub=np.full(len(drifts), -coverage), bounds=(0, 1))
    return found.fun / (2 * NORMAL * min(1, ratio))


def in_theory(ratio, chance, drift, worths=WORTHS[:-1]):
    """Return mean width, over that by labels from elsewhere, and coverage of a prior's 95 % intervals under a drift.

    With normal distributions: rows of a class from elsewhere err as those of its labels do, and drift by as much more
    as the prior has it, if these are worth so many labels of the population.
    """
    rng = np.random.default_rng(0)
    one, other = drift + rng.normal(size=SIMULATED), ratio * rng.normal(size=SIMULATED)
    variances = 1 + np.append(0, ELSEWHERE / CLASSES / np.array(worths))
    chances = np.append(chance, np.full(len(variances) - 1, (1 - chance) / (len(variances) - 1)))
    weights = chances * norm.pdf((one - other)[:, None], scale=np.sqrt(variances + ratio**2))
    weights /= weights.sum(axis=1, keepdims=True)
    precision = 1 / variances + 1 / ratio**2
    centres = (one[:, None] / variances + other[:, None] / ratio**2) / precision

    def below(share):
        return (weights * ndtr((share[:, None] - centres) * np.sqrt(precision))).sum(axis=1)

    ends = []
    for part in (0.025, 0.975):
        low, high = np.full(SIMULATED, -60.0), np.full(SIMULATED, 60.0)
        for _ in range(40):
            middle = (low + high) / 2
            is_low = below(middle) < part
            low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
        ends.append(middle)
    return (ends[1] - ends[0]).mean() / (2 * NORMAL), ((ends[0] <= 0) & (ends[1] >= 0)).mean()


def theory():
    """Return a table of priors with normal distributions, beside the least width of all that hold as often."""
    head = ["worth of labels where it does not hold", "chance of label shift", "width where it holds", "held there"]
    head += ["held under the worst drift", "that drift"]
    head += ["least width that holds as often under all", "least width that holds 95 % under all"]
    lines = [head, ["---"] * len(head)]
    for (lowest, highest), chance in IN_THEORY:
        worths = np.geomspace(lowest, highest, 9)
        width, held = in_theory(RATIO, chance, 0.0, worths)
        least, worst = min((in_theory(RATIO, chance, drift, worths)[1], drift) for drift in ANY_DRIFT[1:])
        bounds = f"{least_width(RATIO, coverage=round(least, 3)):.2f}", f"{least_width(RATIO, coverage=0.95):.2f}"
        cells = f"{lowest} to {highest}", f"{chance:g}", f"{width:.2f}", f"{100 * held:.1f} %", f"{100 * least:.1f} %"
        lines.append([*cells, f"{worst:g}", *bounds])
    return lines


def more(settings, sets):
    """Return how often intervals of one source hold under drift with few labels, in many data sets, by the method."""
    held = {}
    for place, (_, elsewhere, population) in settings:
        rows, shares = population / population.sum(axis=1, keepdims=True), population.sum(axis=1) / population.sum()
        for seed in range(sets):
            rng = np.random.default_rng([place, seed, 7])
            known = rng.multinomial(ELSEWHERE, (elsewhere / elsewhere.sum()).ravel()).reshape(rows.shape)
            own = rng.multinomial(FEW, (shares[:, None] * rows).ravel()).reshape(rows.shape)
            new = rng.multinomial(ITEMS - FEW, shares @ rows)
            asked = (tc.Counts(own, new), tc.SamePopulation()), (tc.Counts(known, new), tc.TargetLabels(labeled=own))
            for method, (counts, model) in zip((METHODS[1], METHODS[3]), asked, strict=True):
                ends = tc.infer(counts, model, engine=ENGINE, seed=seed).interval()
                inside = ((ends[:, 0] <= shares) & (shares <= ends[:, 1])).mean()
                held.setdefault(method, []).append((inside, np.diff(ends).mean()))
    told = {"data_sets": len(held[METHODS[3]])}
    for method, each in held.items():
        means, error = np.mean(each, axis=0), float(np.std(each, axis=0)[0] / np.sqrt(len(each)))
        told[method] = {"held": float(means[0]), "held_error": error, "width": float(means[1])}
    apart = np.subtract(*(np.array(held[method])[:, 0] for method in (METHODS[3], METHODS[1])))
    return {**told, "difference": float(apart.mean()), "difference_error": float(apart.std() / np.sqrt(len(apart)))}


def table_of_more(found):
    """Return a table of these."""
    head = [
        "data, drift, 20 labels",
        "data sets",
        f"{METHODS[1]}: width, held",
        f"{METHODS[3]}: width, held",
        "difference",
    ]
    lines = [head, ["---"] * len(head)]
    for source, row in found.items():
        apart = f"{100 * row['difference']:+.1f} ± {100 * row['difference_error']:.1f}"
        lines.append(
            [source, str(row["data_sets"]), *(cell(row[method]) for method in (METHODS[1], METHODS[3])), apart]
        )
    return lines if found else []


def table(rows, again=()):
    """Return all tables; `again` has what was measured in more data sets."""
    found = {(row["source"], row["truth"], row["labels"], row["method"]): row for row in rows}
    head = ["data", "in truth", "labels of the population", *(f"{method}: width, held" for method in METHODS)]
    head += ["both over the narrower source", "least that holds 92 % under that drift", "under any drift"]
    head += ["ms: from elsewhere, both"]
    missed = ["data", "labels of the population", "missed", "measured", "least width that holds 92 % under that drift"]
    missed += ["under any drift"]
    lines, misses = [head, ["---"] * len(head)], [missed, ["---"] * len(missed)]
    older = {row["source"] for row in rows} - {key[0] for key in found if key[3] == NEWEST}
    older |= {"all"} if older else set()
    for source, truth, labels in dict.fromkeys(key[:3] for key in found):
        each = [found.get((source, truth, labels, method)) for method in METHODS]
        cells = ["" if row is None else cell(row) for row in each]
        ratio = each[3]["width"] / min(row["width"] for row in each[:2] if row is not None)
        spent = f"{1000 * each[0]['seconds']:.0f}, {1000 * each[3]['seconds']:.0f}"
        least = any_drift = ""
        if labels and source != "all":
            tables = [[found[source, name, labels, method] for method in METHODS[:2]] for name in TRUTHS]
            wider = tables[0][1]["width"] / tables[0][0]["width"]
            least, any_drift = (f"{least_width(wider, held):.2f}" for held in (tables[1][0]["held"], None))
        over = f"{ratio:.2f} ± {each[3]['over_error']:.2f}" if "over_error" in each[3] else f"{ratio:.2f}"
        named = f"{source} †" if source in older else source
        bounds = [least, any_drift] if truth == TRUTHS[0] else ["", ""]
        lines.append([named, truth, str(labels), *cells, over, *bounds, spent])
        if labels and truth == TRUTHS[0] and ratio > WIDEST:
            misses.append([named, str(labels), "width where label shift holds", over, least, any_drift])
        if labels and truth == TRUTHS[1] and each[3]["held"] < BAR:
            misses.append([named, str(labels), "coverage under drift", cells[3].partition(", ")[2], least, any_drift])
    tables = [
        *lines,
        [],
        *misses,
        [],
        *priors_compared(found),
        [],
        *priors_by_source(found),
        [],
        *theory(),
        [],
        *table_of_more(dict(again)),
        [],
        *table_of_more(dict(again)),
    ]
    text = "\n".join("| " + " | ".join(line) + " |" if line else "" for line in tables) + "\n"
    return text + (f"\n{OLDER}\n" if older else "")


def priors_compared(found):
    """Return, for each prior, the coverage under drift by number of labels, and the widest where label shift holds."""
    held, wide = "held under drift", "widest over the narrower source"
    head = ["prior", *(f"{labels} labels: {what}" for labels in LABELS[1:] for what in (held, wide))]
    lines = [head, ["---"] * len(head)]
    for method in ("both", *OTHERS):
        cells = []
        for labels in LABELS[1:]:
            over = {}
            for source in dict.fromkeys(key[0] for key in found if key[0] != "all"):
                at = source, TRUTHS[0], labels
                if (*at, method) in found:
                    narrower = min(found[*at, each]["width"] for each in METHODS[:2])
                    over[source] = found[*at, method]["width"] / narrower
            row, worst = found.get(("all", TRUTHS[1], labels, method)), max(over, key=over.get, default=None)
            cells += ["", ""] if row is None else [cell(row).partition(", ")[2], f"{over[worst]:.2f} ({worst})"]
        lines.append(["label shift 1 in 4 (the model's)" if method == "both" else method, *cells])
    return lines


def priors_by_source(found):
    """Return the same for each set of data: width over the narrower source, and coverage under drift."""
    methods = ("both", *OTHERS)
    head = ["data", "labels of the population", "label shift 1 in 4 (the model's): width, held under drift", *OTHERS]
    lines = [head, ["---"] * len(head)]
    for source in dict.fromkeys(key[0] for key in found if key[0] != "all"):
        for labels in LABELS[1:3]:
            narrower = min(found[source, TRUTHS[0], labels, each]["width"] for each in METHODS[:2])
            cells = [
                f"{found[source, TRUTHS[0], labels, method]['width'] / narrower:.2f}, "
                f"{100 * found[source, TRUTHS[1], labels, method]['held']:.0f}"
                if (source, TRUTHS[1], labels, method) in found
                else ""
                for method in methods
            ]
            lines.append([source, str(labels), *cells])
    return lines


def cell(row):
    """Return width and coverage, with its standard error."""
    return f".{1000 * row['width']:03.0f}, {100 * row['held']:.0f} ± {100 * row['held_error']:.1f} %"


def main() -> None:
    """Measure, print, write."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--sets", type=int, default=8, help="of each setting")
    arguments.add_argument("--part", choices=("xstest", "uci"))
    arguments.add_argument("--data", help="only data whose name contains this")
    arguments.add_argument("--again", action="store_true", help="keep what is known of each source alone")
    arguments.add_argument("--more", action="store_true", help="many data sets of few labels under drift, no others")
    arguments.add_argument("--tables", action="store_true", help="write the tables of what is known")
    asked = arguments.parse_args()
    warnings.simplefilter("ignore")
    kept = RESULTS / "target_labels.json"
    found = json.loads(kept.read_text()) if kept.exists() else {"rows": [], "more": {}}
    by_source = {}
    for name, settings in (("xstest", xstest), ("uci", uci)):
        for place, setting in settings(asked.data or "") if asked.part in (None, name) and not asked.tables else ():
            by_source.setdefault(setting[0], []).append((place, setting))
    for source, settings in by_source.items():
        if asked.more:
            found["more"] = found.get("more", {}) | {source: more(settings, asked.sets)}
        elif not asked.tables:
            found["rows"] = with_source(found["rows"], source, settings, asked)
        found["machine"] = found["machine"] if asked.tables else about()
        kept.write_text(json.dumps(found, indent=1) + "\n")
        print(source, flush=True)
    (RESULTS / "target_labels.md").write_text(table(found["rows"], found.get("more", {})))


def with_source(old, source, settings, asked):
    """Return rows with those of one source measured anew."""
    own = [row for row in old if row["source"] == source and asked.again and is_kept(row)]
    sets = own[0]["data_sets"] // len(settings) if own else asked.sets
    rows = own + measured(settings, sets, METHODS[:3] if own else ())
    rows = [row for row in old if row["source"] not in (source, "all")] + rows
    return rows + [{**row, "source": "all"} for row in pooled(rows)]


def is_kept(row):
    """Whether a row is of one source alone, or of label shift assumed, which the model of both does not change."""
    return row["method"] in METHODS[:3] or (row["method"] == "both" and not row["labels"])


def pooled(rows):
    """Average over all data, which count alike."""
    groups = {}
    for row in rows:
        groups.setdefault((row["truth"], row["labels"], row["method"]), []).append(row)
    for (truth, labels, method), each in groups.items():
        means = {name: float(np.mean([row[name] for row in each])) for name in ("width", "held", "seconds")}
        error = float(np.sqrt(np.sum([row["held_error"] ** 2 for row in each])) / len(each))
        number = sum(row["data_sets"] for row in each)
        more = {"data_sets": number, "held_error": error}
        yield {"truth": truth, "labels": labels, "method": method, **means, **more}


if __name__ == "__main__":
    main()
