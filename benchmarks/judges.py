"""Three judges of answers to questions, each alone and all at once; and three algorithms on the same deaths.

    python benchmarks/judges.py [pairs [part ...]]

Reads the folder that ``TRUECOUNT_DATA`` names. OpenQA: labels are of one system, the items whose share of right
answers is inferred are of another one, with other questions: questions are split in halves, anew for each pair of
systems. The truth is the share among these items. A judge may treat two systems differently, which is a drift; so the
same is done with labels of the same system, where label shift holds; the table says how often the findings show the
drift. Ways that take longer have fewer pairs. Labels of four other systems, each a study, are used in two ways: as if
all systems were alike, and, on few problems, with rows of all judges that vary between them, so that the new system
has rows of its own. The
prior of joint outputs and the rule for rare ones were chosen on OpenQA, so two other sets, each judged twice, are
looked at as well: PandaLM (comparisons of two models' answers; five pairs of models labelled and five new, and random
halves, between which label shift holds) and XSTest (refusals, halves of one model's prompts), split anew each time.
Mozambique: no truth; three algorithms said what 940 neonates died of. Their multinomials multiplied, as if they had
seen other deaths, are set beside the same with the outputs of a death as a cluster, and beside combinations of the two
whose cross table is published; of the third only its counts and its agreement with each are, so that there are no
combinations of three. Labels were published by algorithm, not for both together, so nothing but the outputs
themselves says how far they err on the same deaths.
Combinations have a prior whose mean lies between independent errors and as many common ones as the rows allow.
How far between is unknown: posteriors of ten places are weighted by their evidence, which bridge sampling tells.
Results go to ``benchmarks/results/judges.json`` and ``.md``.
"""

import csv
import hashlib
import json
import os
import sys
from functools import partial
from itertools import permutations
from pathlib import Path
from time import process_time

import numpy as np
from machine import about
from scipy.special import gammaln, logsumexp

import truecount as tc

RESULTS = Path(__file__).parent / "results"
JUDGES = {"gpt4": "gpt4_label", "davinci": "davinci003_label", "bem": "bem_label"}
ENGINE, FINE = tc.Auto(200), tc.Auto(1000)
LEVEL = 0.95
PAIRS, PAIRS_OF_SLOW = 132, 36
SLOW = ("all, flat rows", "all, taken for independent")
SPLITS = {"PandaLM, other pairs of models": 40, "PandaLM, random halves": 40, "XSTest": 100}
BROAD = {
    "infection": ("pneumonia", "sepsis_meningitis_inf"),
    "intrapartum": ("ipre",),
    "prematurity": ("prematurity",),
    "other": ("congenital_malformation", "other"),
}
"""Causes of death: of the six that are published, combinations cannot tell some apart, and chains do not converge."""
DEPENDENCE = np.linspace(0, 0.9, 10)
"""From independent errors towards as many common ones as there may be, which would rule many combinations out."""
STUDIES = {4: 8, 11: 3}
"""Other systems whose labels are used, each a study: how often the questions are split anew."""
WITH_STUDIES = ("GPT-4 alone", "davinci-003 alone", "all, learned rows (default)")
VIOLATED = "label-shift-violated"
LABELS_OF = ("another system", "the same system")
PANDALM = "pandalm_judges", {"gpt35": "gpt35_label", "pandalm": "pandalm7b_label"}
OTHERS = {
    "PandaLM, other pairs of models": PANDALM,
    "PandaLM, random halves": PANDALM,
    "XSTest": ("xstest_refusals", {"gpt4": "gpt4_label", "strmatch": "strmatch_label"}),
}
ALL, ALL_LEARNED = list(JUDGES), "all, learned rows (default)"
ASKED = {
    "GPT-4 alone": (["gpt4"], tc.LabelShift()),
    "davinci-003 alone": (["davinci"], tc.LabelShift()),
    "BEM alone": (["bem"], tc.LabelShift()),
    ALL_LEARNED: (ALL, tc.LabelShift()),
    "all, flat rows": (ALL, tc.LabelShift(tc.Prior(confusion="flat"))),
    "all, taken for independent": (ALL, tc.IndependentClassifiers()),
}


