import numpy as np
import pytest

from truecount import Finding, PointEstimate


def estimate(**changes) -> PointEstimate:
    values = {"prevalence": np.array([0.25, 0.75]), "classes": ("fail", "pass"), "findings": (), "provenance": {}}
    return PointEstimate(**{**values, **changes})


def test_it_prints_as_a_table_with_its_findings_below():
    finding = Finding("odd", "caution", "Something is odd.", advice="Look.")
    assert str(estimate(findings=(finding,))).splitlines() == [
        "class    share",
        "fail   25.00 %",
        "pass   75.00 %",
        "caution: Something is odd. Look. (docs: findings#odd)",
    ]


def test_names_that_would_break_the_table_are_made_visible():
    lines = str(estimate(classes=("line\nbreak", "漢字"))).splitlines()
    assert lines == ["class          share", "line\\nbreak  25.00 %", "漢字         75.00 %"]


def test_it_cannot_be_changed():
    with pytest.raises(AttributeError):
        estimate().prevalence = None


def test_notebooks_show_the_shares() -> None:
    point = PointEstimate(prevalence=np.array([0.25, 0.75]), classes=("<b>", "pass"), findings=(), provenance={})
    assert ">25.00 %<" in point._repr_html_()
    assert "<b>" not in point._repr_html_()
