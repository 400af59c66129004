"""Validation studies that differ: what 95 % intervals of a survey hold whose test has rates of its own.

    python benchmarks/studies.py [PART ...]

Each data set has studies of a test, whose sensitivity and specificity vary on the logit, and a survey, which is a new
study without labels. The posterior of `Varying` is integrated on a grid, which shares no code with the package; on the
first data sets of some parts the package infers too, and its intervals are held against those of the grid. Results go
to ``benchmarks/results/studies.json`` and ``.md``; parts that are not named stay as they are.
"""

import json
import sys
from pathlib import Path

import numpy as np
from machine import about

import truecount as tc

RESULTS = Path(__file__).parent / "results"
LEVEL = 0.95
LOGITS = (1.7, 2.5)
"""Of sensitivity and specificity at the centre: 85 and 92 %."""
PER_CLASS = (40, 300)
"""Labelled items of a class in a study, at least and at most."""
TESTED = 1000
SPREADS = (0.0, 0.5, 0.8)
"""Standard deviations between studies, on the logit."""
PARTS = {
    "5 studies": {"studies": 5, "data_sets": 200, "inferred": 3, "scales": (0.5,)},
    "8 studies": {"studies": 8, "data_sets": 60, "inferred": 0, "scales": (0.5,)},
    "3 studies": {"studies": 3, "data_sets": 30, "inferred": 0, "scales": (0.25, 0.5, 1.0)},
    "2 studies": {"studies": 2, "data_sets": 30, "inferred": 0, "scales": (0.25, 0.5, 1.0)},
}
SHARES = (np.arange(300) + 0.5) / 300
NEW = np.linspace(-8, 12, 121)
"""Logits of the survey's rates."""


def logistic(values):
    return 1 / (1 + np.exp(-values))


def simulated(studies, sd, rng):
    """Return groups with one survey, and its true share of positives."""
    rates = logistic(rng.normal(LOGITS, sd, (studies + 1, 2)))
    tables = np.stack([[[sens, 1 - sens], [1 - spec, spec]] for sens, spec in rates])
    labeled = {
        f"study {at}": [rng.multinomial(rng.integers(*PER_CLASS), row) for row in tables[at]] for at in range(studies)
    }
    share = rng.uniform(0.05, 0.6)
    items = {"survey": rng.multinomial(TESTED, [share, 1 - share] @ tables[-1])}
    return tc.Groups(labeled, items, classes=["positive", "negative"]), share


def new_study(right, wrong, scale):
    """Return the mass of a new study's logit on the grid: flat rate at the centre, half-normal spread."""
    points, weights = np.polynomial.hermite_e.hermegauss(40)
    mean, spread = np.meshgrid(np.linspace(-3, 8, 111), scale * (np.arange(40) + 0.5) / 10, indexing="ij")
    logits = mean[..., None] + spread[..., None] * points
    up, down = -np.logaddexp(0, -logits), -np.logaddexp(0, logits)
    log = -np.logaddexp(0, -mean) - np.logaddexp(0, mean) - 0.5 * (spread / scale) ** 2
    for r, w in zip(right, wrong, strict=True):
        each = r * up + w * down
        top = each.max(axis=-1)
        log = log + top + np.log(np.exp(each - top[..., None]) @ weights)
    mass = np.exp(log - log.max())[..., None] * weights
    place = np.clip((logits - NEW[0]) / (NEW[1] - NEW[0]), 0, len(NEW) - 1.001)
    low, part = place.astype(int), place % 1
    total = np.bincount(low.ravel(), (mass * (1 - part)).ravel(), len(NEW))
    total += np.bincount(low.ravel() + 1, (mass * part).ravel(), len(NEW))
    return total / total.sum()


def survey_likelihood(positive, negative):
    """Return the likelihood of the survey, shape (share, sensitivity, specificity)."""
    rate = logistic(NEW)
    found = SHARES[:, None, None] * rate[:, None] + (1 - SHARES)[:, None, None] * (1 - rate)
    log = positive * np.log(found) + negative * np.log1p(-found)
    return np.exp(log - log.max())


