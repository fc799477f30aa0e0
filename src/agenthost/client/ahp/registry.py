"""The registry: one object per session or terminal that the application has open."""

from typing import Any, TypeVar

from agenthost.client.ahp.changes import Change
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

R = TypeVar("R", Session, Terminal)


class ResourceRegistry:
    """The open sessions and terminals: one object each, however often it is asked for."""

    def __init__(self, connection: Connection, client_name: str | None) -> None:
        self._connection = connection
        self._replica = connection.replica
        self._client_name = client_name
        self._open: dict[URI, Session | Terminal] = {}
        self._runners: dict[URI, ToolRunner] = {}
        # All calls that this process has started: session, turn, call.
        self._started: set[tuple[str, str, str]] = set()
        self._replica.listeners(ROOT_URI).add(self._on_root_change)

    def runner(self, uri: URI) -> ToolRunner:
        """Return the tool runner of an open session."""
        return self._runners[uri]

    async def session(self, uri: URI) -> Session:
        """Subscribe to a session and its default chat.

        Raises:
            AhpError: the host refuses, or this is not a session.
        """
        if uri not in self._open or self._open[uri].is_gone:
            await self._request(uri, lambda result: self._load_session(uri, result))
            chat = self._replica.chat_of(uri) if self._replica.is_subscribed(uri) else None
            if chat is not None and not self._replica.is_subscribed(chat):
                await self._request(chat, lambda result: self._load_chat(uri, result))
        return self._found(uri, Session)

    async def terminal(self, uri: URI) -> Terminal:
        """Subscribe to a terminal.

        Raises:
            AhpError: the host refuses, or this is not a terminal.
        """
        if uri not in self._open or self._open[uri].is_gone:
            await self._request(uri, lambda result: self._load_terminal(uri, result))
        return self._found(uri, Terminal)

    async def _request(self, channel: URI, on_result: OnResult) -> None:
        """Subscribe to a channel. What comes is loaded before the next action comes (Q1)."""
        await self._connection.request(
            "subscribe", {"channel": channel}, is_repeatable=True, on_result=on_result
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
        chats = [state.get("defaultChat"), *(one["resource"] for one in state["chats"])]
        chat = next((one for one in chats if one is not None), None)
        if chat is None:
            self._replica.forget(uri)
            raise Refused(f"{uri} has no chat")
        self._replica.pair(uri, chat)
        if "chat" in result:
            self._load_chat(uri, {"snapshot": result["chat"]})

    def _load_chat(self, uri: URI, result: Any) -> None:
        self._load(self._replica.chat_of(uri), result, "chat")
        if uri not in self._open or self._open[uri].is_gone:
            runner = self._runners[uri] = ToolRunner(uri, self._connection, self._started)
            runner.begin()
            self._open[uri] = Session(uri, self._connection, runner, self._client_name)

    def _load_terminal(self, uri: URI, result: Any) -> None:
        self._load(uri, result, "terminal")
        if uri not in self._open or self._open[uri].is_gone:
            self._open[uri] = Terminal(uri, self._connection)

    def _load(self, channel: URI, result: Any, kind: ResourceKind) -> None:
        snapshot = result.get("snapshot")
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
        """Drop a session that the host has removed."""
        self._replica.forget(uri)
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
