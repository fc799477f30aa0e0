"""Changes of sessions and terminals, and those who listen to them."""

import asyncio
import logging
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any, Literal, Protocol, Self, TypeAlias

from agenthost.client.ahp.errors import AhpError, Closed
from agenthost.wire.ahp.actions.envelope import ActionOrigin

__all__ = ["Change", "ChangeKind", "Changes", "Listener", "Listeners"]

log = logging.getLogger("agenthost.client")

ChangeKind: TypeAlias = Literal["confirmed", "dispatched", "rejected", "snapshot", "gone", "closed"]
"""Kinds of changes: the host applied an action; we dispatched one; the host rejected it; the host sent a
whole state; the resource no longer exists; we closed it."""

MAX_WAITING = 10_000
"""How many changes wait for a reader before they are merged into one."""


class HasState(Protocol):
    """Something that builds a state on demand."""

    @property
    def state(self) -> Any:
        """The state."""


class Change:
    """A change of a resource.

    Attributes:
        kind: what happened. `before` and `after` are confirmed states for `confirmed` and `snapshot`, and
            optimistic ones for `dispatched` and `rejected`.
        action: the action, to be read like the JSON object it is; None for a whole state.
        origin: which client did it; None for the host.
        channel: the URI of the channel: of a session's changes, that of the session or of its chat.
        error: why, for `rejected`, `gone` and `closed`.
    """

    __slots__ = ("_after", "_before", "action", "channel", "error", "kind", "origin")

    def __init__(
        self,
        kind: ChangeKind,
        before: "HasState | None",
        after: "HasState | None",
        action: Any = None,
        origin: ActionOrigin | None = None,
        error: AhpError | None = None,
        channel: str = "",
    ) -> None:
        self.kind = kind
        self.channel = channel
        self.action = action
        self.origin = origin
        self.error = error
        self._before = before
        self._after = after

    def __repr__(self) -> str:
        return f"<{self.kind} {self.action['type'] if self.action is not None else 'state'}>"

    # Built on demand: most changes add a word of text, and most states are long.

    @property
    def before(self) -> Any:
        """The state before the change; None if there was none."""
        return None if self._before is None else self._before.state

    @property
    def after(self) -> Any:
        """The state after the change; None if there is none."""
        return None if self._after is None else self._after.state

    def of(self, before: "HasState | None", after: "HasState | None") -> "Change":
        """Return this change of one resource, with its states."""
        return Change(self.kind, before, after, self.action, self.origin, self.error, self.channel)

    def merge(self, later: "Change") -> "Change":
        """Return one change for this, a later one, and all between them."""
        return Change("snapshot", self._before, later._after, channel=later.channel)  # noqa: SLF001 - same class


Listener: TypeAlias = Callable[[Change], object]
"""Called with each change at once; must not block."""


class Listeners:
    """The listeners of one resource."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def __bool__(self) -> bool:
        return bool(self._listeners)

    def add(self, listener: Listener) -> Callable[[], None]:
        """Call this with each change from now on; returns a function that stops it."""
        # A new list: `notify` may be going through the old one.
        self._listeners = [*self._listeners, listener]

        def stop() -> None:
            self._listeners = [one for one in self._listeners if one is not listener]

        return stop

    def notify(self, change: Change) -> None:
        """Call all listeners. One that raises does not affect the others."""
        for listener in self._listeners:
            try:
                listener(change)
            except Exception:
                log.exception("a listener of changes failed")


class Changes(AsyncIterator[Change]):
    """An iterator of changes, from its creation until the resource is gone or closed.

    A reader that is too slow loses steps, never states: waiting changes are merged into one `snapshot`.
    """

    def __init__(self, listeners: Listeners, max_waiting: int = MAX_WAITING) -> None:
        self._waiting: deque[Change] = deque()
        self._max_waiting = max_waiting
        self._added = asyncio.Event()
        self._is_over = False
        # Weak: a reader that is dropped without `close` must not go on collecting changes.
        me = weakref.ref(self)

        def put(change: Change) -> None:
            reader = me()
            if reader is not None:
                reader._put(change)  # noqa: SLF001 - same class

        self._stop = listeners.add(put)
        weakref.finalize(self, self._stop)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Change:
        while not self._waiting:
            if self._is_over:
                raise StopAsyncIteration
            self._added.clear()
            await self._added.wait()
        change = self._waiting.popleft()
        if change.kind in ("gone", "closed"):
            self.close()
            if change.error is not None and not isinstance(change.error, Closed):
                raise change.error
            raise StopAsyncIteration
        return change

    @property
    def has_more(self) -> bool:
        """Whether the next change is waiting already."""
        return bool(self._waiting)

    def close(self) -> None:
        """Stop listening."""
        self._stop()
        self._is_over = True
        self._waiting.clear()
        self._added.set()

    def _put(self, change: Change) -> None:
        # The end is never merged: it says why there are no more.
        if len(self._waiting) >= self._max_waiting and change.kind not in ("gone", "closed"):
            change = self._waiting[0].merge(change)
            self._waiting.clear()
        self._waiting.append(change)
        self._added.set()
