"""What an approval of a command for the whole session covers: that command, and no other."""

import pytest

from agenthost.tools.workspace.scopes import scope_of

ALIKE = [
    ("git log", "git log --output=/any/file"),
    ("git grep x", "git grep x -O./evil.sh"),
    ("make test", "make test -f evil.mk"),
    ("sort a", "sort a --compress-program=./evil.sh"),
    ("rm a", "rm -rf a"),
    ("ls", "ls "),
    ("ls a", "ls  a"),
    ("ls", "ls\nrm a"),
]


@pytest.mark.parametrize(("approved", "other"), ALIKE)
def test_a_command_that_is_not_the_same_to_the_letter_is_another(approved: str, other: str) -> None:
    assert scope_of(approved).key != scope_of(other).key
    assert scope_of(approved).is_command


def test_how_long_it_may_take_is_no_part_of_a_command() -> None:
    assert scope_of("ls; x", seconds=5).key == scope_of("ls; x").key


def test_the_label_is_short_and_on_one_line() -> None:
    assert scope_of("ls\n  -l").label == "exactly `ls -l`"
    assert len(scope_of("x" * 1_000_000).label) < 80
    assert scope_of("a " * 1_000).label.endswith("…`")
