"""Replicas: the client's copy of what it watches.

For each resource: the state that the host confirmed, the client's own actions that it has not confirmed
yet, and the state as it will be if it does: the optimistic one, which is what a person should see. The
host wins every conflict. Knows no connection: whoever has one feeds it.
"""

from dataclasses import dataclass, field
from typing import Any, cast

from agenthost.core.reducers import REDUCERS, Live, ResourceKind
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.actions import resource_of
from agenthost.wire.ahp.actions.envelope import ActionEnvelope
from agenthost.wire.ahp.actions.text import Action
from agenthost.wire.ahp.commands.connection import DispatchActionParams, ReconnectParams, ReconnectResult
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.root import RootState
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.ahp.snapshot import Snapshot, State
from agenthost.wire.ahp.terminal import TerminalState


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
class Comeback:
    """What a reconnection brought: URIs that are gone, refusals, and actions that nobody answered."""

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
        """Give the confirmed state with the pending actions on top."""
        if self.optimistic is None:
            self.optimistic = self.confirmed
            for entry in self.pending:
                self.optimistic = REDUCERS[self.kind](self.optimistic, entry.action, entry.now)
        return self.optimistic


class Replica:
    """All that one client watches, and what it said and was not answered on."""

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
        """Give the optimistic state. Raises `KeyError` for a resource that is not watched."""
        return cast("State", self._mirrors[uri].view().state)

    def root(self) -> RootState:
        """Give the optimistic state of the root. Raises `KeyError` if it is not watched."""
        return cast("RootState", self._view(ROOT_URI, "root"))

    def session(self, uri: URI) -> SessionState:
        """Give the optimistic state of a session. Raises `KeyError` if it is not watched, or is none."""
        return cast("SessionState", self._view(uri, "session"))

    def terminal(self, uri: URI) -> TerminalState:
        """Give the optimistic state of a terminal. Raises `KeyError` if it is not watched, or is none."""
        return cast("TerminalState", self._view(uri, "terminal"))

    def _view(self, uri: URI, kind: ResourceKind) -> State:
        if self._mirrors[uri].kind != kind:
            raise KeyError(uri)
        return self.state(uri)

    def confirmed(self, uri: URI) -> State:
        """Give the confirmed state. Raises `KeyError` for a resource that is not watched."""
        return cast("State", self._mirrors[uri].confirmed.state)

    def pending(self, uri: URI) -> list[Pending]:
        """Give the client's own actions on a resource that were not answered yet."""
        return list(self._mirrors[uri].pending)

    def load(self, snapshot: Snapshot) -> None:
        """Take a snapshot in place of whatever was held of that resource; what is pending stays on top."""
        uri, state = snapshot["resource"], snapshot["state"]
        held = self._mirrors.get(uri)
        pending = held.pending if held else []
        self._mirrors[uri] = Mirror(_kind_of(state), Live(state), snapshot["fromSeq"], pending)
        self.last_seen = max(self.last_seen, snapshot["fromSeq"])

    def forget(self, uri: URI) -> None:
        """Stop watching a resource: after `unsubscribe`, or when it is gone."""
        self._mirrors.pop(uri, None)

    def dispatch(self, action: Action, now: float) -> DispatchActionParams:
        """Apply the client's own action at once, and give what has to be sent to the host."""
        self._client_seq += 1
        mirror = self._mirrors.get(resource_of(action) or "")
        if mirror is not None:
            entry = Pending(self._client_seq, action, now)
            mirror.optimistic = REDUCERS[mirror.kind](mirror.view(), action, now)
            mirror.pending.append(entry)
        return {"clientSeq": self._client_seq, "action": cast("Any", action)}

    def apply(self, envelope: ActionEnvelope, now: float) -> Rejection | None:
        """Apply what the host says happened. Gives the refusal, if it is one of an action of this client."""
        action, seq = envelope["action"], envelope["serverSeq"]
        self.last_seen = max(self.last_seen, seq)
        mirror = self._mirrors.get(resource_of(action) or "")
        client_seq = self._own_seq(envelope)
        reason = envelope.get("rejectionReason")
        if mirror is not None and client_seq is not None:
            _settle(mirror, client_seq)
        if reason is None and mirror is not None and seq > mirror.seq:
            self._confirm(mirror, action, seq, now)
        return None if reason is None or client_seq is None else Rejection(client_seq, action, reason)

    def _own_seq(self, envelope: ActionEnvelope) -> int | None:
        origin = envelope.get("origin")
        return origin["clientSeq"] if origin and origin["clientId"] == self.client_id else None

    @staticmethod
    def _confirm(mirror: Mirror, action: Any, seq: int, now: float) -> None:
        mirror.confirmed = REDUCERS[mirror.kind](mirror.confirmed, action, now)
        mirror.seq = seq
        # With nothing pending the two are one; else the pending ones are laid over anew when somebody looks.
        mirror.optimistic = None if mirror.pending else mirror.confirmed

    def reconnect_params(self) -> ReconnectParams:
        """Give what `reconnect` has to say."""
        return {
            "clientId": self.client_id,
            "lastSeenServerSeq": self.last_seen,
            "subscriptions": self.subscriptions,
        }

    def come_back(self, result: ReconnectResult, now: float) -> Comeback:
        """Take the answer to `reconnect`: replay or snapshots. Nothing is pending afterwards.

        An action that was not answered may or may not have reached the host: the state tells. Whoever
        sends one again keeps its `clientSeq`, by which the host knows a repetition.
        """
        rejected: list[Rejection] = []
        if result["type"] == "replay":
            gone = result["missing"]
            refusals = [self.apply(envelope, now) for envelope in result["actions"]]
            rejected = [refusal for refusal in refusals if refusal is not None]
        else:
            snapshots = result["snapshots"]
            gone = sorted(self._mirrors.keys() - {snapshot["resource"] for snapshot in snapshots})
            # The host may count from a lower number than before; its own is the one that holds now.
            self.last_seen = 0 if snapshots else self.last_seen
            for snapshot in snapshots:
                self.load(snapshot)
        for uri in gone:
            self.forget(uri)
        return Comeback(gone, rejected, self._drop_pending())

    def _drop_pending(self) -> list[Pending]:
        unanswered = [entry for mirror in self._mirrors.values() for entry in mirror.pending]
        for mirror in self._mirrors.values():
            mirror.pending, mirror.optimistic = [], mirror.confirmed
        return sorted(unanswered, key=lambda entry: entry.client_seq)


def _settle(mirror: Mirror, client_seq: int) -> None:
    """Take an answered action off the list, wherever it stands: echoes may come out of order."""
    mirror.pending = [entry for entry in mirror.pending if entry.client_seq != client_seq]
    mirror.optimistic = None


def _kind_of(state: Any) -> ResourceKind:
    """Tell the kind of a resource by its state; a client may choose any URI, so that says nothing."""
    return "session" if "summary" in state else "terminal" if "content" in state else "root"
