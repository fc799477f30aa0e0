"""The root: what every client sees of the host (agents, how many sessions, terminals, settings).

A resource like a session: changed by actions alone, with a log and a snapshot, so that whoever was away gets
what it missed, over a restart too. What is true of the host is decided elsewhere: the root is told, and acts
if that is news. Knows no agents and no connections.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from agenthost.core.reducers import Live, reduce_root
from agenthost.host.identity import Identity
from agenthost.host.journal import Journal
from agenthost.host.packing import unpack
from agenthost.host.refusals import kept_of
from agenthost.host.storage import ROOT, DropLog, Opening, PutSnapshot
from agenthost.host.subscriptions import Shown
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.actions import RootAction, resource_of
from agenthost.wire.ahp.actions.envelope import ActionOrigin
from agenthost.wire.ahp.config import RootConfigState
from agenthost.wire.ahp.root import AgentInfo, RootState
from agenthost.wire.ahp.terminal import TerminalInfo
from agenthost.wire.json import Json, JsonObject, decode_json, encode_json

SNAPSHOT_ENTRIES = 1_000
"""When a snapshot is due. The root is small, so its size does not matter as a session's does."""


class Root:
    """The root in memory. Changed only by the host, on its event loop.

    Attributes:
        live: what has happened.
        shown: what of it is durable and was shown; `shown_seq` is the number of the last such action.
        entries: how many envelopes the log holds that no snapshot does.
    """

    number = ROOT

    def __init__(self, opening: Opening, journal: Journal, publish: Callable[[Shown], None]) -> None:
        """Bring back what the store held; `settle` brings it up to date."""
        logged = unpack(opening.root_entries, after=opening.root_seq)
        self.live = self.shown = _restored(opening.root, [decode_json(entry.envelope) for entry in logged])
        self.shown_seq = logged[-1].seq if logged else opening.root_seq
        self.entries = len(logged)
        self._has_snapshot = opening.root is not None
        self._journal = journal
        self._publish = publish
        self._count: int | None = None

    @property
    def state(self) -> RootState:
        """All that has happened, durable or not."""
        return self.live.state

    @property
    def last_seq(self) -> int:
        """The number of the newest envelope, of whatever resource."""
        return self._journal.last_seq

    def act(self, action: RootAction, origin: ActionOrigin | None = None) -> int:
        """Let an action happen: reduce, number, write, and show it once it is durable.

        Gives the ticket for `journal.wait`.
        """
        # First reduced, then numbered: a fault here leaves no hole in the numbers.
        after = reduce_root(self.live, action, 0)
        seq, envelope = self._journal.number(action, origin)
        self.live = after
        item = Shown(seq, ROOT, envelope, action=action, after=after, show=self._show)
        ticket = self._journal.append(item)
        self.entries += 1
        return self._snapshot_if_due() or ticket

    def refuse(
        self,
        action: Any,
        origin: ActionOrigin,
        reason: str,
        client: Identity,
        secrets: Collection[str] = (),
    ) -> Shown:
        """Answer a client's action with a refusal, which only that client sees. Nothing changes.

        Whoever calls brings it to the client once `journal.wait` says that it is durable. What is about no
        resource at all is answered here too, and not kept: a client that comes back might not read it.
        `secrets` are names of what must not be kept, see `refusals`.
        """
        seq, envelope = self._journal.number(action, origin, reason)
        item = Shown(seq, ROOT, envelope, client.key, action=action, reason=reason)
        if type(action) is not dict or resource_of(action) != ROOT_URI:
            self._journal.announce(item)
            return item
        self._journal.write([kept_of(item, origin, secrets)])
        self.entries += 1
        self._snapshot_if_due()
        return item

    def set_agents(self, agents: Sequence[AgentInfo]) -> None:
        """Say which agents there are now."""
        self._set("root/agentsChanged", "agents", list(agents))

    def set_terminals(self, terminals: Sequence[TerminalInfo]) -> None:
        """Say which terminals there are now."""
        self._set("root/terminalsChanged", "terminals", list(terminals))

    def set_active_sessions(self, count: int) -> None:
        """Say how many sessions there are now. It happens with the journal's next group, once for all of it.

        So a count is in one transaction with the sessions that it counts, and many at once are one action.
        """
        if self._count is None:
            self._journal.expect(self)
        self._count = count

    def gather(self) -> None:
        """Let the count happen; the journal calls this when it forms a group."""
        count, self._count = self._count, None
        self._set("root/activeSessionsChanged", "activeSessions", count)

    def _set(self, kind: str, key: str, value: Json) -> None:
        # Compared as encoded, and taken as a copy: a list that is changed in place would never be news.
        encoded = encode_json(value)
        if encoded != encode_json(self.state.get(key)):
            action: Any = {"type": kind, key: decode_json(encoded)}
            self.act(action)

    def settle(
        self,
        session_count: int,
        *,
        agents: Sequence[AgentInfo] | None = None,
        config: RootConfigState | None = None,
    ) -> None:
        """Let what differs from before the restart happen; for the time before anybody listens.

        Terminals do not outlive the process. `agents` may be told later instead. `config` has the settings
        as they are defined now, with the values that hold where nobody chose others.
        """
        self._set_config(config)
        if agents is not None:
            self.set_agents(agents)
        self._set("root/activeSessionsChanged", "activeSessions", session_count)
        self.set_terminals([])
        if self.entries or not self._has_snapshot:
            self._journal.write([self.snapshot()])

    def _set_config(self, config: RootConfigState | None) -> None:
        old = self.state.get("config")
        values = {} if config is None else _values(config, old)
        if (config and config["schema"]) != (old and old["schema"]):
            self._set_schema(config, values)
        elif old is not None and values != old["values"]:
            self.act({"type": "root/configChanged", "config": values, "replace": True})

    def _set_schema(self, config: RootConfigState | None, values: JsonObject) -> None:
        """Change what no action can: so nobody may resume from before, all of them get a fresh view."""
        state: Any = {key: value for key, value in self.state.items() if key != "config"}
        if config is not None:
            state["config"] = {"schema": config["schema"], "values": values}
        self.live = Live(state)
        if self._has_snapshot:
            # Numbered, so that one who has seen everything until now has not seen this.
            self.act({"type": "root/configChanged", "config": values, "replace": True})
            seq = self._journal.last_seq
            self._journal.write([self.snapshot(), DropLog(ROOT, seq)])
        else:
            self.shown = self.live

    def snapshot(self) -> PutSnapshot:
        """Make the write of a snapshot that holds everything up to now."""
        self.entries, self._has_snapshot = 0, True
        return PutSnapshot(ROOT, encode_json(self.state), self._journal.last_seq)

    def _snapshot_if_due(self) -> int | None:
        is_due = self.entries >= SNAPSHOT_ENTRIES
        return self._journal.write([self.snapshot()]) if is_due else None

    def _show(self, item: Shown) -> None:
        if item.after is not None:
            self.shown = item.after
        self.shown_seq = item.seq
        self._publish(item)


def _restored(snapshot: bytes | None, envelopes: Sequence[JsonObject]) -> Live[RootState]:
    empty: RootState = {"agents": [], "activeSessions": 0, "terminals": []}
    live: Live[RootState] = Live(empty if snapshot is None else decode_json(snapshot))
    for envelope in envelopes:
        if "rejectionReason" not in envelope:
            live = reduce_root(live, envelope["action"], 0)
    return live


def _values(config: RootConfigState, old: RootConfigState | None) -> JsonObject:
    """Keep the values that were chosen, of settings that are what they were and are not the host's to say."""
    properties = config["schema"]["properties"]
    known = {} if old is None else old["schema"]["properties"]
    chosen = {} if old is None else old["values"]
    kept = {
        key: value
        for key, value in chosen.items()
        if key in properties and properties[key] == known.get(key) and not properties[key].get("readOnly")
    }
    return {**config["values"], **kept}
