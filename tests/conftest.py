"""What every test may ask for."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from chromium import chromium
from frames import Sparks

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture
def seed() -> int:
    """A seed: tests that take it promise to pass for any from 0 to 99."""
    return int(os.environ.get("TRUECOUNT_TEST_SEED", "42"))


@pytest.fixture
def real_data() -> Path:
    """The folder of real data, or a reason to skip."""
    folder = os.environ.get("TRUECOUNT_DATA")
    if not folder:
        pytest.skip("TRUECOUNT_DATA is not set")
    return Path(folder)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, for the tests of one file: the loop that drives it must not outlast them."""
    with chromium() as started:
        yield started


@pytest.fixture(scope="session")
def sparks() -> Iterator[Sparks]:
    """Spark, which is started once and only if it is needed."""
    made = Sparks()
    yield made
    made.stop()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Give each worker neighbouring tests, which share what is made for them, and then what another has not begun."""
    if config.getvalue("dist") != "load":
        return None
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """Judge a file of tests that skips for want of an extra."""
    return _judged((yield))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Judge a test that skips for want of an extra."""
    return _judged((yield))


def _judged(report):
    """Fail what wants an extra where all are required; elsewhere note it in a file, if one is named."""
    if report.skipped and "could not import" in str(report.longrepr):
        if os.environ.get("TRUECOUNT_EXTRAS") == "required":
            report.outcome = "failed"
        elif noted := os.environ.get("TRUECOUNT_SKIPPED"):
            with Path(noted).open("a", encoding="utf-8") as stream:
                stream.write(f"{report.nodeid}\n")
    return report