def ends_on_grid(likelihood, labeled, scale):
    """Return the 95 % interval of the share."""
    sens = new_study(labeled[:, 0, 0], labeled[:, 0, 1], scale)
    spec = new_study(labeled[:, 1, 1], labeled[:, 1, 0], scale)
    below = np.cumsum(likelihood @ spec @ sens)
    edges = np.append(0.0, SHARES + 0.5 / len(SHARES))
    return np.interp([(1 - LEVEL) / 2, (1 + LEVEL) / 2], np.append(0.0, below / below[-1]), edges)


def measured(studies, sd, data_sets, inferred, scales):
    """Return what intervals hold and how wide they are, and how far those of the package are from the grid's."""
    names = ["one confusion", *(f"varying, scale {scale:g}" for scale in scales)]
    ends, truths, off = {name: [] for name in names}, [], []
    for number in range(data_sets):
        groups, share = simulated(studies, sd, np.random.default_rng([2, studies, round(10 * sd), number]))
        truths.append(share)
        likelihood = survey_likelihood(*groups.unlabeled[0])
        ends["one confusion"].append(tc.infer(groups.total, seed=number).interval(LEVEL)[0])
        for name, scale in zip(names[1:], scales, strict=True):
            ends[name].append(ends_on_grid(likelihood, groups.labeled, scale))
        if number < inferred:
            model = tc.LabelShift(groups=tc.Independent(), confusion=tc.Varying(spread=scales[0]))
            answer = tc.infer(groups, model, engine=tc.Auto(1000), seed=number)
            found = answer.interval(LEVEL)[0, 0]
            off.append({"ends": found.tolist(), "grid": ends[names[1]][-1].tolist(), "status": answer.status})
    truth, found = np.array(truths), {}
    for name in names:
        low, high = np.array(ends[name]).T
        held = float(((low <= truth) & (truth <= high)).mean())
        error = float(np.sqrt(held * (1 - held) / data_sets))
        found[name] = {"held": held, "held_error": error, "width": float((high - low).mean())}
    return {"studies": studies, "sd": sd, "data_sets": data_sets, "models": found, "inferred": off}


def text(document):
    """Return a table: a row for each number of studies, spread and model."""
    lines = [
        f"**Validation studies that differ.** A survey of {TESTED:,} people with a sensitivity and a specificity of "
        f"its own, {PER_CLASS[0]} to {PER_CLASS[1]} labelled items of a class in a study. What 95 % intervals of the "
        "share hold (standard error), and their mean width. The scale is that of the half-normal prior of the spread "
        "between studies, whose posterior is integrated on a grid.",
        "",
        "| studies | sd between studies, logit | data sets | model | 95 % hold | width, points |",
        "|" + " --- |" * 6,
    ]
    rows = [row for part in PARTS for row in document.get(part, ())]
    for row in rows:
        lines += [
            f"| {row['studies']} | {row['sd']} | {row['data_sets']} | {name} | {100 * found['held']:.1f} % "
            f"({100 * found['held_error']:.1f}) | {100 * found['width']:.1f} |"
            for name, found in row["models"].items()
        ]
    for row in rows:
        if each := row["inferred"]:
            furthest = max(np.abs(np.subtract(one["ends"], one["grid"])).max() for one in each)
            lines += [
                "",
                f"{row['studies']} studies, sd {row['sd']}: the ends of the package's intervals are at most "
                f"{100 * furthest:.1f} points from the grid's on {len(each)} data sets, of which "
                f"{sum(one['status'] == 'ok' for one in each)} converged.",
            ]
    return "\n".join([*lines, ""])


def main():
    """Measure the parts that are named, and write results as they come."""
    path = RESULTS / "studies.json"
    document = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for part in sys.argv[1:] or PARTS:
        document |= {"machine": about(), part: [measured(sd=sd, **PARTS[part]) for sd in SPREADS]}
        path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        path.with_suffix(".md").write_text(text(document), encoding="utf-8")
        print(part, flush=True)


if __name__ == "__main__":
    main()
