"""What the text says about the six panels, measured."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
from experiments.paper.categorical.errors import INVERTING, OTHERS, Errors
from experiments.paper.categorical.granularity import outputs_claims
from experiments.paper.categorical.simulation import METRICS, NAMES, PANELS
from experiments.paper.claim import Claim, Measured, difference, listed, mean, share

OURS = ("MAP-1", "MAP-2", "posterior")


def claims(tables: dict[str, pd.DataFrame]) -> list[Claim]:
    """All of section 3.1, and what the discussion says of it."""
    errors = Errors(tables["errors"])
    return [
        *_prevalence(errors),
        *_size(errors),
        *_quality(errors),
        *outputs_claims(errors, tables["shrinking"]),
        *_classes(errors),
        *_misspecified(errors),
        *_overall(errors),
    ]


def _classes(errors: Errors) -> list[Claim]:
    gaps = {value: errors.gap("classes", value) for value in errors.values("classes")}
    ratios = [
        (f"{value:g}", errors.of("classes", value, "CC").mean() / errors.of("classes", value, "MAP-1").mean())
        for value in gaps
    ]
    return [
        Claim(
            "3.1, fifth panel",
            "CC is markedly worse than the others",
            f"CC's mean ℓ∞ over that of MAP-1, by L: {listed(ratios, '{:.1f}')}",
            all(gap.is_above() for gap in gaps.values()),
            is_main=True,
        ),
        replace(
            _others_alike(errors, "classes", "3.1, fifth panel", "the others differ less"),
            expected=False,
            is_main=False,
        ),
    ]


def _others_alike(errors: Errors, panel: str, where: str, says: str) -> Claim:
    values = errors.values(panel)
    spread = max((errors.spread(panel, value) for value in values), key=lambda each: each.value)
    gap = min((errors.gap(panel, value) for value in values), key=lambda each: each.value)
    failing = [f"{value:g}" for value in values if not errors.margin(panel, value).is_above()]
    measured = f"mean ℓ∞: BBSE, IR, MAP-1 and MAP-2 within {spread} of each other, CC at least {gap} worse than all"
    if failing:
        measured += f"; nearer to each other than to CC except at {', '.join(failing)}"
    return Claim(where, says, measured, not failing, is_main=True)


def _prevalence(errors: Errors) -> list[Claim]:
    weak, strong = errors.of("prevalence", 0.5, "CC"), errors.of("prevalence", 0.9, "CC")
    growth = mean(strong - weak)
    return [
        Claim(
            "3.1, first panel",
            "CC suffers from strong shift",
            f"CC's mean ℓ∞ by r: {listed(errors.means('prevalence', 'CC'))}",
            growth.is_above(),
            is_main=True,
        ),
        _others_alike(errors, "prevalence", "3.1, first panel", "the others perform alike"),
    ]


def _size(errors: Errors) -> list[Claim]:
    last, limit = 10_000, 10_000_000
    fall = {name: mean(errors.of("size", 10, name) - errors.of("size", last, name)) for name in OTHERS}
    plateau = {name: errors.mean("size, beyond", limit, name) for name in OTHERS}
    negative = {value: share(errors.of("size", value, "BBSE", "negative")) for value in errors.values("size")}
    shares = [(f"{value:g}", each.value) for value, each in negative.items()]
    smallest = errors.mean("size", 10, "BBSE")
    restricted = max(errors.of(*key, name, "negative").mean() for key in errors.cells for name in ("IR", *OURS))
    return [
        Claim(
            "3.1, second panel",
            "with much data all but CC are alike",
            f"at N′ = 10⁴: within {errors.spread('size', last)} of each other, CC {errors.gap('size', last)} worse",
            errors.margin("size", last).is_above(),
            is_main=True,
        ),
        Claim(
            "3.1, second panel",
            "the error of BBSE, IR and MAP falls as N′ grows",
            f"mean ℓ∞ of MAP-1 by N′: {listed(errors.means('size', 'MAP-1'))}",
            all(each.is_above() for each in fall.values()),
            is_main=True,
        ),
        Claim(
            "3.1, second panel",
            "it falls to zero",
            "N = 1000 stays fixed, so it stops at "
            + listed(((name, each.value) for name, each in plateau.items()), "{:.4f}")
            + " (N′ = 10⁷); both must grow, see the asymptotic theorem",
            not any(each.is_above() for each in plateau.values()),
            expected=False,
            is_main=True,
        ),
        Claim(
            "1, contributions",
            "from small samples, established estimates may be far off and negative",
            f"BBSE negative somewhere, by N′: {listed(shares, '{:.0%}')}; mean ℓ∞ {smallest} at N′ = 10",
            negative[10].is_above() and smallest.is_above(0.1),
            is_main=True,
        ),
        Claim(
            "1, contributions",
            "our estimates are never negative",
            f"{restricted:.0%} of the estimates of MAP-1, MAP-2 and the posterior mean (and of restricted IR)",
            restricted == 0,
            is_main=True,
        ),
    ]


def _quality(errors: Errors) -> list[Claim]:
    fall = {name: mean(errors.of("quality", 0.55, name) - errors.of("quality", 0.95, name)) for name in NAMES}
    perfect = {name: errors.mean("quality, beyond", 1.0, name) for name in NAMES}
    ratios = [
        (f"{value:g}", errors.of("quality", value, "CC").mean() / errors.of("quality", value, "MAP-1").mean())
        for value in errors.values("quality")
    ]
    return [
        Claim(
            "3.1, third panel",
            "the error of all methods falls with quality",
            "mean ℓ∞ from q = 0.55 to 0.95: "
            + ", ".join(
                f"{name} {errors.of('quality', 0.55, name).mean():.3f} → {errors.of('quality', 0.95, name).mean():.3f}"
                for name in NAMES
            ),
            all(each.is_above() for each in fall.values()),
            is_main=True,
        ),
        Claim(
            "3.1, third panel",
            "it falls to zero for high quality",
            f"the sampling error of N′ = 500 items is left: {perfect['CC']} for CC and {perfect['MAP-1']} for MAP-1 "
            "with a perfect box (q = 1)",
            not any(each.is_above() for each in perfect.values()),
            expected=False,
            is_main=True,
        ),
        Claim(
            "3.1, third panel",
            "CC's error falls much more slowly",
            f"CC's mean ℓ∞ over that of MAP-1, by q: {listed(ratios, '{:.1f}')}",
            all(errors.gap("quality", value).is_above() for value in errors.values("quality")),
            is_main=True,
        ),
    ]


def _misspecified(errors: Errors) -> list[Claim]:
    panel, where = "misspecified", "3.1, sixth panel"
    worse = [difference(errors.of(panel, 0.45, name), errors.of(panel, 0.85, name)) for name in OTHERS]
    medians = {
        value: max(float(np.median(errors.of(panel, value, name))) for name in OTHERS) for value in (0.8, 0.85, 0.9)
    }
    bound = float(np.median(errors.of(panel, 0.85, "CC")))
    better = [
        mean(errors.of(panel, value, name) - errors.of(panel, value, "CC")) for value in (0.9, 0.95) for name in OTHERS
    ]
    return [
        Claim(
            where,
            "BBSE, IR and MAP deteriorate when q′ is far from q",
            f"mean ℓ∞ of MAP-1 by q′: {listed(errors.means(panel, 'MAP-1'))}",
            all(each.is_above() for each in worse),
            is_main=True,
        ),
        Claim(
            where,
            "for q′ within 0.05 of q their median error is still tame",
            f"largest median ℓ∞ of the four: {listed(medians.items())}; taken as tame: less than CC's when nothing is "
            f"misspecified, {bound:.3f}",
            max(medians.values()) < bound,
        ),
        _variance(errors),
        Claim(
            where,
            "for q′ > q CC outperforms the others",
            "mean ℓ∞ at q′ = 0.90, 0.95: "
            + ", ".join(
                f"{name} " + ", ".join(f"{errors.of(panel, value, name).mean():.3f}" for value in (0.9, 0.95))
                for name in ("CC", *OTHERS)
            ),
            all(each.is_above() for each in better),
            expected=False,
            is_main=True,
        ),
    ]


def _variance(errors: Errors) -> Claim:
    near = np.array(
        [[errors.of("misspecified, beyond", value, name) for name in OTHERS] for value in (0.8, 0.85, 0.9)]
    )  # shape (values, methods, repetitions)

    def growth(cells: np.ndarray) -> np.ndarray:
        below, same, above = cells.std(axis=-1, ddof=1).mean(axis=1)
        return np.array([below / same, above / same])

    rng, size = np.random.default_rng(0), near.shape[-1]
    again = [growth(near[..., rng.integers(size, size=size)]).mean() for _ in range(1000)]
    ratios = growth(near)
    both = Measured(float(ratios.mean()), float(np.std(again)))
    return Claim(
        "3.1, sixth panel",
        "for q′ within 0.05 of q the estimators vary more",
        f"sd of ℓ∞ over that at q′ = q, of the four, {size} repetitions: {ratios[0]:.2f} at 0.80, {ratios[1]:.2f} at "
        f"0.90; together {both}",
        both.is_above(1.0),
    )


def _overall(errors: Errors) -> list[Claim]:
    return [_at_least_as_good(errors, method) for method in OURS]


def _at_least_as_good(errors: Errors, method: str) -> Claim:
    settings = [(panel, value) for panel in PANELS for value in errors.values(panel)]
    losses = {metric: list(_losses(errors, settings, method, metric)) for metric in METRICS}
    where = f" (ℓ∞: {', '.join(losses['linf'])})" if losses["linf"] else ""
    return Claim(
        "5",
        f"our estimate ({method}) is at least as good as the established ones throughout",
        f"of {len(settings)} settings, worse than the best of CC, BBSE and IR by more than three standard errors in "
        f"{len(losses['linf'])} by ℓ∞, {len(losses['l1'])} by ℓ1, {len(losses['l2'])} by ℓ2{where}",
        not any(losses.values()),
        expected=False,
    )


def _losses(errors: Errors, settings: list[tuple[str, float]], method: str, metric: str) -> Iterator[str]:
    """Where a method is worse than the best established one."""
    for panel, value in settings:
        rivals = [name for name in ("CC", *INVERTING) if not np.isnan(errors.of(panel, value, name)).any()]
        best = min(rivals, key=lambda name: errors.mean(panel, value, name, metric).value)
        loss = mean(errors.of(panel, value, method, metric) - errors.of(panel, value, best, metric))
        if loss.is_above():
            yield f"{panel} {value:g}, {best} better by {loss.value:.3f}"
