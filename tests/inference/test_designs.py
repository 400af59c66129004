"""Designs in which P(class | output) carries over: the closed form, the published map, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import truecount as tc
from truecount import Counts, InputError, Prior, simulate
from truecount.diagnostics.homogeneity import not_random
from truecount.inference.draws import dirichlet
from truecount.inference.run import ClosedForm
from truecount.models.register import MODELS

MAP = json.loads((Path(__file__).parents[1] / "reference" / "published.json").read_text(encoding="utf-8"))["map"]
COUNTS = Counts([[30, 5, 2], [4, 20, 9]], [100, 60, 40])


def default_prior(labeled, seen, design):
    """The default as it is documented: 1/(2L), or m/2 + 1/(2K) with m the share of a class by the labels."""
    (n_classes, n_outputs), items = labeled.shape, labeled.sum(axis=0)
    if design == "same_population":
        return np.full(n_classes, 0.5 / n_classes)
    outputs = (seen + 1 / n_outputs) / (seen + 1 / n_outputs).sum()
    pooled = (items.sum() * (labeled / items @ outputs) + 1 / n_classes) / (items.sum() + 1)
    return pooled / 2 + 0.5 / n_outputs


def moments(labeled, seen, design="by_prediction", prior=None):
    """Mean and sd of Σ_k q_k ρ[·|k] by the moments of Dirichlets."""
    prior = default_prior(labeled, seen, design) if prior is None else prior
    rho, q = labeled + np.reshape(prior, (-1, 1)), seen + 1 / len(seen)
    weight, total = rho.sum(axis=0), q.sum()
    given, share = rho / weight, q / total
    rho_square = given * (given * weight + 1) / (weight + 1)
    q_product = (np.outer(share, share) * total + np.diag(share)) / (total + 1)
    mean = given @ share
    square = np.einsum("lj,lk,jk->l", given, given, q_product) + (rho_square - given**2) @ np.diag(q_product)
    return mean, np.sqrt(square - mean**2)


@pytest.mark.parametrize("design", ["by_prediction", "same_population"])
def test_draws_have_the_moments_of_the_closed_form(design, seed):
    posterior, adds_labels = tc.infer(COUNTS, MODELS[design](), seed=seed), design == "same_population"
    mean, sd = moments(COUNTS.labeled, COUNTS.unlabeled + adds_labels * COUNTS.labeled.sum(axis=0), design)
    assert posterior.mean == pytest.approx(mean, abs=5 * sd.max() / np.sqrt(4000))
    assert posterior.sd == pytest.approx(sd, rel=5 / np.sqrt(2 * 4000))
    assert posterior.provenance["design"] == design
    assert posterior.run == ClosedForm()


def test_shares_and_rows_belong_together(seed):
    posterior = tc.infer(COUNTS, tc.ByPrediction(), seed=seed)
    outputs = np.einsum("dl,dlk->dk", posterior.prevalence, posterior.confusion)
    assert outputs.mean(axis=0) == pytest.approx((COUNTS.unlabeled + 1 / 3) / 201, abs=0.01)
    assert posterior.confusion.sum(axis=2) == pytest.approx(1)


def test_many_cells_are_drawn_part_by_part_and_still_belong_together(monkeypatch, seed):
    for module in ("closed_form", "draws"):
        monkeypatch.setattr(f"truecount.inference.{module}.CONFUSION_BYTES", 1000 * COUNTS.labeled.nbytes)
    posterior = tc.infer(COUNTS, tc.ByPrediction(), engine=tc.Auto(2999), seed=seed)
    mean, sd = moments(COUNTS.labeled, COUNTS.unlabeled)
    assert posterior.mean == pytest.approx(mean, abs=5 * sd.max() / np.sqrt(2999))
    assert posterior.draws.stride == 3
    outputs = dirichlet(np.random.default_rng(seed), COUNTS.unlabeled + 1 / 3, (2999,))
    kept = np.einsum("dl,dlk->dk", posterior.prevalence[::3], posterior.confusion)
    np.testing.assert_allclose(kept, outputs[::3], rtol=1e-9)


def area():
    return Counts(np.array(MAP["by_output"]).T, MAP["pixels"], MAP["classes"])


def test_the_published_area_comes_out_with_its_width(seed):
    """Printed 21,158 ± 6,158 ha; with the default prior the mean is 21,466 by the formula above."""
    posterior = tc.infer(area(), tc.ByPrediction(), seed=seed)
    hectares = sum(MAP["pixels"]) * MAP["hectares_per_pixel"]
    mean, sd = moments(area().labeled, area().unlabeled)
    assert round(hectares * mean[0]) == 21_466
    assert hectares * posterior.mean[0] == pytest.approx(21_466, abs=5 * hectares * sd[0] / np.sqrt(4000))
    low, high = hectares * posterior.interval()[0]
    printed = MAP["printed"]["hectares"][0]
    assert low < printed < high
    assert (high - low) / 2 == pytest.approx(6158, rel=0.15)


def test_the_trap_of_the_raw_matrix_is_caught(seed):
    codes = [finding.code for finding in tc.infer(area(), seed=seed).findings]
    assert "labels-by-output" in codes
    found = {finding.code: finding for finding in tc.check(area(), seed=seed).findings}
    assert "ByPrediction()" in found["labels-by-output"].advice
    assert found["designs-disagree"].numbers["standard_errors_apart"] > 3


def test_labels_said_to_be_a_random_sample_must_look_like_one():
    drawn = tc.infer(area(), tc.SamePopulation())
    assert [finding.code for finding in drawn.findings] == ["not-a-random-sample"]
    assert tc.infer(COUNTS, tc.SamePopulation()).findings == ()
    assert tc.infer(area(), tc.ByPrediction()).findings == ()


def test_a_random_sample_is_hardly_ever_called_none(seed):
    rng, confusion = np.random.default_rng(seed), simulate.confusion(0.8, 3)
    for _ in range(200):
        joint = rng.dirichlet(np.ones(3))[:, None] * confusion
        labeled = rng.multinomial(100, joint.ravel()).reshape(3, 3)
        counts = Counts(labeled, rng.multinomial(500, joint.sum(axis=0)))
        assert not_random(counts) is None


def test_a_sample_of_the_same_population_is_worth_more_than_label_shift(seed):
    shares, confusion = [0.4, 0.6], simulate.confusion(0.8, 2)
    counts = simulate.counts(shares, confusion, labeled=400, labeled_prevalence=shares, unlabeled=2000)
    same, shift = tc.infer(counts, tc.SamePopulation(), seed=seed), tc.infer(counts, seed=seed)
    assert same.sd[0] < 0.8 * shift.sd[0]
    assert abs(same.mean[0] - shift.mean[0]) < 5 * shift.sd[0]


def test_weighted_labels_count_output_by_output():
    squares = np.array([[60.0, 5, 2], [8, 20, 9]])
    heavy = Counts(COUNTS.labeled, COUNTS.unlabeled, labeled_squares=squares, unlabeled_squares=COUNTS.unlabeled)
    sd = tc.infer(heavy, tc.ByPrediction()).sd[0]
    halved = np.array(COUNTS.labeled, dtype=float)
    halved[:, 0] /= 2
    assert sd == pytest.approx(moments(halved, COUNTS.unlabeled)[1][0], rel=5 / np.sqrt(2 * 4000))
    assert "weighted-counts" in [finding.code for finding in tc.infer(heavy, tc.ByPrediction()).findings]


def test_weights_keep_the_shares_of_the_labelled_outputs(seed):
    """500 labels of each output, weighted to a population with nine in ten of the first: 90 % · 0.1 + 10 % · 0.8."""
    labeled, weight = np.array([[450, 100], [50, 400]]), np.array([18, 2])
    counts = Counts(labeled * weight, [90, 10], labeled_squares=labeled * weight**2, unlabeled_squares=[90.0, 10.0])
    kish = np.array([9000, 1000]) * 10_000 / (500 * (18**2 + 2**2))
    mean, sd = moments(labeled, np.array([90, 10]) + kish, "same_population")
    posterior = tc.infer(counts, tc.SamePopulation(), seed=seed)
    assert mean[1] == pytest.approx(0.17, abs=0.002)
    assert posterior.mean == pytest.approx(mean, abs=5 * sd.max() / np.sqrt(4000))
    assert posterior.sd == pytest.approx(sd, rel=5 / np.sqrt(2 * 4000))


def test_an_output_without_labels_is_named():
    counts = Counts([[30, 5, 0], [4, 20, 0]], [100, 60, 40])
    assert [finding.code for finding in tc.infer(counts, tc.ByPrediction()).findings] == ["unseen-output"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model": "by_output"}, r"model is 'by_output': it must be a model. Pass \w+"),
        ({"model": tc.ByPrediction}, r"it must be a model. Pass ByPrediction\(\)"),
        ({"model": Prior(2)}, r"it must be a model. Pass it as prior="),
        ({"model": tc.ByPrediction(), "prior": Prior(2)}, r"prior is given beside model=ByPrediction.*of its own"),
        ({"model": tc.LabelShift(Prior(2)), "prior": Prior()}, r"prior is given beside model=LabelShift"),
        ({"prior": "sparse"}, r"prior is of type str.*Prior\(confusion='sparse'\)"),
        ({"model": tc.ByPrediction([1, 2, 3])}, "given_output has shape"),
        ({"model": tc.ByPrediction(), "engine": tc.Gibbs()}, "closed form"),
    ],
)
def test_what_would_change_nothing_is_refused(options, words):
    with pytest.raises(InputError, match=words):
        tc.infer(COUNTS, **options)


def test_many_populations_have_a_model_too():
    weeks = tc.Groups(COUNTS.labeled, {"w1": [100, 60, 40], "w2": [10, 60, 40]}, COUNTS.classes, COUNTS.outputs)
    found = tc.infer_many(weeks, tc.ByPrediction(), seed=3)
    for name, posterior in found.items():
        again = tc.infer(weeks[name], tc.ByPrediction(), seed=posterior.origin.seed)
        np.testing.assert_array_equal(posterior.prevalence, again.prevalence)
        assert posterior.model == tc.ByPrediction()
    with pytest.raises(InputError, match=r"problems\['w1'\]\.given_output has shape"):
        tc.infer_many(weeks, tc.ByPrediction([1, 2, 3]))


@pytest.mark.parametrize("ask", [tc.mode, tc.calibration])
def test_what_exists_only_under_label_shift_is_refused_by_name(ask):
    with pytest.raises(InputError, match=r"model is ByPrediction.* exists only under label shift"):
        ask(COUNTS, tc.ByPrediction())
    with pytest.raises(InputError, match="prior is given beside"):
        ask(COUNTS, tc.LabelShift(Prior(3)), prior=Prior(2))


def test_the_number_of_draws_is_asked_for():
    assert len(tc.infer(COUNTS, tc.ByPrediction(), engine=tc.Auto(500)).prevalence) == 500


@pytest.mark.parametrize(
    ("asked", "concentration"),
    [
        (0.5, [0.5, 0.5]),
        ([0.1, 2], [0.1, 2]),
        ({1: 2, 0: 0.1}, [0.1, 2]),
        ([[0.1] * 3, [2.0] * 3], [0.1, 2]),
    ],
    ids=["number", "sequence", "mapping", "matrix"],
)
@pytest.mark.parametrize("design", ["by_prediction", "same_population"])
def test_the_prior_of_each_outputs_classes_is_the_one_asked_for(design, asked, concentration, seed):
    seen = COUNTS.unlabeled + (design == "same_population") * COUNTS.labeled.sum(axis=0)
    posterior = tc.infer(COUNTS, MODELS[design](asked), seed=seed)
    mean, sd = moments(COUNTS.labeled, seen, prior=np.array(concentration))
    assert posterior.mean == pytest.approx(mean, abs=5 * sd.max() / np.sqrt(4000))
    assert posterior.model.given_output is not None


def test_a_rare_class_is_biased_by_half_as_much_as_by_an_even_item_and_its_interval_holds(seed):
    """A mine of 0.1 %: an even item for each output makes it 0.15 %. The biases are exact; coverage is binomial."""
    outputs, classes = np.array([0.001, 0.999]), np.array([[0.4, 0.0006], [0.6, 0.9994]])
    truth, rng, sets = classes @ outputs, np.random.default_rng(seed), 300
    expected = 1000 * classes, 1e5 * outputs
    even, default = (moments(*expected, prior=prior)[0][0] / truth[0] - 1 for prior in (0.5, None))
    assert even > 0.48
    assert default < even / 1.9
    held = 0
    for number in range(sets):
        labeled = np.array([rng.multinomial(1000, classes[:, place]) for place in range(2)]).T
        counts = Counts(labeled, rng.multinomial(100_000, outputs))
        low, high = tc.infer(counts, tc.ByPrediction(), engine=tc.Auto(1000), seed=number).interval()[0]
        held += low <= truth[0] <= high
    assert held >= binom.ppf(5e-5, sets, 0.95)


def test_check_shows_the_prior_of_this_design_and_what_another_would_say():
    mine = Counts([[40, 0], [60, 100]], [1000, 999_000], classes=["mine", "none"])
    posterior = tc.infer(mine, tc.ByPrediction())
    found = tc.check(posterior)
    assert "row prior" not in str(found)
    weight = {row["class"]: row["output_prior"] for row in found.tables["given_output"]}
    prior = default_prior(mine.labeled, mine.unlabeled, "by_prediction")
    assert weight == pytest.approx({"mine": 2 * prior[0], "none": 2 * prior[1]})
    shares = {row["prior"]: row["mine"] for row in found.tables["priors"]}
    for name, factor in (("given output × 0.5", 0.5), ("given output × 2", 2)):
        expected = moments(mine.labeled, mine.unlabeled, prior=factor * prior)[0][0]
        assert shares[name] == pytest.approx(expected, rel=1e-12)
    (finding,) = [each for each in found.findings if each.code == "prior-sensitive"]
    assert "each output's classes doubled" in finding.message


def test_the_prior_is_saved_and_written_down(tmp_path):
    posterior = tc.infer(COUNTS, tc.ByPrediction({0: 0.1, 1: 2}))
    posterior.save(tmp_path / "answer.npz")
    assert tc.Posterior.load(tmp_path / "answer.npz").model == posterior.model
    tc.report(posterior, tmp_path / "answer.html")
    page = (tmp_path / "answer.html").read_text(encoding="utf-8")
    assert "given_output={0: 0.1, 1: 2}" in page.replace("&#34;", '"')
    assert "Prior of the confusion" not in page
