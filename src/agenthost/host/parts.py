"""The parts of an open host, made in the order in which they need each other.

Nothing is set on a part after it is made. Where two parts need each other, one of them goes through
`ActionListeners` or the list of functions called with loaded sessions. Both are filled here, in order.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from agenthost.core.decisions import Context
from agenthost.core.queries import working_directory
from agenthost.host.access.vault import Vault, open_vault
from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.machine import Machine
from agenthost.host.authoring.tool_context import OnAsk, OnProgress, ToolContext
from agenthost.host.authoring.tool_sources import ToolSources
from agenthost.host.chats import Chats
from agenthost.host.cluster.commands import CarryOut, Commands
from agenthost.host.cluster.foreign_list import ForeignList
from agenthost.host.cluster.presence import Presence, tell_presence
from agenthost.host.cluster.takeover import Takeover
from agenthost.host.delegation import Delegation
from agenthost.host.disposal import Disposal
from agenthost.host.files.files import Files
from agenthost.host.files.grants import FilePolicy, Grants
from agenthost.host.files.uris import parse_uri
from agenthost.host.files.workspace import Workspace
from agenthost.host.lifecycle import Lifecycle
from agenthost.host.limits import Limits
from agenthost.host.sandbox.policy import Confinement
from agenthost.host.sessions import clients, titles
from agenthost.host.sessions.clients import Clients
from agenthost.host.sessions.completions import Completions
from agenthost.host.sessions.config_form import ConfigForm
from agenthost.host.sessions.dispatch import Dispatcher
from agenthost.host.sessions.list_notices import ListNotices
from agenthost.host.sessions.listeners import ActionListeners
from agenthost.host.sessions.session_options import option_values
from agenthost.host.sessions.titles import Titles
from agenthost.host.sessions.tokens import Tokens
from agenthost.host.sessions.tool_access import server_tools_changed
from agenthost.host.state.blob_access import content_reader
from agenthost.host.state.blobs import new_blob
from agenthost.host.state.engine import Engine
from agenthost.host.state.session import Session
from agenthost.host.state.shares import Shares
from agenthost.host.state.terminal import TerminalTable
from agenthost.host.state.turn_loads import TurnLoads
from agenthost.host.storage.shared import SharedStorage
from agenthost.host.terminals.command_runner import CommandRunner
from agenthost.host.terminals.registry import Terminals, start_folders, writable_paths
from agenthost.host.terminals.terminal import Terminal
from agenthost.host.turns.crashes import CrashCounts
from agenthost.host.turns.runner import COUNTED, TurnRunner, TurnStats
from agenthost.host.turns.services import TurnServices
from agenthost.host.turns.tool_calls import WaitFor

__all__ = ["HostOptions", "HostParts"]

log = logging.getLogger("agenthost.nodes")


@dataclass(frozen=True, slots=True)
class HostOptions:
    """The options of a host that its parts need.

    Attributes:
        data: the folder of the store.
        workspace: the folder that sessions work in by default.
        workspaces: the folder with a workspace for each owner, if there is one.
        limits: the limits of the host.
        file_policy: which files outside of the workspace clients may use.
        confinement: the sandbox of shells and programs.
        vault: seals secrets; by default with a key in the data folder.
    """

    data: Path
    workspace: Path
    workspaces: Path | None
    limits: Limits
    file_policy: FilePolicy | None
    confinement: Confinement
    vault: Vault | None = None


class HostParts:
    """The parts of an open host.

    Attributes:
        agents: the agents, by name.
        engine: the store, and what is kept in it.
        dispatcher: decides and applies actions.
        turns: the turns that run or wait.
        clients: the connected clients.
        chats: further chats of sessions.
        list_notices: notices about the list of sessions.
        terminals: the open terminals.
        files: the files that clients may use.
        completions: completions for messages.
        config_form: the form for the settings of a new session.
        delegation: the tasks that agents give to each other.
        lifecycle: creates, resumes and removes sessions.
        titles: the titles of sessions.
        tokens: the tokens of clients.
        tool_sources: tools that come and go.
        turn_loads: the clients that do not have all turns of a chat.
        vault: seals secrets.
        stats: counters for the metrics.
        takeover: takes over turns of other nodes, if there can be any; `commands` has what clients want of
            sessions that they write.
    """

    def __init__(
        self,
        engine: Engine,
        agents: Mapping[str, Agent],
        options: HostOptions,
        stats: TurnStats,
        terminals: TerminalTable[Terminal],
        loaded: list[Callable[[Session], None]],
        carry_out: CarryOut | None = None,
    ) -> None:
        """Make the parts. `terminals` and `loaded` are the engine's own objects; both are filled here.

        `carry_out` carries out commands of clients of other nodes.
        """
        self.engine = engine
        self.agents = agents
        self.stats = stats
        self._options = options
        limits, confinement = options.limits, options.confinement
        grants = Grants(
            options.workspace, options.file_policy, workspaces=options.workspaces, hidden=[options.data]
        )
        self._listeners = listeners = ActionListeners()
        self.vault: Vault = options.vault or open_vault(options.data)
        self.tokens = Tokens(agents)
        self.list_notices = ListNotices()
        self.tool_sources = ToolSources(options.workspace, self._tools_changed, confinement.programs)
        self.files = Files(
            grants, read_content=content_reader(engine.contents, engine.sessions), host_limits=limits
        )
        self.terminals = Terminals(
            engine,
            terminals,
            folder=start_folders(grants),
            writable=writable_paths(grants),
            confinement=confinement,
        )
        self.turn_loads = TurnLoads(engine.journal)
        self.dispatcher = Dispatcher(
            engine.sessions,
            root=engine.root,
            senders=engine.senders,
            terminals=terminals,
            changesets=engine.changesets,
            listeners=listeners,
            list_notices=self.list_notices,
            context=self._context,
            tokens=self.tokens if any(agent.protected_resources for agent in agents.values()) else None,
            secrets=self.secret_names,
            turn_loads=self.turn_loads,
        )
        services = TurnServices(
            act=self.dispatcher.act,
            limits=limits,
            slots=asyncio.Semaphore(limits.tools_at_once),
            context=self._tool_context,
            tools_known=self.tool_sources.wait,
            machine=self._machine,
            workspace=lambda session: self._find_workspace(session).folder,
            options=self._option_values,
            is_sandboxed=confinement.sandbox is not None,
            client_call_ready=self._fail_gone_calls,
        )
        self.turns = TurnRunner(
            agents=agents,
            services=services,
            crashes=CrashCounts(limits.crashes_per_turn, engine.sessions.is_active),
            lacks=lambda session: self.tokens.lacks(session, self.tokens.beginner(session)),
            stats=stats,
        )
        self.clients = Clients(
            self.dispatcher,
            self.turns.sessions,
            engine.sessions.peek,
            limits.client_grace_seconds,
            None if engine.shared is None else partial(tell_presence, engine.journal),
        )
        self.titles = Titles(agents, engine.sessions, self.dispatcher.act, self._switch_titles)
        self.chats = Chats(
            agents,
            engine=engine,
            dispatcher=self.dispatcher,
            limits=limits,
            moved=self.terminals.move_claims,
        )
        self.lifecycle = Lifecycle(
            agents,
            engine=engine,
            dispatcher=self.dispatcher,
            turns=self.turns,
            clients=self.clients,
            disposal=Disposal(
                agents,
                engine=engine,
                dispatcher=self.dispatcher,
                list_notices=self.list_notices,
                clear=self.terminals.dispose_held_by,
            ),
            list_notices=self.list_notices,
            show_tools=self._show_tools,
            seal=self.vault.seal,
            created=self.titles.watch,
        )
        self.delegation = Delegation(
            agents,
            sessions=engine.sessions,
            lifecycle=self.lifecycle,
            dispatcher=self.dispatcher,
            wake=self.turns.wake,
            listeners=lambda session: engine.hub.count(session.number),
            limits=limits,
            tokens=self.tokens,
            turn_on=lambda: listeners.turn_on(self.delegation.on_action),
        )
        self.takeover: Takeover | None = None
        self.commands: Commands | None = None
        self._foreign_list: ForeignList | None = None
        self._presence: Presence | None = None
        self._tasks: set[asyncio.Task[object]] = set()
        if engine.shared is not None and engine.shares is not None:
            self._share(engine.shared, engine.shares, carry_out)
        self.completions = Completions(self.files)
        self.config_form = ConfigForm(agents, self.files)
        loaded += [self.delegation.loaded, self.titles.watch, self.lifecycle.loaded]
        # The order matters: turns first, because the others react to what they do; subagents after the turn
        # that they belong to; titles last, because they apply another action.
        listeners.add(self.turns.on_action)
        listeners.add(self.turns.count_outcome, COUNTED)
        listeners.add(self.clients.on_action, clients.LISTENS_TO)
        listeners.add(self.delegation.on_action, is_on=False)  # until the first task
        listeners.add(self.titles.on_truncated, {"chat/truncated"})
        listeners.add(self.titles.on_action, titles.LISTENS_TO, is_on=False)  # while a session has no title

    def _share(self, storage: SharedStorage, shares: Shares, carry_out: CarryOut | None) -> None:
        """Make the parts for a store that other nodes use too."""
        engine = self.engine
        self.takeover = Takeover(storage, engine.sessions, self.agents)
        shares.on_notice.append(self.takeover.heard)
        self._foreign_list = ForeignList(storage, self.list_notices)
        assert engine.ownership is not None  # noqa: S101
        self._presence = Presence(storage, self.clients)
        shares.on_notice.append(self._presence.heard)
        engine.ownership.followed.noted += [self._foreign_list.note, self._presence.note]
        self._presence.read()
        if carry_out is not None:
            self.commands = Commands(storage, engine.ownership, engine.sessions, carry_out, engine.line)

    def run_soon(self, work: Coroutine[Any, Any, object]) -> None:
        """Do something that nobody waits for. A failure is logged."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_done)

    def _on_done(self, task: "asyncio.Task[object]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.warning("a command for another node failed: %s", error)

    async def close(self) -> None:
        """Stop everything that runs."""
        for task in self._tasks:
            task.cancel()
        if self.takeover is not None:
            await self.takeover.close()
        if self._foreign_list is not None:
            self._foreign_list.close()
        if self._presence is not None:
            await self._presence.close()
        if self.commands is not None:
            await self.commands.close()
        self.lifecycle.close()
        self.list_notices.close()
        self.clients.close()
        await self.titles.close()
        await self.turns.close()
        await self.terminals.close()
        self.completions.close()
        self.files.close()

    def secret_names(self) -> frozenset[str]:
        """Return the names of all secret options, in lower case. Such fields are never logged or stored."""
        options = (option for agent in self.agents.values() for option in agent.options)
        return frozenset(option.name.lower() for option in options if option.kind == "secret")

    def workspace_of(self, owner: str | None) -> Path:
        """Return the folder that the sessions of an owner work in by default.

        Raises:
            ResourceError: it does not exist, and cannot be created.
        """
        options = self._options
        is_shared = options.workspaces is None or not owner
        return options.workspace if is_shared else self.files.grants.folder_of(str(owner))

    # Callbacks of the parts

    def _switch_titles(self, is_on: bool) -> None:  # noqa: FBT001
        switch = self._listeners.turn_on if is_on else self._listeners.turn_off
        switch(self.titles.on_action)

    def _fail_gone_calls(self, session: Session) -> None:
        self.clients.fail_gone_calls(session)

    def _context(self, session: Session) -> Context:
        agent = self.agents.get(session.state["provider"])
        if agent is None:
            return Context(message_bytes=self._options.limits.message_bytes, had_turn=session.had_turn)
        return Context(
            [model.id for model in agent.models] or [agent.name],
            message_bytes=self._options.limits.message_bytes,
            had_turn=session.had_turn,
            tool_names=agent.toolset,
            call_grant=agent.grant_of,
            option_grants=agent.option_grants,
            takes_client_tools=agent.client_tools,
        )

    def _option_values(self, agent: Agent, session: Session) -> dict[str, str]:
        kept = session.private.get("secrets", {})
        secret = {
            option.name: self.vault.open(kept[option.name]) if option.name in kept else option.default
            for option in agent.options
            if option.kind == "secret"
        }
        return {**option_values(agent, session.state), **secret}

    def _find_workspace(self, session: Session) -> Workspace:
        """Return the folder that a session works in. Reads the disk."""
        owner = session.row.owner or None
        folder = working_directory(session.state) or self.workspace_of(owner).as_uri()
        return Workspace.of(parse_uri(folder, "$.workingDirectory"), self.files.grants.jail(owner))

    def _machine(self, session: Session) -> Machine:
        return Machine(self.files, self.terminals, session.home.uri, session.chat_uri, session.row.owner)

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
            workspace=partial(self._find_workspace, session),
            on_progress=show,
            on_ask=ask,
            on_delegate=partial(self.delegation.delegate, session, turn_id, call_id, wait_for),
            runner=CommandRunner(
                self.terminals, session.home.uri, session.chat_uri, session.row.owner, turn_id, call_id
            ),
            kept=partial(self.engine.contents.read_own, session),
            new_content=partial(new_blob, session),
        )

    def _tools_changed(self, agent: Agent) -> None:
        for session in self.engine.sessions.in_memory_of(agent.name):
            self._show_tools(session)

    def _show_tools(self, session: Session) -> None:
        """Show the tools that a session has now, if they have changed."""
        agent = self.agents.get(session.state["provider"])
        if agent is None:
            return
        action = server_tools_changed(agent, session, session.private.get("tools"))
        shown = session.state.get("serverTools", [])
        if not self.tool_sources.is_settled(agent):
            # Not all tools are known yet, so a missing one may still come.
            action["tools"] += [one for one in shown if one["name"] not in agent.toolset]
        if action["tools"] != shown:
            self.dispatcher.act(session, action)
