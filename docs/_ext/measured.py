"""Fill the page of benchmarks: for every table in ``benchmarks/results/`` what was measured, by which command."""

import ast
import re
from inspect import cleandoc
from pathlib import Path

from sphinx.application import Sphinx

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PAGE, PLACE = "reference/benchmarks", "ALL_TABLES"


def section(result: Path) -> str:
    """Return one section: the script's own words, its command and its tables."""
    script = BENCHMARKS / f"{result.stem}.py"
    words = cleandoc(ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or "") if script.exists() else ""
    if f"python benchmarks/{script.name}" not in words:
        words += f"\n\n    python benchmarks/{script.name}"
    tables = re.sub(r"^(#+ )", r"##\1", result.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return f"## {result.stem.replace('_', ' ').capitalize()}\n\n{words}\n\n{tables}\n"


def fill(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put all sections where the page wants them."""
    if docname == PAGE:
        results = sorted((BENCHMARKS / "results").glob("*.md"))
        source[0] = source[0].replace(PLACE, "\n".join(section(result) for result in results))
        for result in results:
            app.env.note_dependency(str(result))


def setup(app: Sphinx) -> dict[str, bool]:
    """Fill the page when it is read."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
