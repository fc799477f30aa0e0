"""Sample data for the benchmarks, and how they measure."""

import time

import msgspec

from agenthost.core.conversation import Conversation
from agenthost.core.derived import chat_summary
from agenthost.wire.ahp.actions.text import ChatDelta
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.legacy.session import SessionState
from agenthost.wire.ahp.message import Message
from agenthost.wire.ahp.session import SessionState as CurrentSessionState

BEGUN = "2026-01-01T00:00:00.000Z"
MESSAGE: Message = {"text": "Go on", "origin": {"kind": "user"}}

DELTAS = 2_000


def streaming(uri: str) -> SessionState:
    """Return a session of AHP 0.1.0 whose turn is being answered."""
    return {
        "summary": {
            "resource": uri,
            "provider": "demo",
            "title": "Benchmark",
            "status": 8,
            "createdAt": 1,
            "modifiedAt": 1,
        },
        "lifecycle": "ready",
        "turns": [],
        "activeTurn": {
            "id": "t1",
            "userMessage": {"text": "Go on"},
            "responseParts": [{"kind": "markdown", "id": "p1", "content": ""}],
        },
    }


def chatting(uri: str) -> ChatState:
    """Return a chat whose turn is being answered."""
    return {
        "resource": uri,
        "title": "Benchmark",
        "status": 8,
        "modifiedAt": BEGUN,
        "turns": [],
        "activeTurn": {
            "id": "t1",
            "startedAt": BEGUN,
            "message": MESSAGE,
            "responseParts": [{"kind": "markdown", "id": "p1", "content": ""}],
        },
    }


def conversation(name: str, *, is_idle: bool = False) -> Conversation:
    """Return a session and its default chat, whose turn is being answered unless it is idle."""
    chat = chatting(f"ahp-chat:/{name}")
    if is_idle:
        del chat["activeTurn"]
        chat["status"] = 1
    state: CurrentSessionState = {
        "provider": "demo",
        "title": "Benchmark",
        "status": 1,
        "lifecycle": "ready",
        "activeClients": [],
        "chats": [chat_summary(chat)],
        "defaultChat": chat["resource"],
    }
    return Conversation(state, chat)


def encoding_rate() -> float:
    """Return the rate at which msgspec alone encodes such envelopes."""
    encode = msgspec.json.Encoder().encode
    channel = "ahp-chat:/0123456789abcdef"
    envelopes = [
        {"channel": channel, "action": ChatDelta("t1", "p1", f"word {seq} "), "serverSeq": seq}
        for seq in range(DELTAS)
    ]
    best = float("inf")
    for _ in range(30):
        begun = time.perf_counter()
        for envelope in envelopes:
            encode(envelope)
        best = min(best, time.perf_counter() - begun)
    return DELTAS / best
