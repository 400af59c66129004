"""Code on the pages runs, codes and commands are explained, and a release is refused where something is missing."""

import ast
import re
import runpy
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest

from frames import Sparks
from truecount.results.finding import CODES

PROJECT = Path(__file__).parent.parent
DOCS = PROJECT / "docs"
CELL = re.compile(
    r"^```(?:\{code-cell\} )?python\n(?:---\n.*?---\n|:[^\n]*\n)*(.*?)^```", flags=re.DOTALL | re.MULTILINE
)
RUNS = "y,human,verdict\n" + "".join(
    f"{i},{'pass' if i % 3 else 'fail'},{'pass' if i % 4 else 'fail'}\n" for i in range(40)
)
CLUSTERED = """
import duckdb
answers = "SELECT CASE WHEN i < 200 THEN i % 3 > 0 END AS human, i % 4 > 0 AS verdict, i // 5 AS question, "
answers += "1.0 + i % 2 AS w, CASE WHEN i % 200 < 100 THEN 'A' ELSE 'B' END AS model FROM range(400) AS made(i)"
duckdb.sql(f"COPY ({answers}) TO 'runs.parquet' (FORMAT parquet)")
"""
GIVEN = {
    "start/five-minutes": "labels, outputs, new_outputs = ['a', 'b'] * 20, ['a', 'b'] * 20, ['a', 'b', 'b'] * 9\n",
    "guides/clusters": CLUSTERED,
}
"""Names and files that a page takes as given."""
ELSEWHERE = {
    "guides/data",
    "guides/groups",
    "guides/scores",
    "guides/designs",
    "guides/recalibration",
    "tutorials/spark",
}
ELSEWHERE |= {"guides/estimators", "guides/logs", "guides/scale", "guides/quapy", "guides/r"}
ELSEWHERE |= {"tutorials/data-frames", "tutorials/mlflow", "tutorials/quapy"}
"""Pages whose code other tests run."""
PAGES = {str(path.relative_to(DOCS).with_suffix("")): path for path in sorted(DOCS.glob("*/*.md"))}


def blocks(page: str) -> list[str]:
    """Return the page's code: cells that the build runs first, then what stands in tabs and beside them."""
    text = PAGES[page].read_text(encoding="utf-8")
    cells = [found[1] for found in CELL.finditer(text) if found[0].startswith("```{code-cell}")]
    return cells + [found[1] for found in CELL.finditer(text) if not found[0].startswith("```{code-cell}")]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)])
def test_code_is_python(page: str) -> None:
    for block in blocks(page):
        ast.parse(block)


def has_more_than_cells(page: str) -> bool:
    return bool(re.search(r"^```python$", PAGES[page].read_text(encoding="utf-8"), flags=re.MULTILINE))