def read(folder="openqa_judges"):
    """Return the rows that have a truth."""
    path = Path(os.environ["TRUECOUNT_DATA"]) / folder / "labels.csv"
    with path.open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["truth"]]


def half_of(question, split):
    """Return the half of a question, 0 or 1, by a hash of it."""
    return hashlib.sha256(f"{split} {question}".encode()).digest()[0] % 2


def outputs(rows, judges, columns_of=None):
    """Return the outputs of one judge, or those of several by name."""
    columns = {judge: [row[(columns_of or JUDGES)[judge]] or None for row in rows] for judge in judges}
    return columns if len(judges) > 1 else [each or "missing" for each in columns[judges[0]]]


def problems(rows, number, labels_of):
    """Yield labelled and new rows of pairs of systems, or of the second of each, with disjoint questions."""
    systems = sorted({row["group"] for row in rows})
    pairs = list(permutations(systems, 2))
    np.random.default_rng(0).shuffle(pairs)
    for split, (one, other) in enumerate(pairs[:number]):
        one = one if labels_of == LABELS_OF[0] else other
        labeled = [row for row in rows if row["group"] == one and half_of(row["question"], split) == 0]
        new = [row for row in rows if row["group"] == other and half_of(row["question"], split) == 1]
        yield labeled, new


def openqa(number, labels_of):
    """Return bias, error, coverage, width and seconds of every way to use the judges."""
    found = {name: [] for name in ASKED}
    for place, (labeled, new) in enumerate(problems(read(), number, labels_of)):
        truth = np.mean([row["truth"] == "Yes" for row in new])
        for name, (judges, model) in ASKED.items():
            if name in SLOW and place >= PAIRS_OF_SLOW:
                continue
            counts = tc.count([row["truth"] for row in labeled], outputs(labeled, judges), outputs(new, judges))
            start = process_time()
            answer = tc.infer(counts, model, engine=ENGINE)
            seconds = process_time() - start
            shares = answer.realized[:, answer.place("Yes")]
            shown = any(finding.code == VIOLATED for finding in answer.findings)
            found[name].append((*measured(shares, truth), seconds, shown))
    return {
        name: summary(np.array(values, float)[:, :4]) | {"shown": float(np.mean(values, axis=0)[4])}
        for name, values in found.items()
    }


