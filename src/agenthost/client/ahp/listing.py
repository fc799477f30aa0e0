"""The list of sessions: fetched when it is first wanted, and kept fresh by what the host tells everybody."""

from collections.abc import Callable, Iterator
from typing import Any, cast

from agenthost.client.ahp.line import Line
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.session import SessionSummary

__all__ = ["SessionList"]


class SessionList:
    """The summaries of all sessions, as far as they are known.

    News are not repeated, so after a connection was lost the list is fetched again.
    """

    def __init__(self, line: Line) -> None:
        self._line = line
        self._items: dict[URI, SessionSummary] = {}
        self._news: list[Any] | None = None
        self._listeners: list[Callable[[], object]] = []
        self.is_loaded = False

    def __iter__(self) -> Iterator[SessionSummary]:
        return iter(list(self._items.values()))

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, uri: object) -> bool:
        return uri in self._items

    def get(self, uri: URI) -> SessionSummary | None:
        """Give the summary of a session, if it is in the list."""
        return self._items.get(uri)

    def listen(self, listener: Callable[[], object]) -> Callable[[], None]:
        """Have this called whenever the list changes; gives what ends it."""
        self._listeners = [*self._listeners, listener]

        def stop() -> None:
            self._listeners = [one for one in self._listeners if one is not listener]

        return stop

    async def load(self) -> list[SessionSummary]:
        """Fetch the list, and keep it fresh from now on.

        Raises:
            AhpError: it cannot be had.
        """
        if self._news is None:
            self._news = []  # what is told while the answer is on its way may not be in it
        await self._line.request("listSessions", {}, is_safe=True, take=self._replace)
        return list(self)

    def _replace(self, result: Any) -> None:
        self._items = {item["resource"]: item for item in result["items"]}
        self.is_loaded = True
        news, self._news = self._news or [], None
        for one in news:
            self._apply(one)
        self._changed()

    def hear(self, news: Any) -> None:
        """Take news of the host's."""
        if self._news is not None:
            self._news.append(news)
        if self.is_loaded and self._apply(news):
            self._changed()

    def _changed(self) -> None:
        for listener in self._listeners:
            listener()

    def _apply(self, news: Any) -> bool:
        match news["type"]:
            case "notify/sessionAdded":
                self._items[news["summary"]["resource"]] = news["summary"]
            case "notify/sessionRemoved":
                return self._items.pop(news["session"], None) is not None
            case "notify/sessionSummaryChanged" if news["session"] in self._items:
                item: Any = {**self._items[news["session"]], **news["changes"]}
                # A field that is null is gone.
                kept = {key: value for key, value in item.items() if value is not None}
                self._items[news["session"]] = cast("SessionSummary", kept)
            case _:
                return False
        return True
