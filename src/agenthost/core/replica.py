"""Replicas: a client's copy of the channels that it is subscribed to.

For each channel there is the confirmed state, the client's own actions that the host has not confirmed yet,
and the optimistic state: the confirmed one with the pending actions applied, which is what a person should
see. The host wins every conflict. A replica has no connection: its owner passes in what was received.
"""

from dataclasses import dataclass, field
from typing import Any, cast

from agenthost.core.reducers import REDUCERS, Live, ResourceKind
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.actions.envelope import ActionEnvelope
from agenthost.wire.ahp.actions.text import Action
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.commands.connection import DispatchActionParams, ReconnectParams, ReconnectResult
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.root import RootState
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.ahp.snapshot import Snapshot, State
from agenthost.wire.ahp.terminal import TerminalState

__all__ = ["Mirror", "Pending", "ReconnectOutcome", "Rejection", "Replica", "kind_of"]


@dataclass(frozen=True, slots=True)
class Pending:
    """An action of the client's own that the host has not answered yet."""

    client_seq: int
    action: Action


@dataclass(frozen=True, slots=True)
class Rejection:
    """An action of the client's own that the host refused."""

    client_seq: int
    action: Action
    reason: str


@dataclass(frozen=True, slots=True)
class ReconnectOutcome:
    """What a reconnection brought: URIs that are gone, rejections, and actions that were never answered."""

    gone: list[URI]
    rejected: list[Rejection]
    unanswered: list[Pending]


@dataclass(slots=True)
class Mirror:
    """One channel as the client sees it."""

    kind: ResourceKind
    confirmed: Live[Any]
    seq: int
    pending: list[Pending] = field(default_factory=list)
    optimistic: Live[Any] | None = None

    def view(self) -> Live[Any]:
        """Return the confirmed state with the pending actions applied."""
        if self.optimistic is None:
            self.optimistic = self.confirmed
            for entry in self.pending:
                self.optimistic = REDUCERS[self.kind](self.optimistic, entry.action)
        return self.optimistic


