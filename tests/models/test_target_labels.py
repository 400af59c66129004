"""Labels of the population beside labels from elsewhere: limits, agreement with a brute integral, refusals."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest

import truecount as tc
from truecount.errors import InputError
from truecount.models.target_labels import CHANCES, WORTHS, learned_worth

COUNTS = tc.Counts([[30, 10], [6, 44]], [60, 40], classes=["fail", "pass"])
OWN = [[6, 4], [1, 9]]
WIDE = tc.Counts([[30, 10, 5], [6, 44, 9]], [60, 40, 20])
WIDE_OWN = [[6, 4, 1], [1, 9, 3]]


def points(shape, seed=0, size=50):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(shape[0]), size), rng.dirichlet(np.ones(shape[1]), (size, shape[0]))


def constant(values):
    np.testing.assert_allclose(values - values[0], 0, atol=1e-8)


def test_without_labels_of_the_population_it_is_label_shift():
    model = tc.TargetLabels(labeled=np.zeros((2, 2)))
    np.testing.assert_array_equal(tc.infer(COUNTS, model, seed=3).prevalence, tc.infer(COUNTS, seed=3).prevalence)


@pytest.mark.parametrize(("counts", "own"), [(COUNTS, OWN), (WIDE, WIDE_OWN)])
def test_where_label_shift_is_assumed_all_labels_are_alike(counts, own):
    whole = tc.Counts(counts.labeled, counts.unlabeled + np.sum(own, axis=0), counts.classes, counts.outputs)
    expected = tc.infer(*tc.with_target_labels(whole, own), seed=2)
    found = tc.infer(counts, tc.TargetLabels(labeled=own, worth=inf), seed=2)
    np.testing.assert_array_equal(found.prevalence, expected.prevalence)
    counted = tc.infer(whole, tc.TargetLabels(labeled=own, worth=inf, counted=True), seed=2)
    np.testing.assert_array_equal(counted.prevalence, expected.prevalence)


@pytest.mark.parametrize(("counts", "own"), [(COUNTS, OWN), (WIDE, WIDE_OWN)])
@pytest.mark.parametrize("counted", [False, True])
def test_without_labels_from_elsewhere_it_is_each_design_of_the_population(counts, own, counted):
    """In shares of outputs q and classes given outputs ρ, the density is the closed form of both designs."""
    n_classes, n_outputs = counts.labeled.shape
    each = 1 / (n_classes * n_outputs)
    model = tc.TargetLabels(tc.Prior(1 / n_classes, each), labeled=own, worth=0, counted=counted)
    density = model.density(counts)
    design = tc.ByPrediction(given_output=each) if counted else tc.SamePopulation(given_output=each)
    form = design.closed_form(tc.Counts(own, counts.unlabeled, counts.classes, counts.outputs))
    prevalence, confusion = points((n_classes, n_outputs))
    joint = prevalence[:, :, None] * confusion
    outputs = joint.sum(axis=1)
    given = joint / outputs[:, None]
    ours = density.log_joint(prevalence, confusion)
    ours += (n_classes - 1) * np.log(outputs).sum(axis=1) - (n_outputs - 1) * np.log(prevalence).sum(axis=1)
    closed = ((form.seen + 1 / n_outputs - 1) * np.log(outputs)).sum(axis=1)
    closed += ((form.labeled + form.prior - 1) * np.log(given)).sum(axis=(1, 2))
    constant(ours - closed)


@pytest.mark.parametrize(("counts", "own"), [(COUNTS, OWN), (WIDE, WIDE_OWN)])
def test_learned_worth_is_a_mixture_of_fixed_ones_and_of_rows_around_those_elsewhere(counts, own):
    from scipy.stats import dirichlet

    def height(rows):
        each = [[dirichlet.pdf(row, own_row) for row, own_row in zip(one, rows, strict=True)] for one in confusion]
        return np.prod(each, axis=1)

    density = tc.TargetLabels(labeled=own).density(counts)
    prevalence, confusion = points(counts.labeled.shape)
    per_class = counts.labeled.sum() / len(counts.classes)
    mixed = np.zeros(len(prevalence))
    for worth, chance in zip(WORTHS, CHANCES, strict=True):
        share, flat, all_labels = 1 / (1 + per_class / worth), np.ones(counts.labeled.shape), 1 + counts.labeled
        rows, means = flat + share * counts.labeled, all_labels / all_labels.sum(axis=1, keepdims=True)
        centre = 0.8 * counts.labeled.shape[1] * means + 0.2 * flat
        around = (1 - share) * centre + share * all_labels
        mixed += chance * (height(rows) + height(around)) / 2
    joint = prevalence[:, :, None] * confusion
    likelihood = (np.array(own) * np.log(joint)).sum(axis=(1, 2)) + counts.unlabeled @ np.log(joint.sum(axis=1)).T
    constant(density.log_joint(prevalence, confusion) - likelihood - np.log(mixed))


def test_draws_agree_with_a_brute_integral():
    shares = (np.arange(80) + 0.5) / 80
    pi, first, second = np.meshgrid(shares, shares, shares, indexing="ij")
    prevalence = np.stack([pi, 1 - pi], axis=-1)
    confusion = np.stack([np.stack([first, 1 - first], -1), np.stack([second, 1 - second], -1)], axis=-2)
    model = tc.TargetLabels(labeled=OWN)
    heights = model.density(COUNTS).log_joint(prevalence, confusion)
    weights = np.exp(heights - heights.max())
    mean = (weights * pi).sum() / weights.sum()
    sd = np.sqrt((weights * (pi - mean) ** 2).sum() / weights.sum())
    for engine in (tc.Auto(2000), tc.Hamiltonian(4000, effective_draws=2000)):
        found = tc.infer(COUNTS, model, engine=engine, seed=1)
        error = sd / np.sqrt(found.effective_draws[0])
        assert found.mean[0] == pytest.approx(mean, abs=5 * error)
        assert found.sd[0] == pytest.approx(sd, rel=0.15)


def test_labels_from_elsewhere_count_by_how_they_agree():
    alike, unlike = np.array([[27, 9], [5, 39]]), np.array([[9, 27], [39, 5]])
    told = {}
    for name, own in (("alike", alike), ("unlike", unlike)):
        model = tc.TargetLabels(labeled=own)
        found = tc.infer(COUNTS, model, engine=tc.Auto(500))
        worth, probability = learned_worth(COUNTS, model.density(COUNTS), found.confusion)
        told[name] = worth @ probability
        (finding,) = [each for each in found.findings if each.code == "sources-combined"]
        assert finding.severity == {"alike": "info", "unlike": "caution"}[name]
    assert told["unlike"] < 3 < 15 < told["alike"]


def test_outputs_that_a_class_never_has_do_not_speak_for_label_shift():
    """Of a class that is otherwise unlike: under the power prior alone label shift has a probability of .998."""
    counts = tc.Counts([[180, 20, 0, 0, 0, 0], [10, 190, 0, 0, 0, 0]], [250, 250, 0, 0, 0, 0])
    model = tc.TargetLabels(tc.Prior(confusion="flat"), labeled=[[12, 6, 0, 0, 0, 0], [3, 15, 0, 0, 0, 0]])
    found = tc.infer(counts, model, engine=tc.Auto(500))
    (finding,) = [each for each in found.findings if each.code == "sources-combined"]
    assert finding.numbers["label_shift"] < CHANCES[-1]


def test_known_rows_stay_known():
    model = tc.TargetLabels(tc.Prior.known_confusion([[0.8, 0.2], [np.nan] * 2]), labeled=OWN)
    found = tc.infer(COUNTS, model, engine=tc.Auto(200))
    np.testing.assert_allclose(found.confusion[:, 0], [[0.8, 0.2]] * len(found.confusion))


def test_many_classes_are_combined_too():
    rng = np.random.default_rng(0)
    rows = np.full((7, 7), 0.05) + 0.65 * np.eye(7)
    known, own = (np.array([rng.multinomial(items, row) for row in rows]) for items in (40, 5))
    counts = tc.Counts(known, rng.multinomial(400, rows.mean(axis=0)))
    found = tc.infer(counts, tc.TargetLabels(labeled=own), engine=tc.Auto(200))
    assert found.status == "ok"


def test_a_study_is_the_population():
    data = tc.Groups({"here": OWN, "there": COUNTS.labeled}, {"all": [60, 40]}, classes=["fail", "pass"])
    counts, model = tc.TargetLabels.of_study(data, "here", worth=inf)
    assert counts == COUNTS
    assert model == tc.TargetLabels(labeled=OWN, worth=inf)


@pytest.mark.parametrize("worth", [None, 0, 12.5, inf])
def test_saved_files_and_pages_keep_it(tmp_path, worth):
    made = tc.infer(COUNTS, tc.TargetLabels(labeled=OWN, worth=worth), engine=tc.Auto(100))
    made.save(tmp_path / "saved.npz")
    assert tc.Posterior.load(tmp_path / "saved.npz").model == made.model
    tc.report(made, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "Labels of the population" in page
    assert "Labelled items of this population itself are told apart from these: 20." in page
    code = page[page.index("import truecount as tc") : page.index("print(posterior)")]
    from html import unescape

    names = {}
    exec(unescape(code), names)  # noqa: S102
    np.testing.assert_array_equal(names["posterior"].prevalence, made.prevalence)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"labeled": [[1, 2]]}, "has shape"),
        ({"labeled": [[1, -2], [3, 4]]}, "has -2"),
        ({"labeled": [[1, 0.5], [3, 4]]}, "holds 0.5"),
        ({"labeled": OWN, "worth": -1}, "worth"),
        ({"labeled": OWN, "counted": 3}, "counted"),
        ({"labeled": [[600, 4], [1, 9]], "counted": True}, "more items of output 'fail'"),
        ({"labeled": OWN, "confusion": tc.Varying()}, "how groups vary"),
        ({"labeled": OWN, "prior": tc.Prior("learned")}, "learned"),
    ],
)
def test_bad_labels_are_refused(options, said):
    with pytest.raises(InputError, match=said):
        tc.infer(COUNTS, tc.TargetLabels(**options))


def test_what_knows_nothing_of_them_refuses_them():
    model, groups = tc.TargetLabels(labeled=OWN), tc.Groups(COUNTS.labeled, {"A": [60, 40], "B": [30, 30]})
    weighted = replace(COUNTS, labeled_squares=COUNTS.labeled, unlabeled_squares=COUNTS.unlabeled)
    for ask in (
        lambda: tc.check(COUNTS, model),
        lambda: tc.mode(COUNTS, model),
        lambda: tc.plan(COUNTS, model=model),
        lambda: tc.infer(groups, model),
        lambda: tc.infer_many([COUNTS], model),
        lambda: tc.infer(weighted, model),
        lambda: tc.sensitivity(tc.infer(COUNTS, model, engine=tc.Auto(50))),
        lambda: tc.TargetLabels.of_study(groups, "here"),
    ):
        with pytest.raises(InputError):
            ask()


def test_labels_of_each_group_are_random_samples_beside_one_study_of_all_others():
    tables = {("A", "here"): [[5, 1], [2, 8]], ("B", "here"): [[3, 1], [1, 4]], ("A", "there"): [[30, 9], [5, 40]]}
    tables |= {("elsewhere", "there"): [[1, 0], [0, 1]]}
    data = tc.Groups(tables, {"A": [30, 40], "B": [50, 20], "elsewhere": [9, 9]}, ["no", "yes"], by=["model"])
    groups, model = tc.TargetLabels.of_study(data, "here", prior=tc.Prior(2.0))
    assert model == tc.LabelShift(tc.Prior(2.0), confusion=tc.Varying(random_labels=True))
    assert groups.studies == ("A", "B", "elsewhere'")
    np.testing.assert_array_equal(groups.labeled, [tables["A", "here"], tables["B", "here"], [[31, 9], [5, 41]]])
    np.testing.assert_array_equal(groups.unlabeled, data.unlabeled)
    with pytest.raises(InputError, match="no labels of a group have"):
        tc.TargetLabels.of_study(data, "nowhere")
    with pytest.raises(InputError, match="options hold 'worth'"):
        tc.TargetLabels.of_study(data, "here", worth=3)
    with pytest.raises(InputError, match=r"study=\[\*by, column\]"):
        tc.infer(groups, tc.TargetLabels(labeled=[[1, 0], [0, 1]]))


def by_enumeration(counts, own):
    """Mean and standard deviation of the first class's share: a sum over all allocations of items and all worths."""
    from scipy.special import betaln, logsumexp

    posed = tc.TargetLabels(labeled=own).density(counts)
    (first, second), grid = counts.unlabeled.tolist(), posed.learned_rows
    at, from_second = np.meshgrid(np.arange(first + 1), np.arange(second + 1), indexing="ij")
    of_first = np.stack([at, from_second], axis=-1)
    items = np.stack([of_first, np.array([first, second]) - of_first], axis=-2)
    sizes, rows = items.sum(axis=-1), grid.rows_at(np.arange(len(grid.log_prior)))
    chosen = -sum(np.log(1.0 + n) + betaln(1 + k, 1 + n - k) for n, k in ((first, at), (second, from_second)))
    shares = betaln(posed.prevalence[0] + sizes[..., 0], posed.prevalence[1] + sizes[..., 1])
    told = items + np.asarray(own)
    logs = [
        log_prior
        + chosen
        + shares
        + sum(betaln(*(row + told[..., at, :]).transpose(2, 0, 1)) - betaln(*row) for at, row in enumerate(each))
        for log_prior, each in zip(grid.log_prior, rows, strict=True)
    ]
    weights = np.exp(logsumexp(logs, axis=0) - logsumexp(logs))
    total = posed.prevalence.sum() + first + second
    mean = (posed.prevalence[0] + sizes[..., 0]) / total
    square = mean * (posed.prevalence[0] + sizes[..., 0] + 1) / (total + 1)
    return (weights * mean).sum(), np.sqrt((weights * square).sum() - (weights * mean).sum() ** 2)


@pytest.mark.slow
def test_very_many_labels_from_elsewhere_leave_room_for_drift(seed):
    """Chains that summed over worths stayed where label shift holds: standard deviation .046 for .129."""
    counts, own = tc.Counts([[1_000_000, 10], [10, 1_000_000]], [30, 70]), [[1, 0], [0, 0]]
    found, (mean, sd) = tc.infer(counts, tc.TargetLabels(labeled=own), seed=seed), by_enumeration(counts, own)
    share, effective = found.prevalence[:, 0], found.effective_draws.min()
    assert abs(share.mean() - mean) < 4 * sd / np.sqrt(effective)
    fourth = ((share - share.mean()) ** 4).mean()
    assert abs(share.var() - sd**2) < 4 * np.sqrt((fourth - sd**4) / effective)
