"""Stage 5: whether an answer may be trusted."""

from truecount.diagnostics.calibration import Calibration, calibrate

__all__ = ["Calibration", "calibrate"]
