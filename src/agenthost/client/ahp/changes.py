"""Changes: what an application is told of a session or terminal, and the answers to what it does itself."""

import asyncio
import logging
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable, Generator
from typing import Any, Literal, Self, TypeAlias

from agenthost.client.ahp.errors import AhpError, Closed
from agenthost.core.reducers import Live
from agenthost.wire.ahp.actions.envelope import ActionOrigin
from agenthost.wire.ahp.actions.text import Action

__all__ = ["Change", "ChangeKind", "Changes", "Echo", "Listener", "Listeners"]

log = logging.getLogger("agenthost.client")

ChangeKind: TypeAlias = Literal["confirmed", "dispatched", "rejected", "snapshot", "gone", "closed"]
"""What happened: the host said so, we said so, the host refused that; a state came whole; it is over."""

MOST_WAITING = 10_000
"""How many changes wait for one reader, before they are put together into one."""


class Change:
    """Something happened to a resource.

    Attributes:
        kind: what it was. Of `confirmed` and `snapshot`, before and after are what the host has confirmed;
            of `dispatched` and `rejected` they are what a person sees.
        action: what the host or we let happen, to be read like the object that it is on the wire; None for a
            state that came whole.
        origin: who did it; None for the host.
        error: of `rejected`, `gone` and `closed`: why.
    """

    __slots__ = ("_after", "_before", "action", "error", "kind", "origin")

    def __init__(
        self,
        kind: ChangeKind,
        before: Live[Any] | None,
        after: Live[Any] | None,
        action: Any = None,
        origin: ActionOrigin | None = None,
        error: AhpError | None = None,
    ) -> None:
        self.kind = kind
        self.action = action
        self.origin = origin
        self.error = error
        self._before = before
        self._after = after

    def __repr__(self) -> str:
        return f"<{self.kind} {self.action['type'] if self.action is not None else 'state'}>"

    # Put together when somebody looks: most changes are a word of text, most states are long.

    @property
    def before(self) -> Any:
        """The state before it; None if there was none."""
        return None if self._before is None else self._before.state

    @property
    def after(self) -> Any:
        """The state after it; None if there is none any more."""
        return None if self._after is None else self._after.state

    def until(self, later: "Change") -> "Change":
        """Give this and all up to a later one as one change."""
        return Change("snapshot", self._before, later._after)  # noqa: SLF001 - one of its own kind


Listener: TypeAlias = Callable[[Change], object]
"""Is told of each change, at once; must not block."""


class Listeners:
    """Who wants to know."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def __bool__(self) -> bool:
        return bool(self._listeners)

    def add(self, listener: Listener) -> Callable[[], None]:
        """Tell this one from now on; gives what ends it."""
        self._listeners = [*self._listeners, listener]

        def stop() -> None:
            self._listeners = [one for one in self._listeners if one is not listener]

        return stop

    def tell(self, change: Change) -> None:
        """Tell everybody. What one of them raises is not the others' business."""
        for listener in self._listeners:
            try:
                listener(change)
            except Exception:
                log.exception("what was to be told of a change failed")


class Changes(AsyncIterator[Change]):
    """Changes as they come, from the moment that this is made. Ends when the resource is gone or closed.

    A reader that is slower than the host loses no state, only steps: they are put together into one change
    of the kind `snapshot`.
    """

    def __init__(self, listeners: Listeners, most: int = MOST_WAITING) -> None:
        self._waiting: deque[Change] = deque()
        self._most = most
        self._news = asyncio.Event()
        self._is_over = False
        # A reader that is dropped without a word must not be told for ever.
        me = weakref.ref(self)

        def tell(change: Change) -> None:
            reader = me()
            if reader is not None:
                reader._put(change)  # noqa: SLF001 - a part of it

        self._stop = listeners.add(tell)
        weakref.finalize(self, self._stop)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Change:
        while not self._waiting:
            if self._is_over:
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        change = self._waiting.popleft()
        if change.kind in ("gone", "closed"):
            self.close()
            if change.error is not None and not isinstance(change.error, Closed):
                raise change.error
            raise StopAsyncIteration
        return change

    @property
    def has_more(self) -> bool:
        """Whether the next change is there already."""
        return bool(self._waiting)

    def close(self) -> None:
        """Hear no more."""
        self._stop()
        self._is_over = True
        self._waiting.clear()
        self._news.set()

    def _put(self, change: Change) -> None:
        if len(self._waiting) >= self._most and change.kind not in ("gone", "closed"):
            change = self._waiting[0].until(change)
            self._waiting.clear()
        self._waiting.append(change)
        self._news.set()


class Echo:
    """An action of our own, which shows at once. Awaiting it waits for the host's word.

    Raises, when awaited:
        Rejected: the host did not let it happen.
        Unanswered: the connection broke, and nobody can tell any more but the state.
        AhpError: it cannot come to an answer, as with `Gone` and `Closed`.
    """

    def __init__(self, client_seq: int, action: Action) -> None:
        self.client_seq = client_seq
        self.action = action
        self._answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def is_answered(self) -> bool:
        """Whether the host has answered."""
        return self._answer.done()

    def __await__(self) -> Generator[Any, None, None]:
        # Shielded: many may wait for one answer, and some of them give up.
        return asyncio.shield(self._answer).__await__()

    def settle(self, error: AhpError | None = None) -> None:
        """Note the answer."""
        if self._answer.done():
            return
        if error is None:
            self._answer.set_result(None)
        else:
            self._answer.set_exception(error)
            self._answer.exception()  # nobody has to wait for it
