"""The replica of a client of AHP 0.1, as those keep it that were written for it: a peer for the tests."""

from dataclasses import dataclass, field
from typing import Any, cast

from agenthost.core.legacy.reducers import REDUCERS, Live, ResourceKind
from agenthost.wire.ahp.legacy import ROOT_URI
from agenthost.wire.ahp.legacy.actions import action_resource
from agenthost.wire.ahp.legacy.actions.envelope import ActionEnvelope
from agenthost.wire.ahp.legacy.actions.text import Action
from agenthost.wire.ahp.legacy.commands.connection import (
    DispatchActionParams,
    ReconnectParams,
    ReconnectResult,
)
from agenthost.wire.ahp.legacy.common import URI
from agenthost.wire.ahp.legacy.root import RootState
from agenthost.wire.ahp.legacy.session import SessionState
from agenthost.wire.ahp.legacy.snapshot import Snapshot, State
from agenthost.wire.ahp.legacy.terminal import TerminalState


@dataclass(frozen=True, slots=True)
class Pending:
    """An action of the client's own that the host has not answered yet."""

    client_seq: int
    action: Action
    now: float


@dataclass(frozen=True, slots=True)
class Rejection:
    """An action of the client's own that the host refused."""

    client_seq: int
    action: Action
    reason: str


@dataclass(frozen=True, slots=True)
class ReconnectOutcome:
    """The result of a reconnection: URIs that are gone, rejections, and actions that were never answered."""

    gone: list[URI]
    rejected: list[Rejection]
    unanswered: list[Pending]


@dataclass(slots=True)
class Mirror:
    """One resource as the client sees it."""

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
                self.optimistic = REDUCERS[self.kind](self.optimistic, entry.action, entry.now)
        return self.optimistic


class Replica:
    """All resources that one client is subscribed to, and its own actions that are not answered yet."""

    def __init__(self, client_id: str) -> None:
        self.client_id = client_id
        self.last_seen = 0
        self._client_seq = 0
        self._mirrors: dict[URI, Mirror] = {}

    @property
    def subscriptions(self) -> list[URI]:
        """The resources that have a state here."""
        return list(self._mirrors)

    def state(self, uri: URI) -> State:
        """Return the optimistic state. Raises `KeyError` for a resource that is not subscribed to."""
        return cast("State", self._mirrors[uri].view().state)

    def root(self) -> RootState:
        """Return the optimistic state of the root. Raises `KeyError` if it is not subscribed to."""
        return cast("RootState", self._view(ROOT_URI, "root"))

    def session(self, uri: URI) -> SessionState:
        """Return the optimistic state of a session. Raises `KeyError` if the URI has none here."""
        return cast("SessionState", self._view(uri, "session"))

    def terminal(self, uri: URI) -> TerminalState:
        """Return the optimistic state of a terminal. Raises `KeyError` if the URI has none here."""
        return cast("TerminalState", self._view(uri, "terminal"))

    def _view(self, uri: URI, kind: ResourceKind) -> State:
        if self._mirrors[uri].kind != kind:
            raise KeyError(uri)
        return self.state(uri)

    def confirmed(self, uri: URI) -> State:
        """Return the confirmed state. Raises `KeyError` for a resource that is not subscribed to."""
        return cast("State", self._mirrors[uri].confirmed.state)

    def pending(self, uri: URI) -> list[Pending]:
        """Return the client's own actions on a resource that are not answered yet."""
        return list(self._mirrors[uri].pending)

    def load(self, snapshot: Snapshot) -> None:
        """Replace the confirmed state of a resource with a snapshot. Pending actions stay pending."""
        uri, state = snapshot["resource"], snapshot["state"]
        held = self._mirrors.get(uri)  # a second subscription to the same resource
        pending = held.pending if held else []
        self._mirrors[uri] = Mirror(_resource_kind(state), Live(state), snapshot["fromSeq"], pending)
        self.last_seen = max(self.last_seen, snapshot["fromSeq"])

    def forget(self, uri: URI) -> None:
        """Drop a resource, after `unsubscribe` or when it is gone."""
        self._mirrors.pop(uri, None)

    def dispatch(self, action: Action, now: float) -> DispatchActionParams:
        """Apply the client's own action at once, and return the params to send to the host."""
        self._client_seq += 1
        mirror = self._mirrors.get(action_resource(action) or "")
        # Without a subscription there is nothing to show, but the action may still be sent.
        if mirror is not None:
            entry = Pending(self._client_seq, action, now)
            mirror.optimistic = REDUCERS[mirror.kind](mirror.view(), action, now)
            mirror.pending.append(entry)
        return {"clientSeq": self._client_seq, "action": cast("Any", action)}

    def apply(self, envelope: ActionEnvelope, now: float) -> Rejection | None:
        """Apply an envelope from the host. Return the rejection if it rejects an action of this client."""
        action, seq = envelope["action"], envelope["serverSeq"]
        self.last_seen = max(self.last_seen, seq)
        mirror = self._mirrors.get(action_resource(action) or "")
        client_seq = self._own_seq(envelope)
        reason = envelope.get("rejectionReason")
        if mirror is not None and client_seq is not None:
            _remove_pending(mirror, client_seq)
        # HR-S02: a snapshot has everything up to its number, so an older envelope is in it already.
        if reason is None and mirror is not None and seq > mirror.seq:
            self._confirm(mirror, action, seq, now)
        return None if reason is None or client_seq is None else Rejection(client_seq, action, reason)

    def _own_seq(self, envelope: ActionEnvelope) -> int | None:
        origin = envelope.get("origin")
        return origin["clientSeq"] if origin and origin["clientId"] == self.client_id else None

    @staticmethod
    def _confirm(mirror: Mirror, action: Any, seq: int, now: float) -> None:
        mirror.confirmed = REDUCERS[mirror.kind](mirror.confirmed, action, now)  # G3: the client's own time
        mirror.seq = seq
        # With nothing pending both states are the same. Otherwise the pending actions are applied again, but
        # only when the state is read: a stream of envelopes would do it for each of them.
        mirror.optimistic = None if mirror.pending else mirror.confirmed

    def reconnect_params(self) -> ReconnectParams:
        """Return the params of `reconnect`."""
        return {
            "clientId": self.client_id,
            "lastSeenServerSeq": self.last_seen,
            "subscriptions": self.subscriptions,
        }

    def apply_reconnect(self, result: ReconnectResult, now: float) -> ReconnectOutcome:
        """Apply the result of `reconnect`: a replay or snapshots. Nothing is pending afterwards.

        An action that was not answered may or may not have reached the host. To send one again, keep its
        `clientSeq`: the host recognizes a repetition by it.
        """
        rejected: list[Rejection] = []
        # HR-C03: a replay names what is gone. HR-C04: snapshots do not; what has none is gone.
        if result["type"] == "replay":
            gone = result["missing"]
            rejections = [self.apply(envelope, now) for envelope in result["actions"]]
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


def _resource_kind(state: Any) -> ResourceKind:
    """Return the kind of a resource by its state. Clients choose URIs freely, so a URI does not tell."""
    return "session" if "summary" in state else "terminal" if "content" in state else "root"
