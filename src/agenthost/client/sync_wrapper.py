"""Sync wrappers: asynchronous objects for programs without an event loop. Knows no protocol.

A `SyncWrapper` holds an asynchronous object and a `Portal`: a thread with an event loop that runs its
methods. The wrapper's methods keep the names, parameters and types of the wrapped ones.
"""

import asyncio
import functools
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

__all__ = ["BlockingMethod", "Portal", "SyncWrapper", "WrappingMethod"]

A = TypeVar("A")
P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")


class Portal:
    """A thread with an event loop, started when it is first used.

    anyio has one too. Each call through it crosses to the loop and back twice, which takes about twice as
    long, and a sync turn makes one call per event.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def run(self, work: Coroutine[Any, Any, R]) -> R:
        """Run a coroutine on the loop and return its result. Ctrl-C while waiting cancels it.

        Raises:
            RuntimeError: the portal is closed, or this is its own thread, which would wait for itself.
        """
        try:
            loop = self._started_loop()
        except RuntimeError:
            work.close()
            raise
        future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            return future.result()
        finally:
            future.cancel()  # has an effect only if the wait was interrupted

    def close(self, last: Coroutine[Any, Any, None]) -> None:
        """Run a last coroutine, then end the thread. Closing again does nothing."""
        if self._is_closed or self._loop is None or self._thread is None:
            self._is_closed = True
            last.close()
            return
        self.run(last)
        self._is_closed = True
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _started_loop(self) -> asyncio.AbstractEventLoop:
        if threading.current_thread() is self._thread:
            raise RuntimeError("an async function cannot wait for the sync client that runs it")
        with self._lock:
            if self._is_closed:
                raise RuntimeError("the client is closed")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_serve, args=(self._loop,), name="agenthost client", daemon=True
                )
                self._thread.start()
            return self._loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    # Runner cancels what is left and closes the loop, as `asyncio.run` does.
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.get_loop().run_forever()


class SyncWrapper(Generic[A]):
    """An asynchronous object, for callers that block."""

    def __init__(self, inner: A, portal: Portal) -> None:
        self._inner = inner
        self._portal = portal

    def __repr__(self) -> str:
        return f"Sync{self._inner!r}"


class BlockingMethod(Generic[P, R]):
    """A method of the wrapped object that blocks until its result is there."""

    def __init__(self, method: Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    def __get__(self, wrapper: SyncWrapper[Any], owner: type | None = None) -> Callable[P, R]:
        method = self._method

        @functools.wraps(method)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            return wrapper._portal.run(method(wrapper._inner, *args, **kwargs))  # noqa: SLF001

        return call


class WrappingMethod(Generic[P, R, S]):
    """A method of the wrapped object whose result is wrapped too."""

    def __init__(self, method: Callable[Concatenate[Any, P], R], wrap: Callable[[R, Portal], S]) -> None:
        self._method = method
        self._wrap = wrap
        self.__doc__ = method.__doc__

    def __get__(self, wrapper: SyncWrapper[Any], owner: type | None = None) -> Callable[P, S]:
        method, wrap = self._method, self._wrap

        @functools.wraps(method)
        def call(*args: P.args, **kwargs: P.kwargs) -> S:
            return wrap(method(wrapper._inner, *args, **kwargs), wrapper._portal)  # noqa: SLF001

        return call
