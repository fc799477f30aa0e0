"""Further chats of sessions: how they are created, forked and moved."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from agenthost.core import actions
from agenthost.core.chats import NEW_CHAT, about_selection, new_chat, tasks_below
from agenthost.core.decisions.chats import check_destination, check_move, check_new_chat
from agenthost.core.fork import forked_turns
from agenthost.core.times import iso_time
from agenthost.errors import AgentNotFound, HostError
from agenthost.host.authoring.agent import Agent
from agenthost.host.limits import Limits
from agenthost.host.sessions.action_source import ActionSource, ClientAction
from agenthost.host.sessions.dispatch import Dispatcher
from agenthost.host.sessions.new_session import title_from
from agenthost.host.state.engine import Engine
from agenthost.host.state.further_chat import FurtherChat, own_private
from agenthost.host.state.private import Private
from agenthost.host.state.session import Session, TranscriptEntry
from agenthost.wire.ahp.chat import ChatOrigin, ChatSource, ChatState
from agenthost.wire.ahp.message import Message

__all__ = ["Chats", "NewChat"]

FORKED: Final = frozenset({"stops"})
"""The private data of a chat that its fork inherits; the rest belongs to its turns or to its agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewChat:
    """The request for a new chat.

    Attributes:
        uri: its URI.
        message: the message that its first turn begins with.
        source: the chat that it forks or is about, up to a turn.
        folders: the URIs of the session's working directories that it works in.
        lacks: why whoever asks may not use the agent, such as for want of a token.
    """

    uri: str
    message: Message | None = None
    source: ChatSource | None = None
    folders: Sequence[str] = ()
    lacks: HostError | None = None


class Chats:
    """Creates and moves further chats. `moved` is called with a chat that has moved, and its session."""

    def __init__(
        self,
        agents: Mapping[str, Agent],
        *,
        engine: Engine,
        dispatcher: Dispatcher,
        limits: Limits,
        moved: Callable[[str, str], None],
    ) -> None:
        self._agents = agents
        self._engine = engine
        self._dispatcher = dispatcher
        self._limits = limits
        self._moved = moved

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
        begun = [] if new.message is None else [_first_turn(new.message, now)]

        def check(added: FurtherChat | None) -> None:
            check_new_chat(
                home.state,
                new.folders,
                takes_chats=agent.takes_chats,
                limit=self._limits.chats_per_session,
                lacks=new.lacks,
                source=new.source,
            )
            if added is not None:
                self._dispatcher.check_all(added, begun, by)

        check(None)
        source = None if new.source is None else await self._engine.sessions.find_chat(new.source["chat"])
        start = _start(home, source, new, now)
        added = await self._engine.additions.add_chat(
            home,
            start.chat,
            private=start.private,
            messages=start.messages,
            source=source,
            check=check,
            act=self._dispatcher.act,
        )
        if begun:
            self._dispatcher.dispatch_all(added, begun, by)
            await self._engine.journal.wait()  # so that a subscription that follows includes it
        return added

    def check_movable(self, chat: Session) -> None:
        """Refuse to move a chat, wherever to.

        Raises:
            HostError: why not.
        """
        uris = [chat.chat_uri, *tasks_below(chat.top.state, chat.chat_uri)]
        moved = map(self._engine.sessions.peek_chat, uris)  # those that have a turn are in memory
        check_move(chat.top.state, chat.chat, [one.chat for one in moved if one is not None])

    async def move(self, chat: FurtherChat, target: Session, after: str | None = None) -> None:
        """Move a chat to another session of its owner, after one of that session's chats, or to the end.

        Raises:
            HostError: it is refused, and nothing has changed.
        """

        def check(moved: Sequence[ChatState]) -> None:
            check_move(chat.state, chat.chat, moved)
            check_destination(
                target.state,
                chat.chat,
                after,
                provider=chat.state["provider"],
                is_of_owner=target.row.owner == chat.row.owner,
                limit=self._limits.chats_per_session,
            )

        await self._engine.chat_moves.move(chat, target, after, check=check, act=self._dispatcher.act)
        self._moved(chat.uri, target.uri)


@dataclass(frozen=True, slots=True)
class _Start:
    """What a chat begins with."""

    chat: ChatState
    messages: Sequence[TranscriptEntry] = ()
    private: Private = field(default_factory=Private)


def _start(home: Session, source: Session | None, new: NewChat, now: str) -> _Start:
    """Return what a chat begins with: nothing, the turns of another, or what was said in it until then."""
    title = "" if new.message is None else title_from(new.message["text"])
    if source is None or new.source is None:
        origin: ChatOrigin = {"kind": "user"}
        return _Start(new_chat(new.uri, now, origin, title=title or NEW_CHAT, folders=new.folders))
    origin, turn_id = new.source, new.source["turnId"]
    turns = forked_turns(source.chat, turn_id, source.uri, new.uri)
    said = source.messages[: source.end_of(turn_id)]
    title = title or source.chat["title"] or home.state["title"]
    if origin["kind"] == "fork":
        chat = new_chat(new.uri, now, origin, title=title, folders=new.folders, turns=turns)
        kept: Any = {key: value for key, value in own_private(source.private).items() if key in FORKED}
        return _Start(chat, said, kept)
    # Messages without a turn are read by the agent, and stay when the chat is truncated.
    read = [TranscriptEntry(None, one.message) for one in said]
    if "selection" in origin:
        read.append(TranscriptEntry(None, about_selection(origin["selection"])))
    return _Start(new_chat(new.uri, now, origin, title=title, folders=new.folders), read)


def _first_turn(message: Message, now: str) -> ClientAction:
    return ClientAction(actions.turn_started(secrets.token_hex(8), message, now))
