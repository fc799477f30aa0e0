"""The lifecycle of sessions: how they are created, forked, prepared, resumed and disposed of.

Each step is done in the right order: the store first, then the listeners. Knows the parts of a host, not how
they are opened.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable, Mapping

from agenthost.core import actions
from agenthost.core.conversation import ConversationAction
from agenthost.core.times import iso_time
from agenthost.errors import AgentNotFound, HostError
from agenthost.host.authoring.agent import Agent
from agenthost.host.disposal import Disposal
from agenthost.host.sessions.clients import Clients
from agenthost.host.sessions.dispatch import Dispatcher
from agenthost.host.sessions.list_notices import Added, ListNotices
from agenthost.host.sessions.new_session import (
    NewSession,
    first_private,
    first_states,
    name_of,
    pinned,
    seed_of,
)
from agenthost.host.state.engine import Engine
from agenthost.host.state.session import Session, TranscriptEntry
from agenthost.host.state.session_uris import chat_uri_of
from agenthost.host.turns.runner import TurnRunner
from agenthost.wire.ahp.common import ErrorInfo

log = logging.getLogger("agenthost.sessions")

RESUMED_AT_ONCE = 16

NOT_FORKED = (
    *("asked", "held", "shown", "deferred", "trusted", "given", "scopes"),
    *("children", "parent", "app", "app_tools", "kept", "taken", "crashes", "tasks", "guests"),
)
"""The private data that a fork does not inherit: it belongs to the running turn or the session's users."""


def new_id() -> str:
    """Return an id for a session that cannot be guessed."""
    return secrets.token_hex(16)


class Lifecycle:
    """Creates, resumes and removes sessions.

    `show_tools` updates the tools that a loaded session shows. `seal` seals secrets. `created` is called with
    each new session.
    """

    def __init__(
        self,
        agents: Mapping[str, Agent],
        *,
        engine: Engine,
        dispatcher: Dispatcher,
        turns: TurnRunner,
        clients: Clients,
        disposal: Disposal,
        list_notices: ListNotices,
        show_tools: Callable[[Session], None],
        seal: Callable[[str], str],
        created: Callable[[Session], None],
    ) -> None:
        self._agents = agents
        self._engine = engine
        self._dispatcher = dispatcher
        self._turns = turns
        self._clients = clients
        self._disposal = disposal
        self._list_notices = list_notices
        self._show_tools = show_tools
        self._seal = seal
        self._created = created
        self._preparing: dict[str, asyncio.Task[None]] = {}

    async def create(self, start: NewSession) -> Session:
        """Create a session. It is durable when this returns, and becomes ready later (HR-L01, HR-L02).

        Raises:
            AgentNotFound: there is no such agent.
            InvalidValue: the agent does not have one of the options.
            SessionExists: its URI or its name is in use.
            SessionNotFound: it is a task, and what gave it was removed meanwhile.
        """
        agent = self.agent_of(start.agent)
        await agent.wait_known()
        fresh = new_id()
        uri = start.uri or f"{agent.name}:/{fresh}"
        name = start.name or (await name_of(self._engine.sessions, start.uri) if start.uri else fresh)
        private = first_private(agent, start, self._seal)
        now = iso_time(self._engine.now()) or ""
        seed = seed_of(agent, start, now)
        conversation = first_states(agent, start, chat_uri_of(name), now, seed)
        session = await self._engine.additions.create(
            uri,
            conversation,
            name=name,
            owner=start.owner,
            private=pinned(agent, private, conversation.chat),
            messages=[TranscriptEntry(turn, message) for turn, message in seed.messages],
            above=None if start.task is None else start.task.above,
            act=self._dispatcher.act,
        )
        self._on_created(session)
        return session

    async def fork(self, uri: str, turn_id: str, new_uri: str) -> Session:
        """Create a session with the turns of another one, up to and including this turn.

        Raises:
            SessionNotFound: there is no session with that URI.
            SessionExists: the new URI is in use.
            TurnInProgress: that turn has not ended yet (HR-L09).
            TurnNotFound: the session has no such turn.
        """
        name = await name_of(self._engine.sessions, new_uri)
        session = await self._engine.additions.fork(uri, turn_id, new_uri, name=name, left_behind=NOT_FORKED)
        self._on_created(session)
        return session

    def _on_created(self, session: Session) -> None:
        # In the next tick: its creator is answered first (HR-L06).
        asyncio.get_running_loop().call_soon(
            self._list_notices.tell,
            Added(session.row.owner, session.summary(session.shown_state), is_task=session.is_task),
        )
        self._created(session)
        self._clients.note(session)
        self._turns.resume(session)
        self._show_tools(session)  # they may have changed while it was being created
        if session.state["lifecycle"] == "creating":
            self._prepare(session)

    def loaded(self, session: Session) -> None:
        """Continue what a session was doing when it left memory, or when the process ended."""
        # The turn first: a missing client concerns the turn that is resumed, not one that starts after it.
        self._turns.resume(session)
        self._clients.welcome(session)
        if session.home is not session:
            return  # the rest is done for its session
        self._show_tools(session)
        if session.state["lifecycle"] == "creating":
            self._prepare(session)

    async def resume(self) -> None:
        """Load the sessions with turns, a few at a time; `loaded` does the rest."""
        numbers = iter(self._engine.opening.active)

        async def work() -> None:
            for number in numbers:
                try:
                    await self._engine.sessions.by_number(number)
                except HostError as error:
                    log.error("session number %d could not be resumed: %s", number, error)  # noqa: TRY400

        await asyncio.gather(*(work() for _ in range(RESUMED_AT_ONCE)))

    def _prepare(self, session: Session) -> None:
        """Let the agent prepare for a session. Most have nothing to do, so the session is ready at once."""
        agent = self._agents.get(session.state["provider"])
        if agent is None or type(agent).prepare is Agent.prepare:
            self._dispatcher.act(session, actions.session_ready())
            return
        uri = session.row.uri
        self._preparing[uri] = asyncio.create_task(self._prepared(agent, session))
        self._preparing[uri].add_done_callback(lambda _: self._preparing.pop(uri, None))

    async def _prepared(self, agent: Agent, session: Session) -> None:
        action: ConversationAction = actions.session_ready()
        try:
            await agent.prepare(session.row.uri)
        except Exception as error:
            log.exception("agent %s could not prepare a session", agent.name)
            sentence = str(error) if isinstance(error, HostError) else "the agent could not get ready"
            fault: ErrorInfo = {"errorType": type(error).__name__, "message": sentence}
            action = actions.creation_failed(fault)
        self._dispatcher.act(session, action)

    async def wait_prepared(self, session: Session) -> None:
        """Wait until the agent is ready for a session, or has failed to prepare it."""
        task = self._preparing.get(session.row.uri)
        if task is not None:
            await asyncio.wait([task])

    async def dispose(self, uri: str) -> None:
        """Remove a session or a further chat for good, with everything that belongs to it.

        A running turn is cancelled first.

        Raises:
            SessionNotFound: there is none with that URI.
        """
        self._stop_preparing(uri)
        for gone in await self._disposal.dispose(uri):
            self._stop_preparing(gone)

    def _stop_preparing(self, uri: str) -> None:
        if (task := self._preparing.pop(uri, None)) is not None:
            task.cancel()

    def agent_of(self, name: str) -> Agent:
        """Return an agent by its name.

        Raises:
            AgentNotFound: there is no such agent.
        """
        agent = self._agents.get(name)
        if agent is None:
            raise AgentNotFound(name)
        return agent

    def close(self) -> None:
        """Stop preparing sessions."""
        for task in self._preparing.values():
            task.cancel()
