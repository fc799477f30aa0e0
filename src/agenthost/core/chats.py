"""Chats of a session: what new ones begin with, and which of them are tasks of subagents."""

from collections.abc import Mapping, Sequence
from typing import Any

from agenthost.core.transcript import Message
from agenthost.wire.ahp.chat import ChatOrigin, ChatState, SideChatSelection
from agenthost.wire.ahp.common import URI, Timestamp
from agenthost.wire.ahp.enums import SessionStatus
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.ahp.turn import Turn

__all__ = ["NEW_CHAT", "about_selection", "is_task", "new_chat", "tasks_below"]

NEW_CHAT = "New chat"
"""The title of a chat that begins with nothing."""


def new_chat(
    uri: URI,
    now: Timestamp,
    origin: ChatOrigin,
    *,
    title: str = NEW_CHAT,
    folders: Sequence[URI] = (),
    turns: Sequence[Turn] = (),
) -> ChatState:
    """Return the state of a new chat. Its title is settled now: no action changes it."""
    chat: Any = {
        "resource": uri,
        "title": title,
        "status": SessionStatus.IDLE,
        "modifiedAt": now,
        "origin": origin,
        "turns": list(turns),
    }
    if folders:
        chat["workingDirectories"] = list(folders)
    return chat  # type: ignore[no-any-return] # built of a chat's fields


def about_selection(selection: SideChatSelection) -> Message:
    """Return what the model reads of the text that a side chat is about."""
    quoted = "\n".join(f"> {line}".rstrip() for line in selection["text"].splitlines())
    return {"role": "user", "content": f"What follows is about this part of the conversation:\n\n{quoted}"}


def is_task(chat: Mapping[str, Any]) -> bool:
    """Return whether a chat, or its entry in a catalogue, is that of a subagent: a tool call made it (C7)."""
    return bool(chat.get("origin", {}).get("kind") == "tool")


def tasks_below(session: SessionState, chat: URI) -> list[URI]:
    """Return the chats of the subagents of a chat, and of those below them. Each stands after its parent."""
    origins: list[Any] = [(one["resource"], one.get("origin", {})) for one in session["chats"]]
    found = [chat]
    for parent in found:
        found += [uri for uri, origin in origins if origin.get("kind") == "tool" and origin["chat"] == parent]
    return found[1:]
