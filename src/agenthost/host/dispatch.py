"""Dispatch: from what a client wants to happen to what happens, or a refusal that only this client sees.

Every client action takes this way, whatever protocol it came by, and so does what the host itself lets happen
in a session, streamed text apart.
"""

import logging
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from agenthost.core.decisions import Context, decide, final_answers, is_deferred
from agenthost.core.decisions.grants import ALL_RIGHTS, Rights
from agenthost.core.following import following
from agenthost.errors import HostError, SessionNotFound
from agenthost.host.identity import Identity
from agenthost.host.recorder import Noted, beside
from agenthost.host.refusals import is_cut, kept_of
from agenthost.host.root import Root
from agenthost.host.senders import Sender, Senders, Sent, digest_of
from agenthost.host.session import Said, Session
from agenthost.host.sessions import Sessions
from agenthost.host.setup import changed, private_of
from agenthost.host.subscriptions import Shown
from agenthost.host.terminals.terminal import Terminal
from agenthost.host.tokens import BEGINNINGS, Tokens
from agenthost.wire.ahp.actions import resource_of
from agenthost.wire.ahp.actions.envelope import ActionOrigin
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.json import Json, JsonObject

__all__ = ["INTERNAL_ERROR", "Dispatched", "Dispatcher", "Happening", "reason_of"]

log = logging.getLogger("agenthost.dispatch")

INTERNAL_ERROR = "internal error; the log of the host says more"


class Happening(msgspec.Struct, gc=False):
    """An action that was just applied, for those who act on it: the turn runner, the tools, the metrics.

    `answers` are the final ones, for an input request that was settled, and `client` is whose action it is;
    the host's own have none.
    """

    session: Session
    before: SessionState
    action: Json
    answers: JsonObject | None = None
    client: Identity | None = None


class Dispatched(msgspec.Struct, frozen=True, gc=False):
    """Where a client's action comes from.

    `sent` is what its receipt is kept of, and `sender` the connection that it came by just now; one that had
    to wait has none. `rights` are what the client may do; what waits was within them when it came.
    """

    origin: ActionOrigin
    client: Identity
    sent: Sent | None = None
    sender: Sender | None = None
    rights: Rights = ALL_RIGHTS


