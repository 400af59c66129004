"""Run DeepEval, and leave its test run in a folder: `python write_deepeval.py FOLDER`."""

import os
import sys
from importlib.metadata import version

os.chdir(sys.argv[1])
os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "DEEPEVAL_RESULTS_FOLDER": "results"}

from deepeval import evaluate  # noqa: E402
from deepeval.evaluate import AsyncConfig, DisplayConfig, ErrorConfig  # noqa: E402
from deepeval.metrics import BaseMetric  # noqa: E402
from deepeval.test_case import LLMTestCase  # noqa: E402
from items import ITEMS  # noqa: E402


class Correct(BaseMetric):
    """Whether the judge said that the answer is correct; it fails where it said nothing."""

    def __init__(self):
        self.threshold, self.async_mode = 0.5, False

    def measure(self, test_case, *args, **kwargs):
        if test_case.actual_output == "N":
            raise ValueError("no verdict")
        self.score = float(test_case.actual_output == "C")
        self.success = self.score >= self.threshold
        return self.score

    async def a_measure(self, test_case, *args, **kwargs):
        return self.measure(test_case)

    def is_successful(self):
        return self.success

    @property
    def __name__(self):
        return "Correct"


cases = [
    LLMTestCase(
        name=item.name,
        input=item.name,
        actual_output=item.verdict,
        metadata={"human": item.human, "topic": item.topic},
    )
    for item in ITEMS
]
evaluate(
    cases,
    [Correct()],
    display_config=DisplayConfig(print_results=False, show_indicator=False),
    async_config=AsyncConfig(run_async=False),
    error_config=ErrorConfig(ignore_errors=True),
)
print(f"deepeval {version('deepeval')}")
