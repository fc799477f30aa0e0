"""The observable replica: states that tell listeners of each change, and actions that get their answer.

Actions that have no answer when a connection is lost are kept. After reconnecting:

- After a replay they are sent again with the same `clientSeq`. The answers to those that the host had applied
  were in the replay; a repeat that reaches it twice it recognizes by the number (HR-C09).
- After a snapshot nobody knows whether they were applied, and sending them again could apply them twice.
  Those that were never sent are sent. Of the rest, the state tells whether a turn was started; all others
  end as `OutcomeUnknown`.
"""

import time
from dataclasses import dataclass
from typing import Any

from agenthost.client.ahp.changes import Change, ChangeKind, Listeners
from agenthost.client.ahp.dispatched_action import DispatchedAction
from agenthost.client.ahp.errors import AhpError, Gone, OutcomeUnknown, Rejected
from agenthost.core.legacy.reducers import Live
from agenthost.core.legacy.replica import Mirror, Pending, Rejection, Replica
from agenthost.wire.ahp.legacy import ROOT_URI
from agenthost.wire.ahp.legacy.actions import action_resource
from agenthost.wire.ahp.legacy.actions.envelope import ActionEnvelope
from agenthost.wire.ahp.legacy.actions.text import Action, TerminalData
from agenthost.wire.ahp.legacy.commands.connection import DispatchActionParams, ReconnectResult
from agenthost.wire.ahp.legacy.common import URI
from agenthost.wire.ahp.legacy.snapshot import Snapshot

__all__ = ["ObservableReplica", "OutgoingAction", "now_ms"]


def now_ms() -> int:
    """Return the time as states have it."""
    return int(time.time() * 1000)


@dataclass(slots=True)
class OutgoingAction:
    """An action of this client that the host has not answered.

    Attributes:
        is_sent: whether it was sent on any connection.
        is_lost: whether it must not be sent again, because the host closed the connection over it.
    """

    uri: URI
    params: DispatchActionParams
    dispatched: DispatchedAction
    is_sent: bool = False
    is_lost: bool = False


