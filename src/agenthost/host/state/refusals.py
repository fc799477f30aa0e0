"""Refusals: what the log stores of an action that was refused.

A client gets its refusal in full. Only a small one without secrets is stored in full; for others the log has
the number, the origin, the type and the reason. A client that needs one of these again gets a fresh view.
"""

from collections.abc import Collection

from agenthost.host.log.entries import encode_line
from agenthost.host.log.subscriptions import LogItem
from agenthost.host.state.redaction import holds_secret, redact
from agenthost.host.storage import Entry
from agenthost.wire.ahp.actions.envelope import ActionOrigin
from agenthost.wire.json import Json

__all__ = ["MAX_KEPT", "is_cut", "stored_refusal"]

MAX_KEPT = 4_096
"""How many bytes a refusal may have to be stored in full."""

MAX_TYPE = 100
MAX_REASON = 1_000

_MARKS = (b'"isCut":true,', b'{"isCut":true,')  # the second is that of older hosts


def stored_refusal(item: LogItem, origin: ActionOrigin, secrets: Collection[str] = ()) -> Entry:
    """Return the entry to store for a refusal. `secrets` are the names of secrets that agents declare."""
    said: Json = [item.action, item.reason]
    if len(item.envelope) <= MAX_KEPT and not holds_secret(said, secrets):
        return item
    return Entry(0, item.resource, _cut(item, origin), item.only_for, item.count)


def _cut(item: LogItem, origin: ActionOrigin) -> bytes:
    action: Json = item.action
    kind = action.get("type") if type(action) is dict else None
    return encode_line(
        {
            "isCut": True,
            "action": {"type": str(kind)[:MAX_TYPE]},
            "origin": origin,
            "rejectionReason": redact(item.reason or "")[:MAX_REASON],
        }
    )


def is_cut(entry: Entry) -> bool:
    """Return whether a refusal was not stored in full."""
    return entry.envelope.startswith(_MARKS)