class Replica:
    """All channels that one client is subscribed to, and its own actions that are not answered yet."""

    def __init__(self, client_id: str) -> None:
        self.client_id = client_id
        self.last_seen = 0
        self._client_seq = 0
        self._mirrors: dict[URI, Mirror] = {}

    @property
    def subscriptions(self) -> list[URI]:
        """The channels that have a state here."""
        return list(self._mirrors)

    def state(self, uri: URI) -> State:
        """Return the optimistic state. Raises `KeyError` for a channel that is not subscribed to."""
        return cast("State", self._mirrors[uri].view().state)

    def root(self) -> RootState:
        """Return the optimistic state of the root. Raises `KeyError` if it is not subscribed to."""
        return cast("RootState", self._view(ROOT_URI, "root"))

    def session(self, uri: URI) -> SessionState:
        """Return the optimistic state of a session. Raises `KeyError` if the URI has none here."""
        return cast("SessionState", self._view(uri, "session"))

    def chat(self, uri: URI) -> ChatState:
        """Return the optimistic state of a chat. Raises `KeyError` if the URI has none here."""
        return cast("ChatState", self._view(uri, "chat"))

    def terminal(self, uri: URI) -> TerminalState:
        """Return the optimistic state of a terminal. Raises `KeyError` if the URI has none here."""
        return cast("TerminalState", self._view(uri, "terminal"))

    def _view(self, uri: URI, kind: ResourceKind) -> State:
        mirror = self._mirrors[uri]
        if mirror.kind != kind:
            raise KeyError(uri)
        return cast("State", mirror.view().state)

    def confirmed(self, uri: URI) -> State:
        """Return the confirmed state. Raises `KeyError` for a channel that is not subscribed to."""
        return cast("State", self._mirrors[uri].confirmed.state)

    def pending(self, uri: URI) -> list[Pending]:
        """Return the client's own actions on a channel that are not answered yet."""
        return list(self._mirrors[uri].pending)

    def load(self, snapshot: Snapshot) -> None:
        """Replace the confirmed state of a channel with a snapshot. Pending actions stay pending."""
        uri, state = snapshot["resource"], snapshot["state"]
        held = self._mirrors.get(uri)  # a second subscription to the same channel
        pending = held.pending if held else []
        self._mirrors[uri] = Mirror(kind_of(state), Live(state), snapshot["fromSeq"], pending)
        self.last_seen = max(self.last_seen, snapshot["fromSeq"])

    def forget(self, uri: URI) -> None:
        """Drop a channel, after `unsubscribe` or when it is gone."""
        self._mirrors.pop(uri, None)

    def dispatch(self, channel: URI, action: Action) -> DispatchActionParams:
        """Apply the client's own action at once, and return the params to send to the host."""
        self._client_seq += 1
        mirror = self._mirrors.get(channel)
        # Without a subscription there is nothing to show, but the action may be sent all the same.
        if mirror is not None:
            mirror.optimistic = REDUCERS[mirror.kind](mirror.view(), action)
            mirror.pending.append(Pending(self._client_seq, action))
        return {"channel": channel, "clientSeq": self._client_seq, "action": cast("Any", action)}

    def apply(self, envelope: ActionEnvelope) -> Rejection | None:
        """Apply an envelope from the host. Return the rejection if it rejects an action of this client."""
        action, seq = envelope["action"], envelope["serverSeq"]
        self.last_seen = max(self.last_seen, seq)
        mirror = self._mirrors.get(envelope["channel"])
        client_seq = self._own_seq(envelope)
        reason = envelope.get("rejectionReason")
        if mirror is not None and client_seq is not None:
            _remove_pending(mirror, client_seq)
        # A snapshot has everything up to its number, so an older envelope is in it already (Q1).
        if reason is None and mirror is not None and seq > mirror.seq:
            self._confirm(mirror, action, seq)
        return None if reason is None or client_seq is None else Rejection(client_seq, action, reason)

    def _own_seq(self, envelope: ActionEnvelope) -> int | None:
        origin = envelope.get("origin")
        return origin["clientSeq"] if origin and origin["clientId"] == self.client_id else None

    @staticmethod
    def _confirm(mirror: Mirror, action: Any, seq: int) -> None:
        mirror.confirmed = REDUCERS[mirror.kind](mirror.confirmed, action)
        mirror.seq = seq
        # With nothing pending both states are the same. Otherwise the pending actions are applied again, but
        # only when the state is read: a stream of envelopes would do it for each of them.
        mirror.optimistic = None if mirror.pending else mirror.confirmed

    def reconnect_params(self) -> ReconnectParams:
        """Return the params of `reconnect`."""
        return {
            "channel": ROOT_URI,
            "clientId": self.client_id,
            "lastSeenServerSeq": self.last_seen,
            "subscriptions": self.subscriptions,
        }

    def apply_reconnect(self, result: ReconnectResult) -> ReconnectOutcome:
        """Apply the result of `reconnect`: a replay or snapshots. Nothing is pending afterwards.

        An action that was not answered may or may not have reached the host. To send one again, keep its
        `clientSeq`: the host recognizes a repetition by it.
        """
        rejected: list[Rejection] = []
        # Q2: a replay names what is gone. Snapshots do not; what has none is gone.
        if result["type"] == "replay":
            gone = result["missing"]
            rejections = [self.apply(envelope) for envelope in result["actions"]]
            rejected = [one for one in rejections if one is not None]
        else:
            snapshots = result["snapshots"]
            gone = sorted(self._mirrors.keys() - {snapshot["resource"] for snapshot in snapshots})
            # The host may have restarted its count at a lower number: from now on, that one is right.
            self.last_seen = 0 if snapshots else self.last_seen
            for snapshot in snapshots:
                self.load(snapshot)
        for uri in gone:
            self.forget(uri)
        return ReconnectOutcome(gone, rejected, self._drop_pending())

    def _drop_pending(self) -> list[Pending]:
        unanswered = [entry for mirror in self._mirrors.values() for entry in mirror.pending]
        # Not kept as pending: whether the host has applied them is in the new confirmed state.
        for mirror in self._mirrors.values():
            mirror.pending, mirror.optimistic = [], mirror.confirmed
        return sorted(unanswered, key=lambda entry: entry.client_seq)


def _remove_pending(mirror: Mirror, client_seq: int) -> None:
    """Remove an answered action from the list, wherever it is: echoes may come out of order."""
    mirror.pending = [entry for entry in mirror.pending if entry.client_seq != client_seq]
    mirror.optimistic = None


KINDS: tuple[tuple[str, ResourceKind], ...] = (
    ("agents", "root"),
    ("chats", "session"),
    ("turns", "chat"),
    ("content", "terminal"),
    ("files", "changeset"),
    ("recursive", "resourceWatch"),
    ("annotations", "annotations"),
    ("canvasId", "canvas"),
    ("entries", "automation"),
    ("automation", "automationRun"),
)
"""The key by which the state of each kind of channel is known."""


def kind_of(state: Any) -> ResourceKind:
    """Return the kind of a channel by its state. Clients choose URIs freely, so a URI does not tell (G4)."""
    return next((kind for key, kind in KINDS if key in state), "root")
