"""The registry: one object per session, chat, changeset or terminal that the application has open."""

from typing import Any, TypeVar

from agenthost.client.ahp.changes import Change
from agenthost.client.ahp.changeset import Changeset
from agenthost.client.ahp.chat import Chat
from agenthost.client.ahp.connection import Connection
from agenthost.client.ahp.errors import Gone, Refused
from agenthost.client.ahp.requests import OnResult
from agenthost.client.ahp.session import Session
from agenthost.client.ahp.terminal import Terminal
from agenthost.client.ahp.tool_runner import ToolRunner
from agenthost.core.reducers import ResourceKind
from agenthost.core.replica import kind_of
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.common import URI

__all__ = ["ResourceRegistry"]

R = TypeVar("R", Session, Chat, Changeset, Terminal)


class ResourceRegistry:
    """All resources that are open: one object each, however often it is asked for."""

    def __init__(self, connection: Connection, client_name: str | None) -> None:
        self._connection = connection
        self._replica = connection.replica
        self._client_name = client_name
        self._open: dict[URI, Chat | Changeset | Terminal] = {}
        self._runners: dict[URI, ToolRunner] = {}
        # All calls that this process has started: session, turn, call.
        self._started: set[tuple[str, str, str]] = set()
        self._replica.listeners(ROOT_URI).add(self._on_root_change)

    def runner(self, uri: URI) -> ToolRunner:
        """Return the tool runner of an open session."""
        return self._runners[uri]

    async def session(self, uri: URI, turns: int | None = None) -> Session:
        """Subscribe to a session and its default chat, to all its turns or the newest.

        Raises:
            AhpError: the host refuses, or this is not a session.
        """
        if not self._is_open(uri):
            await self._request(uri, lambda result: self._load_session(uri, result))
            chat = self._replica.chat_of(uri) if self._replica.is_subscribed(uri) else None
            # A host of 0.1 has sent the chat with its session.
            if chat is not None and not self._replica.is_subscribed(chat):
                await self._request(chat, lambda result: self._load_default_chat(uri, result), turns)
        return self._found(uri, Session)

    async def chat(
        self, session: URI, uri: URI, *, turns: int | None = None, has_new_calls: bool = False
    ) -> Chat:
        """Subscribe to a chat of a session that is open, to all its turns or the newest.

        Raises:
            AhpError: the host refuses, or this is not a chat.
        """
        if not self._is_open(uri):
            if self._replica.is_subscribed(uri):  # the default chat
                self._add_chat(uri, session, None)
            else:

                def load(result: Any) -> None:
                    self._load_chat(uri, session, result, has_new_calls=has_new_calls)

                await self._request(uri, load, turns)
        return self._found(uri, Chat)

    def chats_of(self, session: URI) -> list[Chat]:
        """Return the open chats of a session."""
        chats = [one for one in self._open.values() if isinstance(one, Chat) and not one.is_gone]
        return [one for one in chats if one.session_uri == session and one.uri != session]

    async def changeset(self, session: URI, uri: URI) -> Changeset:
        """Subscribe to a changeset.

        Raises:
            AhpError: the host refuses, or this is not a changeset.
        """
        if not self._is_open(uri):
            await self._request(uri, lambda result: self._load_changeset(uri, session, result))
        return self._found(uri, Changeset)

    async def terminal(self, uri: URI) -> Terminal:
        """Subscribe to a terminal.

        Raises:
            AhpError: the host refuses, or this is not a terminal.
        """
        if not self._is_open(uri):
            await self._request(uri, lambda result: self._load_terminal(uri, result))
        return self._found(uri, Terminal)

    def _is_open(self, uri: URI) -> bool:
        return uri in self._open and not self._open[uri].is_gone

    async def _request(self, channel: URI, on_result: OnResult, turns: int | None = None) -> None:
        """Subscribe to a channel. What comes is loaded before the next action comes (Q1)."""
        view = {} if turns is None else {"view": {"turns": turns}}
        await self._connection.request(
            "subscribe", {"channel": channel, **view}, is_repeatable=True, on_result=on_result
        )

    def _found(self, uri: URI, kind: type[R]) -> R:
        found = self._open.get(uri)
        if found is None:
            raise Gone(f"{uri} no longer exists")
        if not isinstance(found, kind):
            raise Refused(f"{uri} is not a {kind.__name__.lower()}")
        return found

    def _load_session(self, uri: URI, result: Any) -> None:
        """Load a session, and its chat if it has come too, as from a host of 0.1."""
        self._load(uri, result, "session")
        state: Any = self._replica.session(uri)
        # S4: a session may have lost its default chat.
        chats = [state.get("defaultChat"), *(one["resource"] for one in state["chats"])]
        chat = next((one for one in chats if one is not None), None)
        if chat is None:
            self._replica.forget(uri)
            raise Refused(f"{uri} has no chat")
        self._replica.pair(uri, uri, chat)
        if "chat" in result:
            self._load_default_chat(uri, {"snapshot": result["chat"]})

    def _load_default_chat(self, uri: URI, result: Any) -> None:
        self._load(self._replica.chat_of(uri), result, "chat")
        if not self._is_open(uri):
            runner = self._runners[uri] = ToolRunner(uri, self._connection, self._started)
            runner.begin()
            session = self._open[uri] = Session(uri, self._connection, self, runner, self._client_name)
            session.follow_calls(session.confirmed.session.get("inputNeeded", []), are_new=False)

    def _load_chat(self, uri: URI, session: URI, result: Any, *, has_new_calls: bool) -> None:
        if not self._is_open(session):  # it was closed in the meantime
            self._connection.notify("unsubscribe", {"channel": uri})
            return
        self._load(uri, result, "chat")
        if not self._is_open(uri):
            tools = self._runners[session].tools
            runner = self._runners[uri] = ToolRunner(uri, self._connection, self._started, tools)
            self._add_chat(uri, session, runner)
            if has_new_calls:
                runner.resume()
            else:
                runner.begin()

    def _add_chat(self, uri: URI, session: URI, runner: ToolRunner | None) -> None:
        self._replica.pair(uri, session, uri)
        self._open[uri] = Chat(uri, session, self._connection, self, runner)

    def _load_changeset(self, uri: URI, session: URI, result: Any) -> None:
        self._load(uri, result, "changeset")
        if not self._is_open(uri):
            self._open[uri] = Changeset(uri, session, self._connection)

    def _load_terminal(self, uri: URI, result: Any) -> None:
        self._load(uri, result, "terminal")
        if not self._is_open(uri):
            self._open[uri] = Terminal(uri, self._connection)

    def _load(self, channel: URI, result: Any, kind: ResourceKind) -> None:
        snapshot = result.get("snapshot")
        # G4: a URI does not tell what it is, so the state has to.
        if snapshot is None or kind_of(snapshot["state"]) != kind:
            self._connection.notify("unsubscribe", {"channel": channel})
            raise Refused(f"{channel} is a resource of another kind")
        self._replica.load(snapshot)

    # Messages of the host

    def resume(self) -> None:
        """Continue after a reconnection."""
        self._drop_gone()
        for runner in list(self._runners.values()):
            runner.resume()

    def remove(self, uri: URI) -> None:
        """Drop a session that the host has removed, with its chats and changesets."""
        self._replica.forget(uri)
        for one in list(self._open.values()):
            if isinstance(one, Changeset) and one.session_uri == uri:
                self._replica.forget(one.uri)
        self._drop_gone()

    def refetch(self, uri: URI) -> None:
        """Fetch the state of a channel again."""
        self._connection.tasks.spawn(self._request(uri, self._reload))

    def _reload(self, result: Any) -> None:
        for key in ("snapshot", "chat"):
            if key in result:
                self._replica.load(result[key])

    def _drop_gone(self) -> None:
        for uri in [uri for uri, one in self._open.items() if one.is_gone]:
            del self._open[uri]
            self._runners.pop(uri, None)

    def _on_root_change(self, change: Change) -> None:
        """Drop terminals that are no longer in the host's list: nothing else tells of their end."""
        if change.kind in ("confirmed", "snapshot"):
            before, after = (_terminal_uris(state) for state in (change.before, change.after))
            for uri in before - after:
                self._replica.forget(uri)


def _terminal_uris(root: Any) -> set[URI]:
    return {terminal["resource"] for terminal in (root or {}).get("terminals", [])}
