"""The observable replica: `agenthost.core.replica` with listeners, and with the answers to our own actions.

A session and its default chat are two channels, and one resource to an application: they have the same
listeners, and a change shows both states. So are a session and any chat that is open by itself: the URI of
that chat stands for the pair.

Actions that have no answer when a connection is lost:

- After a replay they stay pending and are sent again under their own number. A host that has them already
  recognizes the repetition by the number.
- After a snapshot nobody knows whether they were applied, and sending them again could apply them twice.
  Those that were never sent are sent. Of the rest, the state tells whether a turn was started; all others
  end as `OutcomeUnknown`.
"""

import time
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from agenthost.client.ahp.changes import Change, ChangeKind, Listeners
from agenthost.client.ahp.dispatched_action import DispatchedAction
from agenthost.client.ahp.errors import AhpError, Gone, OutcomeUnknown, Rejected
from agenthost.core.conversation import Conversation
from agenthost.core.reducers import Live
from agenthost.core.replica import Mirror, Pending, Rejection, Replica
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.actions.envelope import ActionEnvelope
from agenthost.wire.ahp.actions.text import Action
from agenthost.wire.ahp.commands.connection import DispatchActionParams, ReconnectResult
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.snapshot import Snapshot

__all__ = ["LivePair", "ObservableReplica", "OutgoingAction", "now_ms"]


def now_ms() -> int:
    """Return the time in milliseconds."""
    return int(time.time() * 1000)


class LivePair(NamedTuple):
    """A session and one of its chats. The states are built on demand."""

    session: Live[Any]
    chat: Live[Any]

    @property
    def state(self) -> Conversation:
        """Both states."""
        return Conversation(self.session.state, self.chat.state)


View: TypeAlias = Live[Any] | LivePair
"""What an application sees of a resource."""