def measured(shares, truth):
    """Return error, whether the interval holds the truth, and its width."""
    low, high = np.quantile(shares, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return shares.mean() - truth, low - 1e-9 <= truth <= high + 1e-9, high - low


def studies(number):
    """Return the same with labels of so many other systems: taken for alike, and with rows that vary between them."""
    rows, found = read(), {}
    systems = sorted({row["group"] for row in rows})
    for place, target in enumerate(systems * STUDIES[number]):
        rng = np.random.default_rng(place)
        known = set(rng.permutation([system for system in systems if system != target])[:number])
        labeled = [row for row in rows if row["group"] in known and half_of(row["question"], place) == 0]
        new = [row for row in rows if row["group"] == target and half_of(row["question"], place) == 1]
        truth = np.mean([row["truth"] == "Yes" for row in new])
        for name in WITH_STUDIES:
            judges = ASKED[name][0]
            sides = [row["truth"] for row in labeled], outputs(labeled, judges), outputs(new, judges)
            alike = tc.count(*sides)
            varying = tc.count(*sides, study=[row["group"] for row in labeled], by=[target] * len(new))
            ways = {"alike": (alike, tc.LabelShift()), "varying": (varying, tc.LabelShift(confusion=tc.Varying()))}
            for way, (counts, model) in ways.items():
                start = process_time()
                answer = tc.infer(counts, model, engine=ENGINE)
                seconds = process_time() - start
                realized = answer.realized(target) if way == "varying" else answer.realized
                told = *measured(realized[:, answer.classes.index("Yes")], truth), seconds
                found.setdefault(f"{name.partition(',')[0]}, systems {way}", []).append(told)
    return {name: summary(np.array(values, float)) for name, values in found.items()}


def split(rows, name, rng):
    """Return labelled and new rows: of other pairs of models, or halves of all rows, or of one model's prompts."""
    groups = sorted({row["group"] for row in rows})
    if name == "PandaLM, other pairs of models":
        known = set(rng.permutation(groups)[: len(groups) // 2])
        return [row for row in rows if row["group"] in known], [row for row in rows if row["group"] not in known]
    model = rng.choice(groups)
    own = rows if name == "PandaLM, random halves" else [row for row in rows if row["group"] == model]
    order = rng.permutation(len(own))
    return tuple([own[place] for place in half] for half in np.array_split(order, 2))


def others():
    """Return the same of sets on which nothing was chosen; errors, coverage and widths are means over classes."""
    found = {}
    for name, (folder, columns) in OTHERS.items():
        rows, rng = read(folder), np.random.default_rng(0)
        for _ in range(SPLITS[name]):
            labeled, new = split(rows, name, rng)
            for judges in (*([judge] for judge in columns), list(columns)):
                told = one_of_others(labeled, new, judges, columns)
                found.setdefault(f"{name}, {' and '.join(judges)}", []).append(told)
    return {name: summary(np.array(values, float)) for name, values in found.items()}


def one_of_others(labeled, new, judges, columns):
    """Return bias, coverage and width, means over classes, and seconds."""
    classes = sorted({row["truth"] for row in labeled} | {row["truth"] for row in new})
    truth = np.array([np.mean([row["truth"] == each for row in new]) for each in classes])
    start = process_time()
    known = [row["truth"] for row in labeled]
    sides = outputs(labeled, judges, columns), outputs(new, judges, columns)
    answer = tc.infer(tc.count(known, *sides, classes=classes), engine=ENGINE)
    seconds = process_time() - start
    low, high = np.quantile(answer.realized, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    held = ((low - 1e-9 <= truth) & (truth <= high + 1e-9)).mean()
    return np.abs(answer.realized.mean(axis=0) - truth).mean(), held, (high - low).mean(), seconds


def summary(values):
    """Return means over pairs of systems, with standard errors of coverage and width."""
    error, held, width, seconds = values.T
    number = len(values)
    return {
        "pairs": number,
        "bias": error.mean(),
        "error": np.abs(error).mean(),
        "coverage": held.mean(),
        "coverage_se": held.std() / np.sqrt(number),
        "width": width.mean(),
        "width_se": width.std() / np.sqrt(number),
        "seconds": np.median(seconds),
    }


def mozambique():
    """Return mean widths of the shares of broad causes: each death once, and as often as there are algorithms."""
    path = Path(os.environ["TRUECOUNT_DATA"]) / "published" / "vacalibration_mozambique_neonates.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    places = [[data["classes"].index(cause) for cause in causes] for causes in BROAD.values()]
    broad = np.array([[place in own for place in range(len(data["classes"]))] for own in places], float)
    rows = {name: broad @ np.array(table) @ broad.T for name, table in data["dirichlet_rows"].items()}
    cross = np.rint(broad @ np.array(data["cross_insilicova_interva"]) @ broad.T).astype(int)
    items = {"insilicova": cross.sum(axis=1), "interva": cross.sum(axis=0)}
    items["eava"] = np.rint(broad @ np.array(data["counts"]["eava"])).astype(int)
    two, every = ("insilicova", "interva"), ("insilicova", "interva", "eava")
    asked = {f"{name} alone": apart((name,), rows, items) for name in two}
    asked["both, as if they had seen other deaths (multinomials multiplied)"] = apart(two, rows, items)
    asked["all three in the same way"] = apart(every, rows, items)
    asked["both as if of other deaths, rows as whole labels"] = of_one_death(two, rows, cross, is_cluster=False)
    asked["the same, outputs of one death as a cluster"] = of_one_death(two, rows, cross, is_cluster=True)
    widths = {}
    for name, (counts, prior) in asked.items():
        answer = tc.infer(counts, tc.LabelShift(prior), engine=FINE)
        widths[name] = float(np.diff(answer.interval()).mean()), answer.status
    return widths | combinations([rows[name] for name in two], cross)


def combinations(rows, cross):
    """Return mean widths by combinations, for some places between independent and common errors, and for all."""
    priors = [combined(rows, cross, place) for place in DEPENDENCE]
    answers = [tc.infer(counts, tc.LabelShift(prior), engine=FINE) for counts, prior in priors]
    logs = [np.log(np.maximum(answer.confusion, 1e-300)) for answer in answers]
    heights = [[log_prior(prior, each) for _, prior in priors] for each in logs]
    evidence = np.cumsum([0.0, *(bridge(heights, one) for one in range(len(priors) - 1))])
    weights = np.exp(evidence - evidence.max())
    weights /= weights.sum()
    shares = np.concatenate([answer.prevalence for answer in answers])
    each = np.concatenate(
        [np.full(len(a.prevalence), w / len(a.prevalence)) for a, w in zip(answers, weights, strict=True)]
    )
    told = {
        "combinations of both, independent errors": 0,
        "half of the errors that may be common are": 5,
        "nine in ten are": 9,
    }
    widths = {
        name: (float(np.diff(answers[place].interval()).mean()), answers[place].status) for name, place in told.items()
    }
    worst = next((answer.status for answer in answers if answer.status != "ok"), "ok")
    mean = float(weights @ DEPENDENCE)
    widths[f"any part may be ({mean:.2f} by the outputs)"] = weighted_width(shares, each), worst
    return widths


def log_prior(prior, logs):
    """Return the log-density of rows, given by their logarithms, under a prior."""
    shapes = np.array(prior.confusion)
    return ((shapes - 1) * logs).sum(axis=(1, 2)) + (gammaln(shapes.sum(axis=1)) - gammaln(shapes).sum(axis=1)).sum()


def bridge(heights, one):
    """Return the log-ratio of the evidence of a prior to that of the one before (geometric bridge)."""
    there, back = (
        (heights[one][one + 1] - heights[one][one]) / 2,
        (heights[one + 1][one] - heights[one + 1][one + 1]) / 2,
    )
    return (logsumexp(there) - np.log(len(there))) - (logsumexp(back) - np.log(len(back)))


def weighted_width(shares, weights):
    """Return the mean width of the intervals of weighted draws."""
    widths = []
    for share in shares.T:
        order = np.argsort(share)
        below = np.cumsum(weights[order]) - weights[order] / 2
        widths.append(np.diff(np.interp([(1 - LEVEL) / 2, (1 + LEVEL) / 2], below, share[order]))[0])
    return float(np.mean(widths))


def apart(names, rows, items):
    """Return counts, and rows as a prior, where each algorithm has outputs and deaths of its own."""
    outputs = [f"{name}: {cause}" for name in names for cause in BROAD]
    table = np.hstack([rows[name] for name in names])
    counts = tc.Counts(np.zeros(table.shape, int), np.concatenate([items[name] for name in names]), [*BROAD], outputs)
    return counts, tc.Prior(confusion=table)


def of_one_death(names, rows, cross, *, is_cluster):
    """Return the same with rows as labels, each by itself, where both outputs of a death may belong together."""
    causes, labels, outputs, new, deaths = [*BROAD], [], [], [], []
    for name in names:
        for one, other in np.ndindex(rows[name].shape):
            number = round(rows[name][one, other])
            labels += [causes[one]] * number
            outputs += [f"{name}: {causes[other]}"] * number
    for pair in np.ndindex(cross.shape):
        for _ in range(cross[pair]):
            deaths += [len(new) // 2] * 2
            new += [f"{name}: {causes[place]}" for name, place in zip(names, pair, strict=True)]
    own = [f"label {place}" for place in range(len(labels))]
    clusters = {"cluster": own, "new_cluster": deaths} if is_cluster else {}
    counts = tc.count(labels, outputs, new, classes=causes, **clusters)
    return counts, tc.Prior(confusion=0.1)


def combined(rows, cross, dependence):
    """Return counts of combinations, with a prior as strong as the weaker rows, whose mean has such a dependence.

    With all errors in common, both algorithms say the same as often as their rows allow (the maximal coupling).
    """
    strength = np.minimum(*(each.sum(axis=1) for each in rows))
    one, two = (each / each.sum(axis=1, keepdims=True) for each in rows)
    alike = np.minimum(one, two)
    rest = (one - alike)[:, :, None] * (two - alike)[:, None] / (1 - alike.sum(axis=1))[:, None, None]
    common = alike[:, :, None] * np.eye(len(BROAD)) + rest
    mean = (1 - dependence) * one[:, :, None] * two[:, None] + dependence * common
    joint = (strength[:, None, None] * mean).reshape(len(one), -1)
    names = [f"{first}, {second}" for first in BROAD for second in BROAD]
    return tc.Counts(np.zeros(joint.shape, int), cross.ravel(), [*BROAD], names), tc.Prior(confusion=joint)


def last_cells(each):
    """Return coverage and width with their standard errors, and seconds of processor time."""
    cover = f"{100 * each['coverage']:.1f} ± {100 * each['coverage_se']:.1f} %"
    return f"{cover} | {100 * each['width']:.1f} ± {100 * each['width_se']:.1f} | {each['seconds']:.2f}"


def main():
    """Measure, and write."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    kept = RESULTS / "judges.json"
    found = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    measures = {"openqa": lambda: {each: openqa(number, each) for each in LABELS_OF}}
    measures |= {f"studies {number}": partial(studies, number) for number in STUDIES}
    measures |= {"others": others, "mozambique": mozambique}
    for part in sys.argv[2:] or measures:
        found |= {part: measures[part](), "about": about()}
        write(found)


def table_of_studies(number, rows):
    """Return the lines of a table of the ways to use labels of so many other systems."""
    if not rows:
        return []
    lines = [
        f"The same, with labels of {number} other systems, a study each:",
        "",
        "| judges | problems | bias | mean absolute error | coverage | width | seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, each in rows.items():
        points = f"{each['pairs']} | {100 * each['bias']:+.1f} | {100 * each['error']:.1f}"
        lines.append(f"| {name} | {points} | {last_cells(each)} |")
    return [*lines, ""]


def write(found):
    """Write what was measured so far."""
    (RESULTS / "judges.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    lines = [
        "# Three judges, each alone and all at once",
        "",
        "OpenQA, pairs of systems with disjoint questions, 95 % intervals of the share of right answers.",
        "",
        "| labels of | judges | pairs | bias | mean absolute error | coverage | width | seconds | drift found |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for labels_of, ways in found["openqa"].items():
        for name, each in ways.items():
            points = f"{each['pairs']} | {100 * each['bias']:+.1f} | {100 * each['error']:.1f}"
            lines.append(f"| {labels_of} | {name} | {points} | {last_cells(each)} | {100 * each['shown']:.0f} % |")
    lines += ["", "Bias, error and width in points. Systems and questions are shared between pairs.", ""]
    for number in STUDIES:
        lines += table_of_studies(number, found.get(f"studies {number}", {}))
    lines += ["Sets on which nothing was chosen, means over classes:", ""]
    lines += ["| judges | splits | mean absolute error | coverage | width | seconds |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {name} | {each['pairs']} | {100 * each['error']:.1f} | {last_cells(each)} |"
        for name, each in found.get("others", {}).items()
    ]
    lines += [""]
    lines += ["Neonatal deaths in Mozambique, mean width of the 95 % intervals of four broad causes:", ""]
    lines += ["| outputs | width | status |", "|---|---|---|"]
    lines += [
        f"| {name} | {100 * width:.1f} | {status} |" for name, (width, status) in found.get("mozambique", {}).items()
    ]
    lines += [
        "",
        "Combinations are those of insilicova and interva, whose cross table is published. Of eava only its counts and "
        "its agreement with each are, so that all three can only be multiplied.",
    ]
    (RESULTS / "judges.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
