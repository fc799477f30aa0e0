"""The mark that ties a test to the rules it proves; `test_rules.py` beside those tests keeps the list."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

DOCUMENT = Path(__file__).parents[1] / "docs" / "reducers.md"


def rule(*ids: str) -> pytest.MarkDecorator:
    """Say which rules the test below proves."""
    return pytest.mark.rule(*ids)


def reducer_rules(version: str) -> dict[str, str]:
    """Return the rows of the reducers' rules under the heading of this version, by their ids."""
    section = DOCUMENT.read_text("utf-8").split(f"\n## AHP {version}\n")[1].split("\n## ")[0]
    return dict(re.findall(r"^\| ([A-Z]+\d+) \| (.*) \|$", section, re.MULTILINE))


def named_rules(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield each rule that a test of this folder names literally, with the name of the test's file."""
    for file in sorted(folder.glob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                for decorator in node.decorator_list:
                    if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "rule":
                        literals = (arg for arg in decorator.args if isinstance(arg, ast.Constant))
                        yield from ((str(arg.value), file.name) for arg in literals)