@pytest.mark.parametrize("page", [page for page in PAGES if has_more_than_cells(page) and page not in ELSEWHERE])
def test_code_beside_cells_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the build does not run by itself: blocks of pages without cells, and tabs of pages with them."""
    if "sklearn" in PAGES[page].read_text(encoding="utf-8"):
        pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    Path("runs.csv").write_text(RUNS + "".join(f"{i},,pass\n" for i in range(30)))
    names: dict[str, Any] = {}
    exec(GIVEN.get(page, ""), names)  # noqa: S102
    with mpl.rc_context({"backend": "Agg"}):
        for block in blocks(page):
            exec(compile(block, page, "exec"), names)  # noqa: S102


def test_the_spark_job_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sparks: Sparks) -> None:
    pytest.importorskip("pyspark")
    sparks.session(connect=False)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in blocks("tutorials/spark"):
        placed = re.sub(r"(['\"])log\.parquet", rf"\1{tmp_path.as_posix()}/log.parquet", block)
        with mpl.rc_context({"backend": "Agg"}):
            exec(compile(placed, "spark", "exec"), names)  # noqa: S102
    assert names["on_cluster"].to_json() == names["weeks"].to_json()
    assert (tmp_path / "counts.json").exists()


@pytest.mark.parametrize("code", CODES)
def test_a_finding_has_a_section_of_its_own(code: str) -> None:
    assert f"\n### {code}\n" in PAGES["guides/findings"].read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "result", sorted((PROJECT / "benchmarks" / "results").glob("*.md")), ids=lambda path: path.stem
)
def test_a_table_names_the_script_that_made_it(result: Path) -> None:
    assert (PROJECT / "benchmarks" / f"{result.stem}.py").exists(), "the reference shows the script of the same name"


def test_links_between_pages_lead_somewhere() -> None:
    """Also where the pages are read as they are; one page is written by the build."""
    made = (DOCS / "reference" / "python.md").resolve()
    links = [
        (path, link) for path in PAGES.values() for link in re.findall(r"\]\((?!http)([^)#]+)", path.read_text("utf-8"))
    ]
    missing = [
        (path.name, link)
        for path, link in links
        if not (place := (path.parent / link).resolve()).exists() and place != made
    ]
    assert links
    assert missing == []


READY = {"version": "1.2.0", "changelog": "## 1.2.0 (2026-01-31)\n", "citation": "version: 1.2.0\n", "dirty": ""}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, []),
        ({"changelog": "## 1.2.0 (unreleased)\n"}, ["CHANGELOG"]),
        ({"changelog": "## 1.1.0 (2026-01-31)\n"}, ["CHANGELOG"]),
        ({"citation": "version: 1.1.0\n"}, ["CITATION"]),
        ({"dirty": " M src/x.py"}, ["not committed"]),
    ],
)
def test_a_release_is_refused_where_something_is_missing(change: dict[str, str], said: list[str]) -> None:
    found = runpy.run_path(str(PROJECT / "scripts" / "release.py"))["problems"](**{**READY, **change})
    assert len(found) == len(said)
    assert all(word in each for word, each in zip(said, found, strict=True))


def test_supported_pythons_are_the_same_everywhere() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    stated = [each.rpartition(" ")[2] for each in project["classifiers"] if "Python :: 3." in each]
    release = runpy.run_path(str(PROJECT / "scripts" / "release.py"))["PYTHONS"]
    workflow = (PROJECT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert [f"python{each}" for each in stated] == release
    listed = ", ".join(f'"{each}"' for each in stated)
    assert f"python: [{listed}]" in workflow
    assert project["requires-python"] == f">={stated[0]}"
    oldest, newest = re.findall(r"\| Python \| (\S+) \| (\S+) \|", PAGES["start/install"].read_text("utf-8"))[0]
    assert (oldest, newest) == (stated[0], stated[-1])


def test_the_oldest_dependencies_are_the_lower_bounds() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pinned = dict(
        re.findall(r"^([a-z0-9-]+)==([0-9.]+)$", (PROJECT / "constraints" / "oldest.txt").read_text(), re.MULTILINE)
    )
    for requirement in project["dependencies"]:
        name, bound = requirement.split(">=")
        assert f"{pinned[name]}.".startswith(f"{bound}."), requirement


TYPED = """
import truecount as tc

posterior: tc.Posterior = tc.infer(tc.Counts([[140, 60], [20, 180]], [600, 400]), seed=1)
share: float = float(posterior.mean[0])
answer: tc.GroupPosterior = tc.infer(tc.Groups([[140, 60], [20, 180]], {"A": [6, 4], "B": [5, 5]}))
finding: tc.Finding = posterior.findings[0]
"""


@pytest.mark.slow
@pytest.mark.parametrize(("line", "is_right"), [("", True), ("posterior.interval(level='high')", False)])
def test_a_user_s_types_are_checked(line: str, is_right: bool, tmp_path: Path) -> None:
    """The package says that it is typed (``py.typed``), and a checker believes it."""
    pytest.importorskip("mypy")
    try:
        distribution("truecount")
    except PackageNotFoundError:
        pytest.skip("truecount is not installed, only on the path")
    script = tmp_path / "user.py"
    script.write_text(TYPED + line)
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == is_right, done.stdout
    assert "py.typed" not in done.stdout
