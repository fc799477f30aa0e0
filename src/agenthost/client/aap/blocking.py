"""Blocking: asynchronous objects for programs that have no event loop. Knows nothing of AAP.

A twin has an asynchronous object inside, and a portal: a thread with an event loop, where its work is done.
Its methods are those of the object inside, with their names, parameters and types; only the waiting differs.
"""

import asyncio
import functools
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

__all__ = ["Blocking", "Opening", "Portal", "Twin"]

A = TypeVar("A")
P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")


class Portal:
    """A thread with an event loop, started when it is first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_ready = threading.Event()
        self._is_closed = False
        self._loop: asyncio.AbstractEventLoop
        self._end: asyncio.Event

    def run(self, work: Coroutine[Any, Any, R]) -> R:
        """Do something on the loop, and wait for it. Ctrl-C while waiting cancels it.

        Raises:
            RuntimeError: the portal is closed, or this is its own thread, which would wait for itself.
        """
        try:
            self._start()
        except RuntimeError:
            work.close()
            raise
        doing = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return doing.result()
        finally:
            doing.cancel()  # without an effect, unless the wait was broken off

    def close(self, last: Coroutine[Any, Any, None]) -> None:
        """Do a last thing, and end the thread; doing it again does nothing."""
        if self._is_closed or self._thread is None:
            self._is_closed = True
            last.close()
            return
        self.run(last)
        self._is_closed = True
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    def _start(self) -> None:
        if threading.current_thread() is self._thread:
            raise RuntimeError("an async function inside a sync client cannot wait for it: it would for ever")
        with self._lock:
            if self._is_closed:
                raise RuntimeError("the client is closed")
            if self._thread is None:
                self._thread = threading.Thread(target=self._main, name="agenthost client", daemon=True)
                self._thread.start()
        self._is_ready.wait()

    def _main(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._end = asyncio.Event()
        self._is_ready.set()
        await self._end.wait()


class Twin(Generic[A]):
    """Something with an asynchronous object inside."""

    def __init__(self, inner: A, portal: Portal) -> None:
        self._inner = inner
        self._portal = portal

    def __repr__(self) -> str:
        return f"Sync{self._inner!r}"


class Blocking(Generic[P, R]):
    """A method of a twin: that of the object inside, waited for."""

    def __init__(self, method: Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    def __get__(self, twin: Twin[Any], owner: type | None = None) -> Callable[P, R]:
        method = self._method

        @functools.wraps(method)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            return twin._portal.run(method(twin._inner, *args, **kwargs))  # noqa: SLF001 - a part of it

        return call


class Opening(Generic[P, R, S]):
    """A method of a twin that gives another twin: of what the object inside gives."""

    def __init__(self, method: Callable[Concatenate[Any, P], R], kind: Callable[[R, Portal], S]) -> None:
        self._method = method
        self._kind = kind
        self.__doc__ = method.__doc__

    def __get__(self, twin: Twin[Any], owner: type | None = None) -> Callable[P, S]:
        method, kind = self._method, self._kind

        @functools.wraps(method)
        def call(*args: P.args, **kwargs: P.kwargs) -> S:
            return kind(method(twin._inner, *args, **kwargs), twin._portal)  # noqa: SLF001 - a part of it

        return call
