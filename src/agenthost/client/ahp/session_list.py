"""The list of sessions: fetched once, then kept up to date by notifications."""

from collections.abc import Callable, Iterator
from typing import Any, cast

from agenthost.client.ahp.connection import Connection
from agenthost.client.ahp.dialect import Call
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.session import SessionSummary

__all__ = ["SessionList"]


class SessionList:
    """The summaries of all sessions, once `load` was called.

    Notifications are not repeated (HR-C05), so the client loads the list again after a lost connection.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._items: dict[URI, SessionSummary] = {}
        self._held: list[Call] | None = None
        self._listeners: list[Callable[[], object]] = []
        self.is_loaded = False

    def __iter__(self) -> Iterator[SessionSummary]:
        return iter(list(self._items.values()))

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, uri: object) -> bool:
        return uri in self._items

    def get(self, uri: URI) -> SessionSummary | None:
        """Return the summary of a session; None if it is not in the list."""
        return self._items.get(uri)

    def listen(self, listener: Callable[[], object]) -> Callable[[], None]:
        """Call this whenever the list changes; returns a function that stops it."""
        self._listeners = [*self._listeners, listener]

        def stop() -> None:
            self._listeners = [one for one in self._listeners if one is not listener]

        return stop

    async def load(self) -> list[SessionSummary]:
        """Fetch the list, keep it up to date from now on, and return it.

        Raises:
            AhpError: the host refuses, or cannot be reached.
        """
        if self._held is None:
            self._held = []  # what comes before the answer may not be part of it
        params = {"channel": ROOT_URI}
        await self._connection.request("listSessions", params, is_repeatable=True, on_result=self._replace)
        return list(self)

    def _replace(self, result: Any) -> None:
        self._items = {item["resource"]: item for item in result["items"]}
        self.is_loaded = True
        held, self._held = self._held or [], None
        # The host may have read the list before it sent these.
        for one in held:
            self._apply(one)
        self._notify()

    def apply(self, notification: Call) -> None:
        """Apply a notification of the host (C3)."""
        if self._held is not None:
            self._held.append(notification)
        if self.is_loaded and self._apply(notification):
            self._notify()

    def _notify(self) -> None:
        for listener in self._listeners:
            listener()

    def _apply(self, notification: Call) -> bool:
        method, params = notification
        match method:
            case "root/sessionAdded":
                self._items[params["summary"]["resource"]] = params["summary"]
            case "root/sessionRemoved":
                return self._items.pop(params["session"], None) is not None
            case "root/sessionSummaryChanged" if params["session"] in self._items:
                item: Any = {**self._items[params["session"]], **params["changes"]}
                # Hosts of 0.1 remove a field with null (HR-L07).
                kept = {key: value for key, value in item.items() if value is not None}
                self._items[params["session"]] = cast("SessionSummary", kept)
            case _:
                return False
        return True
