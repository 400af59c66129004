"""What a reader sees: the right numbers in the right cells, whatever the classes are called."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from made_posterior import made_posterior
from truecount import Counts, Finding, Posterior
from truecount._wording import display_width, visible
from truecount.errors import InputError
from truecount.inference.draws import Draws
from truecount.inference.run import Run, status_of
from truecount.models import LabelShift
from truecount.plots.shares import prevalence_data
from truecount.results.export.provenance import Origin
from truecount.results.summary import Look, remark, tabulate

SERIOUS = Finding("not-converged", "serious", "The draws have not converged.", {"rhat": 1.5}, "Draw longer.")


def posterior_at(draws: list[list[float]], counts: Counts) -> Posterior:
    made = Draws(
        prevalence=np.array(draws),
        confusion=np.ones((len(draws), *counts.labeled.shape)),
        effective=np.full(2, 5.0),
        run=Run(engine="Exact"),
    )
    return Posterior(draws=made, counts=counts, model=LabelShift(), findings=(), origin=Origin(seed=7))


def test_numbers_stand_beside_their_class() -> None:
    counts = Counts([[1, 1], [1, 1]], [750, 250], classes=["no", "yes"])
    posterior = posterior_at([[0.2, 0.8], [0.3, 0.7], [0.4, 0.6]], counts)
    assert str(posterior).splitlines() == [
        "class  counted  true share  95 % interval",
        "no      75.0 %      30.0 %  20.5 – 39.5 %",
        "yes     25.0 %      70.0 %  60.5 – 79.5 %",
        "Computed by Exact: effective sample size 5, independent draws. Seed 7.",
    ]


def test_counted_follows_the_class_and_not_the_position() -> None:
    counts = Counts([[1, 1], [1, 1]], [750, 250], classes=["no", "yes"], outputs=["yes", "no"])
    table = tabulate(posterior_at([[0.2, 0.8], [0.4, 0.6]], counts))
    assert [row[:2] for row in table.rows] == [["no", "25.0 %"], ["yes", "75.0 %"]]


@pytest.mark.parametrize(
    ("classes", "outputs"),
    [(["fail", "pass"], ["low", "mid", "high"]), ([0, 1], [0, 1, 2]), (["0", "1"], ["0", "1", "2"])],
)
def test_counted_is_left_out_where_outputs_are_not_the_classes(classes: list[Any], outputs: list[Any]) -> None:
    counts = Counts([[5, 3, 1], [2, 4, 6]], [10, 10, 10], classes=classes, outputs=outputs)
    assert tabulate(made_posterior(counts=counts)).header == ["class", "true share", "95 % interval"]


def test_counted_shares_are_of_all_items_and_abstentions_are_told() -> None:
    counts = Counts([[5, 3, 1], [2, 4, 6]], [12, 6, 2], classes=["fail", "pass"], outputs=["fail", "pass", "unsure"])
    table = tabulate(made_posterior(counts=counts))
    assert [row[1] for row in table.rows] == ["60.0 %", "30.0 %"]
    note = "Counted shares are of all unlabelled items; 10.0 % have an output that is no class (unsure)."
    assert table.note == note
    assert note in str(made_posterior(counts=counts)).splitlines()
    assert note in made_posterior(counts=counts)._repr_html_()


def test_one_class_has_one_row_and_a_sentence() -> None:
    counts = Counts([[1, 1], [1, 1]], [750, 250], classes=["no", "yes"])
    posterior = posterior_at([[0.2, 0.8], [0.3, 0.7], [0.4, 0.6]], counts)
    assert posterior.to_text(classes=["yes"]).splitlines()[:3] == [
        "yes: about 70.0 % (95 % interval 60.5 – 79.5 %); plain counting says 25.0 %.",
        "class  counted  true share  95 % interval",
        "yes     25.0 %      70.0 %  60.5 – 79.5 %",
    ]
    with pytest.raises(InputError, match=r"class is 'yeah': the classes are 'no', 'yes'. Choose one of these."):
        posterior.to_text(classes=["yeah"])


def test_classes_in_the_order_of_their_size() -> None:
    counts = Counts([[1, 1], [1, 1]], [750, 250], classes=["no", "yes"])
    posterior = posterior_at([[0.2, 0.8], [0.3, 0.7], [0.4, 0.6]], counts)
    assert posterior.by_size() == ("yes", "no")
    assert [row[0] for row in tabulate(posterior, classes=posterior.by_size()).rows] == ["yes", "no"]


def unconverged(rhat: float, **options: Any) -> Posterior:
    """A posterior whose chains have this R-hat."""
    posterior = made_posterior(chains=4, **options)
    run = replace(posterior.run, status=status_of(None, np.array([1.0, rhat])))
    return replace(posterior, draws=replace(posterior.draws, rhat=np.array([1.0, rhat]), run=run))


@pytest.mark.parametrize(
    ("rhat", "said"),
    [
        *((rhat, f"R-hat is {rhat:.3f}, and above 1.1") for rhat in (1.1001, 1.38, np.inf)),
        (np.nan, "the chains are too short to judge whether they agree."),
    ],
)
def test_chains_that_disagree_are_no_answer(rhat: float, said: str) -> None:
    posterior = unconverged(rhat, findings=(SERIOUS,))
    assert (posterior.status, posterior.has_answer) == ("no-answer", False)
    first, finding, how = str(posterior).splitlines()
    assert first.startswith(f"No answer: {said}")
    assert finding == remark(SERIOUS)
    assert "4 chains" in how
    for shown in (str(posterior), repr(posterior), posterior._repr_html_(), posterior.to_text(classes=["pass"])):
        assert " %" not in shown
    summary = posterior.to_dict()
    assert summary["status"] == "no-answer"
    for row in summary["classes"]:
        assert [row[name] for name in ("mean", "median", "sd", "lower", "upper")] == [None] * 5


def test_chains_up_to_the_bound_are_an_answer() -> None:
    posterior = unconverged(1.1)
    assert " %" in str(posterior)
    assert posterior.status == "ok"
    assert status_of("x", posterior.rhat) == "not-converged"


def test_interval_ends_are_shares_in_spite_of_rounding() -> None:
    near = np.nextafter(1.0, 0.0)
    draws = np.array([[1 - near, near]] * 50 + [[0.0, 1.0]] * 50)
    draws[:, 1] += 2e-16
    ends = posterior_at(draws.tolist(), Counts([[1, 1], [1, 1]], [7, 2])).interval(0.9)
    assert ends.min() >= 0
    assert ends.max() <= 1


def test_level_kind_and_target_are_named_and_change_the_cells() -> None:
    posterior = made_posterior()
    usual = tabulate(posterior)
    half = tabulate(posterior, Look(level=0.5))
    shortest = tabulate(posterior, Look(kind="hdi", level=0.8))
    realized = tabulate(posterior, Look(target="realized"))
    assert half.header[-1] == "50 % interval"
    assert shortest.header[-1] == "80 % shortest interval"
    assert realized.header[2] == "share of these items"
    assert len({table.rows[0][-1] for table in (usual, half, shortest, realized)}) == 4
    assert tabulate(posterior, Look(level=0.995)).header[-1] == "99.5 % interval"


@pytest.mark.parametrize(
    ("half_width", "decimals"), [(0.05, 1), (0.002, 2), (0.0002, 3), (1e-9, 8), (1e-10, 8), (0.0, 1)]
)
def test_narrow_intervals_get_more_decimals(half_width: float, decimals: int) -> None:
    counts = Counts([[1, 1], [1, 1]], [750, 250])
    table = tabulate(posterior_at([[0.5 - half_width, 0.5 + half_width], [0.5 + half_width, 0.5 - half_width]], counts))
    low, high = re.findall(r"[\d.]+", table.rows[0][-1])
    assert {len(end.partition(".")[2]) for end in (low, high, table.rows[0][1].split()[0])} == {decimals}


def test_wide_and_combined_signs_keep_columns_straight() -> None:
    lines = str(made_posterior(classes=["日本", "e\u0301t\u00e9"])).splitlines()
    assert display_width("日本") == 4
    assert display_width("e\u0301t\u00e9") == 3
    assert len({display_width(line) for line in lines[:3]}) == 1


def test_long_names_lose_their_middle_unless_they_then_look_alike() -> None:
    apart = str(made_posterior(classes=["a" * 200, "b" * 200]))
    assert "a" * 20 + "…" + "a" * 19 in apart
    assert max(map(len, apart.splitlines()[:3])) < 90
    alike = str(made_posterior(classes=["a" * 100 + "1" + "a" * 99, "a" * 100 + "2" + "a" * 99]))
    assert "a" * 100 + "1" + "a" * 99 in alike


def test_nothing_in_a_name_moves_the_cursor() -> None:
    finding = Finding("x", "info", "Class \x1b[31m\n is odd.")
    shown = str(made_posterior(classes=["a\nb", "\x1b[31mred\t"], findings=(finding,)))
    assert "\x1b" not in shown
    assert "a\\nb" in shown
    assert "\\x1b[31mred\\t" in shown
    assert len(shown.splitlines()) == 5
    assert visible("Straße 日本") == "Straße 日本"


def test_findings_stand_below_with_their_advice() -> None:
    lines = str(made_posterior(findings=(SERIOUS,))).splitlines()
    assert (
        lines[3]
        == "serious: The draws have not converged. Draw longer. (docs: findings#not-converged)"
        == remark(SERIOUS)
    )


def test_chains_say_how_well_they_agree() -> None:
    last = str(made_posterior(chains=4)).splitlines()[-1]
    assert last == "Computed by Gibbs: effective sample size 100, 4 chains, R-hat at most 1.007. Seed 3."


class Reader(HTMLParser):
    """Collects tags and text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_html_says_the_same_as_the_text() -> None:
    posterior = made_posterior(findings=(SERIOUS,))
    read, table = Reader(posterior._repr_html_()), tabulate(posterior)
    assert read.words == [table.how, *table.header, *table.rows[0], *table.rows[1], remark(SERIOUS)]
    scopes = [attributes.get("scope") for tag, attributes in read.tags if tag == "th"]
    assert scopes == ["col"] * 4 + ["row"] * 2


