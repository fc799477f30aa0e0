"""Dispatch: a client's action is decided, then applied, deferred, or refused to this client alone (HR-A01).

Every client action takes this path, whatever the protocol. So do the host's own actions in a session, which
need no decision. Streamed text does not: see `Session.stream`.
"""

import logging
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias, cast

import msgspec

from agenthost.core.conversation import Conversation, ConversationAction
from agenthost.core.decisions import Context, check, decide, final_answers, is_deferred
from agenthost.core.decisions.grants import ALL_RIGHTS, Rights
from agenthost.core.legacy.dispatch import Translation
from agenthost.core.message_queue import next_from_queue
from agenthost.core.reducers import Live, reduce_chat, reduce_session
from agenthost.core.session_meta import model_changed, model_of
from agenthost.core.turn_view import REFERRING
from agenthost.errors import HostError, SessionNotFound
from agenthost.host.access.identity import Identity
from agenthost.host.log.subscriptions import LogItem
from agenthost.host.sessions.action_source import ActionSource, ClientAction
from agenthost.host.sessions.list_notices import ListNotices
from agenthost.host.sessions.listeners import ActionListeners, AppliedAction
from agenthost.host.sessions.recorder import NO_WRITES, RECORDS
from agenthost.host.sessions.tokens import BEGINNINGS, Tokens
from agenthost.host.state.changesets import Changesets
from agenthost.host.state.private import Private, with_values
from agenthost.host.state.refusals import is_cut, stored_refusal
from agenthost.host.state.registry import SessionRegistry
from agenthost.host.state.root import Root
from agenthost.host.state.senders import Sender, Senders, Sent, action_digest
from agenthost.host.state.session import Session, TranscriptEntry
from agenthost.host.state.turn_loads import TurnLoads
from agenthost.host.terminals.terminal import Terminal
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.actions import RootAction
from agenthost.wire.ahp.actions.envelope import ActionOrigin
from agenthost.wire.json import Json

__all__ = ["INTERNAL_ERROR", "Dispatcher", "Translate", "public_reason"]

log = logging.getLogger("agenthost.dispatch")

Translate: TypeAlias = Callable[[Root | Terminal | Session, Json], Translation]
"""Translates an action of a client of an older protocol. Raises a `HostError` if it is refused."""

SCOPES = frozenset({"root", "session", "chat", "terminal", "changeset"})
"""The prefixes of action types: the kinds of channels that they are for."""

PREPARED = frozenset({"chat/turnStarted", *REFERRING})
"""The actions that something has to be done for before they are applied."""

INTERNAL_ERROR = "internal error; the log of the host says more"


