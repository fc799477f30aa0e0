"""The layers of docs/architecture.md, held by reading the imports."""

import ast
from itertools import permutations
from pathlib import Path

import pytest

import agenthost

PACKAGE = Path(agenthost.__file__).parent

# Which parts of the package each part may import, beside itself.
LAYERS: dict[str, set[str]] = {
    "__init__": {"errors", "host", "agents"},
    "__main__": {"cli"},
    "errors": set(),
    "commands": set(),
    "whereabouts": set(),
    "wire": {"errors"},
    "core": {"errors", "wire"},
    "host": {"errors", "wire", "core", "logs"},
    "tools": {"__init__", "errors", "commands", "wire", "core", "host", "logs"},
    "agents": {"__init__", "errors", "commands", "wire", "core", "host", "tools", "logs"},
    "settings": {"host", "whereabouts"},
    "logs": set(),
    "edges": {"__init__", "errors", "commands", "wire", "core", "host", "settings", "logs", "whereabouts"},
    "client": {"errors", "wire", "core", "whereabouts"},
    "cli": {
        "__init__",
        "errors",
        "commands",
        "wire",
        "core",
        "host",
        "tools",
        "agents",
        "edges",
        "client",
        "settings",
        "logs",
    },
}

# What only some parts may know of the outside.
OUTSIDE: dict[str, set[str]] = {
    "wire": {"msgspec"},
    "core": {"msgspec"},
}


def part_of(module: str) -> str:
    """Name the part that a dotted module name of ours belongs to."""
    return module.split(".")[1] if "." in module else "__init__"


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= names if node.module == "agenthost" else {str(node.module)}
    return found


FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path: Path) -> None:
    part = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    ours = {name for name in imports_of(path) if name.split(".")[0] == "agenthost"}
    public = {f"agenthost.{name}" for name in agenthost.__all__}
    reached = {"__init__" if name in public else part_of(name) for name in ours} - {part}
    assert reached <= LAYERS[part]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_wire_and_core_know_nothing_of_clocks_chance_files_or_sockets(path: Path) -> None:
    part = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if part not in OUTSIDE:
        return
    pure = {
        "ast",
        "collections",
        "copy",
        "dataclasses",
        "difflib",
        "enum",
        "functools",
        "inspect",
        "itertools",
        "math",
    }
    pure |= {"operator", "re", "types", "typing", "codecs", "base64", "binascii", "agenthost"}
    assert {name.split(".")[0] for name in imports_of(path)} <= pure | OUTSIDE[part]


def test_the_edges_never_import_each_other() -> None:
    for edge, other in permutations(("aap", "ahp", "page"), 2):
        for path in (PACKAGE / "edges" / edge).rglob("*.py"):
            assert not {name for name in imports_of(path) if name.startswith(f"agenthost.edges.{other}")}
