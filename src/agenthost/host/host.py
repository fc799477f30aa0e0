"""The host: agents in durable sessions. It is complete without a protocol.

Open it with `async with`. Then any number of clients, whatever protocol they speak, act through
`Host.client`: create sessions, dispatch actions, follow resources. Knows no sockets: the edges do.
"""

import asyncio
import importlib
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack, cast

from agenthost.core.decisions.grants import Grant
from agenthost.errors import AgentNotFound, StorageError, StoreTaken
from agenthost.host.access.caller import ANYBODY, Caller
from agenthost.host.access.identity import Identity
from agenthost.host.access.keys import KEYS, KeyFile, KeyRing
from agenthost.host.access.vault import Vault, open_shared_vault
from agenthost.host.authoring.agent import Agent, Answer, Declaration, Home
from agenthost.host.client import HostClient
from agenthost.host.cluster.peers import Peers
from agenthost.host.cluster.websocket import Dialer, PeerOptions
from agenthost.host.counters import Counters, NodeCounters
from agenthost.host.files.grants import FilePolicy
from agenthost.host.limits import Limits
from agenthost.host.log.shared_line import SharedLine
from agenthost.host.parts import HostOptions, HostParts
from agenthost.host.remote import RemoteClients
from agenthost.host.sandbox.policy import Confinement, SandboxMode, SandboxPolicy, confine
from agenthost.host.state.engine import Engine
from agenthost.host.state.session import Session
from agenthost.host.state.terminal import TerminalTable
from agenthost.host.storage import PARTIAL, Storage
from agenthost.host.storage.shared import NodeNotice, SharedStorage
from agenthost.host.storage.sqlite import SqliteStorage, Sync
from agenthost.host.storage.stores import shared_documents, shared_store
from agenthost.host.store_address import StoreAddress, parse_address
from agenthost.host.terminals.terminal import Terminal
from agenthost.host.turns.crashes import is_asking
from agenthost.host.turns.runner import TurnStats

if TYPE_CHECKING:
    from agenthost.host.storage.postgres.documents import StoredDocuments

__all__ = ["Host"]

A = TypeVar("A", bound=Answer)

MAX_LAG_SECONDS = 5.0
"""After how long a node that does not show what others wrote is not ready."""


