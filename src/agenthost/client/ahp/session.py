"""Sessions: conversations with an agent, shared with all clients that are subscribed to them.

A session is used like its default chat, and has what concerns all its chats.
"""

from collections.abc import Sequence
from typing import Any

from agenthost.client.ahp.changes import Change
from agenthost.client.ahp.chat import Chat, Opener
from agenthost.client.ahp.connection import Connection
from agenthost.client.ahp.dispatched_action import DispatchedAction
from agenthost.client.ahp.errors import NotFound, Refused
from agenthost.client.ahp.tool_runner import ToolRunner
from agenthost.client.ahp.tools import active_client
from agenthost.client.tools import Tools, tools_by_name
from agenthost.core import actions
from agenthost.core.legacy.customizations import toggled
from agenthost.core.queries import find_customization
from agenthost.wire.ahp.chat import ChatSummary
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.enums import SessionStatus
from agenthost.wire.ahp.message import MessageAttachment
from agenthost.wire.ahp.session import SessionInputRequest
from agenthost.wire.json import JsonObject

__all__ = ["Session"]


class Session(Chat):
    """One session that this client is subscribed to, with its default chat, which messages go to."""

    def __init__(
        self,
        uri: URI,
        connection: Connection,
        opener: Opener,
        runner: ToolRunner,
        client_name: str | None,
    ) -> None:
        super().__init__(uri, uri, connection, opener, runner)
        self._client_name = client_name
        self._tool_runner = runner

    # State

    @property
    def title(self) -> str:
        """Its title; empty if it has none yet."""
        return self.state.session["title"]

    @property
    def status(self) -> int:
        """What its default chat is doing, and whether the session is read and archived (`SessionStatus`)."""
        session, chat = self.state
        return int(session["status"] & ~SessionStatus.ACTIVITY | chat["status"] & SessionStatus.ACTIVITY)

    # Chats

    @property
    def chats(self) -> list[ChatSummary]:
        """All its chats, with their titles and what they are doing."""
        return self.state.session["chats"]

    async def chat(self, uri: URI | None = None, *, turns: int | None = None) -> Chat:
        """Subscribe to one of its chats, without a URI the default one. Returns the same object each time.

        Args:
            uri: the chat.
            turns: how many of the newest turns to load; `history` loads the others. All by default.

        Raises:
            NotFound: the session has no such chat.
            AhpError: such as `Gone`.
        """
        wanted = self.chat_uri if uri is None else uri
        if all(one["resource"] != wanted for one in self.confirmed.session["chats"]):
            raise NotFound(f"there is no chat {wanted} in this session")
        return await self._opener.chat(self.uri, wanted, turns=turns)

    async def new_chat(
        self,
        message: str | None = None,
        attachments: Sequence[MessageAttachment] = (),
        *,
        folders: Sequence[URI] = (),
        uri: URI | None = None,
    ) -> Chat:
        """Create another chat and subscribe to it. It has the settings, tools and approvals of the session.

        Args:
            message: what to say first.
            attachments: what goes with the message.
            folders: the working directories of the session that it works in; all by default.
            uri: the URI of the chat; random by default.

        Raises:
            AhpError: such as `Conflict` for a URI that is taken; `Refused` if the host or the agent has no
                several chats.
        """
        return await self._create_chat(message, attachments, folders=folders, uri=uri)

    def _on_change(self, change: Change) -> None:
        super()._on_change(change)
        if change.channel == self.uri and change.kind in ("confirmed", "snapshot"):
            self._drop_removed(change)
            self._follow_new_calls(change)

    def _drop_removed(self, change: Change) -> None:
        """Drop open chats that the session no longer has: on their own channels nothing tells of it."""
        if change.kind == "confirmed":
            removed = [change.action["chat"]] if change.action["type"] == "session/chatRemoved" else []
        else:
            there = {one["resource"] for one in change.after.session["chats"]}
            shown = self._replica.resources_of(self.uri)
            removed = [one for one in shown if one != self.uri and one not in there]
        for chat in removed:
            self._replica.forget(chat)

    def _follow_new_calls(self, change: Change) -> None:
        if change.kind == "snapshot":
            self.follow_calls(change.after.session.get("inputNeeded", []), are_new=True)
        elif change.action["type"] == "session/inputNeededSet":
            self.follow_calls([change.action["request"]], are_new=True)

    def follow_calls(self, requests: Sequence[SessionInputRequest], *, are_new: bool) -> None:
        """Follow the chats in which an agent calls our tools, so that they run there too."""
        me = self._replica.client_id
        for one in requests:
            is_ours = one["kind"] == "toolClientExecution" and one["clientId"] == me
            # C4: the session's channel tells of calls in chats that we do not follow.
            if is_ours and not self._replica.is_subscribed(one["chat"]):
                opening = self._opener.chat(self.uri, one["chat"], has_new_calls=are_new)
                self._connection.tasks.spawn(opening)

    # Settings

    def rename(self, title: str) -> DispatchedAction:
        """Change the title."""
        return self._dispatch(actions.title_changed(title))

    def archive(self, *, is_archived: bool = True) -> DispatchedAction:
        """Archive the session, or bring it back."""
        return self._dispatch(actions.is_archived_changed(is_archived=is_archived))

    def mark_read(self, *, is_read: bool = True) -> DispatchedAction:
        """Mark the session as read or unread."""
        return self._dispatch(actions.is_read_changed(is_read=is_read))

    def set_config(self, values: JsonObject, *, replace: bool = False) -> DispatchedAction:
        """Change settings; with `replace`, drop all others."""
        return self._dispatch(actions.config_changed(values, replace=replace))

    def toggle(self, customization: str, *, enabled: bool) -> DispatchedAction:
        """Enable or disable a customization for this session, by its URI.

        Raises:
            ValueError: there is no such customization.
        """
        found = find_customization(self.state.session, lambda one: one.get("uri") == customization)
        if found is None:
            raise ValueError(f"there is no customization {customization!r}")
        return self._dispatch(actions.customization_toggled(found["id"], toggled(found, enabled=enabled)))

    # Tools of this client

    def become_active(self, tools: Tools = (), *, customizations: Sequence[Any] = ()) -> DispatchedAction:
        """Become the active client, whose tools the agent uses; also after reconnecting (HR-A11).

        Raises:
            TypeError: a parameter of a tool has no JSON type.
            ValueError: two tools have the same name.
        """
        own = tools_by_name(tools)
        client = active_client(self._replica.client_id, self._client_name, own, customizations)
        self._tool_runner.offer(own, client)
        return self._dispatch(actions.active_client_set(client))

    def set_tools(self, tools: Tools) -> DispatchedAction:
        """Offer other tools, as the active client.

        Raises:
            TypeError: a parameter of a tool has no JSON type.
            ValueError: two tools have the same name.
        """
        own = tools_by_name(tools)
        client = active_client(self._replica.client_id, self._client_name, own)
        self._tool_runner.offer(own, client)
        return self._dispatch(actions.active_client_set(client))

    def release(self) -> DispatchedAction:
        """Stop being the active client; running calls are still finished."""
        self._tool_runner.wanted = None
        return self._dispatch(actions.active_client_removed(self._replica.client_id))

    # Life

    async def ready(self) -> None:
        """Wait until the session is ready (HR-L02).

        Raises:
            Refused: it could not be created.
        """
        state = (await self.until(lambda state: state.session["lifecycle"] != "creating")).session
        if state["lifecycle"] == "failed":
            error = state.get("creationError")
            raise Refused(error["message"] if error else "the session could not be created", data=error)

    def close(self) -> None:
        """Unsubscribe, also from its chats. The session goes on without this client and its tools."""
        for chat in self._opener.chats_of(self.uri):
            chat.close()
        super().close()

    async def dispose(self) -> None:
        """Delete the session for good, for everybody.

        Raises:
            AhpError: the host refuses, or cannot be reached.
        """
        params = {"channel": self.uri}
        await self._connection.request("disposeSession", params, is_repeatable=True, means_done=NotFound)
        self._replica.forget(self.uri)
