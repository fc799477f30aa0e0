"""Each rule of docs/aap.md has a test here, and each test of this folder names rules that are there."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

DOCUMENT = Path(__file__).parents[3] / "docs" / "aap.md"
RULES = re.findall(r"^\| ([A-Z]\d+) \|", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)


def found_tests() -> Iterator[tuple[str, list[str]]]:
    """Yield each test of this folder, with the rules that it names."""
    for file in sorted(Path(__file__).parent.glob("test_*.py")):
        if file != Path(__file__):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                    yield (
                        node.name,
                        [
                            ast.literal_eval(argument)
                            for decorator in node.decorator_list
                            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "rule"
                            for argument in decorator.args
                        ],
                    )


def test_every_rule_has_a_test() -> None:
    assert sorted(set(RULES) - {rule_id for _, ids in found_tests() for rule_id in ids}) == []


def test_every_test_names_rules_and_only_known_ones() -> None:
    assert [name for name, ids in found_tests() if not ids] == []
    assert sorted({rule_id for _, ids in found_tests() for rule_id in ids} - set(RULES)) == []


def test_a_rule_has_one_id() -> None:
    assert len(RULES) == len(set(RULES)) > 60
