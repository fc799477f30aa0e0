"""The host: agents in sessions, durably. This is the whole of it, without a protocol.

Open it with `async with`; from then on sessions can be made, actions dispatched, and feeds listened to, by
any number of clients, whatever protocol they speak. Knows no sockets: the edges do.
"""

import asyncio
import importlib
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

from agenthost.core.decisions import Context
from agenthost.core.decisions.grants import ALL_RIGHTS, Grant, Rights
from agenthost.host.agent import Agent, Answer, Declaration, Home
from agenthost.host.calls import WaitFor
from agenthost.host.catalogue import Catalogue
from agenthost.host.clients import Clients
from agenthost.host.completions import Completions
from agenthost.host.configuring import Configuring
from agenthost.host.confinement import Confinement, SandboxMode, SandboxPolicy, confine
from agenthost.host.contents import new_content
from agenthost.host.crashes import Crashes
from agenthost.host.delegating import Delegation
from agenthost.host.dispatch import Dispatcher, Happening
from agenthost.host.engine import Engine
from agenthost.host.feeds import Feed
from agenthost.host.files.contents import reader_of
from agenthost.host.files.files import Files
from agenthost.host.files.grants import FilePolicy, Grants
from agenthost.host.files.uris import target_of
from agenthost.host.files.workspace import Workspace
from agenthost.host.identity import Identity
from agenthost.host.lifetimes import Lifetimes
from agenthost.host.limits import Limits
from agenthost.host.means import Means
from agenthost.host.running import Surroundings
from agenthost.host.senders import Sender
from agenthost.host.session import Session
from agenthost.host.setup import (
    changed,
    option_grants,
    option_values,
    pins_for,
    private_of,
    server_tools_changed,
)
from agenthost.host.starting import Start
from agenthost.host.storage.sqlite import SqliteStorage, Sync
from agenthost.host.subscriptions import Shown
from agenthost.host.terminals.registry import Terminals, inside, writable
from agenthost.host.terminals.toolrun import Runner
from agenthost.host.titles import Titles
from agenthost.host.tokens import Tokens
from agenthost.host.toolcontext import OnAsk, OnProgress, ToolContext
from agenthost.host.toolsources import Sourcing
from agenthost.host.turns import Stats, Turns
from agenthost.host.vault import Vault, open_vault
from agenthost.wire.ahp.actions import resource_of
from agenthost.wire.json import Json

A = TypeVar("A", bound=Answer)