class Dispatcher:
    """Lets actions on sessions happen, or refuses them.

    `context` tells what decisions need beside the state; `notes` what a running turn's agent wants to have
    kept with its words; `tokens` what clients brought, without which some agents begin no turn;
    `secrets` the names of what must not be kept of a refused action.
    """

    def __init__(
        self,
        sessions: Sessions,
        *,
        root: Root,
        senders: Senders,
        terminals: Mapping[str, Terminal] | None = None,
        happened: Callable[[Happening], None],
        context: Callable[[Session], Context] = lambda _: Context(),
        notes: Noted = lambda _: {},
        tokens: Tokens | None = None,
        secrets: Callable[[], Collection[str]] = tuple,
    ) -> None:
        self._sessions = sessions
        self._root = root
        self._senders = senders
        self._terminals = {} if terminals is None else terminals
        self._happened = happened
        self._context = context
        self._notes = notes
        self._tokens = tokens
        self._secrets = secrets

    # What clients want

    async def dispatch(
        self,
        client: Identity,
        client_seq: int,
        action: Json,
        sender: Sender | None = None,
        rights: Rights = ALL_RIGHTS,
    ) -> Shown | None:
        """Let a client's action happen. Gives the refusal, if it is refused.

        What names a session or terminal that is not there is ignored, and so is what comes a second time by
        another connection (see `senders`). Whatever goes wrong in here is a refusal: nobody waits in vain.
        """
        sent = None if sender is None else Sent(client, client_seq, digest_of(action))
        by = Dispatched(_origin(client, client_seq), client, sent, sender, rights)
        resource: Root | Terminal | Session = self._root
        try:
            resource = await self._find(action)
            # No await from here on: what is decided is decided about the state that it is applied to.
            if by.sender is not None and by.sent is not None and self._senders.absorb(by.sender, by.sent):
                return None
            refusal = self._dispatch(resource, action, by)
        except SessionNotFound:
            return None
        except Exception as error:
            if not isinstance(error, HostError):
                log.exception("an action of client %s failed", client)
            refusal = self._refuse(resource, action, by, reason_of(error))
        if refusal is not None:
            self._note_refusal(by, refusal)
        return refusal

    def _refuse(
        self, resource: Root | Terminal | Session, action: Json, by: Dispatched, reason: str
    ) -> Shown:
        if isinstance(resource, Terminal):
            return resource.refuse(action, by.origin, reason, by.client)
        return resource.refuse(action, by.origin, reason, by.client, self._secrets())

    async def _find(self, action: Json) -> Root | Terminal | Session:
        """Return what an action is about; the root, if it says nothing about that.

        Raises:
            SessionNotFound: there is no such session or terminal.
        """
        kind = action.get("type") if type(action) is dict else None
        uri = resource_of(action) if type(kind) is str and "/" in kind else None
        if uri is None or str(kind).startswith("root/"):
            return self._root
        if str(kind).startswith("session/"):
            return await self._sessions.get(uri)
        if uri not in self._terminals:
            raise SessionNotFound(uri)
        return self._terminals[uri]

    def _dispatch(self, resource: Root | Terminal | Session, action: Json, by: Dispatched) -> Shown | None:
        if isinstance(resource, Session):
            return self._dispatch_to_session(resource, action, by)
        if isinstance(resource, Terminal):
            return resource.dispatch(action, by.origin, by.client, partial(self._note, by), by.rights)
        context = Context(rights=by.rights)
        decided = decide(resource.state, action, by.origin["clientId"], context=context)
        if isinstance(decided, str):
            return self._refuse(resource, action, by, decided)
        resource.act(decided, by.origin)  # type: ignore[arg-type] # of the root, as it is not refused
        self._note(by, self._root.last_seq)
        return None

    def _dispatch_to_session(self, session: Session, action: Any, by: Dispatched) -> Shown | None:
        context = msgspec.structs.replace(self._context_of(session, by), rights=by.rights)
        decided = decide(session.state, action, by.origin["clientId"], context=context)
        if isinstance(decided, str):
            return self._refuse(session, action, by, decided)
        if is_deferred(session.state, decided, context.waiting):  # type: ignore[arg-type] # a plain object
            self._defer(session, decided, by)
        else:
            self.act(session, decided, by)
        return None

    def refuse(self, client: Identity, client_seq: int, action: Json, reason: str) -> Shown:
        """Answer a client's action that cannot even be looked at. Gives the refusal."""
        return self._refuse(self._root, action, Dispatched(_origin(client, client_seq), client), reason)

    def _context_of(self, session: Session, by: Dispatched | None = None) -> Context:
        context = self._context(session)
        if self._tokens is not None and by is not None:
            context = msgspec.structs.replace(context, lacks=self._tokens.lacks(session, by.client))
        if "deferred" in session.private or "taken" in session.private:
            private = private_of(session)
            waiting = [action for action, *_ in private.get("deferred", [])]
            context = msgspec.structs.replace(context, waiting=waiting, taken=private.get("taken", ()))
        return context

    def _note_refusal(self, by: Dispatched, refusal: Shown) -> None:
        """Keep a receipt for what was refused; not where the log has not all of it.

        A client that comes back cannot be told of such a one. It gets a fresh view, and if it sends its
        action once more, that is decided anew.
        """
        if not is_cut(kept_of(refusal, by.origin, self._secrets())):
            self._note(by, refusal.seq)

    def _note(self, by: Dispatched | None, seq: int | None) -> None:
        """Keep a receipt for a client's action, or note its echo on the one that there is."""
        if by is None or by.sent is None:
            return
        if by.sender is not None:
            self._senders.took(by.sender, by.sent, seq)
        elif seq is not None:
            self._senders.echoed(by.sent, seq)

    # What has to wait

    def request(self, session: Session, action: Any) -> None:
        """Let something happen on behalf of whoever may ask for it: now, or once the turn has ended."""
        if is_deferred(session.state, action, self._context_of(session).waiting):
            self._defer(session, action, None)
        else:
            self.act(session, action)

    def _defer(self, session: Session, action: Any, by: Dispatched | None) -> None:
        origin = None if by is None else by.origin
        sent = None if by is None or by.sent is None else by.sent.to_json()
        waiting = [*private_of(session).get("deferred", []), [action, origin, sent]]
        session.keep({**session.private, "deferred": waiting})
        self._note(by, None)

    def _take_waiting(self, session: Session) -> list[tuple[Any, Dispatched | None]]:
        """Take out what waits, with where it comes from. It has to be answered in the same moment."""
        if "deferred" not in session.private:
            return []
        waiting: Any = private_of(session)["deferred"]
        session.keep(changed(session, deferred=None) or {})
        found: list[tuple[Any, Dispatched | None]] = []
        for action, origin, *more in waiting:  # older hosts kept the first two
            sent = Sent.from_json(more[0]) if more and more[0] else None
            found.append((action, None if origin is None else _waiting(session, origin, sent)))
        return found

    def _catch_up(self, session: Session) -> None:
        """Let what waited happen, in order: the turn has ended, or the session is ready."""
        if session.state["lifecycle"] == "creationFailed":
            error = session.state.get("creationError", {}).get("message")
            self.give_up(session, f"the session could not be created: {error}")
            return
        for action, by in self._take_waiting(session):
            refusal = None
            try:
                refusal = self._dispatch_waiting(session, action, by)
            except Exception as error:  # what it waited for has happened all the same
                log.exception("%r that waited in %s failed", action["type"], session.row.uri)
                if by is not None:
                    refusal = self._refuse(session, action, by, reason_of(error))
            if by is not None and refusal is not None:
                self._tell_late(session, by, refusal)

    def _dispatch_waiting(self, session: Session, action: Any, by: Dispatched | None) -> Shown | None:
        """Decide again about what is a client's: much may have changed since."""
        context = self._context_of(session, by)
        decided = (
            action if by is None else decide(session.state, action, by.origin["clientId"], context=context)
        )
        if by is not None and isinstance(decided, str):
            return self._refuse(session, action, by, decided)
        if is_deferred(session.state, decided, context.waiting):  # type: ignore[arg-type] # a plain object
            self._defer(session, decided, by)
        else:
            self._happen(session, decided, by)
        return None

    def give_up(self, session: Session, reason: str) -> None:
        """Refuse what waits: it will never be its time."""
        for action, by in self._take_waiting(session):
            if by is not None:
                self._tell_late(session, by, self._refuse(session, action, by, reason))

    def _tell_late(self, session: Session, by: Dispatched, refusal: Shown) -> None:
        self._note_refusal(by, refusal)
        if by.sent is not None:
            session.journal.write([], partial(self._senders.tell, by.sent.identity), refusal)

    # What happens

    def act(
        self,
        session: Session,
        action: Any,
        by: Dispatched | None = None,
        *,
        messages: Sequence[Said] = (),
        private: JsonObject | None = None,
    ) -> None:
        """Let an action happen, of a client or of the host itself, and then what follows from it.

        `messages` and `private` are written beside it, in place of what would be.
        """
        self._happen(session, action, by, messages, private)
        if "queuedMessages" in session.state:  # else nothing follows, and an id for it would be wasted work
            try:
                self._follow(session, action)
            except Exception:  # the action itself has happened
                log.exception("what waits in the queue of %s could not be started", session.row.uri)

    def _follow(self, session: Session, action: Any) -> None:
        """Start the next message of the queue. One that cannot be started stays where it is."""
        next_actions = following(session.state, action, secrets.token_hex(8))
        for next_action in next_actions[1:]:
            along = beside(session, next_action, None, self._notes)
            session.check(next_action, along.messages)
        for next_action in next_actions:
            self._happen(session, next_action)

    def _happen(
        self,
        session: Session,
        action: Any,
        by: Dispatched | None = None,
        messages: Sequence[Said] = (),
        private: JsonObject | None = None,
    ) -> None:
        before = session.state
        answers: Any = final_answers(before, action) if action["type"] == "session/inputCompleted" else None
        along = beside(session, action, answers, self._notes)
        private = along.private if private is None else private
        origin = None if by is None else by.origin
        session.act(action, origin, cut=along.cut, messages=messages or along.messages, private=private)
        self._note(by, session.journal.last_seq)
        if self._tokens is not None and action["type"] in BEGINNINGS:
            self._tokens.dispatched(session, action, None if by is None else by.client)
        try:
            self._happened(Happening(session, before, action, answers, None if by is None else by.client))
        except Exception:  # the action itself has happened, and everybody is told so
            log.exception("what follows from %r in %s failed", action["type"], session.row.uri)
        if "deferred" in session.private and _is_time(before, session.state):
            self._catch_up(session)


def _origin(client: Identity, client_seq: int) -> ActionOrigin:
    return {"clientId": client.client_id, "clientSeq": client_seq}


def _waiting(session: Session, origin: ActionOrigin, sent: Sent | None) -> Dispatched:
    """Return where an action comes from that waited; without a receipt, from a client of the owner."""
    client = Identity(origin["clientId"], session.row.owner) if sent is None else sent.identity
    return Dispatched(origin, client, sent)


def _is_time(before: SessionState, after: SessionState) -> bool:
    """Tell whether what waited may happen now: before the next turn can start."""
    has_ended = "activeTurn" in before and "activeTurn" not in after
    return has_ended or (before["lifecycle"] == "creating" and after["lifecycle"] != "creating")


def reason_of(error: Exception) -> str:
    """Return what a client is told of a fault: nothing that is internal."""
    return str(error) if isinstance(error, HostError) else INTERNAL_ERROR
