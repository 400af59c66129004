"""Many problems at once are the same problems one by one."""

import numpy as np
import pytest
from scipy.stats import beta

import truecount as tc
from problems import TWO_MODES
from truecount.inference import Auto, Exact
from truecount.inference.importance import many


def made_problems(number, seed):
    rng = np.random.default_rng(seed)
    rows = np.eye(3) * 0.7 + 0.1
    return [
        tc.Counts(rng.multinomial([50, 60, 70], rows), rng.multinomial(300, rng.dirichlet([3, 2, 1]) @ rows))
        for _ in range(number)
    ]


def test_each_posterior_is_the_one_that_infer_gives(seed):
    problems, engine = made_problems(60, seed), Auto(effective_draws=1000)
    together = tc.infer_many(problems, engine=engine, seed=seed)
    alone = [tc.infer(counts, engine=engine, seed=1000 + number) for number, counts in enumerate(problems)]
    z = np.array([(a.mean - b.mean) / np.hypot(a.mcse, b.mcse) for a, b in zip(together, alone, strict=True)])
    assert np.abs(z).max() < 5
    assert np.abs(z.mean()) < 5 / np.sqrt(z.size / 2), "three shares of one problem carry two numbers"
    spread = np.array([np.log(a.sd / b.sd) for a, b in zip(together, alone, strict=True)])
    assert np.abs(spread.mean()) < 5 * spread.std() / np.sqrt(spread.size / 2)


def test_odd_problems_are_done_by_themselves():
    problems = [
        *made_problems(3, 0),
        tc.Counts([[9, 1, 2], [2, 8, 3]], [30, 40, 10]),
        tc.Counts([[51, 49], [50, 50]], [300, 200]),
        tc.Counts([[9, 1], [2, 8]], [0, 0]),
    ]
    posteriors = tc.infer_many(problems, engine=Auto(effective_draws=500))
    assert [len(posterior.classes) for posterior in posteriors] == [3, 3, 3, 2, 2, 2]
    assert all(round(posterior.effective_draws.min()) >= 500 for posterior in posteriors)
    assert posteriors[-1].findings[0].code == "no-unlabeled"


def test_known_rows_and_priors_hold_in_a_stack(seed):
    """Exact prior and known rows against the single path, where a stack that ignored them would differ."""
    counts = tc.Counts([[0, 0], [3, 40]], [60, 80])
    prior = tc.Prior.known_confusion([[0.8, 0.2], [np.nan, np.nan]], prevalence=[4.0, 2.0])
    stacked = tc.infer_many([counts] * 2, prior=prior, seed=seed)[0]
    alone = tc.infer(counts, prior=prior, seed=seed)
    np.testing.assert_allclose(stacked.confusion[:, 0], [[0.8, 0.2]] * len(stacked.confusion))
    assert np.abs((stacked.mean - alone.mean) / np.hypot(stacked.mcse, alone.mcse)).max() < 5


def test_a_mapping_keeps_its_keys_and_the_seed_its_draws():
    weeks = tc.Groups([[140, 60], [20, 180]], {"w1": [600, 400], "w2": [500, 500]})
    first, again, other = (tc.infer_many(weeks, seed=seed) for seed in (1, 1, 2))
    assert list(first) == ["w1", "w2"]
    np.testing.assert_array_equal(first["w2"].prevalence, again["w2"].prevalence)
    assert not np.array_equal(first["w2"].prevalence, other["w2"].prevalence)
    assert first["w1"].origin.seed != first["w2"].origin.seed


def test_a_problem_has_the_same_draws_whatever_stands_beside_it():
    problems, engine = made_problems(9, 0), Auto(effective_draws=200)
    few, many = tc.infer_many(problems[:1], engine=engine), tc.infer_many(problems, engine=engine)
    np.testing.assert_array_equal(few[0].prevalence, many[0].prevalence)
    assert many[0].run.is_stacked


