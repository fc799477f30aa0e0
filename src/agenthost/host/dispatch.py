"""Dispatch: from what a client wants to happen to what happens, or a refusal that only this client sees.

Every client action takes this way, whatever protocol it came by, and so does what the host itself lets happen
in a session, streamed text apart.
"""

import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from agenthost.core.decisions import Context, decide, final_answers, is_deferred
from agenthost.core.following import following
from agenthost.errors import SessionNotFound
from agenthost.host.recorder import Noted, beside
from agenthost.host.root import Root
from agenthost.host.session import Said, Session
from agenthost.host.sessions import Sessions
from agenthost.host.setup import changed, private_of
from agenthost.host.subscriptions import Shown
from agenthost.host.terminals.terminal import Terminal
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.actions import resource_of
from agenthost.wire.ahp.actions.envelope import ActionOrigin
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.json import Json, JsonObject

REMEMBERED = 10_000
"""How many handled numbers are remembered of one client, to know a repetition."""


class Happening(msgspec.Struct, gc=False):
    """An action that was just applied, for those who act on it: the turn runner, the tools, the metrics.

    `answers` are the final ones, for an input request that was settled.
    """

    session: Session
    before: SessionState
    action: Json
    answers: JsonObject | None = None


@dataclass(slots=True)
class _Client:
    handled: OrderedDict[int, None] = field(default_factory=OrderedDict)

    def is_new(self, client_seq: int) -> bool:
        if client_seq in self.handled:
            return False
        self.handled[client_seq] = None
        if len(self.handled) > REMEMBERED:
            self.handled.popitem(last=False)
        return True


class Dispatcher:
    """Lets actions on sessions happen, or refuses them.

    `context` tells what decisions need beside the state; `notes` what a running turn's agent wants to have
    kept with its words.
    """

    def __init__(
        self,
        sessions: Sessions,
        *,
        root: Root | None = None,
        terminals: Mapping[str, Terminal] | None = None,
        happened: Callable[[Happening], None],
        context: Callable[[Session], Context] = lambda _: Context(),
        notes: Noted = lambda _: {},
    ) -> None:
        self._sessions = sessions
        self._root = root
        self._terminals = {} if terminals is None else terminals
        self._happened = happened
        self._context = context
        self._notes = notes
        self._clients: dict[str, _Client] = {}

    def forget(self, identity: str) -> None:
        """Forget what a client said: it begins anew, or has left for good."""
        self._clients.pop(identity, None)

    async def dispatch(
        self, client_id: str, client_seq: int, action: Json, identity: str | None = None
    ) -> Shown | None:
        """Let a client's action happen. Gives the refusal, if it is refused.

        What names a session or terminal that is not there is ignored, and so is what was handled before.
        `identity` tells clients apart who call themselves the same; without one, that is who it is.
        """
        who = client_id if identity is None else identity
        kind = str(action.get("type")) if type(action) is dict else ""
        uri = resource_of(action) if "/" in kind else None
        origin: ActionOrigin = {"clientId": client_id, "clientSeq": client_seq}
        if uri == ROOT_URI and self._root is not None:
            is_new = self._is_new(who, client_seq)
            return self._dispatch_to_root(self._root, action, origin) if is_new else None
        if uri is not None and kind.startswith("terminal/"):
            terminal = self._terminals.get(uri)
            is_new = terminal is not None and self._is_new(who, client_seq)
            return terminal.dispatch(action, origin) if terminal and is_new else None
        try:
            session = await self._sessions.get(uri or "")
        except SessionNotFound:
            return None
        # No await from here on: what is decided is decided about the state that it is applied to.
        if not self._is_new(who, client_seq):
            return None
        decided = decide(session.state, action, client_id, context=self._context(session))
        if isinstance(decided, str):
            return session.refuse(action, origin, decided)
        if is_deferred(session.state, decided):  # type: ignore[arg-type] # read as a plain object
            self._defer(session, decided, origin)
        else:
            self.act(session, decided, origin)
        return None

    def _dispatch_to_root(self, root: Root, action: Any, origin: ActionOrigin) -> Shown | None:
        decided = decide(root.state, action, origin["clientId"])
        if isinstance(decided, str):
            return root.refuse(action, origin, decided)
        root.act(decided, origin)  # type: ignore[arg-type] # of the root, as it is not refused
        return None

    def _is_new(self, identity: str, client_seq: int) -> bool:
        client = self._clients.get(identity)
        if client is None:
            client = self._clients[identity] = _Client()
        return client.is_new(client_seq)

    def request(self, session: Session, action: Any) -> None:
        """Let something happen on behalf of whoever may ask for it: now, or once the turn has ended."""
        if is_deferred(session.state, action):
            self._defer(session, action, None)
        else:
            self.act(session, action)

    def _defer(self, session: Session, action: Any, origin: ActionOrigin | None) -> None:
        waiting = [*private_of(session).get("deferred", []), [action, origin]]
        session.keep({**session.private, "deferred": waiting})

    def act(
        self,
        session: Session,
        action: Any,
        origin: ActionOrigin | None = None,
        *,
        messages: Sequence[Said] = (),
        private: JsonObject | None = None,
    ) -> None:
        """Let an action happen, of a client or of the host itself, and then what follows from it.

        `messages` and `private` are written beside it, in place of what would be.
        """
        self._happen(session, action, origin, messages, private)
        if "queuedMessages" in session.state:  # else nothing follows, and an id for it would be wasted work
            for next_action in following(session.state, action, secrets.token_hex(8)):
                self._happen(session, next_action)

    def _happen(
        self,
        session: Session,
        action: Any,
        origin: ActionOrigin | None = None,
        messages: Sequence[Said] = (),
        private: JsonObject | None = None,
    ) -> None:
        before = session.state
        answers: Any = final_answers(before, action) if action["type"] == "session/inputCompleted" else None
        along = beside(session, action, answers, self._notes)
        private = along.private if private is None else private
        session.act(action, origin, cut=along.cut, messages=messages or along.messages, private=private)
        self._happened(Happening(session, before, action, answers))
        if "activeTurn" in before and "activeTurn" not in session.state:
            # Models that were chosen while the turn ran; before the next turn can start.
            self._catch_up(session)

    def _catch_up(self, session: Session) -> None:
        if "deferred" not in session.private:
            return
        waiting: Any = private_of(session)["deferred"]
        private = changed(session, deferred=None)
        for action, origin in waiting:
            self._happen(session, action, origin, private=private)
            private = None
