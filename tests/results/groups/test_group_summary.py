"""The numbers of many groups are those of their joint draws, and tables, JSON and frames show them."""

import json
import pickle

import numpy as np
import pytest

import truecount as tc
from made_groups import made_answer, models, refused, weeks
from truecount.results.groups.contrast import ranks_of
from truecount.results.groups.export import rows_of, to_dict
from truecount.results.groups.table import group_tables, group_text, shares_table


def test_numbers_are_those_of_the_draws():
    answer = models()
    found = answer.summary(0.9)
    assert found.mean == pytest.approx(answer.prevalence.mean(axis=0))
    assert found.interval == pytest.approx(np.moveaxis(np.quantile(answer.prevalence, [0.05, 0.95], axis=0), 0, -1))
    between = answer.prevalence.std(axis=1)
    assert found.spread[:, 0] == pytest.approx(between.mean(axis=0))
    weights = answer.data.unlabeled.sum(axis=1)
    assert found.total[:, 0] == pytest.approx((found.mean * weights[:, None]).sum(axis=0) / weights.sum())


def test_counted_shares_are_of_all_items_where_the_classifier_abstains():
    answer = models()
    found = answer.summary()
    wanted = answer.data.unlabeled[:, :2] / answer.data.unlabeled.sum(axis=1, keepdims=True)
    assert found.counted == pytest.approx(wanted)
    assert list(found.uncounted) == ["unsure"]
    assert "have an output that is no class (unsure)" in group_text(found)


def test_pairs_are_differences_and_ratios_draw_by_draw():
    answer = models()
    pair = answer.summary(questions=tc.Questions(pairs=(("D", "A"),))).pairs[0]
    first, second = answer.shares("D"), answer.shares("A")
    assert pair.difference == pytest.approx((first - second).mean(axis=0))
    assert pair.ratio == pytest.approx(np.median(first / second, axis=0))
    assert pair.larger == pytest.approx((first > second).mean(axis=0))


def test_few_groups_are_compared_pair_by_pair_and_many_only_on_request():
    assert len(models().summary().pairs) == 6
    many = made_answer({f"g{at}": [0.5, 0.5] for at in range(8)})
    assert many.summary().pairs == ()
    assert len(many.summary(questions=tc.Questions(pairs="all")).pairs) == 28
    based = many.summary(questions=tc.Questions(baseline="g3")).pairs
    assert [pair.second for pair in based] == ["g3"] * 7


def test_more_pairs_than_anyone_reads_are_refused_in_four_parts():
    many = made_answer({at: [0.5, 0.5] for at in range(330)})
    with pytest.raises(tc.InputError, match=r"pairs are 54,285 of 330 groups: at most .* Compare all groups with a b"):
        many.summary(questions=tc.Questions(pairs="all"))


def test_of_two_classes_one_is_shown_and_of_more_the_one_that_differs_most():
    assert models().summary().of == "pass"
    assert "fail" not in group_text(models().summary()).partition("\n")[2].replace("failed", "")
    three = made_answer({"A": [0.2, 0.5, 0.3], "B": [0.2, 0.1, 0.7], "C": [0.2, 0.3, 0.5]}, classes=["a", "b", "c"])
    assert three.summary().of == "b"
    shown = group_text(three.summary())
    assert [line.split()[1] for line in shown.splitlines()[2:5]] == ["a", "b", "c"]
    assert three.summary(questions=tc.Questions(of="c")).of == "c"


def test_ranks_are_those_of_joint_draws():
    answer = models()
    found = answer.summary().ranks
    best = answer.prevalence[:, :, 1].argmax(axis=1)
    assert found.largest == pytest.approx(np.bincount(best, minlength=4) / len(best))
    assert found.probability.sum(axis=1) == pytest.approx(np.ones(4))


def test_changes_are_told_only_where_groups_have_an_order_in_time():
    assert models().summary().changes == ()
    found = weeks().summary()
    assert [(pair.first, pair.second) for pair in found.changes][:2] == [
        ("2024-01-08", "2024-01-01"),
        ("2024-01-15", "2024-01-08"),
    ]
    assert {pair.second for pair in found.since} == {"2024-01-01"}
    based = weeks().summary(questions=tc.Questions(baseline="2024-01-15"))
    assert {pair.second for pair in based.since} == {"2024-01-15"}
    assert found.ranks is None


def test_changes_go_on_within_each_region():
    keys = [(region, f"2024-01-{day:02d}") for region in ("north", "south") for day in (1, 8)]
    found = made_answer({key: [0.5, 0.5] for key in keys}, by=["region", "week"]).summary()
    assert [(pair.first, pair.second) for pair in found.changes] == [(keys[1], keys[0]), (keys[3], keys[2])]


