"""The R code of docs/guides/r.md runs as printed, through reticulate, and reproduces the published examples."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from written_by import lacking

ROOT = Path(__file__).parent
PAGE = (ROOT.parent / "docs" / "guides" / "r.md").read_text(encoding="utf-8")
SURVEYS = json.loads((ROOT / "reference" / "published.json").read_text(encoding="utf-8"))["surveys"]
DRAWS = 4000


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    if shutil.which("Rscript") is None:
        lacking("R is not installed")
    script = tmp_path_factory.mktemp("r") / "page.R"
    script.write_text("\n".join(re.findall(r"```r\n(.*?)```", PAGE, flags=re.DOTALL)), encoding="utf-8")
    paths = os.pathsep.join(filter(None, [str(ROOT.parent / "src"), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "RETICULATE_PYTHON": sys.executable, "PYTHONPATH": paths}
    done = subprocess.run(["Rscript", script], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


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
