"""Refusals: what the log keeps of an action that was refused.

A client is sent its refusal whole. Only a small one without secrets is kept so; of others the log has the
number, the origin, the type and the reason. Who was away and would need such a one gets a fresh view.
"""

from collections.abc import Collection

from agenthost.host.masking import holds_secret, without_secrets
from agenthost.host.storage import Entry
from agenthost.host.subscriptions import Shown
from agenthost.wire.ahp.actions.envelope import ActionOrigin
from agenthost.wire.json import Json, encode_json

__all__ = ["MAX_KEPT", "is_cut", "kept_of"]

MAX_KEPT = 4_096
"""How many bytes of a refusal are kept."""

MAX_TYPE = 100
MAX_REASON = 1_000

_MARK = b'{"isCut":true,'


def kept_of(item: Shown, origin: ActionOrigin, secrets: Collection[str] = ()) -> Entry:
    """Return what is kept of a refusal; `secrets` are the names that agents have for theirs."""
    said: Json = [item.action, item.reason]
    if len(item.envelope) <= MAX_KEPT and not holds_secret(said, secrets):
        return item
    return Entry(item.seq, item.resource, _cut(item, origin), item.only_for)


def _cut(item: Shown, origin: ActionOrigin) -> bytes:
    action: Json = item.action
    kind = action.get("type") if type(action) is dict else None
    return encode_json(
        {
            "isCut": True,
            "action": {"type": str(kind)[:MAX_TYPE]},
            "serverSeq": item.seq,
            "origin": origin,
            "rejectionReason": without_secrets(item.reason or "")[:MAX_REASON],
        }
    )


def is_cut(entry: Entry) -> bool:
    """Tell whether not all of a refusal was kept."""
    return entry.envelope.startswith(_MARK)
