"""The client without `await`: the same names and the same work, on an event loop in a thread of its own.

Tools and decisions that are `async` run on that loop; the others in threads, so they may use the client too.
"""

from collections.abc import Coroutine, Iterator
from types import TracebackType
from typing import Any, Self

from agenthost.client.aap.blocking import Blocking, Opening, Portal, Twin
from agenthost.client.aap.client import AapClient
from agenthost.client.aap.permission import Decide, deny_all
from agenthost.client.aap.session import Session
from agenthost.client.aap.transport import Timeouts
from agenthost.client.aap.turn import Turn, TurnLimits
from agenthost.wire.aap.v3 import SessionInfo, SSEEvent

__all__ = ["SyncAapClient", "SyncSession", "SyncTurn"]


class SyncTurn(Twin[Turn], Iterator[SSEEvent]):
    """A turn: its events, once, as they come; or its answer, when it is over. See `Turn`."""

    answer = Blocking(Turn.answer)
    close = Blocking(Turn.aclose)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> SSEEvent:
        event = self._portal.run(self._next())
        if event is None:
            raise StopIteration
        return event

    async def _next(self) -> SSEEvent | None:
        return await anext(self._inner, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class SyncSession(Twin[Session]):
    """One conversation, which the server keeps. See `Session`."""

    info = Blocking(Session.info)
    history = Blocking(Session.history)
    open_calls = Blocking(Session.open_calls)
    delete = Blocking(Session.delete)
    ask = Blocking(Session.ask)
    send = Opening(Session.send, SyncTurn)
    resume = Opening(Session.resume, SyncTurn)

    @property
    def id(self) -> str:
        """The id of the session, to come back to it with `SyncAapClient.session`.

        Raises:
            NotCreatedYet: the server speaks version 1 or 2, and there was no turn yet.
        """
        return self._inner.id

    @property
    def is_created(self) -> bool:
        """Whether the server has the session, so that it has an id."""
        return self._inner.is_created


def _created(creating: Coroutine[Any, Any, Session], portal: Portal) -> SyncSession:
    return SyncSession(portal.run(creating), portal)


class SyncAapClient(Twin[AapClient]):
    """One AAP server, for programs without an event loop. See `AapClient`.

    Raises:
        ValueError: the URL or the key cannot be used.
    """

    version = Blocking(AapClient.version)
    meta = Blocking(AapClient.meta)
    create = Opening(AapClient.create, _created)
    session = Opening(AapClient.session, SyncSession)

    def __init__(
        self,
        url: str | None = None,
        *,
        key: str | None = None,
        permission: Decide = deny_all,
        limits: TurnLimits | None = None,
        timeouts: Timeouts | None = None,
        retries: int = 2,
    ) -> None:
        inner = AapClient(
            url, key=key, permission=permission, limits=limits, timeouts=timeouts, retries=retries
        )
        super().__init__(inner, Portal())

    @property
    def url(self) -> str:
        """The base URL of the server."""
        return self._inner.url

    def sessions(self) -> Iterator[SessionInfo]:
        """Give all sessions, page by page as they are needed. See `AapClient.sessions`.

        Raises:
            AapError: such as `Unauthorized`.
        """
        sessions = self._inner.sessions()

        async def step() -> SessionInfo | None:
            return await anext(sessions, None)

        while (info := self._portal.run(step())) is not None:
            yield info

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections, and end the thread. What is under way is broken off."""
        self._portal.close(self._inner.aclose())
