"""Chats of a session: what new ones begin with, and which of them are tasks of subagents."""

from collections.abc import Mapping, Sequence
from typing import Any

from agenthost.core.transcript import Message
from agenthost.wire.ahp.chat import ChatOrigin, ChatState, ChatSummary, SideChatSelection
from agenthost.wire.ahp.common import URI, Timestamp
from agenthost.wire.ahp.enums import SessionStatus
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.ahp.turn import Turn

__all__ = [
    "NEW_CHAT",
    "about_selection",
    "in_order_added",
    "is_task",
    "new_chat",
    "new_entry",
    "places",
    "reordered",
    "tasks_below",
]

NEW_CHAT = "New chat"
"""The title of a chat that begins with nothing."""

ADDED = "agenthost.added"
"""In the entry of a chat: the place in which it was added, once the catalogue has another order."""


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
        "movable": True,
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
    # The list grows during the loop, so that all levels are found.
    for parent in found:
        found += [uri for uri, origin in origins if origin.get("kind") == "tool" and origin["chat"] == parent]
    return found[1:]


def reordered(session: SessionState, chats: Sequence[URI], after: URI | None) -> list[URI] | None:
    """Return the order of a catalogue with these chats, old or new, right after another one.

    Return `None` if no other order is wanted than the one that they have, or that new ones get by themselves.
    """
    old = [one["resource"] for one in session["chats"]]
    if after is None:
        return None
    others = [uri for uri in old if uri not in chats]
    place = others.index(after) + 1
    new = [*others[:place], *chats, *others[place:]]
    return None if new == list(dict.fromkeys([*old, *chats])) else new


def new_entry(session: SessionState, summary: ChatSummary) -> ChatSummary:
    """Return the entry of a chat that is added to a catalogue, with its place if the others have one."""
    entry: Any = {key: value for key, value in summary.items() if key != "_meta"}
    last = max(map(_place, session["chats"]), default=0)
    if last:
        entry["_meta"] = {ADDED: last + 1}
    return entry  # type: ignore[no-any-return] # a summary


def places(session: SessionState) -> dict[URI, Any]:
    """Return what to change in the entries of a catalogue before it gets another order.

    Each entry then says in which place it was added, for clients that cannot follow a change of the order.
    """
    entries = enumerate(in_order_added(session["chats"]), start=1)
    return {one["resource"]: {"_meta": {ADDED: place}} for place, one in entries if _place(one) != place}


def in_order_added(chats: Sequence[Any]) -> list[Any]:
    """Return the entries of a catalogue in the order in which they were added."""
    return sorted(chats, key=_place)


def _place(entry: Any) -> int:
    place: int = entry.get("_meta", {}).get(ADDED, 0)
    return place
