"""Draws where labels err, against an exact posterior: each move alone leaves it as it is, and all together reach it."""

from functools import cache

import numpy as np
import pytest

from rated_oracle import Oracle
from truecount.inference import raters
from truecount.models.erring_labels import RatedDensity

FAR, CLEARLY = 5.0, 6.0
"""Standard errors that no right move is off by, and those that a wrong one is off by at least."""
TWO = [[0, 0], [0, 1], [1, 0], [1, 1]]
FEW = {"labels": TWO, "labeled": [[2, 0], [1, 0], [0, 1], [0, 2]]}
KNOWN = [[[np.nan, np.nan], [np.nan, np.nan]], [[0.9, 0.1], [0.2, 0.8]]]


def density_of(labels, labeled, unlabeled, *, rater_of=(0, 1), validation=0, known=None, n_classes=2, strength=1.0):
    """Return a small problem; no two concentrations of a prior are alike."""
    n_outputs = np.shape(labeled)[1]
    rates = np.tile(1.0 + 2 * np.eye(n_classes), (max(rater_of) + 1, 1, 1))
    rates[0] += validation
    rows = 0.8 + 1.5 * np.eye(n_classes, n_outputs) + 0.1 * np.arange(n_classes * n_outputs).reshape(n_classes, -1)
    return RatedDensity(
        np.array(labels),
        np.array(rater_of),
        np.array(labeled, float),
        np.atleast_2d(np.array(unlabeled, float)),
        1.0 + np.arange(n_classes),
        2.0 - 0.3 * np.arange(n_classes),
        strength * rows,
        rates,
        np.full_like(rates, np.nan) if known is None else np.array(known),
    )


THREE_OUTPUTS = {"labels": TWO, "labeled": [[2, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 2]], "unlabeled": [24, 30, 16]}
THREE_CLASSES = {"labels": [[0, 0], [1, 2], [2, 2], [-1, 1]], "labeled": np.eye(4, 3), "n_classes": 3}
FOUR_OUTPUTS = {**THREE_CLASSES, "labeled": np.eye(4), "unlabeled": [3, 2, 4, 2]}
PROBLEMS = {
    "few": {**FEW, "unlabeled": [9, 5]},
    "many": {**FEW, "unlabeled": [120, 200]},
    "groups": {**FEW, "unlabeled": [[6, 3], [3, 8]]},
    "known": {**FEW, "unlabeled": [40, 25], "known": KNOWN},
    "validation": {**FEW, "unlabeled": [40, 25], "validation": [[9, 1], [2, 7]]},
    "same": {**FEW, "unlabeled": [40, 25], "rater_of": (0, 0)},
    "empty class": {"labels": TWO, "labeled": [[3, 1], [0, 0], [0, 0], [0, 0]], "unlabeled": [25, 40]},
    "weak prior": {"labels": TWO, "labeled": [[1, 0], [0, 0], [0, 0], [0, 0]], "unlabeled": [3, 0], "strength": 0.03},
    "three outputs": THREE_OUTPUTS,
    "three classes": {**THREE_CLASSES, "unlabeled": [7, 4, 6]},
    "four outputs": FOUR_OUTPUTS,
    "fewer outputs than classes": {**THREE_CLASSES, "labeled": np.eye(4, 2), "unlabeled": [9, 12]},
}
SUMMARY, ROWS, SHARES = "_move_along_summary", "_move_rows", "_move_shares"
MOVES = [
    *((name, SUMMARY) for name in PROBLEMS if name != "fewer outputs than classes"),
    *((name, move) for name in ("three outputs", "four outputs") for move in (ROWS, SHARES)),
]


@cache
def oracle_of(problem):
    return Oracle(density_of(**PROBLEMS[problem]))


def right(chains, ratio, shares, rows):
    return ratio


def volume(chains, shares, rows):
    """Return the logarithm of the Jacobian of the move along the summary."""
    before, after = (np.linalg.det(each @ chains.summary) for each in (chains.phi, rows))
    return chains.pi.shape[1] * np.log(np.abs(before / after))


def stretch(chains, shares, rows):
    """Return the logarithm of the Jacobian of the move of shares: of the only row that moved."""
    place = np.arange(len(rows)), 0, np.abs(rows - chains.phi).sum(axis=2).argmax(axis=1)
    return (rows.shape[2] - 1) * np.log(chains.pi[place] / shares[place])


def likelihood(chains, shares, rows):
    new, old = np.log(shares @ rows), np.log(chains.pi @ chains.phi)
    return (chains.unlabeled * (new - old)).sum(axis=(1, 2))


def rows_height(chains, shares, rows):
    """Return the logarithm of the ratio of the rows' densities, which the way of proposing them takes account of."""
    return ((chains._rows() - 1) * (np.log(rows) - np.log(chains.phi))).sum(axis=(1, 2))


def shares_height(chains, shares, rows):
    return ((chains.density.prevalence - 1) * (np.log(shares) - np.log(chains.pi))).sum(axis=(1, 2))


def off_by(term, times):
    return lambda chains, ratio, shares, rows: ratio + times * term(chains, shares, rows)


def any_inside(chains, ratio, shares, rows):
    return np.where(np.isfinite(ratio), 0.0, ratio)


