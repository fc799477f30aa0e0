"""Lifetimes: how sessions are made, forked, got ready, taken up again and removed.

Everybody who has to know of it is told in the right order: the store first, then whoever watches. Knows the
parts of a host, not how they are opened.
"""

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from agenthost.errors import AgentNotFound, HostError, SessionNotFound
from agenthost.host.agent import Agent
from agenthost.host.catalogue import Added, Catalogue, Removed
from agenthost.host.clients import Clients
from agenthost.host.dispatch import Dispatcher
from agenthost.host.engine import Engine
from agenthost.host.session import Said, Session
from agenthost.host.setup import private_of
from agenthost.host.starting import Start, first_state, name_of, pinned, seed_of
from agenthost.host.turns import Turns
from agenthost.wire.json import Json

log = logging.getLogger("agenthost.sessions")

TAKEN_UP_AT_ONCE = 16

NOT_FORKED = (
    *("asked", "held", "shown", "deferred", "trusted", "scopes"),
    *("children", "parent", "app", "app_tools", "kept", "taken", "crashes", "tasks", "guests"),
)
"""What of a session's private data belongs to its running turn, or to those who used it, not to a fork."""


def new_id() -> str:
    """Make an id for a session that nobody guesses."""
    return secrets.token_hex(16)


class Lifetimes:
    """The coming and going of sessions.

    `clear` frees what a session that goes still holds; `show_tools` lets one that comes back show the tools
    that it has now.
    """

    def __init__(
        self,
        agents: Mapping[str, Agent],
        *,
        engine: Engine,
        dispatcher: Dispatcher,
        turns: Turns,
        clients: Clients,
        catalogue: Catalogue,
        clear: Callable[[str], Awaitable[None]],
        show_tools: Callable[[Session], None],
    ) -> None:
        self._agents = agents
        self._engine = engine
        self._dispatcher = dispatcher
        self._turns = turns
        self._clients = clients
        self._catalogue = catalogue
        self._clear = clear
        self._show_tools = show_tools
        self._preparing: dict[str, asyncio.Task[None]] = {}

    async def create(self, start: Start) -> Session:
        """Make a session; see `Host.create_session`."""
        agent = self.agent_of(start.agent)
        await agent.wait_known()
        fresh = new_id()
        uri = start.uri or f"{agent.name}:/{fresh}"
        name = start.name or (await name_of(self._engine.sessions, start.uri) if start.uri else fresh)
        seed = seed_of(agent, start)
        state = first_state(agent, start, uri, self._engine.now(), seed)
        session = await self._engine.sessions.create(
            state,
            name=name,
            owner=start.owner,
            private=pinned(agent, start.private, state),
            messages=[Said(turn, message) for turn, message in seed.said],
        )
        self._born(session)
        return session

    async def fork(self, uri: str, turn_id: str, new_uri: str) -> Session:
        """Fork a session; see `Host.fork_session`."""
        name = await name_of(self._engine.sessions, new_uri)
        session = await self._engine.sessions.fork(uri, turn_id, new_uri, name=name, left_behind=NOT_FORKED)
        self._born(session)
        return session

    def _born(self, session: Session) -> None:
        # In a moment: whoever made it is answered first.
        asyncio.get_running_loop().call_soon(
            self._catalogue.tell, Added(session.row.owner, session.shown.state["summary"])
        )
        self._clients.note(session)
        self._turns.take_up(session)
        self._show_tools(session)  # they may have changed while it was being made
        if session.state["lifecycle"] == "creating":
            self._prepare(session)

    def loaded(self, session: Session) -> None:
        """Go on with what a session was about when it left memory, or the process ended."""
        # The turn first: that its client is not back is for a turn that is taken up, not for a new one.
        self._turns.take_up(session)
        self._clients.welcome(session)
        self._show_tools(session)
        if session.state["lifecycle"] == "creating":
            self._prepare(session)

    async def take_up(self) -> None:
        """Bring the sessions with turns into memory, some at a time; `loaded` does the rest."""
        numbers = iter(self._engine.opening.active)

        async def work() -> None:
            for number in numbers:
                try:
                    await self._engine.sessions.by_number(number)
                except HostError as error:
                    log.error("session number %d could not be taken up: %s", number, error)  # noqa: TRY400

        await asyncio.gather(*(work() for _ in range(TAKEN_UP_AT_ONCE)))

    def _prepare(self, session: Session) -> None:
        """Let the agent get ready for a session; most have nothing to do, and are so at once."""
        agent = self._agents.get(session.state["summary"]["provider"])
        if agent is None or type(agent).prepare is Agent.prepare:
            self._dispatcher.act(session, {"type": "session/ready", "session": session.row.uri})
            return
        uri = session.row.uri
        self._preparing[uri] = asyncio.create_task(self._prepared(agent, session))
        self._preparing[uri].add_done_callback(lambda _: self._preparing.pop(uri, None))

    async def _prepared(self, agent: Agent, session: Session) -> None:
        action: Json = {"type": "session/ready", "session": session.row.uri}
        try:
            await agent.prepare(session.row.uri)
        except Exception as error:
            log.exception("agent %s could not get ready for a session", agent.name)
            sentence = str(error) if isinstance(error, HostError) else "the agent could not get ready"
            fault = {"errorType": type(error).__name__, "message": sentence}
            action = {**action, "type": "session/creationFailed", "error": fault}
        self._dispatcher.act(session, action)

    async def wait_prepared(self, session: Session) -> None:
        """Wait until the agent is ready for a session, or has failed to be."""
        task = self._preparing.get(session.row.uri)
        if task is not None:
            await asyncio.wait([task])

    async def dispose(self, uri: str) -> None:
        """Remove a session for good; see `Host.dispose_session`."""
        session = await self._engine.sessions.get(uri)
        if (task := self._preparing.pop(uri, None)) is not None:
            task.cancel()
        if "activeTurn" in session.state:
            turn_id = session.state["activeTurn"]["id"]
            action = {"type": "session/turnCancelled", "session": uri, "turnId": turn_id}
            self._dispatcher.act(session, action)
        self._dispatcher.give_up(session, "the session was disposed")
        self._catalogue.forget(session)
        await self._clear(uri)
        await self._engine.sessions.dispose(uri)
        self._catalogue.tell(Removed(session.row.owner, uri))
        for child in private_of(session).get("children", {}).values():
            with suppress(SessionNotFound):  # somebody removed it before
                await self.dispose(child)
        agent = self._agents.get(session.state["summary"]["provider"])
        if agent is not None:
            await self._forget(agent, uri)

    async def _forget(self, agent: Agent, uri: str) -> None:
        try:
            await agent.forget(uri)
        except Exception:  # the session is gone, whatever its agent says
            log.exception("agent %s could not forget a session", agent.name)

    def agent_of(self, name: str) -> Agent:
        """Give an agent by its name.

        Raises:
            AgentNotFound: there is none.
        """
        agent = self._agents.get(name)
        if agent is None:
            raise AgentNotFound(name)
        return agent

    def close(self) -> None:
        """Prepare nothing more."""
        for task in self._preparing.values():
            task.cancel()
