"""Further chats of sessions: how they are created and disposed of.

Each step is done in the right order: the store first, then the listeners, as in `lifecycle`.
"""

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from agenthost.core import actions
from agenthost.core.chats import NEW_CHAT, new_chat
from agenthost.core.decisions.chats import check_new_chat
from agenthost.core.times import iso_time
from agenthost.errors import AgentNotFound, HostError
from agenthost.host.authoring.agent import Agent
from agenthost.host.limits import Limits
from agenthost.host.sessions.action_source import ActionSource, ClientAction
from agenthost.host.sessions.dispatch import Dispatcher
from agenthost.host.sessions.new_session import title_from
from agenthost.host.state.engine import Engine
from agenthost.host.state.further_chat import FurtherChat
from agenthost.host.state.session import Session
from agenthost.wire.ahp.message import Message

__all__ = ["Chats", "NewChat"]

log = logging.getLogger("agenthost.sessions")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewChat:
    """The request for a new chat.

    Attributes:
        uri: its URI.
        message: the message that its first turn begins with.
        folders: the URIs of the session's working directories that it works in.
        lacks: why whoever asks may not use the agent, such as for want of a token.
    """

    uri: str
    message: Message | None = None
    folders: Sequence[str] = ()
    lacks: HostError | None = None


class Chats:
    """Creates and removes further chats. `clear` frees what a removed chat still holds."""

    def __init__(
        self,
        agents: Mapping[str, Agent],
        *,
        engine: Engine,
        dispatcher: Dispatcher,
        limits: Limits,
        clear: Callable[[str], Awaitable[None]],
    ) -> None:
        self._agents = agents
        self._engine = engine
        self._dispatcher = dispatcher
        self._limits = limits
        self._clear = clear

    async def create(self, home: Session, new: NewChat, by: ActionSource) -> FurtherChat:
        """Add a chat to a session, and start its first turn if it begins with a message.

        Raises:
            HostError: it is refused, and there is no such chat.
        """
        name = home.state["provider"]
        agent = self._agents.get(name)
        if agent is None:
            raise AgentNotFound(name)
        now = iso_time(self._engine.now()) or ""
        message = new.message
        title = (title_from(message["text"]) if message else "") or NEW_CHAT
        chat = new_chat(new.uri, now, {"kind": "user"}, title=title, folders=new.folders)
        begun = [] if message is None else [_first_turn(message, now)]

        def check(added: FurtherChat) -> None:
            check_new_chat(
                home.state,
                new.folders,
                takes_chats=agent.takes_chats,
                limit=self._limits.chats_per_session,
                lacks=new.lacks,
            )
            self._dispatcher.check_all(added, begun, by)

        added = await self._engine.sessions.add_chat(home, chat, check=check, act=self._dispatcher.act)
        if begun:
            self._dispatcher.dispatch_all(added, begun, by)
            await self._engine.journal.wait()  # so that a subscription that follows includes it
        return added

    async def dispose(self, chat: FurtherChat) -> None:
        """Remove a chat for good. A running turn is cancelled first.

        Raises:
            SessionNotFound: it is being removed already.
        """
        self._end(chat)
        await self._clear(chat.uri)
        await self._engine.sessions.dispose_chat(chat, self._dispatcher.act)
        await self._forget(chat.state["provider"], chat.uri)

    def end_all(self, home: Session) -> Callable[[], Awaitable[None]]:
        """End what runs in the further chats of a session that is being removed.

        Return what is to be called once they are gone.
        """
        uris = [one["resource"] for one in home.state["chats"] if one["resource"] != home.chat_uri]
        provider = home.state["provider"]
        for uri in uris:
            held = self._engine.sessions.peek(uri)  # a chat with a turn is always in memory
            if isinstance(held, FurtherChat) and held.home is home:
                self._end(held)

        async def forget() -> None:
            await asyncio.gather(*(self._forget(provider, uri) for uri in uris))

        return forget

    def _end(self, chat: FurtherChat) -> None:
        turn = chat.chat.get("activeTurn")
        if turn is not None:
            self._dispatcher.act(chat, actions.turn_cancelled(turn["id"], chat.elapsed()))
        self._dispatcher.give_up(chat, "the chat was disposed")

    async def _forget(self, provider: str, uri: str) -> None:
        agent = self._agents.get(provider)
        if agent is None:
            return
        try:
            await agent.forget(uri)
        except Exception:  # the chat is removed all the same
            log.exception("agent %s could not clean up after a chat", agent.name)


def _first_turn(message: Message, now: str) -> ClientAction:
    return ClientAction(actions.turn_started(secrets.token_hex(8), message, now))
