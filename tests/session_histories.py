"""Random histories of a session and its default chat, as a host would emit them.

An action is drawn for the states that it meets. Those that change nothing are left out, as a host leaves them
out. What clears the read flag of the chat clears that of the session, too.
"""

from copy import deepcopy
from typing import Any, NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from agenthost.core.reducers import REDUCERS, Live
from drawn_chat_actions import chat_action
from drawn_session_actions import session_action
from drawn_values import CHAT, Draw, Json, flags, pick, some, texts

SESSION = "x:/session"
CREATED = 1_700_000_000_000
READ = 32


class Step(NamedTuple):
    """An action, and the states of the session and its chat before and after it."""

    action: Json
    session_before: Any
    session: Any
    chat_before: Any
    chat: Any
    ends_group: bool = True


class History(NamedTuple):
    """Where a history starts, and its steps."""

    session: Any
    chat: Any
    steps: list[Step]


def starts(draw: Draw) -> tuple[Any, Any]:
    """Draw an idle session with its chat; later states come by actions."""
    config = {"schema": {"type": "object", "properties": {}}, "values": {"a": 0}}
    session = {
        "provider": "demo",
        "title": draw(texts),
        "status": 1 | pick(draw, 0, READ) | pick(draw, 0, 64),
        "lifecycle": pick(draw, "creating", "ready"),
        "activeClients": [],
        "chats": [{"resource": CHAT, "title": "", "status": 1, "modifiedAt": "2026-01-01T00:00:00.000Z"}],
        "defaultChat": CHAT,
        # The first one stays: legacy clients could not be told.
        "workingDirectories": ["f:/first"],
        **some(draw, config=config, project={"uri": "f:/", "displayName": "P"}),
    }
    chat = {"resource": CHAT, "title": "", "status": 1, "modifiedAt": "2026-01-01T00:00:00.000Z", "turns": []}
    return session, chat


def histories() -> SearchStrategy[History]:
    """Draw histories, short and long ones."""
    return st.builds(history, st.integers(0, 2**32), st.sampled_from((3, 10, 30, 60, 120)))


def history(seed: int, length: int) -> History:
    """Return a history that tried this many actions."""
    draw = Draw(seed)
    session, chat = draw(starts)
    lives = {"session": Live(session), "chat": Live(chat)}
    steps: list[Step] = []
    for _ in range(length):
        now = (lives["session"].state, lives["chat"].state)
        if now[0]["lifecycle"] == "creating" and draw(flags):
            action: Json = {"type": "session/ready"}
        elif now[0]["lifecycle"] != "creating" and pick(draw, *range(4)):
            action = chat_action(draw, now[1])
        else:
            action = session_action(draw, now[0])
        taken = take(lives, deepcopy(action))
        if taken is not None:
            steps += with_read_flag(lives, taken)
    return History(session, chat, steps)


def take(lives: dict[str, Live[Any]], action: Json) -> Step | None:
    """Apply an action; return `None` if it changes nothing."""
    scope = "session" if action["type"].startswith("session/") else "chat"
    before = (lives["session"].state, lives["chat"].state)
    after = REDUCERS[scope](lives[scope], action)  # type: ignore[index]
    if after.state == lives[scope].state:
        return None
    lives[scope] = after
    return Step(action, before[0], lives["session"].state, before[1], lives["chat"].state)


def with_read_flag(lives: dict[str, Live[Any]], step: Step) -> list[Step]:
    """Clear the session's read flag with what makes the chat unread, as a host does."""
    if step.action["type"] in ("chat/turnStarted", "chat/turnResume", "chat/inputRequested"):
        unread = take(lives, {"type": "session/isReadChanged", "isRead": False})
        if unread is not None:
            return [step._replace(ends_group=False), unread]
    return [step]
