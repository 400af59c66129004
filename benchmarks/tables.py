"""Tables of what ``accuracy.py`` measured of quantifiers and of recalibrated probabilities."""

from typing import Any

NAMES = {"crossed": "cross-validated", "refitted": "cross-validated, refitted", "separate": "separate"}
MEANS = {"Quantifier": "population", "Quantifier, realized": "realized"}
PARTITIONS = ("Argmax", "Bins(5)", "Bins(5), quantile", "Tree(5)")


def lines(document: dict[str, Any]) -> list[str]:
    """All tables, each below a line that says what it is."""
    sets = document["sets"]
    numbers = sorted({found["repetitions"] for found in sets.values()})
    return [
        f"{document['labeled']} labelled and {document['new']} new items, {' or '.join(f'{n:,}' for n in numbers)} "
        "repetitions, each with a new split and a new classifier.",
        "",
        "Mean absolute error of the share among the new items, in points of 100 (standard error). The last column is",
        "that of the quantifier's realized mean less that of the better one of ACC and BBSE, repetition by repetition.",
        "In the refitted rows the other methods count by a classifier fitted to all labelled items, the quantifier",
        "still by those of the folds.",
        "",
        *errors(sets),
        "",
        "Percentage of intervals that hold the truth at 50 · 80 · 95 %, averaged over the classes, and mean width of",
        "those at 95 %. Realized intervals are held against the share among the new items, population intervals",
        "against the prevalence that their composition was drawn from. Realized shares are whole items, so closed",
        "intervals may hold more of the posterior than they are asked for: the column *hold* says how much.",
        "",
        *intervals(sets),
        "",
        "Partitions of two classes: mean width of 95 % intervals of the realized share, and what that is of Argmax's.",
        "",
        *partitions(sets),
        "",
        "Log loss of the new items' probabilities (standard error) · distance between probability and frequency within",
        "ten bins of the probability and ten of the class's share, in points of 100.",
        "",
        *probabilities(sets),
    ]


def table(header: list[str], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows)]


def errors(sets: dict[str, Any]) -> list[str]:
    peers = ["CC", "ACC", "BBSE", "EM", "EM, bias-corrected"]
    rows = []
    for name, found in sets.items():
        for source, best in found["against_best"].items():
            keys = [f"{peer} ({source})" for peer in peers]
            keys += [f"{best['quantifier']}, {target}" for target in MEANS.values()]
            means = [found["errors"][key] for key in keys]
            shown = [f"{100 * each['mean']:.2f} ({100 * each['standard_error']:.2f})" for each in means]
            difference = f"{100 * best['mean']:+.2f} ({100 * best['standard_error']:.2f}) against {best['best']}"
            rows.append([name, str(found["classes"]), NAMES[source], *shown, difference])
    return table(["set", "classes", "labelled outputs", *peers, *MEANS, "difference"], rows)


def intervals(sets: dict[str, Any]) -> list[str]:
    rows = []
    for name, found in sets.items():
        for method in found["intervals"]:
            kind, _, target = method.rpartition(", ")
            if target != "realized":
                continue
            choice, _, source = kind.removesuffix(")").rpartition(" (")
            both = [found["intervals"][f"{kind}, {each}"] for each in ("realized", "population")]
            cells = [cell for each in both for cell in (shares(each["coverage"]), f"{each['width'][-1]:.3f}")]
            cells.insert(1, shares(both[0]["mass"]))
            rows.append([name, choice, NAMES[source], f"{both[0]['repetitions']:,}", *cells])
    header = ["set", "partition", "labelled outputs", "repetitions", "realized", "hold", "width", "population", "width"]
    return table(header, rows)


def partitions(sets: dict[str, Any]) -> list[str]:
    rows = []
    for name, found in sets.items():
        if found["classes"] == 2:
            kinds = [found["intervals"][f"{kind} (crossed), realized"] for kind in PARTITIONS]
            widths = [each["width"][-1] for each in kinds]
            shown = [f"{width:.3f} ({100 * width / widths[0]:.0f} %)" for width in widths[1:]]
            held = [f"{100 * each['coverage'][-1]:.1f}" for each in kinds]
            rows.append([name, f"{widths[0]:.3f}", *shown, " · ".join(held)])
    return table(["set", *PARTITIONS, "held"], rows)


def probabilities(sets: dict[str, Any]) -> list[str]:
    kinds = list(next(iter(sets.values()))["probabilities"])
    rows = []
    for name, found in sets.items():
        cells = [found["probabilities"][kind] for kind in kinds]
        shown = [
            f"{each['log_loss']['mean']:.3f} ({each['log_loss']['standard_error']:.3f}) · "
            f"{100 * each['calibration_error']:.2f}"
            for each in cells
        ]
        rows.append([name, *shown])
    return table(["set", *kinds], rows)


def shares(values: list[float]) -> str:
    return " · ".join(f"{100 * value:.1f}" for value in values)
