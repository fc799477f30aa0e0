"""The client without `await`: the same methods, run on an event loop in a thread.

Tools and decisions that are `async` run on that loop. The others run in threads, so they may use the client.
"""

from collections.abc import Coroutine, Iterator
from types import TracebackType
from typing import Any, Self

from agenthost.client.aap.client import AapClient
from agenthost.client.aap.permission import Decide, deny_all
from agenthost.client.aap.session import Session
from agenthost.client.aap.transport import Timeouts
from agenthost.client.aap.turn import Turn, TurnLimits
from agenthost.client.sync_wrapper import BlockingMethod, Portal, SyncWrapper, WrappingMethod
from agenthost.wire.aap.v3 import SessionInfo, SSEEvent

__all__ = ["SyncAapClient", "SyncSession", "SyncTurn"]


class SyncTurn(SyncWrapper[Turn], Iterator[SSEEvent]):
    """A turn: an iterator of its events, and its answer. See `Turn`."""

    answer = BlockingMethod(Turn.answer)
    close = BlockingMethod(Turn.aclose)

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


class SyncSession(SyncWrapper[Session]):
    """One conversation, kept by the server. See `Session`."""

    info = BlockingMethod(Session.info)
    history = BlockingMethod(Session.history)
    open_calls = BlockingMethod(Session.open_calls)
    delete = BlockingMethod(Session.delete)
    ask = BlockingMethod(Session.ask)
    send = WrappingMethod(Session.send, SyncTurn)
    resume = WrappingMethod(Session.resume, SyncTurn)

    @property
    def id(self) -> str:
        """The id of the session, for `SyncAapClient.session`.

        Raises:
            NotCreatedYet: the server speaks version 1 or 2, and there was no turn yet.
        """
        return self._inner.id

    @property
    def is_created(self) -> bool:
        """Whether the server has created the session, so that it has an id."""
        return self._inner.is_created


def _wait_created(creating: Coroutine[Any, Any, Session], portal: Portal) -> SyncSession:
    return SyncSession(portal.run(creating), portal)


class SyncAapClient(SyncWrapper[AapClient]):
    """One AAP server, for programs without an event loop. See `AapClient`.

    Raises:
        ValueError: the URL or the key is unusable.
    """

    version = BlockingMethod(AapClient.version)
    meta = BlockingMethod(AapClient.meta)
    create = WrappingMethod(AapClient.create, _wait_created)
    session = WrappingMethod(AapClient.session, SyncSession)

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
        """Yield all sessions, fetching pages as they are needed. See `AapClient.sessions`.

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
        """Stop listening to running turns, close all connections and end the thread."""
        self._portal.close(self._inner.aclose())
