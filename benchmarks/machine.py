"""What a benchmark ran on, to print beside its figures."""

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from typing import Any

PACKAGES = ("truecount", "numpy", "scipy", "numpyro", "jax", "scikit-learn", "duckdb", "pandas", "polars", "quapy")


def about() -> dict[str, Any]:
    """Cores, architecture, versions and commit; nothing that names the machine."""
    return {
        "cores": os.cpu_count(),
        "architecture": platform.machine(),
        "python": platform.python_version(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
        "commit": _commit(),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _commit() -> str:
    done = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"