WRONG = {
    "Jacobian left out": [("many", SUMMARY, off_by(volume, -1)), ("groups", SUMMARY, off_by(volume, -0.5)),
                          ("four outputs", SUMMARY, off_by(volume, -1)), ("three outputs", SHARES, off_by(stretch, -1)),
                          ("four outputs", SHARES, off_by(stretch, -1))],
    "Jacobian squared": [("many", SUMMARY, off_by(volume, 1)), ("three outputs", SHARES, off_by(stretch, 1))],
    "likelihood left out": [("three outputs", SUMMARY, off_by(likelihood, -1))],
    "Hastings correction left out": [("many", SUMMARY, off_by(rows_height, 1)),
                                     ("three outputs", ROWS, off_by(rows_height, 1)),
                                     ("three outputs", SHARES, off_by(shares_height, 1))],
    "prior left out": [("many", SUMMARY, off_by(shares_height, -1))],
    "all accepted": [("many", SUMMARY, any_inside), ("three outputs", ROWS, any_inside),
                     ("three outputs", SHARES, any_inside)],
}  # fmt: skip


def standard_errors_off(problem, move, seed, monkeypatch, ratio_of=right, number=4000, times=20):
    """Move exact draws, and return by how many standard errors moments are off, the most."""
    monkeypatch.setattr(raters, "CHAINS", number)
    rng, oracle = np.random.default_rng(seed), oracle_of(problem)
    chains = raters._Chains(oracle.density, rng)
    chains.pi, chains.phi, chains.of_class_output = oracle.draw(number, rng)
    chains.log_step[:] = 0.0
    for _ in range(times):
        ratio, shares, rows = getattr(chains, move)()
        chains._take(0, (ratio_of(chains, ratio, shares, rows), shares, rows), False)
    assert chains.moved / chains.moves > 0.05
    exact = oracle.moments
    found = [
        (np.stack([chains.pi, chains.pi**2], axis=1), exact["prevalence"]),
        (np.stack([chains.phi, chains.phi**2], axis=1), exact["confusion"]),
        (chains.pi[:, 0, :, None, None] * chains.phi[:, None], exact["products"]),
    ]
    return max(most_off(*each) for each in found)


def most_off(values, exact):
    """Return the largest difference of a mean of independent values from what it should be, in standard errors."""
    errors = values.std(axis=0) / np.sqrt(len(values))
    return np.abs((values.mean(axis=0) - exact) / errors).max()


@pytest.mark.parametrize(("problem", "move"), MOVES)
def test_a_move_leaves_the_posterior_as_it_is(problem, move, seed, monkeypatch):
    assert standard_errors_off(problem, move, seed, monkeypatch) < FAR


@pytest.mark.parametrize("bug", WRONG)
def test_a_wrong_move_is_seen(bug, seed, monkeypatch):
    for problem, move, ratio_of in WRONG[bug]:
        assert standard_errors_off(problem, move, seed, monkeypatch, ratio_of, number=8000) > CLEARLY, (problem, move)


def test_a_move_that_keeps_outputs_keeps_the_likelihood(seed, monkeypatch):
    """As many outputs as classes, or a row that gives way: likelihoods before and after are the same number."""
    monkeypatch.setattr(raters, "CHAINS", 500)
    for problem, move in (("many", SUMMARY), ("four outputs", ROWS), ("four outputs", SHARES)):
        chains = raters._Chains(density_of(**PROBLEMS[problem]), np.random.default_rng(seed))
        chains.sweep()
        ratio, shares, rows = getattr(chains, move)()
        inside = np.isfinite(ratio)
        assert inside.any()
        np.testing.assert_allclose((shares @ rows)[inside], (chains.pi @ chains.phi)[inside], rtol=1e-9)


def chains_off(problem, seed, monkeypatch, n_chains=200, sweeps=300):
    """Draw with many chains, and return by how many standard errors moments are off, the most of each quantity."""
    for name, value in {"CHAINS": n_chains, "WARMUP": 100, "FIRST": sweeps, "MOST_SWEEPS": sweeps}.items():
        monkeypatch.setattr(raters, name, value)
    density, exact, off = oracle_of(problem).density, oracle_of(problem).moments, {}
    drawn = raters.sample_rated(density, effective_draws=10, seed=seed)
    for name in ("prevalence", "confusion", "labeled_prevalence", "raters"):
        draws, to_be = getattr(drawn, name), exact[name]
        by_chain = np.stack([draws, draws**2], axis=1).reshape(n_chains, -1, 2, *draws.shape[1:]).mean(axis=1)
        if name == "raters":
            by_chain, to_be = (each[..., np.isnan(density.known)] for each in (by_chain, to_be))
        off[name] = most_off(by_chain, to_be)
    return off


FAST = ("many", "weak prior")


@pytest.mark.parametrize(
    "problem", [pytest.param(each, marks=[] if each in FAST else pytest.mark.slow) for each in PROBLEMS]
)
def test_chains_reach_the_exact_posterior(problem, seed, monkeypatch):
    off = chains_off(problem, seed, monkeypatch)
    assert max(off.values()) < FAR, off


SEEN = [(bug, *each) for bug in ("Jacobian left out", "likelihood left out") for each in WRONG[bug][:1]]


@pytest.mark.slow
@pytest.mark.parametrize(("bug", "problem", "move", "ratio_of"), SEEN)
def test_chains_with_a_wrong_move_are_seen(bug, problem, move, ratio_of, seed, monkeypatch):
    """Though all rates are drawn anew between two moves, which makes good a part of what a wrong one does."""
    made = getattr(raters._Chains, move)

    def wrong(chains):
        ratio, shares, rows = made(chains)
        return ratio_of(chains, ratio, shares, rows), shares, rows

    monkeypatch.setattr(raters._Chains, move, wrong)
    assert max(chains_off(problem, seed, monkeypatch).values()) > CLEARLY