@dataclass(slots=True)
class OutgoingAction:
    """An action of this client that the host has not answered.

    Attributes:
        is_sent: whether it was sent on any connection.
        is_lost: whether it must not be sent again, because the host closed the connection over it.
    """

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
        # The session and the chat of each resource that is a pair, and the resources that each channel is in.
        self._pairs: dict[URI, tuple[URI, URI]] = {}
        self._resources: dict[URI, tuple[URI, ...]] = {}

    # Resources

    def listeners(self, uri: URI) -> Listeners:
        """Return the listeners of a resource."""
        return self._listeners.setdefault(uri, Listeners())

    def is_subscribed(self, uri: URI) -> bool:
        """Return whether there is a state of this channel."""
        return uri in self._mirrors

    def pair(self, resource: URI, session: URI, chat: URI) -> None:
        """Let a session and one of its chats be one resource, known by the URI of either."""
        self._pairs[resource] = (session, chat)
        for channel in (session, chat):
            known = self._resources.get(channel, ())
            self._resources[channel] = known if resource in known else (*known, resource)

    def chat_of(self, resource: URI) -> URI:
        """Return the chat of a resource that is a pair. Raises `KeyError` if it is none."""
        return self._pairs[resource][1]

    def resources_of(self, channel: URI) -> tuple[URI, ...]:
        """Return the resources that a channel is in: of a default chat, its session."""
        return self._resources.get(channel, (channel,))

    def conversation(self, uri: URI) -> Conversation:
        """Return the optimistic states of a session and its chat. Raises `KeyError` if there are none."""
        session, chat = self._pairs[uri]
        return Conversation(self.session(session), self.chat(chat))

    def confirmed_conversation(self, uri: URI) -> Conversation:
        """Return the confirmed states of a session and its chat. Raises `KeyError` if there are none."""
        session, chat = (self._mirrors[channel] for channel in self._pairs[uri])
        return Conversation(session.confirmed.state, chat.confirmed.state)

    def _view_of(self, uri: URI, *, is_confirmed: bool) -> View | None:
        """Return what is seen of a resource; `None` if not all of it is there."""
        views = [
            None if mirror is None else mirror.confirmed if is_confirmed else mirror.view()
            for mirror in map(self._mirrors.get, self._pairs.get(uri, (uri,)))
        ]
        if None in views:
            return None
        return views[0] if len(views) == 1 else LivePair(*views)  # type: ignore[arg-type]

    def _views_of(self, channel: URI, *, is_confirmed: bool) -> list[tuple[URI, View | None]]:
        """Return what is seen of each resource of a channel that somebody listens to."""
        heard = [uri for uri in self.resources_of(channel) if self._listeners.get(uri)]
        return [(uri, self._view_of(uri, is_confirmed=is_confirmed)) for uri in heard]

    # From the host

    def apply_text(self, channel: URI, action: Any, seq: int) -> None:
        """Apply a text action of the host: a short form of `apply` for nearly all frames."""
        if seq > self.last_seen:
            self.last_seen = seq
        mirror = self._mirrors.get(channel)
        if mirror is None or seq <= mirror.seq:  # the snapshot has it already (Q1)
            return
        known = mirror.confirmed
        self._confirm(mirror, action, seq)
        for uri in self._resources.get(channel, (channel,)):
            listeners = self._listeners.get(uri)
            if not listeners:
                continue
            before: View = known
            after: View = mirror.confirmed
            if uri in self._pairs:
                session = self._mirrors[self._pairs[uri][0]].confirmed
                before, after = LivePair(session, known), LivePair(session, mirror.confirmed)
            listeners.notify(Change("confirmed", before, after, action, None, None, channel))

    def apply(self, envelope: ActionEnvelope) -> Rejection | None:
        """Apply an envelope, resolve the action if it is ours, and notify listeners."""
        channel, action, origin = envelope["channel"], envelope["action"], envelope.get("origin")
        mirror = self._mirrors.get(channel)
        is_refused = envelope.get("rejectionReason") is not None
        # Before the envelope is applied, because listeners are shown both states.
        views = self._views_of(channel, is_confirmed=not is_refused)
        known = None if mirror is None else mirror.confirmed
        rejection = super().apply(envelope)
        client_seq = self._own_seq(envelope)
        if rejection is not None:
            error = Rejected(rejection.reason)
            self._resolve(rejection.client_seq, error)
            self._notify(views, Change("rejected", None, None, action, origin, error, channel))
            return rejection
        if client_seq is not None:
            self._resolve(client_seq, None)
        # G2: an action that does not apply leaves the same object.
        if mirror is not None and mirror.confirmed is not known:
            self._notify(views, Change("confirmed", None, None, action, origin, channel=channel))
        return None

    def _notify(self, views: list[tuple[URI, View | None]], change: Change) -> None:
        """Tell the listeners of each resource of a change, with what was seen of it before and is now."""
        is_confirmed = change.kind in ("confirmed", "snapshot")
        for uri, before in views:
            after = self._view_of(uri, is_confirmed=is_confirmed)
            if after is not None:
                self.listeners(uri).notify(change.of(before, after))

    def load(self, snapshot: Snapshot) -> None:
        """Load a snapshot and notify listeners."""
        channel = snapshot["resource"]
        views = self._views_of(channel, is_confirmed=True)
        super().load(snapshot)
        self._notify(views, Change("snapshot", None, None, channel=channel))

    def forget(self, uri: URI, error: AhpError | None = None) -> None:
        """Drop a channel with all that is shown with it: with a session or default chat, all its chats."""
        near = self.resources_of(uri)
        resources = {one: None for resource in near for one in (resource, *self.resources_of(resource))}
        self.release(list(resources), error)

    def release(self, resources: list[URI], error: AhpError | None = None) -> list[URI]:
        """Drop resources. Return the channels that are in no other, which are dropped too.

        Actions that were dispatched to these channels get no answer.
        """
        befores = {uri: self._view_of(uri, is_confirmed=True) for uri in resources}
        channels = {channel: None for uri in resources for channel in self._pairs.pop(uri, (uri,))}
        unused = [channel for channel in channels if not self._leave(channel, resources)]
        is_known = any(channel in self._mirrors for channel in channels)
        for channel in unused:
            super().forget(channel)
        if not is_known:
            return []
        for outgoing in [one for one in self._outgoing.values() if one.params["channel"] in unused]:
            reason = error or Gone(f"{outgoing.params['channel']} no longer exists")
            self._resolve(outgoing.params["clientSeq"], reason)
        for uri, before in befores.items():
            reason = error or Gone(f"{uri} no longer exists")
            kind: ChangeKind = "gone" if isinstance(reason, Gone) else "closed"
            self.listeners(uri).notify(Change(kind, before, None, error=reason, channel=uri))
            # The registry listens to the root for as long as the client lives.
            if uri != ROOT_URI:
                self._listeners.pop(uri, None)
        return unused

    def _leave(self, channel: URI, resources: list[URI]) -> bool:
        """Take a channel out of resources. Return whether it is still in another."""
        others = tuple(one for one in self._resources.get(channel, ()) if one not in resources)
        if others:
            self._resources[channel] = others
        else:
            self._resources.pop(channel, None)
        return bool(others)

    def close(self, error: AhpError) -> None:
        """Drop all resources."""
        for uri in self.subscriptions:
            self.forget(uri, error)
        for client_seq in list(self._outgoing):
            self._resolve(client_seq, error)

    # From this client

    def submit(self, channel: URI, action: Action) -> OutgoingAction:
        """Apply an action of this client optimistically, and return what has to be sent.

        Raises:
            Gone: there is no state of its channel.
        """
        if channel not in self._mirrors:
            raise Gone(f"{channel} does not exist, or is not subscribed")
        views = self._views_of(channel, is_confirmed=False)
        params = self.dispatch(channel, action)
        outgoing = OutgoingAction(params, DispatchedAction(params["clientSeq"], action))
        self._outgoing[params["clientSeq"]] = outgoing
        origin: Any = {"clientId": self.client_id, "clientSeq": params["clientSeq"]}
        self._notify(views, Change("dispatched", None, None, action, origin, channel=channel))
        return outgoing

    def find_outgoing(self, client_seq: int) -> OutgoingAction | None:
        """Return an action without an answer, by its number."""
        return self._outgoing.get(client_seq)

    def _resolve(self, client_seq: int, error: AhpError | None) -> None:
        outgoing = self._outgoing.pop(client_seq, None)
        if outgoing is not None:
            outgoing.dispatched.resolve(error)

    # Reconnecting

    def resume(self, result: ReconnectResult) -> list[URI]:
        """Apply the result of a reconnection, and return the resources that are gone."""
        resources = {uri for channel in self._mirrors for uri in self.resources_of(channel)}
        comeback = self.apply_reconnect(result)
        if result["type"] == "snapshot" and not result["snapshots"]:
            self.last_seen = 0  # the host may count from a lower number now
        for entry in comeback.unanswered:
            outgoing = self._outgoing.get(entry.client_seq)
            if outgoing is None:
                continue
            if not outgoing.is_lost and (result["type"] == "replay" or not outgoing.is_sent):
                self._restore_pending(self._mirrors[outgoing.params["channel"]], entry)
            else:
                self._resolve(entry.client_seq, self._outcome_by_state(outgoing))
        return [uri for uri in comeback.gone if uri in resources]

    @staticmethod
    def _restore_pending(mirror: Mirror, entry: Pending) -> None:
        mirror.pending.append(entry)
        mirror.optimistic = None

    def _outcome_by_state(self, outgoing: OutgoingAction) -> AhpError | None:
        """Return the error of an action that has no answer; None if the state shows its turn."""
        action: Any = outgoing.dispatched.action
        if outgoing.is_lost:
            return OutcomeUnknown("the host closed the connection over this message; it may be too large")
        if action["type"] == "chat/turnStarted":
            chat: Any = self.confirmed(outgoing.params["channel"])
            turns = [*chat["turns"], chat.get("activeTurn", {})]
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
