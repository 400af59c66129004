"""What may be asked of draws, against draws written by hand."""

import numpy as np
import pytest

from made_posterior import made_posterior
from truecount import Counts, Exact, Gibbs, Hamiltonian, LabelShift, Posterior, infer
from truecount.errors import InputError
from truecount.inference.draws import Draws
from truecount.results.export.provenance import Origin

WEIGHTED = Counts([[8, 4], [4, 8]], [10, 10], labeled_squares=[[16, 8], [8, 16]], unlabeled_squares=[20, 20])


def certain(confusion: list[list[float]], share: list[float], unlabeled: list[int]) -> Posterior:
    """A posterior that is sure of prevalence and confusion."""
    draws = Draws(
        prevalence=np.tile(share, (2000, 1)),
        confusion=np.tile(confusion, (2000, 1, 1)),
        effective=np.full(len(share), 2000.0),
    )
    counts = Counts(np.ones((len(share), len(unlabeled)), int), unlabeled)
    return Posterior(draws=draws, counts=counts, model=LabelShift(), findings=(), origin=Origin(seed=5))


def test_summaries_are_those_of_the_draws() -> None:
    posterior = made_posterior()
    np.testing.assert_allclose(posterior.mean, posterior.prevalence.mean(axis=0))
    np.testing.assert_allclose(posterior.median, np.median(posterior.prevalence, axis=0))
    np.testing.assert_allclose(posterior.sd, posterior.prevalence.std(axis=0, ddof=1))
    np.testing.assert_allclose(posterior.mcse, posterior.sd / 20)
    np.testing.assert_allclose(posterior.interval(0.8), np.quantile(posterior.prevalence, [0.1, 0.9], axis=0).T)


def test_shortest_interval_holds_as_much_and_is_no_wider() -> None:
    posterior = made_posterior()
    central, shortest = posterior.interval(0.8), posterior.interval(0.8, kind="hdi")
    inside = (posterior.prevalence >= shortest[:, 0]) & (posterior.prevalence <= shortest[:, 1])
    assert (np.diff(shortest) <= np.diff(central)).all()
    np.testing.assert_allclose(inside.mean(axis=0), 0.8, atol=0.01)


@pytest.mark.parametrize("level", [0, 1, -0.1, 95, float("nan"), "0.9", None])
def test_level_outside_zero_and_one_is_refused(level: object) -> None:
    with pytest.raises(InputError, match="level"):
        made_posterior().interval(level)  # type: ignore[arg-type]


def test_unknown_kind_or_target_is_refused() -> None:
    with pytest.raises(InputError, match="kind"):
        made_posterior().interval(kind="central")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="target"):
        made_posterior().shares("items")  # type: ignore[arg-type]


def test_probability_counts_draws() -> None:
    posterior = made_posterior()
    assert posterior.probability(lambda share: share["fail"] > 0.7) == np.mean(posterior.prevalence[:, 0] > 0.7)
    assert posterior.probability(lambda share: (share["fail"] > 0.5) & (share["pass"] < 0.5)) == pytest.approx(
        1, abs=0.05
    )


@pytest.mark.parametrize(
    "event", [lambda share: share["fail"], lambda share: True, lambda share: share["fail"][:3] > 0]
)
def test_probability_refuses_what_is_no_event(event: object) -> None:
    with pytest.raises(InputError, match="event"):
        made_posterior().probability(event)  # type: ignore[arg-type]


