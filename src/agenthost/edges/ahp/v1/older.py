"""What clients of AHP 0.9 are not sent: actions and fields that only 1.0 has.

Their reducers ignore those actions, so that their state would differ from a later snapshot. The read and
archived marks of chats are set by such actions, and are left out of their states too.
"""

from typing import Any

from agenthost.core.chats import in_order_added
from agenthost.host.log.subscriptions import LogItem
from agenthost.host.storage import Entry
from agenthost.wire.ahp.enums import SessionStatus
from agenthost.wire.json import Json, decode_json, encode_json

__all__ = ["NEWER_METHODS", "envelopes_of", "strip_entry", "strip_state", "strip_summary"]

NEWER_ACTIONS = frozenset(
    {
        "session/chatsReordered",
        "session/mcpServerBackgroundRequested",
        "chat/backgroundWorkSet",
        "chat/backgroundWorkRemoved",
        "chat/movableChanged",
        "chat/changesetsChanged",
        "chat/isReadChanged",
        "chat/isArchivedChanged",
        "chat/canvasesChanged",
        "canvas/stateChanged",
    }
)
NEWER_METHODS = frozenset({"moveChat"})
NEWER_IN_CHATS = ("changes", "movable", "changesets", "backgroundWork", "canvases")
NEWER_IN_SUMMARIES = ("chats", "defaultChat")

FLAGS = SessionStatus.IS_READ | SessionStatus.IS_ARCHIVED


def strip_state(state: Any) -> Any:
    """Return the state of a channel without what is newer."""
    if "chats" in state:
        # They cannot follow a change of the order.
        return {**state, "chats": [_strip_chat(chat) for chat in in_order_added(state["chats"])]}
    return _strip_chat(state) if "turns" in state else state


def strip_summary(summary: Any) -> Any:
    """Return a summary of the list without what is newer."""
    return _without(summary, *NEWER_IN_SUMMARIES)


def envelopes_of(item: LogItem) -> list[bytes]:
    """Return the envelopes of an item of the log; none if it is newer."""
    if item.action is None:
        return list(item.envelopes())
    action = _strip_action(item.action)
    # Nearly all are the same in both versions, and share their encoded envelopes.
    if action is item.action:
        return list(item.envelopes())
    return [] if action is None else [_with_action(item.envelopes()[0], action)]


def strip_entry(entry: Entry) -> Entry | None:
    """Return an envelope of a replay; `None` if it is newer."""
    given = decode_json(entry.envelope)["action"]
    action = _strip_action(given)
    if action is given:
        return entry
    if action is None:
        return None
    return Entry(entry.seq, entry.resource, _with_action(entry.envelope, action), entry.only_for)


def _strip_action(action: Any) -> Any:
    kind = action["type"]
    if kind in NEWER_ACTIONS:
        return None
    if kind == "session/chatUpdated":
        changes = _strip_chat(action["changes"])
        return action if changes == action["changes"] else {**action, "changes": changes}
    return {**action, "summary": _strip_chat(action["summary"])} if kind == "session/chatAdded" else action


def _strip_chat(chat: Any) -> Any:
    kept = _without(chat, *NEWER_IN_CHATS)
    return {**kept, "status": kept["status"] & ~FLAGS} if "status" in kept else kept


def _without(record: Any, *keys: str) -> Any:
    return {key: value for key, value in record.items() if key not in keys}


def _with_action(envelope: bytes, action: Json) -> bytes:
    return encode_json({**decode_json(envelope), "action": action})
