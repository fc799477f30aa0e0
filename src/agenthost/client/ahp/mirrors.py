"""Mirrors: a replica that answers. Who dispatched something hears what came of it, who listens each change.

What was dispatched and not answered when a connection broke is kept, and after a reconnection:

- after a replay it is sent again with the same number. What the host had done was in the replay, and what
  reaches it only now, by the old connection, it knows by its number.
- after a snapshot nobody can tell whether it happened. What was never sent is sent; of the rest the state
  tells whether a turn started, and all else ends as `Unanswered`. Sent again, it might happen twice.
"""

import logging
import time
from dataclasses import dataclass
from typing import Any

from agenthost.client.ahp.changes import Change, ChangeKind, Echo, Listeners
from agenthost.client.ahp.errors import AhpError, Gone, Rejected, Unanswered
from agenthost.core.reducers import Live
from agenthost.core.replica import Mirror, Pending, Rejection, Replica
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.actions import resource_of
from agenthost.wire.ahp.actions.envelope import ActionEnvelope
from agenthost.wire.ahp.actions.text import Action, TerminalData
from agenthost.wire.ahp.commands.connection import DispatchActionParams, ReconnectResult
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.snapshot import Snapshot

__all__ = ["Mirrors", "Outgoing", "now_ms"]

log = logging.getLogger("agenthost.client")


def now_ms() -> int:
    """Give the time, as states have it."""
    return int(time.time() * 1000)


@dataclass(slots=True)
class Outgoing:
    """An action of our own on its way."""

    uri: URI
    params: DispatchActionParams
    echo: Echo
    is_sent: bool = False
    is_lost: bool = False