def test_probability_of_a_number_shows_how_to_ask() -> None:
    with pytest.raises(
        InputError, match=r"event is 0.2: it must be a function.*Pass lambda share: share\['fail'\] > 0.2"
    ):
        made_posterior().probability(0.2)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("classes", "asked", "words"),
    [
        (["emu", "gnu"], "emmu", "asks for 'emmu': the classes are 'emu', 'gnu'. Perhaps you meant 'emu'"),
        (["emu", "gnu"], "yak", "asks for 'yak': the classes are 'emu', 'gnu'. Choose one"),
        ([1, 2], "1", "asks for '1': the classes are 1, 2. Perhaps you meant 1"),
    ],
)
def test_probability_names_the_classes(classes: list[object], asked: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        made_posterior(classes=classes).probability(lambda share: share[asked] > 0.2)


def test_one_draw_has_no_spread() -> None:
    for engine in (Exact, Hamiltonian, Gibbs):
        with pytest.raises(InputError, match="draws is 1: it must be a whole number, 2 or more"):
            engine(1)


def test_realized_share_of_a_perfect_box_is_what_it_counted() -> None:
    posterior = certain([[1.0, 0.0], [0.0, 1.0]], [0.5, 0.5], [70, 30])
    assert (posterior.realized == [0.7, 0.3]).all()
    np.testing.assert_array_equal(posterior.interval(target="realized"), [[0.7, 0.7], [0.3, 0.3]])


def test_realized_share_of_a_useless_box_is_binomial() -> None:
    posterior = certain([[0.5, 0.5], [0.5, 0.5]], [0.2, 0.8], [60, 40])
    items = 100 * posterior.realized[:, 0]
    assert items.mean() == pytest.approx(20, abs=5 * 4 / np.sqrt(2000))
    assert items.std() == pytest.approx(4, abs=5 * 4 / np.sqrt(2 * 2000))


def test_realized_share_survives_an_output_that_cannot_occur() -> None:
    posterior = certain([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [0.5, 0.5], [70, 30, 0])
    assert (posterior.realized == [0.7, 0.3]).all()


def test_realized_share_uses_the_draws_whose_confusion_was_kept() -> None:
    assert made_posterior(stride=4).realized.shape == (100, 2)


@pytest.mark.parametrize("counts", [WEIGHTED, Counts([[1, 1], [1, 1]], [0, 0])], ids=["weighted", "none"])
def test_realized_share_needs_whole_items(counts: Counts) -> None:
    with pytest.raises(InputError, match="realized"):
        made_posterior(counts=counts).interval(target="realized")


def test_labeled_prevalence_is_its_dirichlet() -> None:
    posterior = made_posterior(n_draws=4000, counts=Counts([[2, 1], [9, 0]], [5, 5]))
    mean = np.array([4, 10]) / 14
    sd = np.sqrt(mean[0] * mean[1] / 15)
    np.testing.assert_allclose(posterior.labeled_prevalence.mean(axis=0), mean, atol=5 * sd / np.sqrt(4000))
    np.testing.assert_allclose(posterior.labeled_prevalence.std(axis=0), sd, rtol=5 / np.sqrt(2 * 4000))


def test_weights_widen_the_labeled_prevalence() -> None:
    posterior = made_posterior(n_draws=4000, counts=WEIGHTED)
    np.testing.assert_allclose(posterior.labeled_prevalence.std(axis=0), np.sqrt(0.25 / 15), rtol=5 / np.sqrt(2 * 4000))


def test_chains_have_rhat_and_independent_draws_have_none() -> None:
    assert made_posterior().rhat is None
    assert made_posterior().is_independent
    chained = made_posterior(chains=4)
    assert not chained.is_independent
    assert chained.rhat is not None
    assert chained.rhat.shape == chained.effective_draws.shape == chained.mcse.shape == (2,)


def test_same_seed_gives_the_same_side_draws() -> None:
    first, second = made_posterior(), made_posterior()
    np.testing.assert_array_equal(first.realized, second.realized)
    np.testing.assert_array_equal(first.labeled_prevalence, second.labeled_prevalence)


def test_diagnostics_of_independent_draws_speak_of_their_weights() -> None:
    weak = infer(Counts([[60, 40], [45, 55]], [250, 250]), engine=Exact(500)).diagnostics
    assert 0 < weak["effective_share"] < 1
    assert weak["pareto_k"] < 0.5
    assert set(weak) == {"effective", "mcse", "effective_share", "pareto_k"}


def test_effective_draws_of_chains_are_the_least_of_their_kinds() -> None:
    posterior = infer(Counts([[60, 40], [25, 75]], [250, 250]), engine=Hamiltonian(effective_draws=1000))
    kinds = [posterior.diagnostics[kind] for kind in ("mean", "bulk", "tail")]
    np.testing.assert_array_equal(posterior.effective_draws, np.min(kinds, axis=0))
    assert set(posterior.diagnostics) == {"rhat", "mean", "bulk", "tail", "mcse"}
