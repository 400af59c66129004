"""Labels that err: several raters, known errors, and what cannot be corrected."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.command import run

import truecount as tc
from truecount.cli.app import in_options
from truecount.counts import Combinations, Ratings
from truecount.diagnostics.raters import dependence
from truecount.errors import InputError
from truecount.inference import convergence
from truecount.inference.pooled_shares import PooledShares
from truecount.results.raters import agreement_of

COUNTS = tc.Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])
FEW = tc.Auto(200)


def simulated(seed: int, *, items: int = 200, new: int = 400, error: float = 0.15, hard: float = 0.0) -> dict[str, Any]:
    """Return labels of three raters, of which the third labels half of the items; on `hard` items all err together."""
    rng = np.random.default_rng(seed)

    def said(truth: np.ndarray, wrong: float) -> np.ndarray:
        return np.where(rng.random(len(truth)) < wrong, 1 - truth, truth)

    truth, later = (rng.random(items) < 0.4).astype(int), (rng.random(new) < 0.7).astype(int)
    seen = np.where(rng.random(items) < hard, 1 - truth, truth)
    labels = {name: said(seen, error).tolist() for name in ("ann", "bob", "cy")}
    labels["cy"] = [label if rng.random() < 0.5 else None for label in labels["cy"]]
    return {"labels": labels, "predictions": said(truth, 0.2), "new_predictions": said(later, 0.2)}


def test_perfect_raters_leave_the_plain_answer() -> None:
    plain, rated = tc.infer(COUNTS), tc.infer(COUNTS, tc.ErringLabels(known=0.0))
    assert abs(plain.mean[0] - rated.mean[0]) < 5 * np.hypot(plain.mcse[0], rated.mcse[0])
    assert rated.sd[0] == pytest.approx(plain.sd[0], rel=0.1)
    assert rated.counts == COUNTS


@pytest.mark.slow
def test_many_unlabelled_items_do_not_hold_chains_still() -> None:
    wide = tc.Counts([[70, 40, 30], [20, 30, 90]], [300_000, 200_000, 280_000])
    plain, rated = tc.infer(wide), tc.infer(wide, tc.ErringLabels(known=0.0), engine=FEW)
    assert rated.status == "ok"
    assert abs(plain.mean[0] - rated.mean[0]) < 5 * np.hypot(plain.mcse[0], rated.mcse[0])


@pytest.mark.slow
def test_a_validation_is_worth_its_items() -> None:
    """Very many validated labels are a known error."""
    table = 1e7 * np.array([[0.9, 0.1], [0.05, 0.95]])
    known = tc.infer(COUNTS, tc.ErringLabels(known=table / 1e7))
    counted = tc.infer(COUNTS, tc.ErringLabels(validation=table))
    assert abs(known.mean[0] - counted.mean[0]) < 5 * np.hypot(known.mcse[0], counted.mcse[0])


def test_error_rates_are_recovered_and_reported(seed: int) -> None:
    ratings = tc.count(**simulated(seed, items=2000))
    posterior = tc.infer(ratings, engine=FEW, seed=seed)
    rates = posterior.raters
    assert rates is not None
    spread = rates.draws.std(axis=0)
    for rater in range(3):
        for name in range(2):
            assert abs(rates.mean[rater, name, name] - 0.85) < 5 * max(spread[rater, name, name], 0.01)
    assert rates.error_rate().shape == (3, 3)
    assert "Fleiss" in str(posterior)
    assert {"raters-err"} <= {each.code for each in posterior.findings}
    assert posterior.to_dict()["raters"]["agreement"]["items"] == 2000


def test_agreement_of_a_table_worked_by_hand() -> None:
    """Cohen's example: 20 and 15 agreed, 5 and 10 not: agreement .7, kappa .4."""
    labels = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    found = agreement_of(("a", "b"), labels, np.array([20.0, 5.0, 10.0, 15.0]), 2)
    assert found.pairs["a", "b"] == pytest.approx((50, 0.7, 0.4))
    alone = agreement_of(("a", "b"), np.array([[0, -1], [-1, 1]]), np.array([3.0, 4.0]), 2)
    assert alone.items == 0
    assert np.isnan(alone.fleiss)


