"""The owner's view of the root. There is one root for all, but sessions and terminals have owners.

An owner sees its own terminals and the number of its own sessions, as they are now: the log does not say
whose they were. It is notified only when its own have changed.
"""

from collections.abc import Iterable
from typing import Any

from agenthost.host.log.subscriptions import LogItem
from agenthost.host.state.session_counts import SessionCounts
from agenthost.host.storage import ROOT, Entry
from agenthost.host.terminals.registry import Terminals
from agenthost.wire.ahp.root import RootState
from agenthost.wire.json import Json, JsonObject, decode_json, encode_json

__all__ = ["OwnerView"]

_KEYS = {"root/terminalsChanged": "terminals", "root/activeSessionsChanged": "activeSessions"}
"""The root actions about things that have owners, and the fields they change."""

_NAMES = tuple(f'"{kind}"'.encode() for kind in _KEYS)


class OwnerView:
    """The root as an owner sees it; `None` sees all. Each connection has one, with what it sent last."""

    __slots__ = ("_counts", "_owner", "_terminals", "_told")

    def __init__(self, terminals: Terminals, counts: SessionCounts, owner: str | None) -> None:
        self._terminals = terminals
        self._counts = counts
        self._owner = owner
        self._told: dict[str, Json] = {}

    async def open(self) -> None:
        """Load the number of the owner's sessions. From then on it is known."""
        if self._owner is not None:
            await self._counts.count_of(self._owner)

    def root(self, state: RootState) -> RootState:
        """Return the root as this owner sees it."""
        if self._owner is None:
            return state
        self._told = {key: self._own(key) for key in _KEYS.values()}
        return {**state, **self._told}  # type: ignore[typeddict-item] # both are of the root

    def is_partial(self, entry: Entry) -> bool:
        """Return whether this owner may see only a part of an entry."""
        if self._owner is None or entry.resource != ROOT:
            return False
        return any(name in entry.envelope for name in _NAMES)

    def envelope(self, entry: Entry) -> bytes | None:
        """Return the envelope of an entry as this owner sees it; `None` if nothing changed for it."""
        if not self.is_partial(entry):
            return entry.envelope
        envelope = decode_json(entry.envelope)
        key = _owned_key(envelope)
        if key is None:
            return entry.envelope
        own = self._own(key)
        if key in self._told and self._told[key] == own:
            return None
        self._told[key] = own
        envelope["action"][key] = own
        return encode_json(envelope)

    def item(self, item: LogItem) -> LogItem | None:
        """Return an item as this owner sees it; `None` if nothing changed for it."""
        (line,) = item.envelopes()
        envelope = self.envelope(Entry(item.seq, item.resource, line, item.only_for))
        if envelope is None or envelope is line:
            return None if envelope is None else item
        action = decode_json(envelope)["action"]
        return LogItem(
            *(item.seq, item.resource, envelope, item.only_for, item.count), item.uri, item.channel, action
        )

    def replay(self, entries: Iterable[Entry]) -> list[bytes]:
        """Return the missed envelopes. Of those about resources with owners, only the last of each kind."""
        self._told = {}
        seen: list[bytes] = []
        for entry in reversed(list(entries)):
            envelope = self.envelope(entry)
            if envelope is not None:
                seen.append(envelope)
        seen.reverse()
        return seen

    def _own(self, key: str) -> Any:
        owner = self._owner or ""
        return self._terminals.list(owner) if key == "terminals" else self._counts.by_owner[owner]


def _owned_key(envelope: JsonObject) -> str | None:
    """Return the field with owners that an envelope changes. A refusal only repeats the client's action."""
    return None if "rejectionReason" in envelope else _KEYS.get(envelope["action"]["type"])
