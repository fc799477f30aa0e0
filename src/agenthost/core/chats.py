"""New chats of a session: what they begin with."""

from collections.abc import Sequence
from typing import Any

from agenthost.wire.ahp.chat import ChatOrigin, ChatState
from agenthost.wire.ahp.common import URI, Timestamp
from agenthost.wire.ahp.enums import SessionStatus

__all__ = ["NEW_CHAT", "new_chat"]

NEW_CHAT = "New chat"
"""The title of a chat that begins with nothing."""


def new_chat(
    uri: URI, now: Timestamp, origin: ChatOrigin, *, title: str = NEW_CHAT, folders: Sequence[URI] = ()
) -> ChatState:
    """Return the state of a new chat. Its title is settled now: no action changes it."""
    chat: Any = {
        "resource": uri,
        "title": title,
        "status": SessionStatus.IDLE,
        "modifiedAt": now,
        "origin": origin,
        "turns": [],
    }
    if folders:
        chat["workingDirectories"] = list(folders)
    return chat  # type: ignore[no-any-return] # built of a chat's fields
