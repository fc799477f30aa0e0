"""Frames: messages that the host sends on its own, in AHP 0.1. Actions are encoded once for everybody."""

from typing import Any

from agenthost.core.legacy.summaries import project_listed
from agenthost.edges.ahp.connection import action_frame, outgoing
from agenthost.edges.ahp.transport import OutgoingMessage
from agenthost.edges.ahp.v0_1.projection import envelopes_of
from agenthost.host.log.subscriptions import LogItem
from agenthost.host.sessions.list_notices import Added, Changed, Notice, Removed
from agenthost.wire.ahp.legacy.notifications import ProtocolNotification
from agenthost.wire.json import JsonObject
from agenthost.wire.jsonrpc import Notification

__all__ = ["action_frames", "list_message"]


def action_frames(item: LogItem) -> list[str]:
    """Return the messages for an item of the log."""
    return [action_frame(envelope) for envelope in envelopes_of(item)]


def list_message(notice: Notice) -> OutgoingMessage | None:
    """Return the message for a change of the list (HR-L06, HR-L07); `None` if these clients see none."""
    notification = _list_notification(notice)
    if notification is None:
        return None
    return outgoing(Notification("notification", {"notification": notification}))


def _list_notification(notice: Notice) -> ProtocolNotification | None:
    match notice:
        case Added(summary=summary):
            listed: Any = project_listed(summary)
            return {"type": "notify/sessionAdded", "summary": listed}
        case Removed(uri=uri):
            return {"type": "notify/sessionRemoved", "session": uri}
        case Changed(uri=uri, changes=changes):
            changed: Any = _project_changes(changes)
            if not changed:
                return None
            return {"type": "notify/sessionSummaryChanged", "session": uri, "changes": changed}


def _project_changes(changes: JsonObject) -> JsonObject:
    """Return the fields of a summary that changed; a removed field is `None`."""
    # HR-L07: null for what was removed.
    gone: JsonObject = {
        key: None for key in ("activity", "project") if key in changes and changes[key] is None
    }
    return {**project_listed({key: value for key, value in changes.items() if value is not None}), **gone}
