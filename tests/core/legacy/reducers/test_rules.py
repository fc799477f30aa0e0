"""Each rule of AHP 0.1.0 in docs/reducers.md has a test, and each test names rules that are there."""

from pathlib import Path

from rules import named_rules, reducer_rules

FOLDER = Path(__file__).parent
RULES = reducer_rules("0.1.0").keys()
MATRIX = "test_session_matrix.py"  # proves no rule by itself: one test of it names all of them


def test_every_rule_has_a_test() -> None:
    proved = {rule_id for rule_id, file in named_rules(FOLDER) if file != MATRIX or rule_id.startswith("G")}
    assert sorted(RULES - proved) == []


def test_every_test_names_known_rules() -> None:
    assert sorted({rule_id for rule_id, _ in named_rules(FOLDER)} - RULES) == []


def test_the_document_has_all_rules() -> None:
    counted = {letter: sum(rule_id[0] == letter for rule_id in RULES) for letter in "GHRST"}
    assert counted == {"G": 7, "H": 11, "R": 4, "S": 39, "T": 11}