class ObservableReplica(Replica):
    """The states of all resources that a client is subscribed to, with their listeners."""

    def __init__(self, client_id: str) -> None:
        super().__init__(client_id)
        # Above those of an earlier process with the same client id, whose answers may still come.
        self._client_seq = now_ms()
        self._outgoing: dict[int, OutgoingAction] = {}
        self._listeners: dict[URI, Listeners] = {}

    def listeners(self, uri: URI) -> Listeners:
        """Return the listeners of a resource."""
        return self._listeners.setdefault(uri, Listeners())

    def is_subscribed(self, uri: URI) -> bool:
        """Return whether there is a state of this resource."""
        return uri in self._mirrors

    def _notify(self, uri: URI, change: Change) -> None:
        listeners = self._listeners.get(uri)
        if listeners is not None:
            listeners.notify(change)

    # From the host

    def apply_text(self, action: Any, seq: int, now: float) -> None:
        """Apply a text action of the host: a short form of `apply` for nearly all frames."""
        if seq > self.last_seen:
            self.last_seen = seq
        uri = action.terminal if type(action) is TerminalData else action.session
        mirror = self._mirrors.get(uri)
        if mirror is None or seq <= mirror.seq:  # the snapshot has it already (HR-S02)
            return
        before = mirror.confirmed
        self._confirm(mirror, action, seq, now)
        listeners = self._listeners.get(uri)
        if listeners:
            listeners.notify(Change("confirmed", before, mirror.confirmed, action))

    def apply(self, envelope: ActionEnvelope, now: float) -> Rejection | None:
        """Apply an envelope, resolve the action if it is ours, and notify listeners."""
        uri = action_resource(envelope["action"]) or ""
        mirror = self._mirrors.get(uri)
        before = mirror.confirmed if mirror is not None else None
        shown = self._view_of(mirror) if envelope.get("rejectionReason") is not None else None
        rejection = super().apply(envelope, now)
        client_seq = self._own_seq(envelope)
        if rejection is not None:
            error = Rejected(rejection.reason)
            self._resolve(rejection.client_seq, error)
            after = self._view_of(mirror)
            self._notify(
                uri, Change("rejected", shown, after, envelope["action"], envelope.get("origin"), error)
            )
            return rejection
        if client_seq is not None:
            self._resolve(client_seq, None)
        if mirror is not None and mirror.confirmed is not before:
            action, origin = envelope["action"], envelope.get("origin")
            self._notify(uri, Change("confirmed", before, mirror.confirmed, action, origin))
        return None

    @staticmethod
    def _view_of(mirror: Mirror | None) -> Live[Any] | None:
        return mirror.view() if mirror is not None else None

    def load(self, snapshot: Snapshot) -> None:
        """Load a snapshot and notify listeners."""
        uri = snapshot["resource"]
        held = self._mirrors.get(uri)
        super().load(snapshot)
        before = held.confirmed if held is not None else None
        self._notify(uri, Change("snapshot", before, self._mirrors[uri].confirmed))

    def forget(self, uri: URI, error: AhpError | None = None) -> None:
        """Drop a resource; actions that were dispatched to it get no answer any more."""
        mirror = self._mirrors.get(uri)
        super().forget(uri)
        if mirror is None:
            return
        reason = error or Gone(f"{uri} no longer exists")
        for outgoing in [one for one in self._outgoing.values() if one.uri == uri]:
            self._resolve(outgoing.params["clientSeq"], reason)
        kind: ChangeKind = "gone" if isinstance(reason, Gone) else "closed"
        self._notify(uri, Change(kind, mirror.confirmed, None, error=reason))
        if uri != ROOT_URI:
            self._listeners.pop(uri, None)

    def close(self, error: AhpError) -> None:
        """Drop all resources."""
        for uri in self.subscriptions:
            self.forget(uri, error)
        for client_seq in list(self._outgoing):
            self._resolve(client_seq, error)

    # From this client

    def submit(self, action: Action) -> OutgoingAction:
        """Apply an action of this client optimistically, and return what has to be sent.

        Raises:
            Gone: there is no state of its resource.
        """
        uri = action_resource(action) or ""
        mirror = self._mirrors.get(uri)
        if mirror is None:
            raise Gone(f"{uri} does not exist, or is not subscribed")
        before = mirror.view()
        params = self.dispatch(action, now_ms())
        outgoing = OutgoingAction(uri, params, DispatchedAction(params["clientSeq"], action))
        self._outgoing[params["clientSeq"]] = outgoing
        origin = {"clientId": self.client_id, "clientSeq": params["clientSeq"]}
        self._notify(uri, Change("dispatched", before, mirror.view(), action, origin))  # type: ignore[arg-type]
        return outgoing

    def _resolve(self, client_seq: int, error: AhpError | None) -> None:
        outgoing = self._outgoing.pop(client_seq, None)
        if outgoing is not None:
            outgoing.dispatched.resolve(error)

    # Reconnecting

    def resume(self, result: ReconnectResult) -> list[URI]:
        """Apply the result of a reconnection, and return the resources that are gone."""
        comeback = self.apply_reconnect(result, now_ms())
        if result["type"] == "snapshot" and not result["snapshots"]:
            self.last_seen = 0  # the host may count from a lower number now
        for entry in comeback.unanswered:
            outgoing = self._outgoing.get(entry.client_seq)
            if outgoing is None:
                continue
            if not outgoing.is_lost and (result["type"] == "replay" or not outgoing.is_sent):
                self._restore_pending(outgoing.uri, entry)
            else:
                self._resolve(entry.client_seq, self._outcome_by_state(outgoing))
        return comeback.gone

    def _restore_pending(self, uri: URI, entry: Pending) -> None:
        mirror = self._mirrors[uri]
        mirror.pending.append(entry)
        mirror.optimistic = None

    def _outcome_by_state(self, outgoing: OutgoingAction) -> AhpError | None:
        """Return the error of an action that has no answer; None if the state shows its turn."""
        action: Any = outgoing.dispatched.action
        if outgoing.is_lost:
            return OutcomeUnknown("the host closed the connection over this message; it may be too large")
        if action["type"] == "session/turnStarted":
            state: Any = self.confirmed(outgoing.uri)
            turns = [*state["turns"], state.get("activeTurn", {})]
            if any(turn.get("id") == action["turnId"] for turn in turns):
                return None
        return OutcomeUnknown(f"nobody knows whether {action['type']} was applied; look at the state")

    def unanswered(self) -> list[OutgoingAction]:
        """Return the actions without an answer, in order: all of them are sent on a new connection."""
        return [self._outgoing[client_seq] for client_seq in sorted(self._outgoing)]

    def abandon_sent(self) -> None:
        """Never send again what was sent: the host closed the connection over one of these messages."""
        for outgoing in self._outgoing.values():
            outgoing.is_lost = outgoing.is_sent
