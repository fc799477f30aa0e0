"""Hearing: who did what in a session, as far as we were there. The state itself does not say."""

from typing import Any

from agenthost.client.ahp import Change

__all__ = ["Hearing"]

MOST = 1_000
"""How many deeds are remembered."""


class Hearing:
    """Remembers the clients behind turns, messages, decisions and answers; `hear` is for `Session.listen`."""

    def __init__(self, me: str) -> None:
        self._me = me
        self._by: dict[tuple[str, str], str] = {}

    def hear(self, change: Change) -> None:
        """Note who did this."""
        action: Any = change.action
        if change.kind != "confirmed" or action is None:
            return
        client = change.origin["clientId"] if change.origin is not None else None
        key = _deed(action)
        if key is None:
            return
        if client is None and action["type"] == "session/turnStarted":
            client = self._by.get(("message", action.get("queuedMessageId", "")))
        if client is not None:
            self._by[key] = client
            if len(self._by) > MOST:
                del self._by[next(iter(self._by))]

    def other(self, kind: str, name: str) -> str | None:
        """Name the client behind a `turn`, `end`, `call` or `request`, if we know it and it was not us."""
        client = self._by.get((kind, name))
        return None if client in (None, self._me) else client

    def is_ours(self, kind: str, name: str) -> bool:
        """Tell whether it was us."""
        return self._by.get((kind, name)) == self._me


def _deed(action: Any) -> tuple[str, str] | None:
    """Name what was done, if it is one of the things that people want to know who did them."""
    match action["type"]:
        case "session/turnStarted":
            return "turn", action["turnId"]
        case "session/turnCancelled":
            return "end", action["turnId"]
        case "session/toolCallConfirmed" | "session/toolCallResultConfirmed":
            return "call", action["toolCallId"]
        case "session/inputCompleted":
            return "request", action["requestId"]
        case "session/pendingMessageSet":
            return "message", action["id"]
        case _:
            return None