class Host:
    """A host of agents. Declare agents first, then open it, or let `serve` do that.

    Attributes:
        data: the folder that stores its sessions; None if they are deleted when it closes.
        store: the address of the database that stores its sessions instead, if there is one.
        workspace: the folder that sessions work in by default.
        workspaces: the folder with a workspace for each owner of keys, if there is one.
        limits: the limits of the host.
        off: the grants that are switched off for everybody.
        stats: counters for the metrics.
        confinement: the sandbox of shells and programs, once the host is open.
        lease: after how many silent seconds other nodes take over; the server sets it.
        peer_options: how other nodes of the host reach this one; the server sets it.
        leaving: set when somebody has told this node to leave the others; the server then stops.
        peers: the other nodes, once the host is open on a store that several can use.
        parts: the parts of the host, once it is open. For tests; edges use `client` and `counters`.
    """

    parts: HostParts

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
        store: str | StoreAddress | None = None,
    ) -> None:
        """Make a host.

        Args:
            data: the folder to store sessions in; by default one that is deleted when the host closes.
            workspace: the folder whose files may be used; by default the current one.
            sync: with `"full"`, not even a power cut loses what was shown; with `"normal"` it may lose the
                last two seconds, and commits are faster.
            file_policy: which files outside of the workspace clients may use.
            workspaces: a folder in which each owner of keys gets its own workspace.
            limits: the limits of the host.
            sandbox: whether shells and programs run in a sandbox.
            terminals: whether clients may open terminals.
            store: the URL of a PostgreSQL database to store sessions in, instead of the data folder. The
                environment variable `AGENTHOST_SECRET_KEY` has to be set.

        Raises:
            StorageError: `store` is not such a URL.
        """
        self.data = None if data is None else Path(data)
        self.store = parse_address(store) if isinstance(store, str) else store
        self.workspace = Path(workspace or ".").absolute()
        self.limits = limits or Limits()
        self.sync = sync
        self.file_policy = file_policy
        self.off: frozenset[Grant] = frozenset() if terminals else frozenset({"terminals"})
        self.workspaces = None if workspaces is None else Path(workspaces).absolute()
        self.sandbox = sandbox if isinstance(sandbox, SandboxPolicy) else SandboxPolicy(sandbox)
        self.confinement = Confinement()
        self.stats = TurnStats()
        self._agents: dict[str, Agent] = {}
        self._opened = AsyncExitStack()
        self._resuming: asyncio.Task[None] | None = None
        self._documents: StoredDocuments | None = None
        self.taken: asyncio.Future[StoreTaken] | None = None
        self.peer_options = PeerOptions()
        self.lease: float = 5
        self.leaving = asyncio.Event()
        self.peers: Peers | None = None

    # Agents

    @property
    def agents(self) -> Mapping[str, Agent]:
        """The agents, by name, in the order in which they were added."""
        return self._agents

    def add(self, agent: Agent) -> Agent:
        """Serve an agent.

        Raises:
            ValueError: another agent has its name.
        """
        if self._agents.setdefault(agent.name, agent) is not agent:
            raise ValueError(f"two agents are called {agent.name!r}")
        for name in self._agents:
            # A4: names are schemes of URIs, in which case does not count.
            if name != agent.name and name.lower() == agent.name.lower():
                del self._agents[agent.name]
                raise ValueError(f"the agents {name!r} and {agent.name!r} differ only in case")
        return agent

    def agent(self, name: str, **declared: Unpack[Declaration]) -> Callable[[A], A]:
        """Make an agent from a function: `@host.agent("timekeeper", tools=[clock])`."""

        def add(answer: A) -> A:
            self.add(Agent(name, answer, **declared))
            return answer

        return add

    def agent_of(self, session: Session) -> Agent:
        """Return the agent of a session.

        Raises:
            AgentNotFound: it is no longer served.
        """
        name = session.state["provider"]
        agent = self._agents.get(name)
        if agent is None:
            raise AgentNotFound(name)
        return agent

    def serve(self, **settings: Any) -> None:
        """Open the host and serve it until Ctrl-C: `host.serve(port=8787)`."""
        # Imported by name: a host is complete without a protocol, and must not import one.
        importlib.import_module("agenthost.edges.server").serve(self, **settings)

    # Opening and closing

    async def __aenter__(self) -> Self:
        """Open the store, start the agents, and resume the turns that ran or waited.

        Raises:
            SandboxUnavailable: a sandbox is required and not available; the message says why.
            StorageError: the store cannot be opened; the message says why.
        """
        async with AsyncExitStack() as stack:
            data = self.data
            if data is None:
                data = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="agenthost-")))
            vault = None if self.store is None else open_shared_vault()
            self.confinement = await asyncio.to_thread(
                confine, self.sandbox, data=data, workspaces=self.workspaces, keys=self.key_ring()
            )
            stack.callback(self.close_documents)
            self.parts = await self._open_parts(stack, data, vault)
            if vault is not None:
                self.peers = self._make_peers(vault)
                stack.push_async_callback(self.peers.close)
                if self.parts.commands is not None:
                    self.parts.commands.connect(self.peers)
            for agent in self._agents.values():
                agent.home = Home(self.workspace, self._announce, self.confinement.programs)
                await agent.start()
                stack.push_async_callback(agent.stop)
            self.parts.tool_sources.start(self._agents.values())
            stack.push_async_callback(self.parts.tool_sources.stop)
            stack.push_async_callback(self._stop)
            self._resuming = asyncio.create_task(self.parts.lifecycle.resume())
            if self.parts.takeover is not None:
                self.parts.takeover.start()
            if self.parts.engine.shares is not None:
                self.parts.engine.shares.on_notice.append(self._hear)
            self._opened = stack.pop_all()
        return self

    async def _open_parts(self, stack: AsyncExitStack, data: Path, vault: Vault | None) -> HostParts:
        terminals: TerminalTable[Terminal] = TerminalTable()
        loaded: list[Callable[[Session], None]] = []
        engine = Engine(
            self._make_storage(data, vault),
            self.limits,
            agents=[agent.info() for agent in self._agents.values()],
            terminals=terminals,
            loaded=loaded,
        )
        await stack.enter_async_context(engine)
        options = HostOptions(
            data, self.workspace, self.workspaces, self.limits, self.file_policy, self.confinement, vault
        )
        remote = RemoteClients(lambda: self.parts)
        return HostParts(engine, self._agents, options, self.stats, terminals, loaded, remote.carry_out)

    def _make_storage(self, data: Path, vault: Vault | None) -> Storage:
        if self.store is None or vault is None:
            return SqliteStorage(data, sync=self.sync)
        loop = asyncio.get_running_loop()
        self.taken = taken = loop.create_future()

        def tell(error: StoreTaken) -> None:
            if not taken.done():
                taken.set_result(error)

        return shared_store(
            self.store,
            taken=lambda error: loop.call_soon_threadsafe(tell, error),
            check_word=vault.check_word,
            node_url=self.peer_options.url or "",
            lease=self.lease,
        )

    def _make_peers(self, vault: Vault) -> Peers:
        storage = cast("SharedStorage", self.parts.engine.storage)
        try:
            dial = Dialer(self.peer_options)
        except OSError as error:
            raise StorageError(
                f"peer_ca: {self.peer_options.ca} cannot be read as certificates: {error.strerror or error}"
            ) from None

        async def find_url(node: int) -> str | None:
            nodes = await asyncio.to_thread(storage.nodes)
            return next((one.url for one in nodes if one.id == node), None) or None

        return Peers(vault.derive("peer"), storage.node, find_url, dial)

    # Keys

    def key_ring(self) -> KeyRing | None:
        """Return the keys of a server for this host; None if it keeps none."""
        if self.store is not None:
            return KeyRing(self.documents().document(KEYS))
        return None if self.data is None else KeyFile(self.data)

    def documents(self) -> "StoredDocuments":
        """Return the documents of the store, which other machines can reach.

        Raises:
            StorageError: there is no secret key, or the library for it is not installed.
        """
        assert self.store is not None  # noqa: S101
        if self._documents is None:
            self._documents = shared_documents(self.store, open_shared_vault().check_word)
        return self._documents

    def close_documents(self) -> None:
        """Close the connection that `documents` uses, if it is open."""
        if self._documents is not None:
            self._documents.close()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the agents, write what is left and close the store. The next start resumes running turns."""
        await self._opened.__aexit__(kind, error, trace)

    def _announce(self) -> None:
        self.parts.engine.root.set_agents([agent.info() for agent in self._agents.values()])

    async def _stop(self) -> None:
        if self._resuming is not None:
            self._resuming.cancel()
        await self.parts.close()

    @property
    def is_restored(self) -> bool:
        """Whether all turns that ran or waited at the last stop have been resumed."""
        return self._resuming is not None and self._resuming.done()

    async def wait_restored(self) -> None:
        """Wait until all turns that ran or waited at the last stop have been resumed."""
        if self._resuming is not None:
            await asyncio.shield(self._resuming)

    def _hear(self, notice: NodeNotice) -> None:
        shared = self.parts.engine.shared
        if shared is not None and notice == NodeNotice("drain", shared.node):
            self.leaving.set()

    @property
    def has_other_nodes(self) -> bool:
        """Whether other nodes of the host are alive, as far as this one knows."""
        shares = self.parts.engine.shares
        return shares is not None and shares.has_others

    @property
    def busy_turns(self) -> int:
        """How many turns run here that do not only wait for people or clients."""
        return sum(not is_asking(session) for session in self.parts.turns.sessions())

    @property
    def trouble(self) -> StorageError | None:
        """Why the store cannot be written to now; None while it can."""
        return self.parts.engine.journal.trouble

    def counters(self) -> Counters:
        """Return what was counted so far, for the metrics."""
        engine = self.parts.engine
        return Counters(
            sessions=engine.session_counts.total,
            sessions_in_memory=engine.sessions.in_memory,
            turns=self.stats,
            journal_stats=engine.journal.stats,
            journal_backlog=engine.journal.backlog,
            is_writable=engine.journal.trouble is None,
            subscriber_backlogs=[subscriber.backlog for subscriber in engine.hub.subscribers()],
            node=self._node_counters(),
        )

    def _node_counters(self) -> NodeCounters | None:
        parts = self.parts
        line, shared = parts.engine.line, parts.engine.shared
        if shared is None or parts.takeover is None or not isinstance(line, SharedLine):
            return None
        commands = parts.commands
        return NodeCounters(
            id=shared.node,
            lease=self.lease,
            lag=line.lag,
            takeovers=parts.takeover.count,
            sent=0 if commands is None else commands.sent,
            received=0 if commands is None else commands.received,
        )

    @property
    def is_behind(self) -> bool:
        """Whether what other nodes wrote is shown here much too late."""
        line = self.parts.engine.line
        return isinstance(line, SharedLine) and line.lag_seconds > MAX_LAG_SECONDS

    # Clients

    def client(self, identity: Identity, caller: Caller = ANYBODY) -> HostClient:
        """Return a client's interface to the host, within its rights."""
        return HostClient(self.parts, identity, caller)

    def secret_names(self) -> frozenset[str]:
        """Return the names of all secret options, in lower case. Such fields are never logged or stored."""
        options = (option for agent in self._agents.values() for option in agent.options)
        return frozenset(option.name.lower() for option in options if option.kind == "secret")

    async def find_version(self, client: Identity) -> tuple[str, bool] | None:
        """Return the protocol version that was agreed with a client, and whether it had partial views."""
        found = await asyncio.to_thread(self.parts.engine.storage.version_of, client.key)
        return None if found is None else (found.removesuffix(PARTIAL), found.endswith(PARTIAL))

    def forget_tokens(self, client: Identity) -> None:
        """Forget the tokens of a client that will not come back."""
        self.parts.tokens.forget(client)