@pytest.mark.slow
def test_raters_who_err_together_are_found() -> None:
    found = tc.infer(tc.count(**simulated(1, items=1500, hard=0.2, error=0.02)), engine=FEW)
    assert "raters-err-together" in {each.code for each in found.findings}
    fine = tc.infer(tc.count(**simulated(2, items=600)), engine=FEW)
    assert "raters-err-together" not in {each.code for each in fine.findings}


def test_a_column_that_is_a_copy_is_found() -> None:
    data = simulated(0)
    assert "raters-alike" not in {each.code for each in tc.infer(tc.count(**data), engine=FEW).findings}
    data["labels"]["bob"] = data["labels"]["ann"]
    (found,) = [each for each in tc.infer(tc.count(**data), engine=FEW).findings if each.code == "raters-alike"]
    assert found.numbers == {"raters": [["ann", "bob"]], "items": [200.0]}
    assert "ann and bob (200 items)" in found.message


def test_two_columns_can_always_be_explained() -> None:
    labels = {"ann": ["a", "b"] * 20, "bob": ["a", "b"] * 20}
    ratings = tc.count(labels, ["x"] * 40, ["x"])
    answer = tc.infer(ratings, engine=FEW)
    model = tc.ErringLabels()
    assert answer.raters is not None
    assert dependence(model.rated_density(ratings), answer.raters, answer.confusion) is None


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: tc.infer(COUNTS, tc.ErringLabels()), "for one label an item: the errors of labels are seen where two"),
        (
            lambda: tc.infer(tc.count({"a": ["x", None], "b": [None, "y"]}, ["x", "y"], ["x"])),
            "label has labels of 'a' and 'b' that never stand beside each other for one item",
        ),
        (lambda: tc.infer(COUNTS, tc.ErringLabels(known=1.5)), "an error rate lies from 0 to below 1"),
        (lambda: tc.infer(COUNTS, tc.ErringLabels(known=[[1, 1], [0, 1]])), "each row is P"),
        (lambda: tc.infer(COUNTS, tc.ErringLabels(validation=[[1, 1]])), "a row for each of 2 classes"),
        (lambda: tc.infer(COUNTS, tc.ErringLabels(known={"bob": 0.1})), "hold 'bob': the raters are 'label'"),
        (lambda: tc.ErringLabels(right=-1), "right is -1: it must be a number of labels"),
        (lambda: tc.infer(COUNTS, tc.ErringLabels(known=0.1), engine=tc.Gibbs()), "an engine of their own"),
        (lambda: tc.infer(tc.count(**simulated(0)), tc.SamePopulation()), "are inferred under label shift"),
        (lambda: tc.infer(tc.count(**simulated(0)), tc.ErringLabels(same=[["ann", "eve"]])), "same names 'eve'"),
    ],
)
def test_what_cannot_be_corrected_is_refused(ask: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ask()


def test_the_command_names_its_own_options_for_labels_that_cannot_be_compared() -> None:
    with pytest.raises(InputError) as refused:
        tc.infer(tc.count({"a": ["x", None], "b": [None, "y"]}, ["x", "y"], ["x"]))
    said = str(in_options(refused.value, "estimate"))
    assert said.startswith("--label has labels of 'a' and 'b'")
    assert "as --label-error" in said
    assert "ErringLabels" not in said


def test_groups_share_raters_and_classifier(seed: int, tmp_path: Path) -> None:
    told = simulated(seed)
    groups = tc.count(**told, by=["north", "south"] * 200)
    answer = tc.infer(groups, engine=FEW, seed=seed)
    assert isinstance(answer, tc.GroupPosterior)
    assert answer.raters is not None
    assert answer.prevalence.shape[1:] == (2, 2)
    low, high = answer.difference("north", "south").interval(0.9999)[0]
    assert low < 0 < high
    answer.save(tmp_path / "answer.npz")
    again = tc.GroupPosterior.load(tmp_path / "answer.npz")
    assert str(again.raters) == str(answer.raters)
    assert again.model == answer.model
    tc.report(again, tmp_path / "page.html")
    assert "How often raters are right" in (tmp_path / "page.html").read_text()


def test_answers_are_saved_and_written(tmp_path: Path) -> None:
    posterior = tc.infer(tc.count(**simulated(3)), tc.ErringLabels(same=[["ann", "bob"]]), engine=FEW)
    posterior.save(tmp_path / "answer.npz")
    again = tc.Posterior.load(tmp_path / "answer.npz")
    assert str(again) == str(posterior)
    assert again.model == posterior.model
    tc.report(posterior, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "How often raters are right" in page
    assert "tc.ErringLabels(" in page


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    told = simulated(4)
    rows = zip(told["labels"]["ann"], told["labels"]["cy"], told["predictions"], strict=True)
    lines = ["ann,cy,verdict", *(f"{one},{'' if two is None else two},{output}" for one, two, output in rows)]
    lines += [f",,{output}" for output in told["new_predictions"]]
    (tmp_path / "rated.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "valid.csv").write_text("class\\output,0,1\n0,45,5\n1,4,46\n")
    return tmp_path


@pytest.mark.slow
def test_the_command_takes_several_labels(rated: Path) -> None:
    columns = ["--label", "ann", "--label", "cy", "--prediction", "verdict"]
    done = run("estimate", "rated.csv", *columns, "--json", "a.json", "--table", folder=rated)
    assert done.returncode == 0, done.stderr
    assert "Fleiss" in done.stdout
    assert json.loads((rated / "a.json").read_text())["raters"]["raters"][0]["name"] == "ann"
    assert run("counts", "rated.csv", *columns, "-o", "c.json", folder=rated).returncode == 0
    again = run("estimate", "c.json", folder=rated)
    assert again.stdout == done.stdout
    refused = run("check", "rated.csv", *columns, folder=rated)
    assert refused.returncode == 2
    assert "Write --label once" in refused.stderr


@pytest.mark.parametrize("error", ["10%", "valid.csv"])
def test_the_command_takes_known_label_errors(error: str, rated: Path) -> None:
    columns = ["--label", "ann", "--prediction", "verdict"]
    done = run("estimate", "rated.csv", *columns, "--label-error", error, folder=rated)
    assert done.returncode == 0, done.stderr
    assert "label  0" in done.stdout


def ratings_of(patterns: np.ndarray, items: Any, names: list[str], classes: list[int]) -> Ratings:
    parts = Combinations(tuple(names), tuple(tuple(map(int, each)) for each in patterns))
    return Ratings(tc.Counts(np.array(items)[:, None], [0], parts.names, ["none"]), parts, classes)


class TestPublished:
    """Posteriors and maximum likelihood of published ratings."""

    def test_anaesthetists(self, real_data: Path) -> None:
        """Class shares of the R package rater, whose README says them after MCMC; three ratings are of one rater."""
        told = json.loads((real_data / "published" / "several_raters.json").read_text())["anesthesia"]
        patterns, items = np.unique(told["ratings_by_patient_rater1x3_then_2_to_5"], axis=0, return_counts=True)
        names = ["1", "1 again", "1 once more", "2", "3", "4", "5"]
        prior = np.full((4, 4), 3.2 / 3 - 1) + np.eye(4) * (4.8 - 3.2 / 3)
        model = tc.ErringLabels(right=0, shares=3.0, validation=prior, same=[names[:3]])
        found = tc.infer(ratings_of(patterns, items, names, [1, 2, 3, 4]), model).raters
        assert found is not None
        assert np.abs(found.labeled_prevalence.mean(axis=0) - told["rater_readme_posterior_mean_pi"]).max() < 0.005

    @pytest.mark.slow
    def test_dentists(self, real_data: Path) -> None:
        """3,859 teeth: posterior means are the maximum likelihood, found by EM, and dentists err together."""
        told = json.loads((real_data / "published" / "several_raters.json").read_text())["caries"]
        patterns = np.array([[int(sign) for sign in each] for each in told["patterns"]])
        answer = tc.infer(ratings_of(patterns, told["n"], list("ABCDE"), [1, 2]))
        found, (shares, rates) = answer.raters, maximum_likelihood(patterns - 1, np.array(told["n"], float))
        assert found is not None
        sd = found.draws.std(axis=0)
        assert np.abs(found.labeled_prevalence.mean(axis=0) - shares).max() < found.labeled_prevalence.std(axis=0)[0]
        assert (np.abs(found.mean - rates) < sd).all()
        assert "raters-err-together" in {each.code for each in answer.findings}


def maximum_likelihood(labels: np.ndarray, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Dawid and Skene's EM for two classes."""
    shares, rates = np.array([0.8, 0.2]), np.tile([[0.8, 0.2], [0.3, 0.7]], (labels.shape[1], 1, 1))
    for _ in range(2000):
        joint = shares * np.prod([rates[rater][:, labels[:, rater]] for rater in range(labels.shape[1])], axis=0).T
        weights = items[:, None] * joint / joint.sum(axis=1, keepdims=True)
        shares = weights.sum(axis=0) / items.sum()
        for rater in range(labels.shape[1]):
            table = np.array([[weights[labels[:, rater] == said, name].sum() for said in (0, 1)] for name in (0, 1)])
            rates[rater] = table / table.sum(axis=1, keepdims=True)
    return shares, rates


REGIONS = {"north": [52, 21], "south": [30, 38], "east": [44, 29], "west": [25, 40]}
RIGHT = [[1.0, 0.0], [0.0, 1.0]]


def apart(seed: int) -> float:
    """How far shares, rates, centre and spread of groups by right labels are from those of plain pooling, in errors."""
    groups, prior = tc.Groups([[55, 12], [9, 50]], REGIONS, classes=["no", "yes"]), tc.Prior(1.0, "flat")
    plain = tc.infer(groups, tc.LabelShift(prior, groups=tc.Pooled(kind="dirichlet")), engine=tc.Auto(2000), seed=seed)
    rated = tc.infer(groups, tc.ErringLabels(prior, known=RIGHT), engine=tc.Auto(2000), seed=seed)
    assert rated.model.groups == plain.model.groups
    means, errors = [], []
    for answer in (plain, rated):
        values = (answer.prevalence[:, :, 0], answer.confusion[:, :, 0], answer.draws.centre, np.log(answer.spread))
        flat = np.concatenate([each.reshape(len(each), -1) for each in values], axis=1)
        means.append(flat.mean(axis=0))
        errors.append(flat.std(axis=0) / np.sqrt(convergence.effective_fast(flat, answer.draws.chains)))
    return float(np.abs((means[0] - means[1]) / np.hypot(*errors)).max())


@pytest.mark.slow
def test_groups_by_labels_that_are_right_are_pooled_as_by_counts(seed: int) -> None:
    assert apart(seed) < 5


@pytest.mark.slow
def test_that_sees_another_prior_of_the_spread(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = PooledShares.__init__
    monkeypatch.setattr(PooledShares, "__init__", lambda common, prior, scale, n: made(common, prior, 3 * scale, n))
    assert apart(seed) > 5


def test_three_groups_are_pooled_unless_they_are_said_to_be_independent() -> None:
    groups = tc.Groups([[55, 12], [9, 50]], REGIONS, classes=["no", "yes"])
    model = tc.ErringLabels(known=0.05)
    assert model.variation_of(groups) == tc.Pooled(kind="dirichlet")
    assert model.variation_of(groups.select(["north", "south"])) == tc.Independent()
    assert tc.ErringLabels(known=0.05, groups=tc.Independent()).variation_of(groups) == tc.Independent()
    with pytest.raises(InputError, match="Dirichlet distribution"):
        tc.ErringLabels(groups=tc.Pooled())
