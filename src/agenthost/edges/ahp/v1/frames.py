"""Frames: what the host sends on its own. Actions are encoded once for everybody who speaks the version."""

from typing import Any

from agenthost.edges.ahp.connection import action_frame, outgoing
from agenthost.edges.ahp.transport import OutgoingMessage
from agenthost.edges.ahp.v1 import older
from agenthost.host.log.subscriptions import LogItem
from agenthost.host.sessions.list_notices import Added, Changed, Notice, Removed
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.json import JsonObject
from agenthost.wire.jsonrpc import Notification

__all__ = ["action_frames", "list_message", "older_action_frames", "older_list_message"]

CLEARED: dict[str, Any] = {"activity": "", "workingDirectories": [], "changes": {}, "_meta": {}}
"""What stands for a field of a summary that was removed: a change cannot remove one."""


def action_frames(item: LogItem) -> list[str]:
    """Return the messages for an item of the log."""
    return [action_frame(envelope) for envelope in item.envelopes()]


def older_action_frames(item: LogItem) -> list[str]:
    """Return the messages for an item of the log, for clients of 0.9."""
    return [action_frame(envelope) for envelope in older.envelopes_of(item)]


def list_message(notice: Notice) -> OutgoingMessage | None:
    """Return the message for a change of the list of sessions; `None` if clients see none (C3)."""
    notification = _list_notification(notice, is_older=False)
    return None if notification is None else outgoing(notification)


def older_list_message(notice: Notice) -> OutgoingMessage | None:
    """Return the message for a change of the list of sessions, for clients of 0.9."""
    notification = _list_notification(notice, is_older=True)
    return None if notification is None else outgoing(notification)


def _list_notification(notice: Notice, *, is_older: bool) -> Notification | None:
    if notice.is_task:
        return None  # C7: a chat of another session
    match notice:
        case Added(summary=summary):
            shown = older.strip_summary(summary) if is_older else summary
            return Notification("root/sessionAdded", {"channel": ROOT_URI, "summary": shown})
        case Removed(uri=uri):
            return Notification("root/sessionRemoved", {"channel": ROOT_URI, "session": uri})
        case Changed(uri=uri, changes=changes):
            found = older.strip_summary(changes) if is_older else changes
            # Only what 0.9 does not have has changed.
            if not found:
                return None
            fields: JsonObject = {
                key: CLEARED.get(key) if value is None else value for key, value in found.items()
            }
            told = {key: value for key, value in fields.items() if value is not None}
            params: JsonObject = {"channel": ROOT_URI, "session": uri, "changes": told}
            return Notification("root/sessionSummaryChanged", params)
