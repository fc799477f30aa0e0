"""The imports of the package, read from its source: every one counts, wherever it stands."""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import agenthost

PACKAGE = Path(agenthost.__file__).parent

VERSION = "agenthost.__version__"
"""Counts as a module: importing it needs nothing else of the package."""


def name_of(path: Path) -> str:
    """Return the dotted name of a module."""
    names = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(names[:-1] if names[-1] == "__init__" else names)


FILES = sorted(PACKAGE.rglob("*.py"))
MODULES = {name_of(path): path for path in FILES}
PACKAGES = [name for name, path in MODULES.items() if path.name == "__init__.py"]


@cache
def tree(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(), str(path))


def imports(path: Path) -> set[str]:
    """Return the dotted names that a file imports, anywhere in it; of ours, the modules."""
    found = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            found |= {_module(str(node.module), alias.name) for alias in node.names}
    return found


def _module(module: str, name: str) -> str:
    whole = f"{module}.{name}"
    return whole if whole in MODULES or whole == VERSION else module


def loads(path: Path) -> list[str | None]:
    """Return what a file imports by a name that is a value: `None` where only running it can tell."""
    found: list[str | None] = []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call):
            at = [place for place, one in enumerate((node.func, *node.args)) if _is_import(one)]
            if at and at[0] < len(node.args):
                named = node.args[at[0]]
                found.append(str(named.value) if isinstance(named, ast.Constant) else None)
    return found


def _is_import(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name in ("import_module", "__import__")


@cache
def graph() -> Mapping[str, set[str]]:
    """Return the modules of ours that each module imports."""
    return {
        name: {one for one in imports(path) if one.partition(".")[0] == "agenthost"} - {name}
        for name, path in MODULES.items()
    }


def between_children(package: str) -> dict[str, set[str]]:
    """Return which children of a package import which: packages and modules, and `__init__`."""
    found: dict[str, set[str]] = {}
    for name, imported in graph().items():
        for child in _child(package, name):
            reached = {other for one in imported for other in _child(package, one)}
            found[child] = found.get(child, set()) | reached - {child}
    return found


def _child(package: str, name: str) -> Iterator[str]:
    if name == package:
        yield "__init__"
    elif name.startswith(f"{package}."):
        yield name.removeprefix(f"{package}.").partition(".")[0]


def find_cycle(imported: Mapping[str, set[str]]) -> list[str]:
    """Return modules that import each other in a circle, if any do."""
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []
