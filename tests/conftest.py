"""What every test may ask for."""

import os

import pytest


@pytest.fixture
def seed() -> int:
    """A seed: tests that take it promise to pass for any from 0 to 99."""
    return int(os.environ.get("TRUECOUNT_TEST_SEED", "42"))