class Mirrors(Replica):
    """All that a client watches, with those who want to know."""

    def __init__(self, client_id: str) -> None:
        super().__init__(client_id)
        # Higher than those of an earlier life of this client, whose answers may still come.
        self._client_seq = now_ms()
        self._outgoing: dict[int, Outgoing] = {}
        self._listeners: dict[URI, Listeners] = {}

    def listeners(self, uri: URI) -> Listeners:
        """Give those who want to know of a resource."""
        return self._listeners.setdefault(uri, Listeners())

    def is_watched(self, uri: URI) -> bool:
        """Tell whether a resource has a state here."""
        return uri in self._mirrors

    def _tell(self, uri: URI, change: Change) -> None:
        listeners = self._listeners.get(uri)
        if listeners is not None:
            listeners.tell(change)

    # What the host says

    def take_text(self, action: Any, seq: int, now: float) -> None:
        """Apply a text action of the host's own: `apply` for nearly all that comes, and nothing else."""
        if seq > self.last_seen:
            self.last_seen = seq
        uri = action.terminal if type(action) is TerminalData else action.session
        mirror = self._mirrors.get(uri)
        if mirror is None or seq <= mirror.seq:
            return
        before = mirror.confirmed
        self._confirm(mirror, action, seq, now)
        listeners = self._listeners.get(uri)
        if listeners:
            listeners.tell(Change("confirmed", before, mirror.confirmed, action))

    def apply(self, envelope: ActionEnvelope, now: float) -> Rejection | None:
        """Apply what the host says happened, settle what we dispatched, and tell who listens."""
        uri = resource_of(envelope["action"]) or ""
        mirror = self._mirrors.get(uri)
        before = mirror.confirmed if mirror is not None else None
        seen = self._seen(mirror) if envelope.get("rejectionReason") is not None else None
        rejection = super().apply(envelope, now)
        client_seq = self._own_seq(envelope)
        if rejection is not None:
            error = Rejected(rejection.reason)
            self._settle(rejection.client_seq, error)
            after = self._seen(mirror)
            self._tell(
                uri, Change("rejected", seen, after, envelope["action"], envelope.get("origin"), error)
            )
            return rejection
        if client_seq is not None:
            self._settle(client_seq, None)
        if mirror is not None and mirror.confirmed is not before:
            action, origin = envelope["action"], envelope.get("origin")
            self._tell(uri, Change("confirmed", before, mirror.confirmed, action, origin))
        return None

    @staticmethod
    def _seen(mirror: Mirror | None) -> Live[Any] | None:
        return mirror.view() if mirror is not None else None

    def load(self, snapshot: Snapshot) -> None:
        """Take a snapshot, and tell who listens."""
        uri = snapshot["resource"]
        held = self._mirrors.get(uri)
        super().load(snapshot)
        before = held.confirmed if held is not None else None
        self._tell(uri, Change("snapshot", before, self._mirrors[uri].confirmed))

    def forget(self, uri: URI, error: AhpError | None = None) -> None:
        """Stop watching a resource; what was dispatched to it finds no answer any more."""
        mirror = self._mirrors.get(uri)
        super().forget(uri)
        if mirror is None:
            return
        reason = error or Gone(f"{uri} is not there any more")
        for outgoing in [one for one in self._outgoing.values() if one.uri == uri]:
            self._settle(outgoing.params["clientSeq"], reason)
        kind: ChangeKind = "gone" if isinstance(reason, Gone) else "closed"
        self._tell(uri, Change(kind, mirror.confirmed, None, error=reason))
        if uri != ROOT_URI:
            self._listeners.pop(uri, None)

    def end(self, error: AhpError) -> None:
        """Watch nothing any more."""
        for uri in self.subscriptions:
            self.forget(uri, error)
        for client_seq in list(self._outgoing):
            self._settle(client_seq, error)

    # What we say

    def act(self, action: Action) -> Outgoing:
        """Apply an action of our own at once, and give what has to be sent.

        Raises:
            Gone: its resource is not watched.
        """
        uri = resource_of(action) or ""
        mirror = self._mirrors.get(uri)
        if mirror is None:
            raise Gone(f"{uri} is not there, or not watched")
        before = mirror.view()
        params = self.dispatch(action, now_ms())
        outgoing = Outgoing(uri, params, Echo(params["clientSeq"], action))
        self._outgoing[params["clientSeq"]] = outgoing
        origin = {"clientId": self.client_id, "clientSeq": params["clientSeq"]}
        self._tell(uri, Change("dispatched", before, mirror.view(), action, origin))  # type: ignore[arg-type]
        return outgoing

    def _settle(self, client_seq: int, error: AhpError | None) -> None:
        outgoing = self._outgoing.pop(client_seq, None)
        if outgoing is not None:
            outgoing.echo.settle(error)

    # Coming back

    def welcome(self, result: ReconnectResult) -> list[URI]:
        """Take what a reconnection brought; gives the resources that are gone."""
        comeback = self.come_back(result, now_ms())
        if result["type"] == "snapshot" and not result["snapshots"]:
            self.last_seen = 0  # the host may count from a lower number than before
        for entry in comeback.unanswered:
            outgoing = self._outgoing.get(entry.client_seq)
            if outgoing is None:
                continue
            if not outgoing.is_lost and (result["type"] == "replay" or not outgoing.is_sent):
                self._put_back(outgoing.uri, entry)
            else:
                self._settle(entry.client_seq, self._told_by_state(outgoing))
        return comeback.gone

    def _put_back(self, uri: URI, entry: Pending) -> None:
        mirror = self._mirrors[uri]
        mirror.pending.append(entry)
        mirror.optimistic = None

    def _told_by_state(self, outgoing: Outgoing) -> AhpError | None:
        """Say what is known of an action that nobody answered: nothing is wrong if its turn is there."""
        action: Any = outgoing.echo.action
        if outgoing.is_lost:
            return Unanswered("the host would not take the message with it; it may be too large")
        if action["type"] == "session/turnStarted":
            state: Any = self.confirmed(outgoing.uri)
            turns = [*state["turns"], state.get("activeTurn", {})]
            if any(turn.get("id") == action["turnId"] for turn in turns):
                return None
        return Unanswered(f"nobody can tell whether {action['type']} happened; the state does")

    def to_send(self) -> list[Outgoing]:
        """Give what has to be sent after coming back, in order."""
        return [self._outgoing[client_seq] for client_seq in sorted(self._outgoing)]

    def give_up_sent(self) -> None:
        """Note that what was sent is not to be sent again, since the host would not take one of it."""
        for outgoing in self._outgoing.values():
            outgoing.is_lost = outgoing.is_sent
