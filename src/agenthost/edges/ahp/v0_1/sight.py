"""Sight: what of the root an owner is shown. The root is one for all, but terminals belong to somebody."""

from typing import Any

from agenthost.host.storage import ROOT, Entry
from agenthost.host.terminals.registry import Terminals
from agenthost.wire.ahp.root import RootState
from agenthost.wire.json import decode_json, encode_json

__all__ = ["Sight"]

_TERMINALS = b'"root/terminalsChanged"'


class Sight:
    """What an owner sees; `None` sees all."""

    __slots__ = ("_owner", "_terminals")

    def __init__(self, terminals: Terminals, owner: str | None) -> None:
        self._terminals = terminals
        self._owner = owner

    def root(self, state: RootState) -> RootState:
        """Give the root without the terminals of others."""
        if self._owner is None or "terminals" not in state:
            return state
        return {**state, "terminals": self._own(state["terminals"])}

    def is_partial(self, entry: Entry) -> bool:
        """Tell whether something happened of which this owner may see a part only."""
        return self._owner is not None and entry.resource == ROOT and _TERMINALS in entry.envelope

    def envelope(self, entry: Entry) -> bytes:
        """Give the envelope of something that happened, as this owner sees it."""
        if not self.is_partial(entry):
            return entry.envelope
        envelope = decode_json(entry.envelope)
        action = envelope["action"]
        # What was refused is this client's own words, whatever they are.
        if "rejectionReason" not in envelope and action["type"] == "root/terminalsChanged":
            action["terminals"] = self._own(action["terminals"])
        return encode_json(envelope)

    def _own(self, terminals: Any) -> Any:
        return [one for one in terminals if self._terminals.is_visible(one["resource"], self._owner)]
