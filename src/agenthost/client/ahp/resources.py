"""Resources: the sessions and terminals that an application has open, and what makes them go."""

from collections.abc import Callable
from typing import Any, TypeVar

from agenthost.client.ahp.changes import Change
from agenthost.client.ahp.errors import Gone, Refused
from agenthost.client.ahp.line import Line
from agenthost.client.ahp.mirrors import Mirrors
from agenthost.client.ahp.running import ToolRunner
from agenthost.client.ahp.session import Session
from agenthost.client.ahp.terminal import Terminal
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.common import URI

__all__ = ["Resources"]

R = TypeVar("R", Session, Terminal)


class Resources:
    """What is open: one object for each resource, however often it is asked for."""

    def __init__(self, line: Line, mirrors: Mirrors, name: str | None) -> None:
        self._line = line
        self._mirrors = mirrors
        self._name = name
        self._open: dict[URI, Session | Terminal] = {}
        self._runners: dict[URI, ToolRunner] = {}
        # The calls that were started in this process: by session, turn and call.
        self._started: set[tuple[str, str, str]] = set()
        mirrors.listeners(ROOT_URI).add(self._root_changed)

    def runner(self, uri: URI) -> ToolRunner:
        """Give what runs the tools of a session that is open."""
        return self._runners[uri]

    async def session(self, uri: URI) -> Session:
        """Watch a session.

        Raises:
            AhpError: it cannot be had, or is no session.
        """
        return await self._watch(uri, Session, "summary", self._make_session)

    async def terminal(self, uri: URI) -> Terminal:
        """Watch a terminal.

        Raises:
            AhpError: it cannot be had, or is no terminal.
        """
        return await self._watch(uri, Terminal, "content", self._make_terminal)

    async def _watch(self, uri: URI, kind: type[R], mark: str, make: Callable[[URI], R]) -> R:
        if uri not in self._open or self._open[uri].is_gone:
            await self._line.request(
                "subscribe", {"resource": uri}, is_safe=True, take=lambda told: self._take(told, mark, make)
            )
        found = self._open.get(uri)
        if found is None:
            raise Gone(f"{uri} is not there any more")
        if not isinstance(found, kind):
            raise Refused(f"{uri} is no {kind.__name__.lower()}")
        return found

    def _take(self, told: Any, mark: str, make: Callable[[URI], Any]) -> None:
        """Take a state, and have somebody there at once who hears what comes after it."""
        snapshot = told["snapshot"]
        uri = snapshot["resource"]
        if mark not in snapshot["state"]:
            self._line.notify("unsubscribe", {"resource": uri})
            raise Refused(f"{uri} is of another kind")
        self._mirrors.load(snapshot)
        if uri not in self._open or self._open[uri].is_gone:
            self._open[uri] = make(uri)

    def _make_session(self, uri: URI) -> Session:
        runner = self._runners[uri] = ToolRunner(uri, self._line, self._mirrors, self._started)
        runner.begin()
        return Session(uri, self._line, self._mirrors, runner, self._name)

    def _make_terminal(self, uri: URI) -> Terminal:
        return Terminal(uri, self._line, self._mirrors)

    # What makes them go

    def came_back(self) -> None:
        """Note that a connection is there again."""
        self._tidy()
        for runner in list(self._runners.values()):
            runner.came_back()

    def removed(self, uri: URI) -> None:
        """Note that the host has a session no more."""
        self._mirrors.forget(uri)
        self._tidy()

    def doubtful(self, uri: URI) -> None:
        """Fetch a state anew that cannot be trusted any more."""
        self._line.reader.spawn(
            self._line.request(
                "subscribe",
                {"resource": uri},
                is_safe=True,
                take=lambda told: self._mirrors.load(told["snapshot"]),
            )
        )

    def _tidy(self) -> None:
        for uri in [uri for uri, one in self._open.items() if one.is_gone]:
            del self._open[uri]
            self._runners.pop(uri, None)

    def _root_changed(self, change: Change) -> None:
        """Drop the terminals that the host has no more: it says so in its list, and nowhere else."""
        if change.kind in ("confirmed", "snapshot"):
            before, after = (_terminals_of(state) for state in (change.before, change.after))
            for uri in before - after:
                self._mirrors.forget(uri)


def _terminals_of(root: Any) -> set[URI]:
    return {terminal["resource"] for terminal in (root or {}).get("terminals", [])}
