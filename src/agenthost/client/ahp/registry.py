"""The registry: one object per session or terminal that the application has open."""

from collections.abc import Callable
from typing import Any, TypeVar

from agenthost.client.ahp.changes import Change
from agenthost.client.ahp.connection import Connection
from agenthost.client.ahp.errors import Gone, Refused
from agenthost.client.ahp.session import Session
from agenthost.client.ahp.terminal import Terminal
from agenthost.client.ahp.tool_runner import ToolRunner
from agenthost.wire.ahp.legacy import ROOT_URI
from agenthost.wire.ahp.legacy.common import URI

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
        """Subscribe to a session.

        Raises:
            AhpError: the host refuses, or this is not a session.
        """
        return await self._subscribe(uri, Session, "summary", self._new_session)

    async def terminal(self, uri: URI) -> Terminal:
        """Subscribe to a terminal.

        Raises:
            AhpError: the host refuses, or this is not a terminal.
        """
        return await self._subscribe(uri, Terminal, "content", self._new_terminal)

    async def _subscribe(self, uri: URI, kind: type[R], field: str, create: Callable[[URI], R]) -> R:
        """Subscribe to a resource, unless it is open. A state of this kind has a certain field."""
        if uri not in self._open or self._open[uri].is_gone:
            await self._connection.request(
                "subscribe",
                {"resource": uri},
                is_repeatable=True,
                on_result=lambda result: self._load(result["snapshot"], field, create),
            )
        found = self._open.get(uri)
        if found is None:
            raise Gone(f"{uri} no longer exists")
        if not isinstance(found, kind):
            raise Refused(f"{uri} is not a {kind.__name__.lower()}")
        return found

    def _load(self, snapshot: Any, field: str, create: Callable[[URI], Any]) -> None:
        """Load a snapshot and create its object before the next action comes (HR-S02)."""
        uri = snapshot["resource"]
        if field not in snapshot["state"]:
            self._connection.notify("unsubscribe", {"resource": uri})
            raise Refused(f"{uri} is a resource of another kind")
        self._replica.load(snapshot)
        if uri not in self._open or self._open[uri].is_gone:
            self._open[uri] = create(uri)

    def _new_session(self, uri: URI) -> Session:
        runner = self._runners[uri] = ToolRunner(uri, self._connection, self._started)
        runner.begin()
        return Session(uri, self._connection, runner, self._client_name)

    def _new_terminal(self, uri: URI) -> Terminal:
        return Terminal(uri, self._connection)

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
        """Fetch the state of a resource again."""
        self._connection.tasks.spawn(
            self._connection.request(
                "subscribe",
                {"resource": uri},
                is_repeatable=True,
                on_result=lambda result: self._replica.load(result["snapshot"]),
            )
        )

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