def test_claims_have_a_probability_in_every_group_and_raise_an_alert_where_they_do_not_hold():
    answer = models()
    found = answer.summary(questions=tc.Questions(above={"pass": 0.7}, below={"fail": 0.45}))
    assert found.claims[0].probability == pytest.approx((answer.prevalence[:, :, 1] > 0.7).mean(axis=0))
    assert found.claims[1].probability == pytest.approx((answer.prevalence[:, :, 0] < 0.45).mean(axis=0))
    assert {(alert.kind, alert.group) for alert in found.alerts} >= {("not-above", "A")}
    assert "P(above 70.0 %)" in group_text(found)
    assert "Alert: In A the share of pass does not lie above 70.0 %" in group_text(found)


@pytest.mark.parametrize(
    ("questions", "said"),
    [
        (tc.Questions(of="pss"), r"of is 'pss': the classes are 'fail', 'pass'\. Perhaps you meant 'pass'"),
        (tc.Questions(baseline="E"), r"group is 'E': the groups are .*\. Name one of them"),
        (tc.Questions(pairs=(("A", "A"),)), r"pairs compare a group with itself: .* Name two"),
        (tc.Questions(above={"pass": 80}), r"above is 80: a share lies between 0 and 1\. Write 0\.8"),
        (tc.Questions(below={"none": 0.5}), r"below names 'none': the classes are"),
    ],
)
def test_questions_about_what_is_not_there_are_refused_in_four_parts(questions, said):
    with pytest.raises(tc.InputError, match=said):
        models().summary(questions=questions)


def test_json_is_strict_and_has_every_group_and_class():
    answer = models()
    values = json.loads(json.dumps(to_dict(answer.summary(), answer.data), allow_nan=False))
    assert values["schema"] == "truecount.estimates/2"
    assert [group["group"] for group in values["groups"]] == [["A"], ["B"], ["C"], ["D"]]
    assert values["groups"][3]["classes"][1]["probability_largest"] > 0.99
    assert values["groups"][3]["classes"][0]["rank"] is None
    assert values["class_of_interest"] == "pass"
    assert len(values["comparisons"]) == 12
    assert tc.Groups.from_dict(values["counts"]) == answer.data


def test_an_empty_group_has_no_counted_share_and_null_in_json():
    data = tc.Groups([[9, 1], [1, 9]], {"A": [10, 20], "B": [0, 0]})
    answer = made_answer({"A": [0.5, 0.5], "B": [0.5, 0.5]}, classes=[0, 1], data=data)
    row = to_dict(answer.summary(), data)["groups"][1]["classes"][0]
    assert row["counted"] is None
    assert row["mean"] == pytest.approx(0.5, abs=0.1)


def test_a_frame_has_a_row_for_each_group_and_class():
    frame = pytest.importorskip("pandas") and models().to_frame(backend="pandas")
    assert list(frame["model"]) == ["A", "A", "B", "B", "C", "C", "D", "D"]
    assert frame["mean"].to_numpy() == pytest.approx(models().summary().mean.ravel())