class Host:
    """A host of agents. Declare agents first, then open it, or let `serve` do that.

    Attributes:
        off: the grants that are switched off, whoever has them.
        stats: what happened so far, for the metrics.
        engine: the store and what lives on it, once the host is open.
        turns: the turns that run or wait.
        clients: who is connected.
        catalogue: tells which sessions come and go.
        terminals: the terminals that there are.
        files: the files that clients may touch.
        completions: what could come next in a message.
        configuring: the settings of a session, as a form.
        delegation: the tasks that agents have given to each other.
        titles: what sessions are called.
        tokens: what clients handed over for agents.
        sourcing: where agents have tools from that come and go.
        vault: seals secrets.
        confinement: what holds shells and programs, once the host is open.
    """

    engine: Engine
    turns: Turns
    clients: Clients
    dispatcher: Dispatcher
    terminals: Terminals
    files: Files
    completions: Completions
    configuring: Configuring
    titles: Titles
    tokens: Tokens
    lifetimes: Lifetimes
    delegation: Delegation
    sourcing: Sourcing
    vault: Vault

    def __init__(
        self,
        *,
        data: Path | str | None = None,
        workspace: Path | str | None = None,
        limits: Limits | None = None,
        sync: Sync = "full",
        file_policy: FilePolicy | None = None,
        terminals: bool = True,
        workspaces: Path | str | None = None,
        sandbox: SandboxMode | SandboxPolicy = "auto",
    ) -> None:
        """Make a host that keeps its sessions in `data`; without, in a folder that goes when it closes.

        `workspace` is the folder that files may be touched in, the current one unless told. With
        `sync="full"` not even a power cut takes back what was shown; with `"normal"` it may take the last two
        seconds, and commits are quicker. `file_policy` decides what clients may touch outside of it.
        `workspaces` is a folder in which each owner of keys gets one of its own, to work in instead.
        `sandbox` is whether shells and programs are kept apart from the rest of this machine. Without
        `terminals`, no client gets a shell.
        """
        self.data = None if data is None else Path(data)
        self.workspace = Path(workspace or ".").absolute()
        self.limits = limits or Limits()
        self.sync = sync
        self.file_policy = file_policy
        self.off: frozenset[Grant] = frozenset() if terminals else frozenset({"terminals"})
        self.workspaces = None if workspaces is None else Path(workspaces).absolute()
        self.sandbox = sandbox if isinstance(sandbox, SandboxPolicy) else SandboxPolicy(sandbox)
        self.confinement = Confinement()
        self.stats = Stats()
        self.catalogue = Catalogue()
        self._agents: dict[str, Agent] = {}
        self._opened = AsyncExitStack()
        self._taking_up: asyncio.Task[None] | None = None

    # Agents

    @property
    def agents(self) -> Mapping[str, Agent]:
        """The agents, by name, in the order they were added."""
        return self._agents

    def add(self, agent: Agent) -> Agent:
        """Serve an agent.

        Raises:
            ValueError: another agent has its name.
        """
        if self._agents.setdefault(agent.name, agent) is not agent:
            raise ValueError(f"there are two agents called {agent.name!r}")
        return agent

    def agent(self, name: str, **declared: Unpack[Declaration]) -> Callable[[A], A]:
        """Make an agent of a function: `@host.agent("timekeeper", tools=[clock])`."""

        def add(answer: A) -> A:
            self.add(Agent(name, answer, **declared))
            return answer

        return add

    def serve(self, **settings: Any) -> None:
        """Open the host and serve it to everybody, until Ctrl-C: `host.serve(port=8787)`."""
        # By name: a host is complete without a protocol, and must not need one to be imported.
        importlib.import_module("agenthost.edges.server").serve(self, **settings)

    # Opening and closing

    async def __aenter__(self) -> Self:
        """Open the store, start the agents, and take up the turns that ran or waited.

        Raises:
            SandboxUnavailable: sandboxes have to be, and cannot; the sentence says why.
            StorageError: the store cannot be opened; the sentence says why.
        """
        async with AsyncExitStack() as stack:
            data = self.data
            if data is None:
                data = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="agenthost-")))
            self.confinement = await asyncio.to_thread(
                confine, self.sandbox, data=data, workspaces=self.workspaces
            )
            storage = SqliteStorage(data, sync=self.sync)
            infos = [agent.info() for agent in self._agents.values()]
            self.engine = await stack.enter_async_context(Engine(storage, self.limits, agents=infos))
            self.vault = open_vault(data)
            self._wire_up(data)
            for agent in self._agents.values():
                agent.home = Home(self.workspace, self._announce, self.confinement.programs)
                await agent.start()
                stack.push_async_callback(agent.stop)
            self.sourcing.start(self._agents.values())
            stack.push_async_callback(self.sourcing.stop)
            stack.push_async_callback(self._stop)
            self._taking_up = asyncio.create_task(self.lifetimes.take_up())
            self._opened = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the agents, write what is left and close the store. Turns that run go on at the next start."""
        await self._opened.__aexit__(kind, error, trace)

    def _announce(self) -> None:
        self.engine.root.set_agents([agent.info() for agent in self._agents.values()])

    def _wire_up(self, data: Path) -> None:
        """Make the parts, and let each know those that it needs."""
        self.sourcing = Sourcing(self.workspace, self._tools_changed, self.confinement.programs)
        self._wire_turns()
        self.clients = Clients(
            self.dispatcher,
            self.turns.sessions,
            self.engine.sessions.peek,
            self.limits.client_grace_seconds,
        )
        grants = Grants(self.workspace, self.file_policy, workspaces=self.workspaces, hidden=[data])
        self.terminals = Terminals(
            self.engine, folder=inside(grants), writable=writable(grants), confinement=self.confinement
        )
        self.engine.sessions.is_taken = self.terminals.is_taken
        self.lifetimes = Lifetimes(
            self._agents,
            engine=self.engine,
            dispatcher=self.dispatcher,
            turns=self.turns,
            clients=self.clients,
            catalogue=self.catalogue,
            clear=self.terminals.dispose_of,
            show_tools=self._show_tools,
        )
        self.delegation = Delegation(
            self._agents,
            sessions=self.engine.sessions,
            lifetimes=self.lifetimes,
            dispatcher=self.dispatcher,
            wake=self.turns.wake,
            listeners=lambda session: self.engine.hub.count(session.number),
            limits=self.limits,
            tokens=self.tokens,
        )
        self.engine.sessions.loaded = self.lifetimes.loaded
        read_content = reader_of(self.engine.contents, self.engine.sessions)
        self.files = Files(grants, read_content=read_content)
        self.completions = Completions(self.files)
        self.configuring = Configuring(self._agents, self.files)
        self.titles = Titles(self._agents, self.engine.sessions, self.dispatcher.act)

    def _wire_turns(self) -> None:
        self.tokens = Tokens(self._agents)
        self.dispatcher = Dispatcher(
            self.engine.sessions,
            root=self.engine.root,
            senders=self.engine.senders,
            terminals=self.engine.terminals,
            happened=self._happened,
            context=self._context,
            notes=lambda session: self.turns.notes(session),  # noqa: PLW0108 - they are made below
            tokens=self.tokens,
            secrets=self.secret_names,
        )
        around = Surroundings(
            act=self.dispatcher.act,
            limits=self.limits,
            slots=asyncio.Semaphore(self.limits.tools_at_once),
            context=self._tool_context,
            tools_known=self.sourcing.wait,
            means=self._means,
            is_sandboxed=self.confinement.sandbox is not None,
        )
        self.turns = Turns(
            agents=self._agents,
            dispatcher=self.dispatcher,
            around=around,
            options=self._options,
            workspace=lambda session: self._workspace_of(session)().folder,
            crashes=Crashes(self.limits.crashes_per_turn, self.engine.sessions.is_active),
            lacks=lambda session: self.tokens.lacks(session, self.tokens.beginner(session)),
            stats=self.stats,
        )

    async def _stop(self) -> None:
        if self._taking_up is not None:
            self._taking_up.cancel()
        self.lifetimes.close()
        self.catalogue.close()
        self.clients.close()
        await self.titles.close()
        await self.turns.close()
        await self.terminals.close()
        self.completions.close()
        self.files.close()

    @property
    def is_restored(self) -> bool:
        """Whether all turns that ran or waited at the last stop have been taken up."""
        return self._taking_up is not None and self._taking_up.done()

    async def wait_restored(self) -> None:
        """Wait until all turns that ran or waited at the last stop have been taken up."""
        if self._taking_up is not None:
            await asyncio.shield(self._taking_up)

    # Sessions

    async def create_session(self, start: Start) -> Session:
        """Make a session; it is durable when this returns, and gets ready by itself.

        Raises:
            AgentNotFound: there is no such agent.
            InvalidValue: a setting that the agent does not have.
            SessionExists: its URI, or its name, is in use.
        """
        return await self.lifetimes.create(start)

    async def fork_session(self, uri: str, turn_id: str, new_uri: str) -> Session:
        """Make a session that begins with another's turns up to and including this one.

        Raises:
            SessionNotFound: there is no session of that URI.
            SessionExists: the new URI is in use.
            TurnInProgress: that turn has not ended yet.
            TurnNotFound: the session has no such turn.
        """
        return await self.lifetimes.fork(uri, turn_id, new_uri)

    async def dispose_session(self, uri: str) -> None:
        """Remove a session for good, with all that belongs to it. A turn that runs is cancelled first.

        Raises:
            SessionNotFound: there is none of that URI.
        """
        await self.lifetimes.dispose(uri)

    def agent_of(self, name: str) -> Agent:
        """Give an agent by its name.

        Raises:
            AgentNotFound: there is none.
        """
        return self.lifetimes.agent_of(name)

    # Clients

    def workspace_of(self, owner: str | None) -> Path:
        """Return the folder that the sessions of an owner work in, unless they say otherwise.

        Raises:
            ResourceError: it is not there, and cannot be made.
        """
        return self.workspace if self.workspaces is None or not owner else self.files.grants.folder_of(owner)

    def feed(self, client: Identity) -> Feed:
        """Give a client its way to hear of the root and of sessions."""
        return self.engine.feed(client)

    async def dispatch(
        self,
        client: Identity,
        client_seq: int,
        action: Json,
        tell: Callable[[Shown], None] | None = None,
        *,
        sender: Sender | None = None,
        rights: Rights = ALL_RIGHTS,
    ) -> Shown | None:
        """Let a client's action happen. Gives the refusal, if it is refused.

        `tell` is called with it once it is durable, in the order of everything else that is shown. `sender`
        is the connection that it came by, for those clients who may send something a second time; `rights`
        are what the client may do.
        """
        refusal = await self.dispatcher.dispatch(client, client_seq, action, sender, rights)
        if refusal is not None:
            if tell is not None:
                self.engine.journal.write([], tell, refusal)
            uri = resource_of(action) if type(action) is dict else None
            session = self.engine.sessions.peek(uri or "")
            if session is not None:
                self.clients.declined(session, action, client.client_id)
        return refusal

    def refuse(
        self, client: Identity, client_seq: int, action: Json, reason: str, tell: Callable[[Shown], None]
    ) -> None:
        """Answer a client's action that cannot even be looked at; `tell` is called as by `dispatch`."""
        self.engine.journal.write([], tell, self.dispatcher.refuse(client, client_seq, action, reason))

    def secret_names(self) -> frozenset[str]:
        """Return the names of all secret options, in lower case: what has one is never logged nor kept."""
        options = (option for agent in self._agents.values() for option in agent.options)
        return frozenset(option.name.lower() for option in options if option.kind == "secret")

    # What the parts need of each other

    def _happened(self, happening: Happening) -> None:
        self.turns.happened(happening)
        self.turns.count_up(happening)
        self.clients.happened(happening)
        self.delegation.happened(happening)
        self.catalogue.happened(happening)
        self.titles.happened(happening)

    def _context(self, session: Session) -> Context:
        agent = self._agents.get(session.state["summary"]["provider"])
        models = None if agent is None else [model.id for model in agent.models]
        return Context(
            models,
            message_bytes=self.limits.message_bytes,
            had_turn=session.had_turn,
            call_grant=None if agent is None else agent.grant_of,
            option_grants={} if agent is None else option_grants(agent),
        )

    def _options(self, agent: Agent, session: Session) -> dict[str, str]:
        kept = private_of(session).get("secrets", {})
        secret = {
            option.name: self.vault.open(kept[option.name]) if option.name in kept else option.default
            for option in agent.options
            if option.kind == "secret"
        }
        return {**option_values(agent, session.state), **secret}

    def _workspace_of(self, session: Session) -> Callable[[], Workspace]:
        """Give what finds the folder that a session works in; it looks at the disk."""
        owner = session.row.owner or None
        uri = session.state["summary"].get("workingDirectory")

        def find() -> Workspace:
            folder = uri or self.workspace_of(owner).as_uri()
            return Workspace.of(target_of(folder, "$.workingDirectory"), self.files.grants.jail(owner))

        return find

    def _means(self, session: Session) -> Means:
        return Means(self.files, self.terminals, session.row.uri, session.row.owner)

    def _tool_context(
        self,
        session: Session,
        turn_id: str,
        call_id: str,
        show: OnProgress,
        ask: OnAsk,
        wait_for: WaitFor[Any],
    ) -> ToolContext:
        return ToolContext(
            session=session.row.uri,
            turn_id=turn_id,
            call_id=call_id,
            workspace=self._workspace_of(session),
            on_progress=show,
            on_ask=ask,
            on_delegate=self.delegation.by_call(session, turn_id, call_id, wait_for),
            runner=Runner(self.terminals, session.row.uri, session.row.owner, turn_id, call_id),
            kept=partial(self.engine.contents.kept, session),
            new_content=lambda data, content_type: new_content(session, data, content_type),
        )

    def switch_tools(self, session: Session, tools: Mapping[str, bool]) -> None:
        """Switch on these tools of a session, and no others; the values say which are trusted."""
        agent = self.agent_of(session.state["summary"]["provider"])
        pins: Any = pins_for(agent.toolset, {"tools": tools})
        private = changed(session, tools=dict(tools), trusted=None, scopes=None, pins=pins or None)
        if private is not None:
            self.dispatcher.act(session, server_tools_changed(agent, session, tools), private=private)

    def _tools_changed(self, agent: Agent) -> None:
        for session in self.engine.sessions.in_memory_of(agent.name):
            self._show_tools(session)

    def _show_tools(self, session: Session) -> None:
        """Let a session show the tools that it has now, if those are others."""
        agent = self._agents.get(session.state["summary"]["provider"])
        if agent is None:
            return
        action = server_tools_changed(agent, session, private_of(session).get("tools"))
        shown: Any = session.state.get("serverTools", [])
        if not self.sourcing.is_settled(agent):
            # Not all tools are known yet, so none is gone.
            action["tools"] += [one for one in shown if one["name"] not in agent.toolset]
        if action["tools"] != shown:
            self.dispatcher.act(session, action)
