"""Write the page of every public name, ``reference/python.md``, from what the package exports."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

from sphinx.application import Sphinx
from sphinx.config import Config

TOPICS = {
    "counts": "Data: counts and groups",
    "scores": "Data: scores",
    "api": "Verbs",
    "models": "Models and priors",
    "inference": "Engines",
    "results": "Results",
    "planning": "Planning",
    "page": "The page",
    "errors": "Errors",
}
"""Folders that names of the top level live in, in the order of the page; others follow."""
MODULES = {
    "truecount.plots": "Pictures: `truecount.plots`",
    "truecount.estimators": "Point estimators: `truecount.estimators`",
    "truecount.scores": "Partitions of scores: `truecount.scores`",
    "truecount.sklearn": "scikit-learn: `truecount.sklearn`",
    "truecount.simulate": "Simulation: `truecount.simulate`",
    "truecount.counts": "More of counts: `truecount.counts`",
    "truecount.results": "More of results: `truecount.results`",
    "truecount.errors": "Errors and warnings: `truecount.errors`",
}
START = """# Every public name

`import truecount as tc`. Each name leads to its page, which is made from its docstring. Names are grouped by what they
are for; [the glossary](../explanation/glossary.md) has the words.
"""
SECTION = """
## {title}

```{{eval-rst}}
.. autosummary::
   :toctree: api

{names}
```
"""


def public(module: ModuleType) -> list[str]:
    """Return the names that a module exports, or those that it defines."""
    here = [name for name, found in vars(module).items() if getattr(found, "__module__", "") == module.__name__]
    return sorted(getattr(module, "__all__", [name for name in here if not name.startswith("_")]))


def sections() -> list[tuple[str, list[str]]]:
    """Return titles and full names, each object once."""
    package = import_module("truecount")
    homes: dict[str, list[str]] = {folder: [] for folder in TOPICS}
    seen: list[object] = []
    for name, home in sorted(package._HOMES.items()):
        if home:
            homes.setdefault(home.partition(".")[0], []).append(f"truecount.{name}")
            seen.append(getattr(package, name))
    found = [(TOPICS.get(folder, folder), names) for folder, names in homes.items()]
    for path, title in MODULES.items():
        module = import_module(path)
        new = [name for name in public(module) if not any(getattr(module, name) is each for each in seen)]
        seen += [getattr(module, name) for name in new]
        found.append((title, [f"{path}.{name}" for name in new]))
    return [(title, names) for title, names in found if names]


def write(app: Sphinx, config: Config) -> None:
    """Write the page, if it is not as it should be already, and remove pages of names that are gone."""
    found = sections()
    parts = [SECTION.format(title=title, names="\n".join(f"   {each}" for each in names)) for title, names in found]
    page, path = START + "".join(parts), Path(app.srcdir) / "reference" / "python.md"
    listed = {name for _, names in found for name in names}
    for left in (path.parent / "api").glob("truecount.*.rst"):  # of names that were moved or removed since
        if left.stem not in listed:
            left.unlink()
    if not path.exists() or path.read_text(encoding="utf-8") != page:
        path.write_text(page, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the page before Sphinx looks for pages."""
    app.connect("config-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
