"""Pictures of many groups: the arrays handed to the drawer, and that names neither clash nor are cut at any number."""

from datetime import date, timedelta

import numpy as np
import pytest
from matplotlib.figure import Figure

import truecount as tc
from made_groups import made_answer, models, refused, weeks
from pictures import clashes
from truecount import plots
from truecount.plots.groups import groups_data
from truecount.plots.ranks import pairs_data, ranks_data


def many(number: int) -> tc.GroupPosterior:
    shares = np.linspace(0.2, 0.8, number)
    return made_answer({f"district {at}": [1 - share, share] for at, share in enumerate(shares)}, by=["district"])


def periods(number: int) -> tc.GroupPosterior:
    first = date(2024, 1, 1)
    return made_answer({first + timedelta(weeks=week): [0.5, 0.5] for week in range(number)}, by=["week"])


def test_a_caterpillar_goes_from_the_largest_to_the_smallest():
    answer = models()
    data = groups_data(answer.summary(), in_time=False)
    assert data.names == ("D", "C", "B", "A")
    assert data.mean == pytest.approx(np.sort(answer.mean[:, 1])[::-1])
    assert data.counted[0] == pytest.approx(answer.counted[3, 1])
    assert data.caption[0] == "true share of pass, %"


def test_a_trend_is_in_the_order_of_time_whatever_the_order_of_the_groups():
    shares = {"2024-01-15": [0.5, 0.5], "2024-01-01": [0.4, 0.6], "2024-01-08": [0.3, 0.7]}
    data = groups_data(made_answer(shares).summary(), in_time=True)
    assert data.names == ("2024-01-01", "2024-01-08", "2024-01-15")
    assert (np.diff(data.times).astype(float) > 0).all()


def test_periods_without_items_have_no_mark():
    counts = tc.Groups([[9, 1], [1, 9]], {"2024-01-01": [5, 5], "2024-01-15": [5, 5]}).fill_periods("week")
    answer = made_answer(dict.fromkeys(counts.groups, (0.5, 0.5)), classes=[0, 1], data=counts)
    data = groups_data(answer.summary(), in_time=True)
    assert data.has_items.tolist() == [True, False, True]
    assert "Without a mark: predicted." in data.caption[1]


def test_groups_chooses_the_picture():
    assert len(plots.groups(models()).get_yticklabels()) == 4
    assert plots.groups(weeks()).collections
    assert plots.groups(models()).get_xlabel().startswith("true share of pass")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("number", [1, 2, 12, 72, 315])
def test_any_number_of_groups_can_be_read(number, theme):
    ax = plots.caterpillar(many(number), theme=theme)
    assert list(clashes(ax)) == []
    assert len(ax.get_yticklabels()) == (number if number <= 72 else 8)


@pytest.mark.parametrize("number", [2, 26, 300])
def test_any_number_of_periods_can_be_read(number):
    ax = plots.trend(periods(number))
    assert list(clashes(ax)) == []


def written_dates(*days: str) -> tuple[list[str], str]:
    ax = plots.trend(made_answer(dict.fromkeys(days, (0.5, 0.5)), by=["day"]))
    assert ax.xaxis.get_offset_text().get_text() == ""
    assert list(clashes(ax)) == []
    return [label.get_text() for label in ax.get_xticklabels()], ax.get_xlabel().partition("\n")[0]


def test_few_periods_have_a_tick_each_and_the_year_is_told_once():
    assert written_dates("2026-03-30", "2026-04-06", "2026-04-13") == (
        ["03-30", "04-06", "04-13"],
        "true share of pass in 2026, %",
    )
    assert written_dates("2025-12-29", "2026-01-05") == (["2025-12-29", "2026-01-05"], "true share of pass, %")
    assert written_dates("2026-01-01", "2026-02-01") == (["2026-01", "2026-02"], "true share of pass, %")
    assert written_dates("2025-01-01", "2026-01-01") == (["2025", "2026"], "true share of pass, %")


def test_many_periods_have_ticks_at_some_of_them_and_the_last_is_one():
    ax = plots.trend(periods(52))
    ticks = [label.get_text() for label in ax.get_xticklabels()]
    assert 4 <= len(ticks) <= 12
    assert set(ticks) <= {f"{group:%m-%d}" for group in periods(52).groups}
    assert ticks[-1] == f"{periods(52).groups[-1]:%m-%d}"


def test_days_that_crowd_have_ticks_between_them():
    ticks, _ = written_dates("2026-01-05", "2026-01-06", "2026-01-07", "2026-06-01")
    assert 2 <= len(ticks) <= 12


@pytest.mark.parametrize("number", [2, 12, 72, 315])
def test_ranks_of_any_number_of_groups_can_be_read(number):
    data = ranks_data(many(number))
    assert data.probability.sum(axis=1) == pytest.approx(np.ones(len(data.names)))
    assert len(data.names) == (number if number <= 72 else 40)
    assert list(clashes(plots.ranks(many(number)))) == []


def test_pairs_are_those_of_the_summary():
    answer = models()
    data = pairs_data(answer.summary(questions=tc.Questions(baseline="A")))
    assert data.names == ("B − A", "C − A", "D − A")
    assert data.difference[2] == pytest.approx(100 * answer.difference("D", "A").mean[1])
    assert list(clashes(plots.pairs(answer))) == []
    assert pairs_data(weeks()).names[0] == "2024-01-08 − 2024-01-01"


def test_two_grouping_columns_make_panels_named_by_the_first():
    keys = [(region, age) for region in ("north", "south", "west", "east") for age in ("young", "old")]
    axes = plots.facets(made_answer(dict.fromkeys(keys, (0.4, 0.6)), by=["region", "age"]))
    assert [ax.get_title(loc="left") for ax in axes] == ["north", "south", "west", "east"]
    assert [label.get_text() for label in axes[0].get_yticklabels()] == ["young", "old"]
    assert list(clashes(*axes)) == []


def test_panels_of_weeks_are_trends():
    keys = [(f"2024-01-{day:02d}", region) for day in (1, 8, 15) for region in ("north", "south")]
    axes = plots.facets(made_answer(dict.fromkeys(keys, (0.4, 0.6)), by=["week", "region"]))
    assert [ax.get_title(loc="left") for ax in axes] == ["north", "south"]


def test_thresholds_are_drawn():
    answer = models()
    plain = plots.groups(answer.summary())
    asked = plots.groups(answer.summary(questions=tc.Questions(above={"pass": 0.7})))
    assert len(asked.lines) == len(plain.lines) + 1


def test_pictures_are_drawn_into_given_axes():
    axes = Figure(figsize=(14, 5), layout="constrained").subplots(1, 2)
    assert plots.caterpillar(models(), ax=axes[0]) is axes[0]
    assert plots.ranks(models(), ax=axes[1]) is axes[1]
    assert list(clashes(*axes)) == []


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (lambda: plots.groups(1), "answer is of type int"),
        (lambda: plots.groups(refused()), "answer has not converged: there are no shares to draw"),
        (lambda: plots.trend(models()), "answer has groups without times: a trend goes from time to time"),
        (lambda: plots.facets(models()), "answer has groups by 'model': panels are made of groups by two columns"),
        (lambda: plots.ranks(weeks()), "answer has no ranks of groups"),
        (lambda: plots.pairs(many(12)), "answer has no pairs of groups: nothing was compared"),
        (
            lambda: plots.facets(made_answer({(at, 1): [0.5, 0.5] for at in range(30)}, by=["a", "b"])),
            "answer has 30 values of 'a': at most 24 panels are drawn",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_four_parts(draw, said):
    with pytest.raises(tc.InputError, match=said):
        draw()
