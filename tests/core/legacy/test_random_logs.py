"""Random logs from elsewhere: legacy clients see what they do. AHP_1_0_FIXTURES says where they are."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agenthost.core.legacy.reducers import Live, reduce_terminal
from agenthost.core.legacy.terminals import project_terminal_action, project_terminal_state
from agenthost.core.reducers import reduce_terminal as reduce_current
from core_legacy import followed, seen
from session_histories import Step, take, with_read_flag

FOLDER = os.environ.get("AHP_1_0_FIXTURES")

pytestmark = pytest.mark.skipif(not FOLDER, reason="AHP_1_0_FIXTURES names no folder")

IDLE_SESSION = {
    "provider": "demo",
    "title": "Session",
    "status": 1,
    "lifecycle": "ready",
    "activeClients": [],
    "chats": [],
}
IDLE_CHAT = {
    "resource": "ahp-chat:/c",
    "title": "",
    "status": 1,
    "modifiedAt": "2026-01-01T00:00:00.000Z",
    "turns": [],
}


def cases(kind: str) -> list[Any]:
    if not FOLDER:
        return []
    lines = (Path(FOLDER) / "random" / f"{kind}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def is_said(step: Step) -> bool:
    """Return whether a host says this. The logs have more, which legacy clients could not be told."""
    if step.action["type"] == "chat/turnsLoaded":
        return False  # a host that has all turns never loads any
    if "Auth" in step.action["type"]:
        # One that comes too late changes the status of a chat, and nothing else.
        return bool(step.chat_before.get("activeTurn") != step.chat.get("activeTurn"))
    first_before, first = (
        one.get("workingDirectories", [])[:1] for one in (step.session_before, step.session)
    )
    return bool(first_before == first)


def follow(lives: dict[str, Live[Any]], actions: list[Any]) -> None:
    legacy = Live(seen(lives["session"].state, lives["chat"].state))
    for action in actions:
        step = take(dict(lives), action)
        if step is None or not is_said(step):
            continue
        take(lives, action)
        for one in with_read_flag(lives, step):
            legacy = followed(legacy, one)
        assert legacy.state == seen(lives["session"].state, lives["chat"].state), action


@pytest.mark.parametrize("case", cases("chat"))
def test_legacy_clients_follow_a_chat(case: Any) -> None:
    follow({"session": Live(IDLE_SESSION), "chat": Live(case["initial"])}, case["actions"])


@pytest.mark.parametrize("case", cases("session"))
def test_legacy_clients_follow_a_session(case: Any) -> None:
    follow({"session": Live(case["initial"]), "chat": Live(IDLE_CHAT)}, case["actions"])


@pytest.mark.parametrize("case", cases("terminal"))
def test_legacy_clients_follow_a_terminal(case: Any) -> None:
    current = Live(case["initial"])
    legacy = Live(project_terminal_state(current.state))
    for action in case["actions"]:
        current = reduce_current(current, action)
        legacy = reduce_terminal(legacy, project_terminal_action(action, "t:/1"), 0)
        assert legacy.state == project_terminal_state(current.state), action
