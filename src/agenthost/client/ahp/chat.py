"""Chats: where the turns of a session are. A session may have several, whose turns run at the same time."""

from collections.abc import Sequence
from typing import Protocol

from agenthost.client.ahp.changeset import Changeset, OfferedChangeset, changeset_uri
from agenthost.client.ahp.connection import Connection
from agenthost.client.ahp.dispatched_action import DispatchedAction
from agenthost.client.ahp.errors import Closed, Conflict, NotFound, Refused
from agenthost.client.ahp.params import new_chat
from agenthost.client.ahp.talking import TalkingResource
from agenthost.client.ahp.tool_runner import ToolRunner
from agenthost.core import actions
from agenthost.wire.ahp.chat import ChatOrigin, ChatSource, SideChatSource
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.message import MessageAttachment

__all__ = ["Chat", "Opener"]


class Opener(Protocol):
    """What subscribes to chats and changesets, and has one object for each."""

    async def chat(
        self, session: URI, uri: URI, *, turns: int | None = None, has_new_calls: bool = False
    ) -> "Chat":
        """Subscribe to a chat of a session that is open, to all its turns or the newest.

        With `has_new_calls`, its calls of our tools are not those of an earlier process, and are run.

        Raises:
            AhpError: the host refuses, or this is not a chat.
        """

    def chats_of(self, session: URI) -> "list[Chat]":
        """Return the open chats of a session."""

    async def changeset(self, session: URI, uri: URI) -> Changeset:
        """Subscribe to a changeset.

        Raises:
            AhpError: the host refuses, or this is not a changeset.
        """


class Chat(TalkingResource):
    """One chat that this client is subscribed to, with its session.

    Its state has both: `state.session` is what concerns the whole session, `state.chat` has the turns.
    """

    def __init__(
        self, uri: URI, session: URI, connection: Connection, opener: Opener, runner: ToolRunner | None = None
    ) -> None:
        super().__init__(uri, session, connection)
        self._opener = opener
        self._runner = runner

    # State

    @property
    def title(self) -> str:
        """Its title; empty if it has none yet."""
        return self.state.chat["title"]

    @property
    def status(self) -> int:
        """What it is doing, and whether it is read and archived (`SessionStatus`)."""
        return self.state.chat["status"]

    @property
    def modified_at(self) -> str:
        """When it was last used."""
        return self.state.chat["modifiedAt"]

    @property
    def origin(self) -> ChatOrigin | None:
        """Where it comes from: of forks and side chats, the chat and the turn."""
        return self.state.chat.get("origin")

    @property
    def is_default(self) -> bool:
        """Whether it is the default chat of its session."""
        return self.chat_uri == self._replica.chat_of(self.session_uri)

    # Other chats, and changes of files

    async def fork_chat(self, turn_id: str, message: str | None = None) -> "Chat":
        """Create a chat of this session that begins with the turns of this one, up to and including a turn.

        Raises:
            AhpError: such as `Conflict` while that turn is running; `Refused` if the host or the agent has
                no several chats.
        """
        source: ChatSource = {"kind": "fork", "chat": self.chat_uri, "turnId": turn_id}
        return await self._create_chat(message, source=source)

    async def side_chat(
        self, turn_id: str, message: str | None = None, *, selection: str | None = None
    ) -> "Chat":
        """Create a chat about this one, up to and including a turn. Its agent reads what was said until then.

        Args:
            turn_id: the turn.
            message: what to ask at once.
            selection: the words of the turn that it is about.

        Raises:
            AhpError: such as `Conflict` while that turn is running; `Refused` if the host or the agent has
                no several chats.
        """
        source: SideChatSource = {"kind": "sideChat", "chat": self.chat_uri, "turnId": turn_id}
        if selection is not None:
            source["selection"] = {"text": selection}
        return await self._create_chat(message, source=source)

    async def _create_chat(
        self,
        text: str | None,
        attachments: Sequence[MessageAttachment] = (),
        *,
        source: ChatSource | None = None,
        folders: Sequence[URI] = (),
        uri: URI | None = None,
    ) -> "Chat":
        self._check()
        message = None if text is None else self._message(text, attachments)
        params = new_chat(self.session_uri, uri=uri, message=message, source=source, folders=folders)
        await self._connection.request("createChat", params, is_repeatable=True, means_done=Conflict)
        chat = await self._opener.chat(self.session_uri, params["chat"])
        # The host learns of a chosen model with the first message, and this chat has none yet.
        chat._model = self._model  # noqa: SLF001 - same class
        return chat

    @property
    def changesets(self) -> list[OfferedChangeset]:
        """The changesets that can be followed. There are none before the first file is changed."""
        session, chat = self.state
        return (session if self.is_default else chat).get("changesets", [])

    async def changeset(self, turn_id: str | None = None) -> Changeset:
        """Follow which files were changed, altogether or in one turn. Returns the same object each time.

        Raises:
            NotFound: there is none, as before the first change of a file.
            Refused: the host only knows AHP 0.1, which has no changesets.
        """
        if not self._connection.has_changesets:
            raise Refused("the host has no changesets: it speaks AHP 0.1")
        uri = changeset_uri(self.changesets, turn_id)
        return await self._opener.changeset(self.session_uri, uri)

    # Life

    def mark_read(self, *, is_read: bool = True) -> DispatchedAction:
        """Mark it as read or unread."""
        return self._dispatch(actions.chat_is_read_changed(is_read=is_read))

    def archive(self, *, is_archived: bool = True) -> DispatchedAction:
        """Archive it, or bring it back."""
        return self._dispatch(actions.chat_is_archived_changed(is_archived=is_archived))

    def close(self) -> None:
        """Unsubscribe. The chat goes on without this client."""
        if self.is_gone:
            return
        if self._runner is not None:
            self._runner.leave()
        for channel in self._replica.release([self.uri], Closed(f"{self.uri} was closed")):
            self._connection.notify("unsubscribe", {"channel": channel})

    async def dispose(self) -> None:
        """Delete the chat for good, for everybody.

        Raises:
            Refused: it is the default chat, which stays as long as its session.
            AhpError: the host cannot be reached.
        """
        params = {"channel": self.chat_uri}
        await self._connection.request("disposeChat", params, is_repeatable=True, means_done=NotFound)
        self._replica.forget(self.uri)
