"""Dispatch: from what a client wants to happen to what happens, or a refusal that only this client sees.

Every client action takes this way, whatever protocol it came by.
"""

import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agenthost.core.decisions import Context, cleaned, final_answers, is_deferred, refuse
from agenthost.core.following import following
from agenthost.errors import SessionNotFound
from agenthost.host.session import Session
from agenthost.host.sessions import Sessions
from agenthost.host.subscriptions import Shown
from agenthost.wire.ahp.actions import resource_of
from agenthost.wire.ahp.actions.envelope import ActionOrigin
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.json import Json, JsonObject

REMEMBERED = 10_000
"""How many handled numbers are remembered of one client, to know a repetition."""


@dataclass(frozen=True, slots=True)
class Happening:
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
    """Lets client actions on sessions happen, or refuses them."""

    def __init__(
        self,
        sessions: Sessions,
        *,
        happened: Callable[[Happening], None],
        context: Callable[[Session], Context] = lambda _: Context(),
    ) -> None:
        self._sessions = sessions
        self._happened = happened
        self._context = context
        self._clients: dict[str, _Client] = {}
        self._deferred: dict[int, list[tuple[Any, ActionOrigin]]] = {}

    def forget(self, client_id: str) -> None:
        """Forget what a client said: it begins anew, or has left for good."""
        self._clients.pop(client_id, None)

    async def dispatch(self, client_id: str, client_seq: int, action: Json) -> Shown | None:
        """Let a client's action happen. Gives the refusal, if it is refused.

        What names a session that is not there is ignored, and so is what was handled before.
        """
        uri = resource_of(action) if type(action) is dict else None
        try:
            session = await self._sessions.get(uri or "")
        except SessionNotFound:
            return None
        # No await from here on: what is decided is decided about the state that it is applied to.
        if not self._clients.setdefault(client_id, _Client()).is_new(client_seq):
            return None
        origin: ActionOrigin = {"clientId": client_id, "clientSeq": client_seq}
        reason = refuse(session.state, action, client_id, context=self._context(session))
        if reason is not None:
            return session.refuse(action, origin, reason)
        if is_deferred(session.state, action):
            self._deferred.setdefault(session.number, []).append((cleaned(action), origin))
        else:
            self.act(session, cleaned(action), origin)
        return None

    def act(self, session: Session, action: Any, origin: ActionOrigin | None = None) -> None:
        """Let an action happen, of a client or of the host itself, and then what follows from it."""
        self._happen(session, action, origin)
        for next_action in following(session.state, action, secrets.token_hex(8)):
            self._happen(session, next_action)

    def _happen(self, session: Session, action: Any, origin: ActionOrigin | None = None) -> None:
        before = session.state
        answers: Any = final_answers(before, action) if action["type"] == "session/inputCompleted" else None
        cut = session.end_of(action.get("turnId")) if action["type"] == "session/truncated" else None
        session.act(action, origin, cut=cut)
        self._happened(Happening(session, before, action, answers))
        if "activeTurn" in before and "activeTurn" not in session.state:
            # Models that were chosen while the turn ran; before the next turn can start.
            for deferred, its_origin in self._deferred.pop(session.number, []):
                self._happen(session, deferred, its_origin)
