"""The root: what every client sees of the host (agents, the number of sessions, terminals, settings).

It is a resource like a session: only actions change it, and it has a log and a snapshot. So clients that were
away get what they missed, even across a restart. Others decide what is true of the host and tell the root,
which acts if something changed. Knows no agents and no connections.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from agenthost.core import actions
from agenthost.core.reducers import Live, reduce_root
from agenthost.host.access.identity import Identity
from agenthost.host.log.entries import count_numbers, encode_entry, first_line
from agenthost.host.log.journal import Journal
from agenthost.host.log.subscriptions import LogItem
from agenthost.host.log.text_runs import unpack
from agenthost.host.state.refusals import stored_refusal
from agenthost.host.storage import ROOT, DropLog, Entry, Opening, PutSnapshot
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.actions import RootAction
from agenthost.wire.ahp.actions.envelope import ActionOrigin
from agenthost.wire.ahp.config import RootConfigState
from agenthost.wire.ahp.root import AgentInfo, RootState
from agenthost.wire.ahp.terminal import TerminalInfo
from agenthost.wire.json import JsonObject, decode_json, encode_json

SNAPSHOT_ENTRIES = 1_000
"""After how many entries a snapshot is written. The root is small, so its size does not matter."""


@dataclass(slots=True)
class Elsewhere:
    """What a node, or all others, have that the root shows."""

    agents: list[AgentInfo] = field(default_factory=list)
    terminals: list[TerminalInfo] = field(default_factory=list)


class Root:
    """The root in memory. Changed only by the host, on its event loop.

    Attributes:
        live: the state with everything that was applied.
        shown: the state that is durable and was shown; `shown_seq` is the number of its last action.
        entries: how many envelopes in the log are not in a snapshot.
    """

    number = ROOT

    def __init__(self, opening: Opening, journal: Journal, publish: Callable[[LogItem], None]) -> None:
        """Restore what the store held. `reconcile` brings it up to date."""
        logged = unpack(opening.root_entries, after=opening.root_seq)
        self.live = self.shown = _restored(opening.root, [decode_json(entry.envelope) for entry in logged])
        self.shown_seq = logged[-1].seq if logged else opening.root_seq
        self.entries = len(logged)
        self._has_snapshot = opening.root is not None
        self._journal = journal
        self._publish = publish
        self._count: int | None = None
        self.is_foreign = False
        """Whether another node writes it, and this one only follows."""
        self.elsewhere = Elsewhere()
        """What other nodes have."""
        self.own = Elsewhere()
        """What this node has."""
        self.changed: Callable[[], None] | None = None
        """Called when this node has something else than before."""
        self._config: RootConfigState | None = None  # as this node defines it

    @property
    def state(self) -> RootState:
        """The state with everything that was applied, durable or not."""
        return self.live.state

    def act(self, action: RootAction, origin: ActionOrigin | None = None) -> int:
        """Apply an action: reduce and write it, and show it once it is durable.

        Return the ticket for `journal.wait`.
        """
        after = reduce_root(self.live, action)
        envelope = encode_entry(ROOT_URI, action, origin)
        self.live = after
        item = LogItem(
            0, ROOT, envelope, uri=ROOT_URI, channel=ROOT_URI, action=action, after=after, show=self._show
        )
        ticket = self._journal.append(item)
        self.entries += 1
        return self._snapshot_if_due() or ticket

    def refuse(
        self,
        channel: str,
        action: Any,
        origin: ActionOrigin,
        reason: str,
        client: Identity,
        *,
        secrets: Collection[str] = (),
        legacy: Sequence[JsonObject] | None = None,
    ) -> LogItem:
        """Refuse a client's action. Only that client sees the refusal, and nothing changes (HR-A01).

        The caller sends it to the client once `journal.wait` says that it is durable. Actions that name no
        resource are refused here too, but not stored: a returning client might not understand them.
        `secrets` and `legacy` are as in `Session.refuse`.
        """
        envelope = encode_entry(channel, action, origin, reason, legacy=legacy)
        count = count_numbers(legacy)
        item = LogItem(0, ROOT, envelope, client.key, count, ROOT_URI, channel, action, reason=reason)
        if channel != ROOT_URI or type(action) is not dict:
            self._journal.announce(item)
            return item
        self._journal.append(item, stored_refusal(item, origin, secrets))
        self.entries += 1
        self._snapshot_if_due()
        return item

    def set_agents(self, agents: Sequence[AgentInfo]) -> None:
        """Set which agents this node has."""
        self.own.agents = list(agents)
        self._tell_changed()
        self.set_agents_of_all()

    def set_agents_of_all(self) -> None:
        """Show the agents of all nodes; of two with one name, that of this node."""
        own = {one["provider"] for one in self.own.agents}
        others = [one for one in self.elsewhere.agents if one["provider"] not in own]
        self._set("agents", actions.agents_changed([*self.own.agents, *others]))

    def _tell_changed(self) -> None:
        if self.changed is not None:
            self.changed()

    def set_terminals(self, terminals: Sequence[TerminalInfo]) -> None:
        """Set which terminals this node has."""
        self.own.terminals = list(terminals)
        self._tell_changed()
        self.set_terminals_of_all()

    def set_terminals_of_all(self) -> None:
        """Show the terminals of all nodes."""
        self._set("terminals", actions.terminals_changed([*self.own.terminals, *self.elsewhere.terminals]))

    def follow(self, entry: Entry) -> None:
        """Show what the node that writes the root has written."""
        if entry.seq <= self.shown_seq:
            return
        envelope = decode_json(first_line(entry.envelope, entry.seq))
        action: Any = envelope["action"]
        self.shown_seq = entry.seq
        if entry.only_for is not None:
            return  # a refusal, which went to its client
        self.live = self.shown = after = reduce_root(self.shown, action)
        item = LogItem(
            *(entry.seq, ROOT, entry.envelope, None, max(1, entry.envelope.count(b"\n"))),
            *(ROOT_URI, ROOT_URI, action, after),
        )
        self._publish(item)

    def set_active_sessions(self, count: int) -> None:
        """Set how many sessions there are. It is applied with the journal's next group.

        So the count is in one transaction with the sessions that it counts, and many changes are one action.
        """
        if self._count is None:
            self._journal.expect(self)
        self._count = count

    def gather(self) -> None:
        """Apply the count. The journal calls this when it forms a group."""
        count, self._count = self._count, None
        if count is not None:
            self._set("activeSessions", actions.active_sessions_changed(count))

    def _set(self, key: str, action: RootAction) -> None:
        """Apply an action that sets this key of the state, if it changes anything."""
        if self.is_foreign:
            return  # the node that writes the root does, once it hears of it
        # Compared in encoded form and copied: a list that is changed in place would always be equal.
        encoded = encode_json(action)
        if encode_json(action.get(key)) != encode_json(self.state.get(key)):
            self.act(decode_json(encoded))

    def reconcile(
        self,
        session_count: int,
        *,
        agents: Sequence[AgentInfo] | None = None,
        config: RootConfigState | None = None,
    ) -> None:
        """Apply what has changed since the last run, before anybody is subscribed.

        Terminals do not outlive the process. `agents` may be set later instead. `config` has the settings as
        they are defined now, with their default values.
        """
        self._config = config
        if self.is_foreign:
            self.own.agents = list(agents or ())
            return
        self._set_config(config)
        if agents is not None:
            self.set_agents(agents)
        self._set("activeSessions", actions.active_sessions_changed(session_count))
        self.set_terminals(self.own.terminals)
        # A snapshot at each start keeps the log short that the next start has to read.
        if self.entries or not self._has_snapshot:
            self._journal.write([self.snapshot()])

    def take_over(self, session_count: int) -> None:
        """Write the root from now on: the node that did is gone, and all that it wrote was followed."""
        self.is_foreign = False
        self.entries = 1  # so that there is a snapshot
        self.reconcile(session_count, agents=self.own.agents, config=self._config)

    def _set_config(self, config: RootConfigState | None) -> None:
        old = self.state.get("config")
        values = {} if config is None else _values(config, old)
        if (config and config["schema"]) != (old and old["schema"]):
            self._set_schema(config, values)
        elif old is not None and values != old["values"]:
            self.act(actions.root_config_changed(values, replace=True))

    def _set_schema(self, config: RootConfigState | None, values: JsonObject) -> None:
        """Change the schema, which no action can. So nobody may resume from before: all get a fresh view."""
        state: Any = {key: value for key, value in self.state.items() if key != "config"}
        if config is not None:
            state["config"] = {"schema": config["schema"], "values": values}
        self.live = Live(state)
        if self._has_snapshot:
            # Numbered, so that clients that have seen everything up to now have not seen this.
            self.act(actions.root_config_changed(values, replace=True))
            self._journal.write([self.snapshot(), DropLog(ROOT)])
        else:
            self.shown = self.live

    def snapshot(self) -> PutSnapshot:
        """Return the write of a snapshot with everything up to now, for the journal's next group."""
        self.entries, self._has_snapshot = 0, True
        return PutSnapshot(ROOT, encode_json(self.state))

    def _snapshot_if_due(self) -> int | None:
        is_due = self.entries >= SNAPSHOT_ENTRIES and not self.is_foreign
        return self._journal.write([self.snapshot()]) if is_due else None

    def _show(self, item: LogItem) -> None:
        if item.after is not None:
            self.shown = item.after
        self.shown_seq = item.seq
        self._publish(item)


def _restored(snapshot: bytes | None, envelopes: Sequence[JsonObject]) -> Live[RootState]:
    empty: RootState = {"agents": [], "activeSessions": 0, "terminals": []}
    live: Live[RootState] = Live(empty if snapshot is None else decode_json(snapshot))
    for envelope in envelopes:
        if "rejectionReason" not in envelope:
            live = reduce_root(live, envelope["action"])
    return live


def _values(config: RootConfigState, old: RootConfigState | None) -> JsonObject:
    """Return the values of settings. Chosen ones are kept if the setting is unchanged and not read-only."""
    properties = config["schema"]["properties"]
    known = {} if old is None else old["schema"]["properties"]
    chosen = {} if old is None else old["values"]
    kept = {
        key: value
        for key, value in chosen.items()
        if key in properties and properties[key] == known.get(key) and not properties[key].get("readOnly")
    }
    return {**config["values"], **kept}