class Dispatcher:
    """Applies actions to sessions, or refuses them.

    Args:
        sessions: all sessions.
        root: the host's root.
        senders: the connections that actions arrive on.
        terminals: the terminals, by URI.
        changesets: the changesets, whose channels take no actions of clients.
        listeners: called with applied actions.
        list_notices: called with summaries that changed.
        context: what decisions need besides the state.
        tokens: the clients' tokens; an agent that needs one starts no turn without it.
        secrets: returns the names of fields that must not be stored of a refused action.
        turn_loads: loads turns for clients that do not have them, before an action refers to one.
    """

    def __init__(
        self,
        sessions: SessionRegistry,
        *,
        root: Root,
        senders: Senders,
        terminals: Mapping[str, Terminal] | None = None,
        changesets: Changesets | None = None,
        listeners: ActionListeners,
        list_notices: ListNotices | None = None,
        context: Callable[[Session], Context] = lambda _: Context(),
        tokens: Tokens | None = None,
        secrets: Callable[[], Collection[str]] = tuple,
        turn_loads: TurnLoads | None = None,
    ) -> None:
        self._turn_loads = turn_loads
        self._sessions = sessions
        self._root = root
        self._senders = senders
        self._terminals = {} if terminals is None else terminals
        self._changesets = changesets
        self._listeners = listeners
        self._list_notices = list_notices or ListNotices()
        self._context = context
        self._tokens = tokens
        self._secrets = secrets

    # Actions of clients

    async def dispatch(
        self,
        client: Identity,
        client_seq: int,
        channel: str,
        action: Json,
        sender: Sender | None = None,
        rights: Rights = ALL_RIGHTS,
        translate: Translate | None = None,
    ) -> LogItem | None:
        """Decide a client's action, and apply or defer it. Return the refusal, if it is refused.

        An action on a channel that does not exist is ignored (HR-A02), and so is one that is repeated on
        another connection (HR-C09, see `senders`). Any failure is a refusal, so that the client always gets
        an answer. `translate` translates the action of a client of an older protocol.
        """
        # An action of an older client names its resource itself.
        said = action if translate is not None else [channel, action]
        # Without a connection that can come back, there is no repeat to recognize.
        sent = None if sender is None else Sent(client, client_seq, action_digest(said))
        legacy = None if translate is None else [action]
        by = ActionSource(_origin(client, client_seq), client, sent, sender, rights, channel, legacy)
        # Where a failure to find the resource is refused, such as when its data is damaged (HR-C11).
        resource: Root | Terminal | Session = self._root
        try:
            resource = await self._find(channel)
            # No await from here on: the action is applied to the state that it was decided on.
            if by.sender is not None and by.sent is not None and self._senders.absorb(by.sender, by.sent):
                return None
            is_misrouted = _is_misrouted(resource, channel, action)
            if translate is not None:
                if is_misrouted and resource is not self._root:
                    return None  # it names a resource of a kind that does not exist
                refusal = self._dispatch_translated(resource, translate(resource, action), by)
            elif is_misrouted:
                refusal = self._refuse(resource, action, by, "this is not an action of its channel")
            else:
                refusal = self._dispatch(resource, action, by)
        # HR-A02, D1: on a channel that is not there, nothing happens.
        except SessionNotFound:
            return None
        except Exception as error:
            if not isinstance(error, HostError):
                log.exception("an action of client %s failed", client)
            refusal = self._refuse(resource, action, by, public_reason(error))
        if refusal is not None:
            self._note_refusal(by, refusal)
        return refusal

    def _dispatch_translated(
        self, resource: Root | Terminal | Session, translation: Translation, by: ActionSource
    ) -> LogItem | None:
        """Dispatch the translation of an older client's action. The client gets its own action back, once."""
        *before, last = translation.actions
        for one in before:
            refusal = self._dispatch(resource, one, msgspec.structs.replace(by, legacy=()))
            if refusal is not None:
                return refusal
        return self._dispatch(resource, last, msgspec.structs.replace(by, legacy=[translation.legacy]))

    def _refuse(
        self, resource: Root | Terminal | Session, action: Json, by: ActionSource, reason: str
    ) -> LogItem:
        legacy, origin = by.legacy, _origin_of(by)
        if isinstance(resource, Session) and resource.is_foreign:
            resource = self._root  # another node writes its log
        if isinstance(resource, Terminal):
            return resource.refuse(action, origin, reason, by.client, legacy)
        secret = self._secrets()
        return resource.refuse(by.channel, action, origin, reason, by.client, secrets=secret, legacy=legacy)

    async def _find(self, channel: str) -> Root | Terminal | Session:
        """Return the resource of a channel.

        Raises:
            SessionNotFound: there is no such session, chat, changeset or terminal.
        """
        if channel == ROOT_URI:
            return self._root
        if channel in self._terminals:
            return self._terminals[channel]
        try:
            return await self._sessions.find(channel)
        except SessionNotFound:
            if self._changesets is None:
                raise
            return await self._changesets.find_session(channel)  # so that it is refused there

    def _dispatch(
        self, resource: Root | Terminal | Session, action: Json, by: ActionSource
    ) -> LogItem | None:
        if isinstance(resource, Session):
            return self._dispatch_to_session(resource, action, by)
        if isinstance(resource, Terminal):
            return resource.dispatch(
                action, _origin_of(by), by.client, partial(self._note, by), by.rights, by.legacy
            )
        context = Context(rights=by.rights)
        decided = decide(resource.state, action, by.client.client_id, context=context)
        if isinstance(decided, str):
            return self._refuse(resource, action, by, decided)
        resource.act(cast("RootAction", decided), by.origin)  # routed here by its channel
        self._note(by)
        return None

    def _dispatch_to_session(self, session: Session, action: Json, by: ActionSource) -> LogItem | None:
        context = self._context_for(session, by)
        conversation = session.conversation
        decided = decide(conversation, _timed(session, action), by.client.client_id, context=context)
        if isinstance(decided, str):
            return self._refuse(session, action, by, decided)
        applied = cast("ConversationAction", decided)
        may_wait = session.has_turn or session.state["lifecycle"] != "ready"
        if may_wait and is_deferred(conversation, applied, context.waiting):
            self._defer(session, applied, by)
        else:
            self.act(session, applied, by)
        return None

    def dispatch_all(
        self,
        session: Session,
        actions: Sequence[ClientAction],
        by: ActionSource,
        prepare: Callable[[], None] | None = None,
    ) -> None:
        """Apply actions that an edge made for its client: all of them, or none.

        They are decided like any others, but a refusal is raised, not sent in an envelope. `prepare` is
        called if none is refused, before the first is applied.

        Raises:
            HostError: one of them is refused.
        """
        context = self.check_all(session, actions, by)
        if prepare is not None:
            prepare()
        for one in actions:
            # In a session that is ready and has no turn, nothing is deferred.
            may_wait = session.has_turn or session.state["lifecycle"] != "ready"
            if may_wait and is_deferred(session.conversation, one.action, context.waiting):
                self._defer(session, one.action, by)
            else:
                # Not before: those that went first may have changed the private data too.
                private = with_values(session.private, **one.private) if one.private else None
                self.act(session, one.action, by, messages=one.messages, private=private)

    def check_all(self, session: Session, actions: Sequence[ClientAction], by: ActionSource) -> Context:
        """Refuse actions that an edge made for its client, if one may not be applied after the others.

        Return the context of the decisions.

        Raises:
            HostError: one of them is refused.
        """
        context = self._context_for(session, by)
        conversation = session.conversation
        for place, one in enumerate(actions):
            check(conversation, one.action, by.client.client_id, context)
            if place < len(actions) - 1:  # decide the next one on the state that this one leads to
                conversation = _after(conversation, one.action)
        return context

    def refuse(
        self,
        client: Identity,
        client_seq: int,
        channel: str,
        action: Json,
        reason: str,
        *,
        is_legacy: bool = False,
    ) -> LogItem:
        """Refuse an action that cannot even be decided. Return the refusal."""
        legacy = [action] if is_legacy else None
        by = ActionSource(_origin(client, client_seq), client, channel=channel, legacy=legacy)
        return self._refuse(self._root, action, by, reason)

    def _context_for(self, session: Session, by: ActionSource) -> Context:
        """Return what the decision about a client's action needs besides the state."""
        context = self._context(session)
        private = session.private
        lacks = None if self._tokens is None else self._tokens.lacks(session, by.client)
        # True for nearly every action, which then needs no context of its own.
        is_plain = lacks is None and by.rights is ALL_RIGHTS and by.legacy is None
        if is_plain and "deferred" not in private and "taken" not in private:
            return context
        return msgspec.structs.replace(
            context,
            rights=by.rights,
            lacks=lacks,
            waiting=[action for action, *_ in private.get("deferred", [])],
            taken=private.get("taken", ()),
            is_translated=by.legacy is not None,
        )

    def _note_refusal(self, by: ActionSource, refusal: LogItem) -> None:
        """Keep a receipt for a refusal, unless the log does not have all of it.

        Such a refusal cannot be replayed to a client that reconnects. That client gets a snapshot, and if it
        sends the action again, the action is decided again.
        """
        if not is_cut(stored_refusal(refusal, _origin_of(by), self._secrets())):
            self._note(by)

    def _note(self, by: ActionSource, *, has_echo: bool = True) -> None:
        """Keep a receipt for a client's action, or add the echo's number to the one that exists.

        Its echo or refusal, if it has one already, was applied last.
        """
        if by.sent is None:
            return
        if by.sender is not None:
            self._senders.record(by.sender, by.sent, has_echo=has_echo)
        elif has_echo:
            self._senders.record_echo(by.sent)

    # Deferred actions

    def _defer(self, session: Session, action: ConversationAction, by: ActionSource) -> None:
        sent = None if by.sent is None else by.sent.to_json()
        # Kept with the session, so that a deferred action survives a restart.
        waiting: Any = [*session.private.get("deferred", []), [action, by.origin, sent, by.legacy]]
        session.keep(cast("Private", {**session.private, "deferred": waiting}))
        self._note(by, has_echo=False)

    def _take_waiting(self, session: Session) -> list[tuple[ConversationAction, ActionSource]]:
        """Remove and return the deferred actions. The caller must handle them before its next await."""
        waiting = session.private.get("deferred")
        if not waiting:
            return []
        # Removed first: an action that has to wait again is appended anew.
        session.keep(with_values(session.private, deferred=None) or {})
        found: list[tuple[ConversationAction, ActionSource]] = []
        for action, origin, *more in waiting:  # older hosts stored fewer
            sent = Sent.from_json(more[0]) if more and more[0] else None
            legacy = more[1] if len(more) > 1 else None
            found.append((action, _waiting(session, action, origin, sent, legacy)))
        return found

    def _catch_up(self, session: Session) -> None:
        """Apply the deferred actions, in order: the turn has ended, or the session is ready."""
        if session.state["lifecycle"] == "failed":
            error = session.state.get("creationError", {}).get("message")
            self.give_up(session, f"the session could not be created: {error}")
            return
        for action, by in self._take_waiting(session):
            try:
                reason = self._dispatch_waiting(session, action, by)
            except Exception as error:  # must not undo the action that it waited for
                log.exception("the deferred action %r in %s failed", action["type"], session.row.uri)
                reason = public_reason(error)
            if reason is not None:
                self._refuse_late(session, action, by, reason)

    def _dispatch_waiting(self, session: Session, action: ConversationAction, by: ActionSource) -> str | None:
        """Decide again, because the state may have changed. Return the reason if it is refused."""
        # It passed all checks of its origin when it arrived.
        context = msgspec.structs.replace(self._context_for(session, by), is_translated=True)
        decided = decide(session.conversation, action, by.client.client_id, context=context)
        if isinstance(decided, str):
            return decided
        applied = cast("ConversationAction", decided)
        if is_deferred(session.conversation, applied, context.waiting):
            self._defer(session, applied, by)
        else:
            self._apply(session, applied, by)
        return None

    def give_up(self, session: Session, reason: str) -> None:
        """Refuse all deferred actions: what they waited for will not happen."""
        for action, by in self._take_waiting(session):
            self._refuse_late(session, action, by, reason)

    def _refuse_late(
        self, session: Session, action: ConversationAction, by: ActionSource, reason: str
    ) -> None:
        if by.origin is None:  # there is no way to notify a client without sequence numbers
            log.info("the deferred action %r in %s is refused: %s", action["type"], session.row.uri, reason)
            return
        refusal = self._refuse(session, action, by, reason)
        self._note_refusal(by, refusal)
        if by.sent is not None:
            # When it is durable, and if the client is still there; else it is in the replay.
            session.journal.write([], partial(self._senders.deliver, by.sent.identity), refusal)

    # Applying

    def act(
        self,
        session: Session,
        action: ConversationAction,
        by: ActionSource | None = None,
        *,
        messages: Sequence[TranscriptEntry] = (),
        private: Private | None = None,
    ) -> None:
        """Apply an action of a client or of the host, then start the next queued message if there is one.

        `messages`, if given, are written with it and replace everything that the recorder would write.
        `private` replaces the recorder's private data.
        """
        if session.home is not session and not action["type"].startswith("chat/"):
            session = session.home  # what belongs to the session is recorded there
        self._apply(session, action, by, messages, private)
        if "queuedMessages" in session.chat:  # else nothing follows, and making an id would be wasted
            try:
                self._start_next(session, action)
            except Exception:  # the action itself was applied
                log.exception("the next queued message of %s could not be started", session.row.uri)

    def _start_next(self, session: Session, action: ConversationAction) -> None:
        """Start the next queued message (HR-U03). One that cannot be started stays in the queue."""
        next_actions = next_from_queue(session.conversation, action, secrets.token_hex(8), session.now())
        # C5: the message leaves the queue first, so make sure that its turn can start.
        for next_action in next_actions[1:]:
            session.check(next_action, self._side_messages(session, next_action))
        for next_action in next_actions:
            self._apply(session, next_action)

    def _side_messages(self, session: Session, action: ConversationAction) -> Sequence[TranscriptEntry]:
        record = RECORDS.get(action["type"])
        return () if record is None else record(session, action, None).messages

    def _apply(
        self,
        session: Session,
        action: ConversationAction,
        by: ActionSource | None = None,
        messages: Sequence[TranscriptEntry] = (),
        private: Private | None = None,
    ) -> None:
        kind = action["type"]
        if kind in PREPARED:
            self._prepare(session, action)
        before, listed = session.conversation, session.home.state
        shown = session.top.state if session.is_task else listed
        answers: Any = None if action["type"] != "chat/inputCompleted" else final_answers(before.chat, action)
        record = None if messages else RECORDS.get(kind)
        writes = NO_WRITES if record is None else record(session, action, answers)
        session.act(
            action,
            None if by is None else by.origin,
            cut=writes.cut,
            messages=messages or writes.messages,
            private=writes.private if private is None else private,
            legacy=None if by is None else by.legacy,
        )
        client = None if by is None else by.client
        if kind == "chat/turnStarted":
            # If several clients bring the same tool, the one that began the turn runs it.
            session.speaker = None if client is None else client.client_id
        # Before listeners apply more: the receipt is for what was applied last.
        if by is not None and by.sent is not None:
            self._note(by)
        if self._tokens is not None and kind in BEGINNINGS:
            self._tokens.dispatched(session, action, client)
        if self._list_notices.listeners:
            # Before the listeners, whose own actions may change the summary again.
            self._list_notices.note(session.home, listed)
            if session.is_task:
                self._list_notices.note(session.top, shown)
        applied = AppliedAction(session, before, action, answers, client)
        for listener in self._listeners[kind]:
            try:
                listener(applied)
            except Exception:  # the action itself was applied and is shown
                log.exception("a listener for %r in %s failed", kind, session.row.uri)
        # Here and not in `act`: before a queued message can start the next turn.
        if "deferred" in session.private and _is_time(before, session):
            self._catch_up(session)

    def _prepare(self, session: Session, action: ConversationAction) -> None:
        """Load turns that an action refers to, or make the model that a message names the session's."""
        if action["type"] != "chat/turnStarted":
            if self._turn_loads is not None:
                self._turn_loads.before(session, action)  # C9
            return
        model = action["message"].get("model")
        if model is None or model == model_of(session.state):
            return
        offered = self._context(session).models
        # The only one on offer may stand for an agent without a choice of models: see `STAND_IN`.
        is_only = offered is not None and len(offered) == 1 and "config" not in model
        if not (is_only and model["id"] == session.state["provider"]):
            self._apply(session.home, model_changed(session.state, model))


