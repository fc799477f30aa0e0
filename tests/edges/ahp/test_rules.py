"""Each rule of docs/ahp.md that binds a host has a test, and each test here names rules that are there."""

import ast
import re
from pathlib import Path

DOCUMENT = (Path(__file__).parents[3] / "docs" / "ahp.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| (HR-[A-Z]\d\d) \| (.*) \|$", DOCUMENT, re.MULTILINE))
NOT_DONE = {"HR-P04"}
"""What a host may leave, and this one does."""


def marked() -> list[tuple[str, set[str]]]:
    """List the tests of this folder, each with the rules that it names."""
    found = []
    for file in sorted(Path(__file__).parent.glob("test_*.py")):
        if file == Path(__file__):
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                marks = [one for one in node.decorator_list if isinstance(one, ast.Call)]
                rules = [one for one in marks if ast.unparse(one.func) == "rule"]
                names = {str(arg.value) for one in rules for arg in one.args if isinstance(arg, ast.Constant)}
                found.append((f"{file.name}: {node.name}", names))
    return found


def test_every_rule_has_a_test() -> None:
    proved = set().union(*(names for _, names in marked()))
    assert sorted(ROWS.keys() - proved - NOT_DONE) == []
    assert all("*free*" in ROWS[name] for name in NOT_DONE)


def test_every_test_names_existing_rules() -> None:
    assert [name for name, rules in marked() if not rules or rules - ROWS.keys()] == []


def test_the_document_has_all_rules() -> None:
    assert len(ROWS) == 95
