"""Attacks on a server from outside, the quick ones: each has to hold. `./run attack` has all of them.

`attack/catalogue.py` has their list, and the modules beside it what is done. What stops each attack in detail
is proved where that is tested: see the table in docs/security.md.
"""

import random
import re
from pathlib import Path

import pytest

from attack.catalogue import ATTACKS, Attack, run
from attack.stage import Stage, hold

SEED = 14
QUICK = [name for name, attack in ATTACKS.items() if attack.is_quick]
SECURITY = Path(__file__).parents[1] / "docs" / "security.md"


@pytest.mark.parametrize("name", QUICK)
def test_a_server_holds_against(tmp_path: Path, name: str) -> None:
    ATTACKS[name].play(Stage(tmp_path, random.Random(SEED), is_long=False))  # noqa: S311


def test_what_gives_way_is_told_and_ends_the_run_with_one() -> None:
    def win(_stage: Stage) -> str:
        hold(False, "everything was given away")
        return ""

    def fail(_stage: Stage) -> str:
        raise OSError("the server is gone")

    told: list[str] = []
    attacks = [
        Attack("winning", "Nothing is ever given away.", win),
        Attack("failing", "Nothing unexpected happens.", fail),
        Attack("losing", "What is held is held.", lambda _stage: "nothing"),
    ]
    assert run(attacks, SEED, told.append) == 1
    assert "  GAVE WAY: everything was given away" in told
    assert "  GAVE WAY: OSError: the server is gone" in told
    assert told[-1] == "1 of 3 held; not winning, failing"
    assert run(attacks[2:], SEED, told.append) == 0


def test_each_attack_says_in_a_sentence_what_has_to_hold_and_is_in_the_table() -> None:
    page = SECURITY.read_text()
    for name, attack in ATTACKS.items():
        assert re.fullmatch(r"[A-Z0-9].*\.", attack.sentence), name
        assert f"`{name}`" in page, f"docs/security.md does not name {name}"


def test_the_page_names_only_tests_and_attacks_that_there_are() -> None:
    page = SECURITY.read_text()
    named = set(re.findall(r"`(tests/[\w/]+\.py)`", page))
    assert named
    for path in named:
        assert (SECURITY.parents[1] / path).is_file(), path