@pytest.mark.parametrize(
    ("labeled", "unlabeled", "engine"),
    [
        ([[140, 60], [20, 180]], [600, 400], "Exact"),
        ([[1400, 600], [200, 1800]], [6 * 10**8, 4 * 10**8], "Exact"),
        ([[14, 6], [2, 18]], [600, 400], "Quadrature"),
        ([[140, 60], [120, 80]], [600, 400], "Quadrature"),
        ([[140, 60], [20, 180]], [990, 10], "Quadrature"),
        ([[3, 0], [3, 7]], [2619918, 97380082], "Quadrature"),
    ],
)
def test_two_classes_are_stacked_only_where_no_mode_can_be_missed(labeled, unlabeled, engine):
    [posterior] = tc.infer_many([tc.Counts(labeled, unlabeled)])
    assert posterior.provenance["engine"] == engine


@pytest.mark.parametrize(
    ("rows", "unlabeled"),
    [
        ([[30, 10], [10, 30]], [20, 20]),
        ([[140, 60], [80, 120]], [52, 48]),
        ([[90, 10], [10, 30]], [55, 45]),
        ([[9, 1], [1, 9]], [3, 3]),
    ],
)
def test_the_bound_on_rows_that_are_near_holds(rows, unlabeled):
    """By quadrature: the posterior mass of rows that are nearer than `APART` is below its bound, which is not idle."""
    posed = tc.models.density(tc.Counts(rows, unlabeled), tc.Prior())
    grid = (np.arange(1500) + 0.5) / 1500
    own = [beta.pdf(grid, *row) for row in posed.rows]
    within = np.abs(np.subtract.outer(*[beta.cdf(grid, *posed.unlabeled + 1)] * 2))
    distance = np.maximum(np.abs(np.subtract.outer(grid, grid)), 1e-9)
    both = np.outer(*own) / np.outer(*own).sum()
    assert (both * within).sum() > many.INSIDE
    density = both * within / distance
    mass = density[distance < many.APART].sum() / density.sum()
    assert 0 < mass < np.exp(many.log_left_out(posed))
    assert many.log_left_out(posed) < 0.4 * np.log(mass)


def test_other_engines_work_too():
    posteriors = tc.infer_many(made_problems(2, 1), engine=Exact(50))
    assert [posterior.prevalence.shape for posterior in posteriors] == [(50, 3), (50, 3)]


def test_nothing_is_shown_in_a_pipe(capsys):
    tc.infer_many(made_problems(2, 1), engine=Auto(effective_draws=50))
    assert capsys.readouterr() == ("", "")


def test_no_problems_give_no_posteriors():
    assert tc.infer_many([]) == []


@pytest.mark.parametrize("bad", [-1, 1.5, "a"])
def test_a_bad_seed_is_refused(bad):
    with pytest.raises(tc.errors.InputError, match="seed is"):
        tc.infer_many(made_problems(1, 0), seed=bad)


@pytest.mark.parametrize("name", TWO_MODES)
def test_no_mode_is_missed_among_many(name, seed):
    counts, prior, (mean, sd) = TWO_MODES[name]
    for posterior in tc.infer_many([counts] * 2, prior=prior, seed=seed):
        assert posterior.mean[0] == pytest.approx(mean, abs=5 * sd / np.sqrt(posterior.effective_draws[0]))


def test_what_contradicts_its_prior_is_not_stacked(seed):
    """The prior expects little of the class that outputs and labels say is the largest."""
    counts = tc.Counts([[189, 18, 15], [16, 243, 12], [19, 17, 247]], [147, 421, 232])
    posteriors = tc.infer_many([counts], prior=tc.Prior([3.3, 1.1, 8.5], 3.0), engine=Auto(400), seed=seed)
    agreeing = tc.infer_many([counts], prior=tc.Prior([1.5, 4.0, 2.5], 3.0), engine=Auto(400), seed=seed)
    assert "stacked" not in posteriors[0].provenance
    assert agreeing[0].provenance["stacked"]
