"""See what each check finds on real judges, where labels on both sides tell the truth.

Labelled items come from one model and unlabelled ones from another, on disjoint halves of the questions. Reads the
folder that ``TRUECOUNT_DATA`` names.

    TRUECOUNT_DATA=... python benchmarks/real_checks.py
"""

import csv
import hashlib
import json
import os
from collections import Counter, defaultdict
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
from machine import about

import truecount as tc
from truecount.diagnostics.homogeneity import homogeneity_test

RESULTS = Path(__file__).parent / "results"
LEVEL = 0.05
Halves = dict[str, tuple[list[tuple[str, str]], list[tuple[str, str]]]]


def halves(folder: str, question: str, output: str) -> Halves:
    """Pairs of true class and output of each group; a question falls on the same side for all groups."""
    found: Halves = defaultdict(lambda: ([], []))
    path = Path(os.environ["TRUECOUNT_DATA"]) / folder / "labels.csv"
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if not row[output]:
                continue
            side = hashlib.sha256(row[question].encode()).digest()[0] % 2
            found[row["group"]][side].append((row["truth"], row[output]))
    return dict(found)


def pose(source: list[tuple[str, str]], target: list[tuple[str, str]], names: dict[str, Any]) -> tc.Counts:
    return tc.count(*zip(*source, strict=True), [output for _, output in target], **names)


def names_of(sides: Halves) -> dict[str, Any]:
    pairs = [pair for both in sides.values() for side in both for pair in side]
    return {"classes": sorted({truth for truth, _ in pairs}), "outputs": sorted({output for _, output in pairs})}


def table_of(pairs: list[tuple[str, str]], names: dict[str, Any]) -> np.ndarray:
    seen = Counter(pairs)
    return np.array([[seen[truth, output] for output in names["outputs"]] for truth in names["classes"]])


def every_pair(sides: Halves) -> list[dict[str, Any]]:
    """What each check says of every ordered pair of groups."""
    names, rows = names_of(sides), []
    for number, (source, target) in enumerate(permutations(sorted(sides), 2)):
        counts, labels = pose(sides[source][0], sides[target][1], names), sides[target][1]
        order = np.random.default_rng(number).permutation(len(labels))
        audits = {size: table_of([labels[place] for place in order[:size]], names) for size in (50, 100, len(labels))}
        p_values = {size: homogeneity_test(np.array([counts.labeled, audits[size]])).p_value for size in audits}
        found = tc.check(counts, seed=number)
        tests = {row["test"]: row["p_value"] for row in found.tables["tests"]}
        truth = audits[len(labels)].sum(axis=1) / len(labels)
        ends = found.posterior.interval(target="realized")
        rows.append(
            {
                "labelled": source,
                "unlabelled": target,
                "counts": tests["label shift"],
                "audit of 50": p_values[50],
                "audit of 100": p_values[100],
                "all labels": p_values[len(labels)],
                "codes": [finding.code for finding in found.findings],
                "held": ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).tolist(),
            }
        )
    return rows


def pair_table(rows: list[dict[str, Any]]) -> list[str]:
    tests = ("counts", "audit of 50", "audit of 100", "all labels")
    header = ["labelled", "unlabelled", "counts", "audit of 50", "audit of 100", "all target labels", "intervals held"]
    lines = [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header))]
    for row in rows:
        cells = [f"**{row[test]:.2g}**" if row[test] <= LEVEL else f"{row[test]:.2g}" for test in tests]
        held = f"{sum(row['held'])} of {len(row['held'])}"
        lines.append(f"| {row['labelled']} | {row['unlabelled']} | {' | '.join(cells)} | {held} |")
    totals = [f"**{sum(row[test] <= LEVEL for row in rows)}** of {len(rows)}" for test in tests]
    held = sum(sum(row["held"]) for row in rows), sum(len(row["held"]) for row in rows)
    return [*lines, f"| found | | {' | '.join(totals)} | {held[0]} of {held[1]} |"]


def said(folder: str, question: str, output: str, code: str) -> list[str]:
    """What is said, of all groups but one against that one, under a code."""
    sides = halves(folder, question, output)
    names, messages = names_of(sides), []
    for target in sorted(sides):
        labeled = [pair for group in sides if group != target for pair in sides[group][0]]
        counts = pose(labeled, sides[target][1], names)
        posterior = tc.infer(counts)
        messages += [f"{target}: {finding.message}" for finding in posterior.findings if finding.code in code.split()]
    return messages


def main() -> None:
    refusals = every_pair(halves("xstest_refusals", "id", "gpt4_label"))
    answers = every_pair(halves("openqa_judges", "question", "gpt4_label"))
    codes = Counter(code for row in answers for code in row["codes"])
    audits = {test: sum(row[test] <= LEVEL for row in answers) for test in ("counts", "audit of 50", "all labels")}
    strings = said("xstest_refusals", "id", "strmatch_label", "not-identified")
    ties = said("pandalm_judges", "idx", "gpt35_label", "not-identified barely-identified")
    lines = [
        "**XSTest, judged by GPT-4** (three classes, four outputs), p-values; bold where 5 % or less.",
        "",
        *pair_table(refusals),
        "",
        f"**OpenQA, judged by GPT-4** (2 × 2), {len(answers)} ordered pairs: {codes['label-shift-untestable']} said",
        f"`label-shift-untestable` and {codes['label-shift-violated']} `label-shift-violated`. An audit of 50 target",
        f"labels fired on {audits['audit of 50']}, and one of all of them on {audits['all labels']}.",
        "",
        "**XSTest, judged by string match** (three classes, two outputs):",
        "",
        *(f"- {line}" for line in strings),
        "",
        "**PandaLM, judged by GPT-3.5** (class 0 is a tie):",
        "",
        *(f"- {line}" for line in ties),
    ]
    document = {"machine": about(), "xstest": refusals, "openqa": answers, "string match": strings, "pandalm": ties}
    (RESULTS / "real_checks.json").write_text(json.dumps(document, indent=1) + "\n")
    (RESULTS / "real_checks.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