def _origin(client: Identity, client_seq: int) -> ActionOrigin:
    return {"clientId": client.client_id, "clientSeq": client_seq}


def _origin_of(by: ActionSource) -> ActionOrigin:
    """Return the origin of an action. Clients that are sent refusals always have one."""
    return cast("ActionOrigin", by.origin)


def _waiting(
    session: Session,
    action: ConversationAction,
    origin: ActionOrigin | None,
    sent: Sent | None,
    legacy: Any,
) -> ActionSource:
    """Return the source of a deferred action; without a receipt, it is a client of the session's owner."""
    client_id = "" if origin is None else origin["clientId"]
    client = Identity(client_id, session.row.owner) if sent is None else sent.identity
    channel = session.chat_uri if action["type"].startswith("chat/") else session.home.uri
    return ActionSource(origin, client, sent, channel=channel, legacy=legacy)


def _timed(session: Session, action: Json) -> Json:
    """Return an action with the times that its client left out, by our clock."""
    if type(action) is not dict:
        return action
    kind, duration = action.get("type"), action.get("duration")
    has_duration = isinstance(duration, int | float) and duration >= 0
    if kind == "chat/turnCancelled" and not has_duration:
        return {**action, "duration": session.elapsed()}
    if kind == "chat/turnStarted" and type(action.get("startedAt")) is not str:
        return {**action, "startedAt": session.now()}
    return action


