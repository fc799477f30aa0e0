"""The one door: everything that a client can do with the host, whatever protocol it speaks.

Each edge makes a `HostClient` for its peer and uses nothing else of the host. Who may see what is decided
here; what may be done, in `core.decisions`.
"""

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from agenthost.core import actions
from agenthost.core.changesets import split_changeset_uri
from agenthost.core.decisions.chats import check_disposable
from agenthost.core.decisions.setup import Offer, check_client_tools, check_session, check_trust
from agenthost.core.queries import working_directory
from agenthost.errors import (
    AgentNotFound,
    ChangesetNotFound,
    OwnedElsewhere,
    SessionExists,
    SessionNotFound,
    UriReserved,
)
from agenthost.host.access.caller import Caller
from agenthost.host.access.identity import Identity
from agenthost.host.authoring.agent import Agent
from agenthost.host.chats import NewChat
from agenthost.host.client_files import ClientFiles
from agenthost.host.forwarding import Choices, Forwarding, SentAction
from agenthost.host.log.entries import encode_entry
from agenthost.host.log.line import Mark
from agenthost.host.log.subscriptions import LogItem, Subscriber
from agenthost.host.owner_view import OwnerView
from agenthost.host.parts import HostParts
from agenthost.host.sessions.action_source import ActionSource, ClientAction
from agenthost.host.sessions.clients import note_guest
from agenthost.host.sessions.dispatch import Translate
from agenthost.host.sessions.list_notices import Notice
from agenthost.host.sessions.new_session import NewSession, successor_of
from agenthost.host.sessions.tool_access import pins_for, server_tools_changed
from agenthost.host.state.feed import Feed
from agenthost.host.state.further_chat import FurtherChat
from agenthost.host.state.private import with_values
from agenthost.host.state.search import Found
from agenthost.host.state.senders import Sender
from agenthost.host.state.session import Session
from agenthost.host.state.session_uris import RESERVED
from agenthost.host.state.turn_loads import Views
from agenthost.host.storage import PARTIAL, ROOT, PutClient, SessionRow
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.actions.text import Action
from agenthost.wire.ahp.chat import ChatMoveDestination
from agenthost.wire.ahp.commands.chat import CompletionsParams
from agenthost.wire.ahp.commands.config import ResolveSessionConfigParams, SessionConfigCompletionsParams
from agenthost.wire.ahp.session import SessionActiveClient
from agenthost.wire.ahp.terminal import TerminalClaim
from agenthost.wire.json import Json, JsonObject

__all__ = ["HostClient"]

READY_SECONDS = 0.05
"""How often to look whether a session that another node prepares is ready."""


