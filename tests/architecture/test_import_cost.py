"""`import truecount` loads NumPy and nothing heavier."""

import json
import subprocess
import sys
from importlib import import_module

import pytest

import truecount

LOADED = """
import json, sys
before = set(sys.modules)
{code}
names = {{name.partition(".")[0] for name in set(sys.modules) - before}}
print(json.dumps(sorted(names - set(sys.stdlib_module_names))))
"""


def loaded(code: str) -> set[str]:
    """Packages outside the standard library that a fresh interpreter has loaded after running `code`.

    Cython's run-time modules belong to NumPy, which is compiled with it.
    """
    done = subprocess.run([sys.executable, "-c", LOADED.format(code=code)], capture_output=True, text=True, check=True)
    return {name for name in json.loads(done.stdout) if "cython" not in name}


def test_importing_the_package_loads_nothing_but_itself():
    assert loaded("import truecount") == {"truecount"}


def test_every_public_name_needs_numpy_alone_but_for_the_door_to_scikit_learn():
    """All are loaded into one interpreter: what none of them loads among the others, none loads alone."""
    names = [name for name in truecount.__all__ if name != "sklearn"]
    assert loaded(f"from truecount import {', '.join(names)}") == {"truecount", "numpy"}


def test_an_ordinary_answer_needs_nothing_but_numpy():
    code = "import truecount as tc; tc.infer(tc.Counts([[140, 60], [20, 180]], [600, 400])).interval()"
    assert loaded(code) == {"truecount", "numpy"}


def test_an_ordinary_answer_loads_nothing_of_ours_that_it_does_not_use():
    """What a command need not load, nobody waits for."""
    unused = [
        "estimators",
        "plots",
        "scores.learned",
        "reading.frames",
        "inference.chains.hamiltonian",
        "diagnostics.calibration",
        "diagnostics.evidence",
    ]
    code = "import sys, truecount as tc; tc.infer(tc.Counts([[140, 60], [20, 180]], [600, 400])).findings"
    check = f"assert not {{f'truecount.{{name}}' for name in {unused}}} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", f"{code}\n{check}"], check=True)


def test_what_is_loaded_is_seen():
    assert "scipy" in loaded("import scipy.special")


@pytest.mark.parametrize("name", ["counts", "inference", "models", "results", "scores"])
def test_a_package_that_loads_on_demand_lists_its_names(name):
    """Editors complete from it, and every name listed is there."""
    package = import_module(f"truecount.{name}")
    assert dir(package) == sorted(package.__all__)
    assert all(getattr(package, each).__name__ for each in package.__all__)
    with pytest.raises(AttributeError, match=f"'truecount.{name}' has no attribute 'nothing'"):
        package.nothing  # noqa: B018


def test_the_command_loads_nothing_of_checks_planning_and_pictures_for_an_estimate():
    unused = ["diagnostics.evidence", "diagnostics.label_error", "planning", "plots", "page", "api.trust", "estimators"]
    check = f"assert not {{f'truecount.{{name}}' for name in {unused}}} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", f"import sys, truecount.cli.estimate\n{check}"], check=True)