def _is_misrouted(resource: Root | Terminal | Session, channel: str, action: Json) -> bool:
    """Return whether an action was sent to a channel of the wrong kind (G4)."""
    kind = action.get("type") if type(action) is dict else None
    scope = kind.partition("/")[0] if type(kind) is str else ""
    if isinstance(resource, Session):
        # The URI of a further chat is both: it stands last.
        channels = {resource.uri: "session", resource.chat_uri: "chat"}
        expected = channels.get(channel, "changeset")
    else:
        expected = "terminal" if isinstance(resource, Terminal) else "root"
    # HR-A03: a type of an unknown scope is refused by `decide`, with its own reason.
    return scope in SCOPES and scope != expected


def _after(conversation: Conversation, action: Any) -> Conversation:
    if action["type"].startswith("chat/"):
        return conversation._replace(chat=reduce_chat(Live(conversation.chat), action).state)
    return conversation._replace(session=reduce_session(Live(conversation.session), action).state)


def _is_time(before: Conversation, session: Session) -> bool:
    """Return whether deferred actions are due: after a turn has ended, and before the next can start."""
    has_ended = "activeTurn" in before.chat and not session.has_turn
    was_creating = before.session["lifecycle"] == "creating"
    return has_ended or (was_creating and session.state["lifecycle"] != "creating")


def public_reason(error: Exception) -> str:
    """Return the text about an error for a client: nothing internal."""
    return str(error) if isinstance(error, HostError) else INTERNAL_ERROR
