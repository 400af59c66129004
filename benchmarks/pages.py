"""Put the tables of ``results/`` into the pages of ``docs/`` that show them: those with the same header.

    python benchmarks/pages.py [--check]

With ``--check`` nothing is written: pages with other figures than those measured are named, and the exit code is 1.
"""

import re
import sys
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
DOCS = Path(__file__).parent.parent / "docs"
TABLE = re.compile(r"^\|.*\n\| ?---.*\n(?:\|.*\n)*", re.MULTILINE)


def measured() -> dict[str, list[str]]:
    """Every table of the results by its header; those that share one in the order of their page."""
    tables: dict[str, list[str]] = {}
    for path in sorted(RESULTS.glob("*.md")):
        for table in TABLE.findall(path.read_text(encoding="utf-8")):
            tables.setdefault(table.partition("\n")[0], []).append(table)
    return tables


def brought_up(page: str, tables: dict[str, list[str]]) -> str:
    """The page with the tables that were measured last."""
    left = {header: iter(found) for header, found in tables.items()}
    return TABLE.sub(lambda shown: next(left.get(shown[0].partition("\n")[0], iter(())), shown[0]), page)


def main() -> int:
    tables, stale = measured(), []
    for path in sorted(DOCS.rglob("*.md")):
        page = path.read_text(encoding="utf-8")
        new = brought_up(page, tables)
        if new != page:
            stale.append(path.name)
            if "--check" not in sys.argv:
                path.write_text(new, encoding="utf-8")
    print("\n".join(stale))
    return int(bool(stale) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
