"""Data flows one way: the stages import only what comes before them, and the source keeps the rules of the house."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

import truecount

ROOT = Path(truecount.__file__).parent
STAGES = [
    {"reading", "examples"},
    {"counts"},
    {"scores"},
    {"models"},
    {"simulate"},
    {"estimators", "inference"},
    {"planning"},
    {"results"},
    {"diagnostics"},
    {"api"},
    {"plots"},
    {"page"},
    {"accessor"},
    {"sklearn", "quapy", "mlflow", "pandas", "polars", "cli", "app", "__main__"},
]
"""In reading order; `errors` and the modules with an underscore come before all of them."""
LONGEST_FILE, LONGEST_FUNCTION = 500, 60


@dataclass(frozen=True)
class Module:
    """One file of the package."""

    path: Path

    @property
    def name(self) -> str:
        parts = self.path.relative_to(ROOT.parent).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.path.read_text(encoding="utf-8"))


MODULES = {module.name: module for module in map(Module, sorted(ROOT.rglob("*.py")))}
NAMES = sorted(MODULES)


def stage(name: str) -> int:
    """Where a module stands; the package itself, which imports lazily, stands outside."""
    room = name.split(".")[1]
    if room == "errors" or (room.startswith("_") and room != "__main__"):
        return -1
    return next(number for number, rooms in enumerate(STAGES) if room in rooms)


def imports(module: Module, *, within_functions: bool) -> Iterator[str]:
    """Modules of ours that this one imports; what only types need is left out."""
    pending: list[ast.AST] = [module.tree]
    while pending:
        node = pending.pop()
        is_skipped = isinstance(node, ast.FunctionDef) and not within_functions
        if is_skipped or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
            continue
        pending += ast.iter_child_nodes(node)
        if isinstance(node, ast.ImportFrom):
            yield from filter(None, (home(f"{node.module}.{alias.name}") for alias in node.names))
        elif isinstance(node, ast.Import):
            yield from filter(None, (home(alias.name) for alias in node.names))


def home(target: str) -> str:
    """The module of ours that a dotted name leads to, or nothing."""
    while target and target not in MODULES:
        target = target.rpartition(".")[0]
    return "" if target == "truecount" else target


ARCHITECTURE = ROOT.parents[1] / "ARCHITECTURE.md"


@pytest.mark.skipif(not ARCHITECTURE.is_file(), reason="the documentation is not installed")
def test_the_architecture_names_every_stage_and_only_files_that_are_there():
    text = ARCHITECTURE.read_text(encoding="utf-8")
    rooms = set.union(*STAGES) - {"__main__"}
    assert {room for room in rooms if not any(f"`{room}{end}" in text for end in "/`")} == set()
    folders = (ROOT, ROOT.parents[1] / "tests", ROOT.parents[1] / "scripts")
    there = {path.name for folder in folders for path in folder.rglob("*.py")}
    assert {name for name in re.findall(r"\b\w+\.py\b", text) if name not in there} == set()


def test_every_module_has_a_stage():
    rooms = {name.split(".")[1] for name in NAMES if "." in name}
    known = set.union(*STAGES) | {"errors"}
    assert {room for room in rooms if room not in known and not room.startswith("_")} == set()


@pytest.mark.parametrize("name", [name for name in NAMES if "." in name])
def test_imports_come_from_the_same_stage_or_an_earlier_one(name):
    late = [target for target in imports(MODULES[name], within_functions=True) if stage(target) > stage(name)]
    assert late == []


def test_an_import_is_seen_wherever_it_stands_unless_only_types_need_it(tmp_path):
    lines = [
        "from truecount.api import infer",
        "if TYPE_CHECKING:",
        "    from truecount.results import Posterior",
        "def load():",
        "    import truecount.cli",
    ]
    (tmp_path / "odd.py").write_text("\n".join(lines), encoding="utf-8")
    odd = Module(tmp_path / "odd.py")
    assert set(imports(odd, within_functions=True)) == {"truecount.api", "truecount.cli"}
    assert set(imports(odd, within_functions=False)) == {"truecount.api"}
    assert stage("truecount.errors") < stage("truecount.counts.table") < stage("truecount.api") < stage("truecount.cli")


def test_no_module_imports_itself_by_way_of_others():
    """A folder's `__init__` gathers what is in it, so the folder counts as imported by those outside alone."""
    graph = {
        name: {
            target
            for target in imports(module, within_functions=False)
            if target != name and not name.startswith(target + ".")
        }
        for name, module in MODULES.items()
    }
    while graph:
        ready = {name for name, targets in graph.items() if not targets & graph.keys()}
        assert ready, f"these import each other: {sorted(graph)}"
        graph = {name: targets for name, targets in graph.items() if name not in ready}


@pytest.mark.parametrize("name", NAMES)
def test_a_file_holds_one_idea(name):
    assert len(MODULES[name].path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE


@pytest.mark.parametrize("name", NAMES)
def test_no_print_no_assert_and_no_broad_except(name):
    assert list(offences(MODULES[name].tree)) == []


def offences(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Assert():
                yield f"assert in line {node.lineno}"
            case ast.Call(func=ast.Name(id="print")):
                yield f"print in line {node.lineno}"
            case ast.ExceptHandler(type=None) | ast.ExceptHandler(type=ast.Name(id="Exception" | "BaseException")):
                yield f"broad except in line {node.lineno}"


@pytest.mark.parametrize("name", NAMES)
def test_what_is_said_of_a_run_is_read_by_attribute(name):
    assert list(reads_by_key(MODULES[name].tree)) == []


def reads_by_key(tree: ast.AST) -> Iterator[int]:
    """Lines that take something out of a provenance or a record by its key."""
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=ast.Attribute(attr="provenance" | "record")):
                yield node.lineno
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="provenance" | "record"), attr="get")):
                yield node.lineno


@pytest.mark.parametrize("line", ["x.provenance['seed']", "y = x.record.get('joint', 1)"])
def test_a_read_by_key_is_seen(line):
    assert list(reads_by_key(ast.parse(line))) == [1]


@pytest.mark.parametrize("line", ["assert x", "print(x)", "try: x\nexcept: y", "try: x\nexcept Exception: y"])
def test_each_offence_is_seen(line):
    assert len(list(offences(ast.parse(line)))) == 1


@pytest.mark.parametrize("name", NAMES)
def test_functions_are_short_and_public_ones_are_documented_and_typed(name):
    for node in ast.walk(MODULES[name].tree):
        if isinstance(node, ast.FunctionDef):
            assert body_lines(node) <= LONGEST_FUNCTION, node.name
            is_signature = any(ast.unparse(each) == "overload" for each in node.decorator_list)
            if not node.name.startswith("_") and not is_signature:
                assert ast.get_docstring(node) or is_nested(node, MODULES[name].tree), node.name
                assert node.returns is not None, node.name


def body_lines(node: ast.FunctionDef) -> int:
    body = node.body[1:] if ast.get_docstring(node) else node.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def is_nested(node: ast.FunctionDef, tree: ast.Module) -> bool:
    functions = [outer for outer in ast.walk(tree) if isinstance(outer, ast.FunctionDef) and outer is not node]
    return any(node in ast.walk(outer) for outer in functions)
