"""The R code of the pages runs as printed, through reticulate, and reproduces the published examples."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from as_printed import assert_as_printed, blocks
from written_by import lacking

ROOT = Path(__file__).parent
PAGE = (ROOT.parent / "docs" / "guides" / "r.md").read_text(encoding="utf-8")
SURVEYS = json.loads((ROOT / "reference" / "published.json").read_text(encoding="utf-8"))["surveys"]
DRAWS = 4000


def run_r(code: str, folder: Path) -> str:
    if shutil.which("Rscript") is None:
        lacking("R is not installed")
    script = folder / "page.R"
    script.write_text(code, encoding="utf-8")
    paths = os.pathsep.join(filter(None, [str(ROOT.parent / "src"), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "RETICULATE_PYTHON": sys.executable, "PYTHONPATH": paths}
    done = subprocess.run(["Rscript", script], capture_output=True, text=True, env=environment, check=False)
    if "reticulate/config/config.py" in done.stderr:  # which imports imp up to reticulate 1.28
        lacking(f"this reticulate does not read Python {sys.version_info[0]}.{sys.version_info[1]}")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    return run_r("\n".join(re.findall(r"```r\n(.*?)```", PAGE, flags=re.DOTALL)), tmp_path_factory.mktemp("r"))


def test_the_tutorial_prints_what_it_shows(tmp_path: Path) -> None:
    code, shown = zip(*blocks("r", "r"), strict=True)
    printed = run_r("cat('----\\n')\n".join(code), tmp_path).split("----\n")
    for told, found in zip(shown, printed, strict=True):
        assert_as_printed(told, found)


def test_published_surveys_are_reproduced(printed: str) -> None:
    """To the digits printed, up to five standard errors: of a mean, and of a quantile, some three times as large."""
    found = re.findall(r"^(\w.*?) +([0-9.]+) ([0-9.]+) ([0-9.]+) ([0-9.]+)$", printed, flags=re.MULTILINE)
    assert len(found) == 4
    for name, *figures in found:
        told = SURVEYS[name]["integrated"]
        mean, sd, lower, upper = map(float, figures)
        error = 5 * told["sd"] / DRAWS**0.5 + 1e-4
        assert mean == pytest.approx(told["mean"], abs=error)
        assert sd == pytest.approx(told["sd"], abs=error)
        assert lower == pytest.approx(told["2.5 %"], abs=3 * error)
        assert upper == pytest.approx(told["97.5 %"], abs=3 * error)


def test_a_table_of_r_is_counted(printed: str) -> None:
    assert "class  counted  true share  95 % interval" in printed
    assert re.search(r"2\.5% +97\.5%", printed)
