import numpy as np
import pytest

from truecount.diagnostics.findings import mode_findings
from truecount.inference.modes.mode import ModeRecord


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
