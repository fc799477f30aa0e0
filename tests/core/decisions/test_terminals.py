"""When a terminal may not be claimed, typed into or resized."""

from typing import Any

import pytest

from chat_building import CHAT, terminal, terminal_act
from deciding import DETACHED, ME, SESSION, TAKEN, in_use, reason

YOURS = {"kind": "client", "clientId": "you"}
OTHER = {"kind": "session", "session": "demo:/two", "chat": CHAT}
OTHER_CHAT = {**DETACHED, "chat": "ahp-chat:/two"}
CALL = {**DETACHED, "turnId": "t1", "toolCallId": "c1"}
DETACHING_ONLY = "a client can only detach the session's terminal, not give it to a turn or tool call"


def claim(new: Any) -> Any:
    return terminal_act("claimed", claim=new)


@pytest.mark.parametrize("new", [TAKEN, YOURS, DETACHED, OTHER, CALL])
def test_the_client_that_holds_a_terminal_gives_it_to_anybody(new: Any) -> None:
    assert reason(terminal(claim=TAKEN), claim(new)) is None


@pytest.mark.parametrize("new", [TAKEN, YOURS, DETACHED, OTHER, CALL])
def test_what_another_client_holds_cannot_be_claimed(new: Any) -> None:
    assert reason(terminal(claim=YOURS), claim(new)) == "client 'you' holds the terminal"


@pytest.mark.parametrize("held", [CALL, {**DETACHED, "turnId": "t1"}, DETACHED])
def test_anybody_detaches_a_terminal_from_what_its_session_does(held: Any) -> None:
    assert reason(terminal(claim=held), claim(DETACHED)) is None


@pytest.mark.parametrize("held", [{**DETACHED, "turnId": "t1"}, DETACHED])
def test_a_client_takes_a_session_s_terminal_that_no_call_is_using(held: Any) -> None:
    assert reason(terminal(claim=held), claim(TAKEN)) is None


@pytest.mark.parametrize(
    ("held", "new", "expected"),
    [
        (CALL, TAKEN, "tool call 'c1' is using the terminal: detach it first"),
        (CALL, YOURS, "a client can only take a terminal for itself, not for 'you'"),
        (DETACHED, YOURS, "a client can only take a terminal for itself, not for 'you'"),
        (CALL, OTHER, f"session {SESSION!r} holds the terminal"),
        (DETACHED, OTHER, f"session {SESSION!r} holds the terminal"),
        (CALL, OTHER_CHAT, f"chat {CHAT!r} holds the terminal"),
        (DETACHED, OTHER_CHAT, f"chat {CHAT!r} holds the terminal"),
        (DETACHED, CALL, DETACHING_ONLY),
        (CALL, {**DETACHED, "turnId": "t1"}, DETACHING_ONLY),
        (CALL, {**DETACHED, "toolCallId": "c1"}, DETACHING_ONLY),
    ],
)
def test_nothing_else_can_be_done_with_a_session_s_terminal(held: Any, new: Any, expected: str) -> None:
    assert reason(terminal(claim=held), claim(new)) == expected


def test_of_two_clients_the_first_wins() -> None:
    assert reason(terminal(claim=DETACHED), claim(TAKEN), ME) is None
    assert reason(terminal(claim=TAKEN), claim(YOURS), "you") == "client 'me' holds the terminal"


SIZED = terminal_act("resized", cols=80, rows=24)
TYPED = terminal_act("input", data="x")


@pytest.mark.parametrize("action", [SIZED, TYPED], ids=["resized", "input"])
def test_a_process_that_exited_is_neither_typed_to_nor_resized(action: Any) -> None:
    expected = "the terminal's process has exited"
    assert reason(terminal(lifecycle={"status": "exited", "exitCode": 0}), action) == expected
    assert reason(terminal(lifecycle={"status": "exited"}), action) == expected
    assert reason(terminal(), action, has_exited=True) == expected


@pytest.mark.parametrize("action", [SIZED, TYPED], ids=["resized", "input"])
def test_anybody_types_and_resizes(action: Any) -> None:
    assert reason(in_use(), action) is None
    assert reason(terminal(), action, "you") is None


@pytest.mark.parametrize(
    ("cols", "rows", "expected"),
    [
        (0, 24, "cols must be from 1 to 65535, not 0"),
        (80, 0, "rows must be from 1 to 65535, not 0"),
        (-1, 24, "cols must be from 1 to 65535, not -1"),
        (80, 65536, "rows must be from 1 to 65535, not 65536"),
    ],
)
def test_a_size_is_positive_and_fits_a_pty(cols: int, rows: int, expected: str) -> None:
    assert reason(terminal(), terminal_act("resized", cols=cols, rows=rows)) == expected


@pytest.mark.parametrize("size", [1, 65535])
def test_the_smallest_and_the_largest_size_are_allowed(size: int) -> None:
    assert reason(terminal(), terminal_act("resized", cols=size, rows=size)) is None


def test_an_exited_terminal_may_be_renamed_cleared_and_handed_on() -> None:
    state = terminal(lifecycle={"status": "exited", "exitCode": 1})
    assert reason(state, terminal_act("titleChanged", title="")) is None
    assert reason(state, terminal_act("cleared")) is None
    assert reason(state, claim(YOURS)) is None
