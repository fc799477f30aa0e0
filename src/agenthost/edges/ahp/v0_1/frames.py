"""Frames: what the host sends of its own accord, as AHP 0.1 says it. Actions are made once for everybody."""

from agenthost.host.catalogue import Added, Changed, Notice, Removed
from agenthost.host.subscriptions import Shown
from agenthost.wire.ahp.notifications import ProtocolNotification

__all__ = ["frame_of", "frames_of", "news_of"]

_HEAD, _TAIL = '{"jsonrpc":"2.0","method":"action","params":', "}"


def frame_of(envelope: bytes) -> str:
    """Give the message for one thing that happened."""
    return f"{_HEAD}{envelope.decode()}{_TAIL}"


def frames_of(item: Shown) -> list[str]:
    """Give the messages for what happened; made once for all connections."""
    return [frame_of(envelope) for envelope in item.envelopes()]


def news_of(notice: Notice) -> ProtocolNotification:
    """Give the notification for what the catalogue tells."""
    match notice:
        case Added(summary=summary):
            return {"type": "notify/sessionAdded", "summary": summary}
        case Removed(uri=uri):
            return {"type": "notify/sessionRemoved", "session": uri}
        case Changed(uri=uri, changes=changes):
            return {"type": "notify/sessionSummaryChanged", "session": uri, "changes": changes}  # type: ignore[typeddict-item]
