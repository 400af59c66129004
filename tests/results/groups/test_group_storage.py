"""An answer for groups is saved and read again as it was, and a file that is not sound is refused."""

import json
from dataclasses import fields
from datetime import date

import numpy as np
import pytest

import truecount as tc
from made_groups import made_answer, models, weeks


@pytest.mark.parametrize(
    "answer",
    [
        models(),
        weeks(model=tc.LabelShift(groups=tc.Walk(spread=0.2))),
        made_answer({date(2024, 1, 1): [0.5, 0.5], date(2024, 1, 8): [0.4, 0.6]}),
        made_answer({("north", 1): [0.5, 0.5], ("south", None): [0.4, 0.6]}, by=["region", "age"]),
        models(model=tc.LabelShift(groups=tc.Independent(), confusion=tc.Cut())),
        models(model=tc.LabelShift(groups=tc.Pooled(covariates={"size": {"A": 1, "B": 2, "C": 3, "D": 5}}))),
        models(model=tc.LabelShift(groups=tc.Pooled(covariates=[[1.0], [2.0], [3.0], [5.0]]), confusion=tc.Varying())),
        models(findings=[tc.Finding("few-groups", "info", "Few.", {"groups": 4}, "More.")]),
    ],
)
def test_what_is_saved_is_read_again(answer, tmp_path):
    answer.save(tmp_path / "answer.npz")
    again = tc.GroupPosterior.load(tmp_path / "answer.npz")
    assert again.data == answer.data
    assert again.groups == answer.groups
    assert again.model == answer.model
    assert again.origin == answer.origin
    assert [finding.to_dict() for finding in again.findings] == [finding.to_dict() for finding in answer.findings]
    for field in fields(answer.draws):
        assert np.array_equal(getattr(again.draws, field.name), getattr(answer.draws, field.name))
    assert str(again) == str(answer)


def test_studies_are_kept(tmp_path):
    data = tc.Groups({"x": [[9, 1], [1, 9]], date(2024, 1, 1): [[8, 2], [2, 8]]}, {"A": [10, 20], "B": [5, 5]})
    answer = made_answer({"A": [0.5, 0.5], "B": [0.4, 0.6]}, classes=[0, 1], data=data)
    answer.save(tmp_path / "answer.npz")
    assert tc.GroupPosterior.load(tmp_path / "answer.npz").data.studies == ("x", date(2024, 1, 1))


def broken(path, **changes):
    with np.load(path) as file:
        parts = {name: file[name] for name in file.files}
    about = json.loads(str(parts.pop("about"))) | changes.pop("about", {})
    np.savez(path, about=np.array(json.dumps(about)), **(parts | changes))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"about": {"schema": "truecount.posterior/2"}}, "has the schema 'truecount.posterior/2'"),
        ({"prevalence": np.full((400, 4, 2), 0.7)}, "prevalence hold no shares"),
        ({"prevalence": np.full((400, 3, 2), 0.5)}, "prevalence do not match the counts"),
        ({"confusion": np.full((400, 2, 2), 0.5)}, "confusion do not match the counts"),
        ({"spread": np.full((400, 1), np.nan)}, "spread hold numbers that are not finite"),
        (
            {
                "about": {
                    "draws": {"chains": 7, "iterations": 1, "gradients": 1, "acceptance": 1.0, "common_rows": None}
                }
            },
            "do not match",
        ),
        ({"about": {"groups": {"choice": "Strange", "fields": {}}}}, "is not whole"),
        ({"about": {"keys": ["A"]}}, "is not"),
        ({"about": {"origin": {"seed": 1, "engine": "__import__('os')"}}}, "engine is"),
        ({"about": {"findings": [{"code": 1, "severity": "info", "message": "m"}]}}, "findings hold"),
    ],
)
def test_a_file_that_is_not_sound_is_refused_in_four_parts(changes, said, tmp_path):
    path = tmp_path / "answer.npz"
    models().save(path)
    broken(path, **changes)
    with pytest.raises(tc.InputError, match=said) as caught:
        tc.GroupPosterior.load(path)
    assert caught.value.remedy == "Write the file with GroupPosterior.save()"


def test_what_is_no_file_of_ours_is_refused(tmp_path):
    (tmp_path / "text.npz").write_text("no", encoding="utf-8")
    with pytest.raises(tc.InputError, match="is no saved posterior"):
        tc.GroupPosterior.load(tmp_path / "text.npz")
    with pytest.raises(tc.InputError, match="cannot be read"):
        tc.GroupPosterior.load(tmp_path / "absent.npz")
