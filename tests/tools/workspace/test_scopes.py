"""How far an approval of a command for the whole session goes."""

import pytest

from agenthost.tools.workspace.scopes import scope_of
from bounding import run_bounded


@pytest.mark.parametrize(
    ("command", "label"),
    [
        ("ls", "`ls …`"),
        ("  ls   -la src/app ", "`ls …`"),
        ("pytest -q tests/test_a.py::test_b", "`pytest …`"),
        ("git status --short", "`git status …`"),
        ("npm test -- --watch=false", "`npm test …`"),
        ("npm run test:unit", "exactly `npm run test:unit`"),
        ("uv run x", "exactly `uv run x`"),
        ("docker exec a b", "exactly `docker exec a b`"),
        ("cargo build", "`cargo build …`"),
        ("git -c core.pager=x status", "exactly `git -c core.pager=x status`"),
        ("git", "exactly `git`"),
        ("python -m pytest", "exactly `python -m pytest`"),
        ("python3.12 x.py", "exactly `python3.12 x.py`"),
        ("sudo ls", "exactly `sudo ls`"),
        ("env A=1 ls", "exactly `env A=1 ls`"),
        ("A=1 ls", "exactly `A=1 ls`"),
        ("./ls", "exactly `./ls`"),
        ("find . -name x", "exactly `find . -name x`"),
        ("ls; rm -rf x", "exactly `ls; rm -rf x`"),
        ("ls && rm x", "exactly `ls && rm x`"),
        ("ls | sh", "exactly `ls | sh`"),
        ("ls > x", "exactly `ls > x`"),
        ("ls $(rm x)", "exactly `ls $(rm x)`"),
        ("ls `rm x`", "exactly `ls `rm x``"),
        ("ls $HOME", "exactly `ls $HOME`"),
        ("ls 'a b'", "exactly `ls 'a b'`"),
        ("ls\nrm x", "exactly `ls rm x`"),
        ("ls\trm", "exactly `ls rm`"),
        ("ls #x", "exactly `ls #x`"),
        ("echo " + "x y" * 60 + "!", "exactly `echo " + ("x y" * 60)[:54] + "…`"),
    ],
)
def test_plain_commands_are_approved_by_their_program_and_others_as_they_are(
    command: str, label: str
) -> None:
    assert scope_of(command).label == label


def test_those_that_look_alike_are_told_apart() -> None:
    keys = [
        scope_of(command).key
        for command in ("ls\nrm x", "ls rm x", "ls; x", "ls;  x", "=ls", "git a", "git b")
    ]
    assert len(set(keys)) == len(keys)


def test_the_same_program_is_the_same_scope_whatever_its_arguments() -> None:
    assert scope_of("ls a").key == scope_of("ls -l b c").key
    assert scope_of("git log -p").key == scope_of("git log").key
    assert scope_of("ls; x", seconds=5).key == scope_of("ls; x").key


def test_a_long_word_is_looked_at_in_no_time() -> None:
    code = (
        "from agenthost.tools.workspace.scopes import scope_of; "
        "print(scope_of('1' * 1_000_000 + 'a b').key[0])"
    )
    assert run_bounded(code) == "1"