def test_html_escapes_names_and_sets_no_colour() -> None:
    page = made_posterior(classes=["<script>alert(1)</script>", "\"&'"])._repr_html_()
    read = Reader(page)
    assert "script" not in {tag for tag, _ in read.tags}
    assert "<script>alert(1)</script>" in read.words
    assert "color" not in page
    assert "background" not in page


def test_every_form_of_the_answer_has_the_numbers_of_one_summary() -> None:
    posterior = made_posterior(chains=4)
    for look in ({}, {"level": 0.5, "kind": "hdi"}, {"target": "realized"}):
        summary, rows = posterior.summary(**look), posterior.to_dict(**look)["classes"]
        assert summary.mean.tolist() == [row["mean"] for row in rows]
        assert summary.interval.tolist() == [[row["lower"], row["upper"]] for row in rows]
        assert summary.sd.tolist() == [row["sd"] for row in rows]
        assert summary.effective_draws.tolist() == [row["effective_draws"] for row in rows]
        shown = [f"{100 * mean:.{summary.decimals}f} %" for mean in summary.mean]
        assert [row[-2] for row in tabulate(posterior, Look(**look)).rows] == shown
        drawn = prevalence_data(posterior, **look)
        assert [share for share, _ in drawn.numbers] == shown
        assert drawn.mean.tolist() == summary.mean.tolist()


def test_without_an_answer_a_summary_has_no_number_of_the_draws() -> None:
    summary = unconverged(1.5).summary()
    for numbers in (summary.mean, summary.median, summary.sd, summary.interval):
        assert np.isnan(numbers).all()
    assert summary.rhat is not None


def test_the_error_of_the_mean_is_the_posteriors() -> None:
    posterior = made_posterior(chains=4)
    assert posterior.summary().mcse.tolist() == posterior.mcse.tolist()
