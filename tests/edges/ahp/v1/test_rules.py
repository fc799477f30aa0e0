"""Each rule of AHP 1.0 in docs/ahp.md has a test, and each test names rules that are there."""

import re
from pathlib import Path

from rules import named_rules

DOCUMENT = (Path(__file__).parents[4] / "docs" / "ahp.md").read_text(encoding="utf-8")
SECTION = DOCUMENT.split("\n## AHP 1.0 and 0.9\n")[1].split("\n## ")[0]
RULES = {f"1.0/{name}" for name in re.findall(r"^\| ([A-Z]\d) \|", SECTION, re.MULTILINE)}

FOLDERS = (Path(__file__).parent, Path(__file__).parents[2])


def test_every_rule_has_a_test() -> None:
    named = {name for folder in FOLDERS for name, _ in named_rules(folder)}
    assert RULES - named == set()


def test_every_test_names_existing_rules() -> None:
    assert {name for name, _ in named_rules(FOLDERS[0])} <= RULES
    assert len(RULES) == 38
