"""Authorship: which client did what in a session. The state does not say, so it is read off the actions."""

from typing import Any

from agenthost.client.ahp import Change

__all__ = ["Authorship"]

MAX_REMEMBERED = 1_000


class Authorship:
    """Remembers which client started a turn, sent a message, or decided a call or a request."""

    def __init__(self, client_id: str) -> None:
        self._client_id = client_id
        self._authors: dict[tuple[str, str], str] = {}

    def record(self, change: Change) -> None:
        """Remember who did this; a listener for `Session.listen`."""
        action: Any = change.action
        if change.kind != "confirmed" or action is None:
            return
        client = change.origin["clientId"] if change.origin is not None else None
        key = _key(action)
        if key is None:
            return
        if client is None and action["type"] == "chat/turnStarted":
            # The host starts the turn of a queued message; its author is the client that queued it.
            client = self._authors.get(("message", action.get("queuedMessageId", "")))
        if client is not None:
            self._authors[key] = client
            if len(self._authors) > MAX_REMEMBERED:
                del self._authors[next(iter(self._authors))]

    def other_client(self, kind: str, item_id: str) -> str | None:
        """Return the client behind a `turn`, `end`, `call` or `request`; None if unknown, or us."""
        client = self._authors.get((kind, item_id))
        return None if client in (None, self._client_id) else client

    def is_ours(self, kind: str, item_id: str) -> bool:
        """Return whether this client did it."""
        return self._authors.get((kind, item_id)) == self._client_id


def _key(action: Any) -> tuple[str, str] | None:
    """Return the kind and the id of what an action did, if its author is worth showing."""
    match action["type"]:
        case "chat/turnStarted":
            return "turn", action["turnId"]
        case "chat/turnCancelled":
            return "end", action["turnId"]
        case "chat/toolCallConfirmed" | "chat/toolCallResultConfirmed":
            return "call", action["toolCallId"]
        case "chat/inputCompleted":
            return "request", action["requestId"]
        case "chat/pendingMessageSet":
            return "message", action["id"]
        case _:
            return None
