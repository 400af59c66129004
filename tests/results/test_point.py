import numpy as np
import pytest

from truecount import Finding, PointEstimate
from truecount.inference.mode import ModeRecord
from truecount.results.point import mode_findings


def estimate(**changes) -> PointEstimate:
    values = {"prevalence": np.array([0.25, 0.75]), "classes": ("fail", "pass"), "findings": (), "provenance": {}}
    return PointEstimate(**{**values, **changes})


def test_it_prints_as_a_table_with_its_findings_below():
    finding = Finding("odd", "caution", "Something is odd.", advice="Look.")
    assert str(estimate(findings=(finding,))).splitlines() == [
        "class    share",
        "fail   25.00 %",
        "pass   75.00 %",
        "caution: Something is odd. Look.",
    ]


def test_names_that_would_break_the_table_are_made_visible():
    lines = str(estimate(classes=("line\nbreak", "漢字"))).splitlines()
    assert lines == ["class          share", "line\\nbreak  25.00 %", "漢字         75.00 %"]


def test_it_cannot_be_changed():
    with pytest.raises(AttributeError):
        estimate().prevalence = None


def record(*, is_converged: bool, is_unique: bool) -> ModeRecord:
    point = np.array([0.5, 0.5]), np.eye(2)
    return ModeRecord(
        prevalence=point[0],
        confusion=point[1],
        iterations=24,
        kkt_residual=0.5,
        is_converged=is_converged,
        is_unique=is_unique,
    )


@pytest.mark.parametrize(
    ("is_converged", "is_unique", "codes"),
    [
        (True, True, []),
        (True, False, ["mode-not-unique"]),
        (False, True, ["not-converged"]),
        (False, False, ["mode-not-unique", "not-converged"]),
    ],
)
def test_findings_of_a_mode(is_converged, is_unique, codes):
    findings = mode_findings(record(is_converged=is_converged, is_unique=is_unique))
    assert [finding.code for finding in findings] == codes