def test_a_frame_of_one_answer_has_a_row_for_each_class():
    pytest.importorskip("pandas")
    posterior = tc.infer(tc.Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"]))
    frame = posterior.to_frame(backend="pandas")
    assert list(frame["class"]) == ["fail", "pass"]
    assert frame["corrected"].all()
    assert frame["mean"].to_numpy() == pytest.approx(posterior.mean)


def test_rows_say_that_they_group_where_a_column_is_called_like_one_of_the_answer():
    answer = made_answer({"a": [0.5, 0.5], "b": [0.4, 0.6]}, by=["mean"])
    assert [row["group_mean"] for row in rows_of(answer.summary(), ["pass"])] == ["a", "b"]


def test_a_summary_is_pickled_without_draws():
    answer = models()
    kept = pickle.loads(pickle.dumps(answer.summary()))  # noqa: S301 - our own
    assert kept.mean == pytest.approx(answer.mean)
    assert len(pickle.dumps(answer.summary())) < len(pickle.dumps(answer)) / 5


def test_very_many_groups_are_summarised_in_the_table():
    many = made_answer({f"g{at:03d}": [1 - at / 400, at / 400] for at in range(1, 320)})
    shown = group_text(many.summary())
    assert "… 279 more groups" in shown
    assert shown.splitlines()[2].startswith("g319")
    assert len(shown.splitlines()) < 60


def test_groups_stand_by_size_where_asked():
    first = group_tables(models().summary(), by_size=True)[0]
    assert [row[0] for row in first.rows] == ["D", "C", "B", "A"]


def test_a_refused_answer_shows_no_numbers():
    wrong = refused()
    assert wrong.status == "no-answer"
    shown = group_text(wrong.summary())
    assert "No answer" in shown
    assert "95.0" not in shown
    values = to_dict(wrong.summary(), wrong.data)
    assert values["groups"][0]["classes"][0]["mean"] is None
    assert values["comparisons"] == []


def test_names_that_hold_control_signs_do_not_break_lines():
    shown = group_text(made_answer({"a\nb": [0.5, 0.5], "c": [0.4, 0.6]}).summary())
    assert "a\\nb" in shown


THREE = {"a": [0.7, 0.2, 0.1], "b": [0.2, 0.5, 0.3], "c": [0.3, 0.3, 0.4]}


def test_a_claim_stands_in_the_row_of_its_class():
    answer = made_answer(THREE, classes=("x", "y", "z"))
    asked = tc.Questions(of="x", above={"x": 0.5, "y": 0.5})
    found = answer.summary(questions=asked)
    everything, of_one = (shares_table(found, every_class=every, by_size=False) for every in (True, False))
    column = everything.header.index("P(above 50.0 %)")
    cells = {(row[0], row[1]): row[column] for row in everything.rows}
    assert (cells["a", "x"], cells["a", "z"]) == ("> 0.999", "")
    assert cells["a", "y"] == "< 0.001"
    assert {"P(above 50.0 %)", "P(y above 50.0 %)"} <= set(of_one.header)


def test_without_items_all_groups_weigh_alike():
    data = tc.Groups([[90, 10], [20, 80]], {"a": [0, 0], "b": [0, 0]}, ("fail", "pass"))
    answer = made_answer({"a": [0.5, 0.5], "b": [0.1, 0.9]}, data=data)
    assert answer.summary().total[:, 0] == pytest.approx(answer.mean.mean(axis=0))
    assert answer.total().mean == pytest.approx(answer.mean.mean(axis=0))


def test_equal_shares_have_no_first_place():
    ranks = ranks_of(("a", "b"), np.full((4000, 2), 0.5), seed=1)
    assert ranks.best["a"] == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(4000))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"pairs": "al"}, "pairs is 'al'"),
        ({"pairs": [("A", "B", "C")]}, "pairs of groups"),
        ({"pairs": "all", "baseline": "A"}, "beside a baseline"),
    ],
)
def test_questions_that_mean_nothing_are_refused(asked, words):
    with pytest.raises(tc.InputError, match=words):
        tc.Questions(**asked)


def test_pairs_may_be_a_list():
    assert [pair.first for pair in models().summary(questions=tc.Questions(pairs=[["D", "A"]])).pairs] == ["D"]


def test_a_ratio_is_compared_with_one_and_a_total_with_nothing():
    answer = models()
    assert "above 1 with probability" in repr(answer.ratio("D", "A"))
    assert "+" not in repr(answer.ratio("D", "A"))
    assert "above" not in repr(answer.total())


def test_ratios_with_zero_are_infinite_and_not_undefined():
    answer = made_answer({"a": [1.0, 0.0], "b": [0.9, 0.1]}, items=20)
    pair = answer.summary(target="realized", questions=tc.Questions(pairs=(("b", "a"),))).pairs[0]
    assert not np.isnan(pair.ratio_interval).any()


def test_several_series_are_not_told_as_one():
    keys = [(region, f"2024-0{month}-01") for region in ("north", "south") for month in (1, 2, 3)]
    data = tc.Groups(
        [[90, 10], [20, 80]],
        {key: [80, 20] if key[0] == "north" else [20, 80] for key in keys},
        ("fail", "pass"),
        by=("region", "month"),
        times=np.array([key[1] for key in keys], dtype="datetime64[D]"),
    )
    answer = made_answer({key: [0.8, 0.2] if key[0] == "north" else [0.2, 0.8] for key in keys}, data=data)
    found = answer.summary()
    assert found.in_time
    assert not found.is_one_series
    first = group_text(found).splitlines()[0]
    assert first.index("north") < first.index("south")


def test_a_summary_is_made_once_and_again_where_something_else_is_asked():
    answer = models()
    assert answer.summary() is answer.summary(0.95)
    assert answer.summary(0.9).level == 0.9
    assert answer.summary(questions=tc.Questions(of="fail")).of == "fail"
    assert answer.summary().of == "pass"
