"""Prepare a release: check the version and the changelog, build, and try what was built on every Python that is here.

    pip install build twine
    python scripts/release.py            # everything, into dist/
    python scripts/release.py --check    # version, changelog and clean tree only

Nothing is uploaded. The last line says what to run for that.
"""

import re
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).parent.parent
DIST = PROJECT / "dist"
PYTHONS = ["python3.11", "python3.12", "python3.13", "python3.14"]
"""Those that are supported; the ones that are installed are tried."""


def run(*command: str | Path, where: Path = PROJECT) -> str:
    """Run a command; where it fails, say what it printed and stop."""
    done = subprocess.run([str(word) for word in command], cwd=where, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def problems(version: str, changelog: str, citation: str, dirty: str) -> list[str]:
    """Return what stands against releasing this version, in words."""
    found = []
    if not re.search(rf"^## \[?{re.escape(version)}\]?.*\d{{4}}-\d{{2}}-\d{{2}}", changelog, flags=re.MULTILINE):
        found.append(f"CHANGELOG.md has no heading with {version} and a date: rename the heading of what is unreleased")
    said = re.search(r"^version: *[\"']?([^\"'\s]+)", citation, flags=re.MULTILINE)
    if said and said[1] != version:
        found.append(f"CITATION.cff says version {said[1]}, src/truecount/_version.py {version}: write the latter")
    if dirty:
        found.append(f"there are changes that are not committed:\n{dirty}")
    return found


def build() -> None:
    """Make the sdist and the wheel, and let twine check them."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", DIST)
    print(run(sys.executable, "-m", "twine", "check", "--strict", *sorted(DIST.iterdir())).strip())


def is_there(python: str) -> bool:
    """Whether a Python runs; a name on the path may lead to none."""
    if shutil.which(python) is None:
        return False
    return subprocess.run([python, "--version"], capture_output=True, check=False).returncode == 0


def try_on(python: str, made: Path, version: str) -> None:
    """Install what was made into a clean environment and run the command from there."""
    with tempfile.TemporaryDirectory() as folder:
        run(python, "-m", "venv", folder)
        programs = Path(folder) / "bin"
        run(programs / "pip", "install", "--quiet", made)
        asked = "from importlib.metadata import version; import truecount; print(version('truecount'))"
        if run(programs / "python", "-c", asked, where=Path(folder)).strip() != version:
            sys.exit(f"{made.name} on {python} installs another version than {version}")
        run(programs / "truecount", "demo", where=Path(folder))
        print(f"{python}: {made.name} installs and runs")


def main() -> None:
    version = runpy.run_path(str(PROJECT / "src" / "truecount" / "_version.py"))["__version__"]
    texts = [(PROJECT / name).read_text(encoding="utf-8") for name in ("CHANGELOG.md", "CITATION.cff")]
    found = problems(version, *texts, dirty=run("git", "status", "--porcelain"))
    if found:
        sys.exit("\n".join(f"not ready: {each}" for each in found))
    print(f"version {version}: changelog and citation agree, nothing uncommitted")
    if "--check" in sys.argv:
        return
    build()
    for python in filter(is_there, PYTHONS):
        for made in sorted(DIST.iterdir()):
            try_on(python, made, version)
    print(f"Ready. git tag v{version} && git push --tags && python -m twine upload dist/*")


if __name__ == "__main__":
    main()
