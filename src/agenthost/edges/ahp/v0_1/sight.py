"""Sight: what of the root an owner is shown. The root is one for all, sessions and terminals are somebody's.

An owner is shown its own terminals and the number of its own sessions, as they are at the moment: the log
does not say whose they were. It hears of them only when its own have changed.
"""

from collections.abc import Iterable
from typing import Any

from agenthost.host.sessions import Sessions
from agenthost.host.storage import ROOT, Entry
from agenthost.host.terminals.registry import Terminals
from agenthost.wire.ahp.root import RootState
from agenthost.wire.json import Json, JsonObject, decode_json, encode_json

__all__ = ["Sight"]

_KEYS = {"root/terminalsChanged": "terminals", "root/activeSessionsChanged": "activeSessions"}
"""The actions on the root that tell of what belongs to somebody, and what they change."""

_NAMES = tuple(f'"{kind}"'.encode() for kind in _KEYS)


class Sight:
    """What an owner sees; `None` sees all. One for each connection: it knows what that was told last."""

    __slots__ = ("_owner", "_sessions", "_terminals", "_told")

    def __init__(self, terminals: Terminals, sessions: Sessions, owner: str | None) -> None:
        self._terminals = terminals
        self._sessions = sessions
        self._owner = owner
        self._told: dict[str, Json] = {}

    async def open(self) -> None:
        """Find out how many sessions the owner has; from then on that is known."""
        if self._owner is not None:
            await self._sessions.count_of(self._owner)

    def root(self, state: RootState) -> RootState:
        """Give the root with what is the owner's alone."""
        if self._owner is None:
            return state
        self._told = {key: self._own(key) for key in _KEYS.values()}
        return {**state, **self._told}  # type: ignore[typeddict-item] # both are of the root

    def is_partial(self, entry: Entry) -> bool:
        """Tell whether something happened of which this owner may see a part only."""
        if self._owner is None or entry.resource != ROOT:
            return False
        return any(name in entry.envelope for name in _NAMES)

    def envelope(self, entry: Entry) -> bytes | None:
        """Give the envelope of something that happened, as this owner sees it; nothing if it is no news."""
        if not self.is_partial(entry):
            return entry.envelope
        envelope = decode_json(entry.envelope)
        key = _key_of(envelope)
        if key is None:
            return entry.envelope
        own = self._own(key)
        if key in self._told and self._told[key] == own:
            return None
        self._told[key] = own
        envelope["action"][key] = own
        return encode_json(envelope)

    def replay(self, entries: Iterable[Entry]) -> list[bytes]:
        """Give the envelopes of what was missed; of those that tell of the owner's own, the last of each."""
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
        return self._terminals.list(owner) if key == "terminals" else self._sessions.counts[owner]


def _key_of(envelope: JsonObject) -> str | None:
    """Give what an envelope changes that belongs to somebody; a refusal is the client's own words."""
    return None if "rejectionReason" in envelope else _KEYS.get(envelope["action"]["type"])
