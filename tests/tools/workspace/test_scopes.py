"""What an approval of a command for the whole session covers: that command, and no other."""

import pytest

from agenthost.tools.workspace.scopes import command_scope

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
def test_a_command_that_differs_in_one_letter_is_another(approved: str, other: str) -> None:
    assert command_scope(approved).key != command_scope(other).key
    assert command_scope(approved).is_command


def test_the_time_limit_is_not_part_of_a_command() -> None:
    assert command_scope("ls; x", seconds=5).key == command_scope("ls; x").key


def test_the_label_is_short_and_on_one_line() -> None:
    assert command_scope("ls\n  -l").label == "exactly `ls -l`"
    assert len(command_scope("x" * 1_000_000).label) < 80
    assert command_scope("a " * 1_000).label.endswith("…`")
