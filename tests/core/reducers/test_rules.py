"""Each rule of AHP 1.0 in docs/reducers.md has a test and a place in the code; tests name no others."""

import re
from collections import Counter
from importlib import import_module
from pathlib import Path

from agenthost.cli.reduce import CURRENT
from agenthost.core.reducers import REDUCERS
from agenthost.wire.annotations import tag_values, union_members
from rules import named_rules, reducer_rules

FOLDER = Path(__file__).parent
RULES = reducer_rules("1.0")
MARKS = {f"1.0/{rule_id}" for rule_id in RULES}


def test_every_rule_has_a_test() -> None:
    assert sorted(MARKS - {mark for mark, _ in named_rules(FOLDER)}) == []


def test_every_test_names_known_rules() -> None:
    assert sorted({mark for mark, _ in named_rules(FOLDER)} - MARKS) == []


def test_the_document_has_all_rules() -> None:
    counted = Counter(rule_id.rstrip("0123456789") for rule_id in RULES)
    big = {"G": 6, "H": 8, "R": 4, "S": 27, "C": 20, "T": 8, "TM": 11}
    assert counted == {**big, "CS": 8, "AN": 5, "RW": 1, "AU": 3, "AR": 5, "CV": 1}


def test_every_rule_stands_where_the_document_says() -> None:
    for rule_id, row in RULES.items():
        if rule_id[0] != "G":
            module, _, name = row.rpartition("| ")[2].strip("`").partition(".")
            assert hasattr(import_module(f"agenthost.core.reducers.{module}"), name), rule_id


def test_every_action_has_a_rule() -> None:
    named = set(re.findall(r"`(?:\w+/)?(\w+)`", " ".join(row.split("|")[0] for row in RULES.values())))
    for kind in REDUCERS:
        for member in union_members(CURRENT.actions[kind].kind):
            for tag in tag_values(member, "type"):
                assert str(tag).partition("/")[2] in named, tag