class HostClient:
    """A client of the host.

    Attributes:
        identity: its identity, unique among the clients of all owners.
        owner: the owner whose sessions it sees; `None` sees all.
        rights: what it may do.
    """

    __slots__ = ("_parts", "identity", "owner", "rights")

    def __init__(self, parts: HostParts, identity: Identity, caller: Caller) -> None:
        self._parts = parts
        self.identity = identity
        self.owner = caller.owner
        self.rights = caller.rights

    @property
    def _forwarding(self) -> Forwarding:
        return Forwarding(self._parts, self.identity, Caller(self.owner, self.rights))

    # Presence

    def join(self) -> None:
        """Record that the client has connected."""
        self._parts.clients.joined(self.identity)

    def leave(self) -> None:
        """Record that a connection of the client has ended."""
        self._parts.clients.left(self.identity)

    def remember_version(self, version: str, *, is_partial: bool) -> None:
        """Remember the protocol version that was agreed with the client, also after a restart.

        `is_partial`: it does not have all turns of some chat.
        """
        stored = version + PARTIAL if is_partial else version
        self._parts.engine.journal.write([PutClient(self.identity.key, stored)])

    async def open_sender(self, tell: Callable[[LogItem], None], last_seen: int | None) -> Sender:
        """Return a sender for the client's connection; `tell` sends refusals to the client."""
        return await self._parts.engine.senders.join(self.identity, tell, last_seen)

    def close_sender(self, sender: Sender) -> None:
        """Record that the connection sends no more actions."""
        self._parts.engine.senders.leave(sender)

    # Reading

    async def get_session(self, uri: str) -> Session:
        """Return a session that the client may see, by its URI.

        Raises:
            SessionNotFound: it does not exist, or belongs to another owner.
        """
        session = await self._parts.engine.sessions.get(uri)
        if session.home is not session or self.owner not in (None, session.row.owner):
            raise SessionNotFound(uri)
        return session

    async def get_conversation(self, uri: str) -> Session:
        """Return a session that the client may see, by its URI or its default chat's, or a further chat.

        Raises like `get_session`.
        """
        session = await self._parts.engine.sessions.find(uri)
        if self.owner is not None and self.owner != session.row.owner:
            raise SessionNotFound(uri)
        return session

    async def get_session_named(self, name: str) -> Session:
        """Return a session that the client may see, by its short id. Raises like `get_session`."""
        session = self._parts.engine.sessions.held(name)
        if session is None:
            return await self._parts.engine.sessions.get((await self.get_row_named(name)).uri)
        if self.owner is not None and self.owner != session.row.owner:
            raise SessionNotFound(name)
        return session

    async def get_row_named(self, name: str) -> SessionRow:
        """Return the row of a session, by its short id, without its state. Raises like `get_session`."""
        row = await self._parts.engine.sessions.find_row(name)
        if row is None or row.parent or self.owner not in (None, row.owner):
            raise SessionNotFound(name)
        return row

    async def check_visible(self, uri: str, *, has_chats: bool = True) -> None:
        """Refuse a channel that does not exist or belongs to another owner.

        Without `has_chats`, chats and changesets do not exist.

        Raises:
            SessionNotFound: in both cases, so that neither is revealed.
            OwnedElsewhere: it is a terminal of another node.
        """
        if uri == ROOT_URI or self._parts.terminals.is_visible(uri, self.owner):
            return
        elsewhere = self._parts.engine.root.elsewhere.terminals
        if self.owner is None and any(one["resource"] == uri for one in elsewhere):
            raise OwnedElsewhere(f"the terminal {uri}")
        try:
            await (self.get_conversation(uri) if has_chats else self.get_session(uri))
        except SessionNotFound:
            if not has_chats or split_changeset_uri(uri) is None:
                raise
            session = await self._parts.engine.changesets.find_session(uri)
            if self.owner not in (None, session.row.owner):
                raise ChangesetNotFound(uri) from None

    async def check_subscribable(self, uri: str, *, has_chats: bool = True) -> None:
        """Refuse a channel that the client may not see or follow (HR-S05).

        Raises:
            GrantMissing, SwitchedOff: the grant that is missing.
            SessionNotFound: see `check_visible`.
        """
        await self.check_visible(uri, has_chats=has_chats)
        if uri != ROOT_URI:
            is_terminal = self._parts.terminals.is_visible(uri, self.owner)
            self.rights.check(f"subscribe/{'terminal' if is_terminal else 'session'}")

    async def list_sessions(self, before: int | None, limit: int) -> Sequence[SessionRow]:
        """Return the rows of sessions that the client may see, newest first, with numbers below `before`."""
        return await self._parts.engine.sessions.page(owner=self.owner, before=before, limit=limit)

    async def search_sessions(self, text: str, path: str) -> Found:
        """Find sessions that contain this text; `path` is the path of `text` in the request, for errors."""
        return await self._parts.engine.search.find(self.owner, text, path=path)

    def listen(self, listener: Callable[[Notice], None]) -> Callable[[], None]:
        """Call a listener with each notice about the list of sessions. Return a function that removes it."""

        def told(notice: Notice) -> None:
            if self.owner in (None, notice.owner) and self.rights.may("listSessions"):
                listener(notice)

        return self._parts.list_notices.listen(told)

    def follow(self, subscriber: Subscriber, *, is_whole: bool = False) -> Feed:
        """Return a feed, with which a subscriber subscribes to channels; see `Feed` for `is_whole`."""
        return self._parts.engine.feed_for(subscriber, is_whole=is_whole)

    def follow_session(self, subscriber: Subscriber, session: Session) -> Mark:
        """Subscribe to one session, from now on. Return a mark after everything that was applied before."""
        self._parts.engine.hub.add(subscriber, session.number)
        return session.journal.mark()

    def unfollow(self, subscriber: Subscriber) -> None:
        """End all subscriptions of a subscriber."""
        self._parts.engine.hub.leave(subscriber)

    def count_followers(self, session: Session) -> int:
        """Return how many subscribers a session has."""
        return self._parts.engine.hub.count(session.number)

    def wait_durable(self) -> Awaitable[None]:
        """Wait until nothing that was applied so far can be lost in a crash."""
        return self._parts.engine.journal.wait()

    def now(self, session: Session) -> str:
        """Return the time, as the actions of a session have it."""
        return session.now()

    def elapsed(self, session: Session) -> int:
        """Return how many milliseconds the running turn of a session has taken so far."""
        return session.elapsed()

    def now_ms(self) -> int:
        """Return the time of the host."""
        return self._parts.engine.now()

    def chat_of(self, uri: str) -> str | None:
        """Return the default chat of a session that is in memory."""
        session = self._parts.engine.sessions.peek(uri)
        return None if session is None else session.chat_uri

    @property
    def shown_seq(self) -> int:
        """The sequence number of the newest envelope that is durable and was shown."""
        return self._parts.engine.line.shown_seq

    def root_view(self) -> OwnerView:
        """Return the client's view of the root."""
        return OwnerView(self._parts.terminals, self._parts.engine.session_counts, self.owner)

    def announce(self, channel: str, action: Action, tell: Callable[[LogItem], None]) -> None:
        """Tell only this client of an action, under its own number; `tell` is called as in `dispatch`."""
        journal = self._parts.engine.journal
        envelope = encode_entry(channel, action)
        item = LogItem(0, ROOT, envelope, self.identity.key, 1, channel, channel, action, show=tell)
        journal.announce(item)

    # Chats whose turns are loaded in parts

    async def load_turns(self, uri: str, subscriber: Subscriber, views: Views) -> None:
        """Load turns of a chat for a subscriber from now on, before an action refers to one that it lacks.

        When this returns, every earlier action was shown, and is in the next view of the chat.
        """
        self._parts.turn_loads.add(await self.get_conversation(uri), subscriber, views)
        await self._parts.engine.journal.wait()

    async def fetch_turns(self, uri: str, subscriber: Subscriber, views: Views, cursor: str | None) -> None:
        """Load the next page of a chat's turns for a subscriber, and wait until it was sent.

        Raises:
            InvalidValue: the cursor is not the one that the client has now.
        """
        session = await self.get_conversation(uri)
        await self._parts.turn_loads.fetch(session, subscriber, views, cursor)

    async def stop_loading(self, uri: str, subscriber: Subscriber) -> None:
        """Load no more turns of a chat: the subscriber has all, or does not follow it any more."""
        self._parts.turn_loads.remove((await self.get_conversation(uri)).number, subscriber)

    def stop_all_loading(self, subscriber: Subscriber) -> None:
        """Load no more turns for a subscriber."""
        self._parts.turn_loads.leave(subscriber)

    # Sessions

    def find_agent(self, name: str | None, uri: str) -> Agent:
        """Return the agent for a new session: the named one, the one of the URI's scheme, or the only one.

        Raises:
            AgentNotFound: there is no such agent (HR-L04).
        """
        agents = self._parts.agents
        wanted = uri.partition(":")[0] if name is None else name
        if name is None and wanted not in agents and len(agents) == 1:
            return next(iter(agents.values()))
        if name is None and wanted not in agents:
            # A4: case does not count in schemes, and some clients write them in lower case.
            wanted = next((one for one in agents if one.lower() == wanted.lower()), wanted)
        if wanted not in agents:
            raise AgentNotFound(wanted)
        return agents[wanted]

    async def create_session(self, new: NewSession) -> Session:
        """Create a session for this client. It is durable when this returns, and ready later (HR-L02).

        Raises:
            HostError: the request is refused, and no session was created.
        """
        agent = self.find_agent(new.agent, "")
        await self._parts.tool_sources.wait(agent, new.tools or ())
        await agent.wait_known()
        check_session(
            self._offer(agent),
            self.rights,
            client_id=self.identity.client_id,
            options=new.options,
            tools=new.tools,
            active_client=new.active_client,
            tools_at=new.tools_at,
        )
        if new.working_directory is not None:
            await self._parts.files.folder(self.owner, new.working_directory)
        owner = new.owner if self.owner is None else self.owner
        return await self._parts.lifecycle.create(dataclasses.replace(new, owner=owner))

    async def fork_session(
        self, uri: str, turn_id: str, new_uri: str, client: SessionActiveClient | None = None
    ) -> Session:
        """Create a session with the turns of another one, up to and including this turn.

        Raises:
            HostError: the request is refused.
        """
        source = await self.get_session(uri)
        agent = self.find_agent(source.state["provider"], "")
        check_session(
            self._offer(agent),
            self.rights,
            client_id=self.identity.client_id,
            options={},
            tools=None,
            active_client=client,
            tools_at="$.activeClient.tools",
        )
        session = await self._parts.lifecycle.fork(uri, turn_id, new_uri)
        if client is not None:
            note_guest(session, self.identity)
            self._parts.dispatcher.act(session, actions.active_client_set(client))
            await session.journal.wait()  # so that a subscription that follows includes it
        return session

    async def check_free(self, uri: str) -> None:
        """Refuse the URI of a new session if it is taken, without revealing by whom.

        Raises:
            SessionExists: a session that the client may see has it (HR-L03).
            UriReserved: it cannot be used.
        """
        if uri in RESERVED:
            raise UriReserved(uri)
        owner = await self._parts.engine.sessions.owner_of(uri)
        if owner is not None:
            raise SessionExists(uri) if self.owner in (None, owner) else UriReserved(uri)

    async def dispose_session(self, uri: str) -> None:
        """Remove a session for good, with everything that belongs to it. A running turn is cancelled first.

        Raises:
            SessionNotFound: it does not exist, or belongs to another owner.
        """
        session = await self.get_session(uri)
        if session.is_foreign:
            await self._forwarding.run(session, "disposeSession", {})
        else:
            await self._parts.lifecycle.dispose(uri)

    async def create_chat(self, uri: str, new: NewChat) -> None:
        """Add a chat to a session. It can be subscribed to when this returns.

        Raises:
            HostError: the request is refused, and there is no such chat.
        """
        home = await self.get_session(uri)
        if home.is_foreign:
            asked: JsonObject = {"uri": new.uri, "message": new.message, "source": new.source}
            await self._forwarding.run(home, "createChat", {**asked, "folders": list(new.folders)})
            return
        agent = self.find_agent(home.state["provider"], "")
        lacks = self._parts.tokens.missing(self.identity, agent)
        source = ActionSource(None, self.identity, rights=self.rights)
        await self._parts.chats.create(home, dataclasses.replace(new, lacks=lacks), source)

    async def dispose_chat(self, uri: str) -> None:
        """Remove a further chat or that of a subagent for good. A running turn is cancelled first.

        Raises:
            SessionNotFound: it does not exist, or belongs to another owner.
            InvalidValue: it is the default chat of its session.
        """
        chat = await self._get_chat(uri)
        check_disposable(chat.top.state, uri, "disposed of")
        if chat.is_foreign:
            await self._forwarding.run(chat, "disposeChat", {"uri": uri})
        else:
            await self._parts.lifecycle.dispose(chat.uri)

    async def move_chat(self, uri: str, destination: ChatMoveDestination) -> str:
        """Move a further chat to another session, or to a new one. Return the URI of that session.

        Raises:
            HostError: the request is refused, and the chat is where it was.
        """
        chat = await self._get_chat(uri)
        chat.check_own()
        self._parts.chats.check_movable(chat)
        assert isinstance(chat, FurtherChat)  # noqa: S101 - what can be moved is one
        if destination["kind"] == "session":
            target = await self.get_session(destination["session"])
            target.check_own()
            await self._parts.chats.move(chat, target, destination.get("after"))
            return target.uri
        target = await self.create_session(successor_of(chat))
        try:
            await self._parts.chats.move(chat, target)
        except BaseException:
            await self._parts.lifecycle.dispose(target.uri)
            raise
        return target.uri

    async def _get_chat(self, uri: str) -> Session:
        """Return what has the chat with this URI, if the client may see it."""
        chat = await self.get_conversation(uri)
        if uri != chat.chat_uri:
            raise SessionNotFound(uri)
        return chat

    async def wait_ready(self, session: Session) -> None:
        """Wait until the agent is ready for a session, or has failed to prepare it."""
        if session.state["lifecycle"] == "creating":
            await self._parts.lifecycle.wait_prepared(session)
        while session.is_foreign and session.state["lifecycle"] == "creating":  # noqa: ASYNC110 - rare
            await asyncio.sleep(READY_SECONDS)

    async def wait_tools(self, agent: Agent, names: Iterable[str]) -> None:
        """Wait, for a limited time, for tools from other servers if these names are not known yet."""
        await self._parts.tool_sources.wait(agent, names)

    # Acting

    async def dispatch(
        self,
        client_seq: int,
        channel: str,
        action: Json,
        tell: Callable[[LogItem], None] | None = None,
        *,
        sender: Sender | None = None,
        translate: Translate | None = None,
    ) -> LogItem | None:
        """Decide an action that the client sent, and apply it. Return the refusal, if it is refused.

        `tell` is called with the refusal once it is durable, in order with everything else that is shown.
        `sender` is the connection that the action arrived on. `translate` makes actions of what a client of
        an older protocol sent to a session, a terminal or the root.
        """
        parts = self._parts
        if parts.commands is not None and (there := await self._forwarding.find(channel)) is not None:
            sent = SentAction(client_seq, channel, action, is_legacy=translate is not None)
            reason = await self._forwarding.dispatch(there, sent, sender)
            if reason is not None and tell is not None:
                self.refuse(client_seq, channel, action, reason, tell, is_legacy=sent.is_legacy)
            return None
        refusal = await parts.dispatcher.dispatch(
            self.identity, client_seq, channel, action, sender, self.rights, translate
        )
        if refusal is not None:
            if tell is not None:
                parts.engine.journal.write([], tell, refusal)
            sessions = parts.engine.sessions
            session = sessions.peek_chat(channel) or sessions.peek(channel)
            if session is not None:
                parts.clients.declined(session, refusal.action, self.identity.client_id)
        return refusal

    async def act_elsewhere(
        self, session: Session, wanted: Sequence[ClientAction], **choices: Unpack[Choices]
    ) -> JsonObject:
        """Do as `act` does, with a session that another node writes; see `Forwarding.act`."""
        return await self._forwarding.act(session, wanted, choices)

    def decline_elsewhere(self, session: Session, questions: Sequence[str]) -> None:
        """Decline questions of an agent, in a session that another node writes, if nobody can answer."""
        self._parts.run_soon(self._forwarding.run(session, "decline", {"questions": list(questions)}))

    def refuse(
        self,
        client_seq: int,
        channel: str,
        action: Json,
        reason: str,
        tell: Callable[[LogItem], None],
        *,
        is_legacy: bool = False,
    ) -> None:
        """Refuse an action that cannot even be decided; `tell` is called as in `dispatch`."""
        refusal = self._parts.dispatcher.refuse(
            self.identity, client_seq, channel, action, reason, is_legacy=is_legacy
        )
        self._parts.engine.journal.write([], tell, refusal)

    def act(
        self,
        session: Session,
        wanted: Sequence[ClientAction],
        **choices: Unpack[Choices],
    ) -> None:
        """Apply actions that an edge made for the client, with what it chose: all of them, or none.

        Raises:
            HostError: one of them is refused, and nothing has changed.
        """
        self._parts.engine.journal.refuse_if_in_trouble()
        source = ActionSource(None, self.identity, rights=self.rights)
        if not choices:
            self._parts.dispatcher.dispatch_all(session, wanted, source)
            return
        tools, secrets = choices.get("tools"), choices.get("secrets")
        client_tools = choices.get("client_tools")
        if tools is not None or client_tools:
            offer = self._offer(self.find_agent(session.state["provider"], ""))
            check_trust(offer, self.rights, tools or {})
            check_client_tools(offer, client_tools or (), choices.get("tools_at", "$.tools"))

        def prepare() -> None:
            if tools is not None:
                self._switch_tools(session, tools)
            if secrets:
                self._set_secrets(session, secrets)

        self._parts.dispatcher.dispatch_all(session, wanted, source, prepare)

    def _switch_tools(self, session: Session, tools: Mapping[str, bool]) -> None:
        agent = self.find_agent(session.state["provider"], "")
        pins: Any = pins_for(agent.toolset, {"tools": tools})
        private = with_values(
            session.private, tools=dict(tools), trusted=None, scopes=None, pins=pins or None
        )
        if private is not None:
            shown = server_tools_changed(agent, session, tools)
            self._parts.dispatcher.act(session, shown, private=private)

    def _set_secrets(self, session: Session, new: Mapping[str, str]) -> None:
        kept = session.private.get("secrets", {})
        sealed = {name: self._parts.vault.seal(text) for name, text in new.items() if text}
        left = {name: text for name, text in kept.items() if name not in new}
        private = with_values(session.private, secrets={**left, **sealed} or None)
        if private is not None:
            session.keep(private)

    def _offer(self, agent: Agent) -> Offer:
        return Offer(
            {name: tool.grant for name, tool in agent.toolset.items()},
            agent.option_grants,
            {option.name: option.default for option in agent.options},
            agent.client_tools,
            self._parts.tokens.missing(self.identity, agent),
        )

    # Everything else than sessions

    async def authenticate(self, resource: str, token: str, seconds: float | None = None) -> None:
        """Store a token for a resource that an agent needs, for so long. Raises like `Tokens.take`."""
        await self._parts.tokens.take(self.identity, resource, token, seconds)

    def take_back_token(self, resource: str) -> None:
        """Forget the token for a resource."""
        self._parts.tokens.take_back(self.identity, resource)

    @property
    def workspace(self) -> Path:
        """The folder that the client's sessions work in by default."""
        return self._parts.workspace_of(self.owner)

    @property
    def files(self) -> ClientFiles:
        """The files that the client may use."""
        return ClientFiles(self._parts.files, self.owner, self.identity.key)

    async def create_terminal(self, uri: str, claim: TerminalClaim, **options: Any) -> None:
        """Open a terminal. Raises like `Terminals.create`."""
        if claim["kind"] == "session":
            await self.get_session(claim["session"])
        await self._parts.terminals.create(uri, claim, owner=self.owner or "", **options)

    async def dispose_terminal(self, uri: str) -> None:
        """Close a terminal for good.

        Raises:
            TerminalNotFound: it does not exist, or belongs to another owner.
        """
        self._parts.terminals.check_visible(uri, self.owner)
        await self._parts.terminals.dispose(uri)

    async def resolve_config(self, params: ResolveSessionConfigParams) -> Json:
        """Return the complete form of a session's settings for the choices so far."""
        return await self._parts.config_form.resolve(self.owner, params)

    async def complete_config(self, params: SessionConfigCompletionsParams) -> Json:
        """Return values for one setting."""
        return await self._parts.config_form.complete(self.owner, params)

    async def complete(self, uri: str, params: CompletionsParams) -> Json:
        """Return completions for a message in a session or chat.

        Raises:
            SessionNotFound: the session does not exist, or belongs to another owner.
        """
        session = await self.get_conversation(uri)
        agent = self.find_agent(session.state["provider"], "")
        return await self._parts.completions.complete(
            self.owner,
            params,
            folder=working_directory(session.state),
            commands=agent.commands_of(session.row.uri),
            rights=self.rights,
        )
