"""Each rule of docs/reducers.md has a test, and each test names rules that are there."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

DOCUMENT = Path(__file__).parents[3] / "docs" / "reducers.md"
RULES = set(re.findall(r"^\| ([GHRST]\d+) \|", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE))
MATRIX = "test_session_matrix.py"  # proves no rule by itself: one test of it names all of them


def named_rules() -> Iterator[tuple[str, str]]:
    """Yield each rule that a test of this folder names literally, with the name of the test's file."""
    for file in sorted(Path(__file__).parent.glob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for decorator in node.decorator_list:
                    if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "rule":
                        literals = (arg for arg in decorator.args if isinstance(arg, ast.Constant))
                        yield from ((str(arg.value), file.name) for arg in literals)


def test_every_rule_has_a_test() -> None:
    proved = {rule_id for rule_id, file in named_rules() if file != MATRIX or rule_id.startswith("G")}
    assert sorted(RULES - proved) == []


def test_every_test_names_known_rules() -> None:
    assert sorted({rule_id for rule_id, _ in named_rules()} - RULES) == []


def test_the_document_has_all_rules() -> None:
    counted = {letter: sum(rule_id[0] == letter for rule_id in RULES) for letter in "GHRST"}
    assert counted == {"G": 7, "H": 11, "R": 4, "S": 39, "T": 11}
