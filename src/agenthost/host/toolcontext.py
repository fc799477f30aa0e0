"""The context of a tool call: what a running tool may know and tell, and the thread that a blocking one gets.

Knows the event loop and threads, nothing of tools or of what is done with a report.
"""

import asyncio
import contextvars
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias, TypeVar

from agenthost.host.toolresults import text_block
from agenthost.wire.ahp.tool import ToolResultContent

__all__ = ["OnProgress", "ToolContext", "run_in_thread"]

T = TypeVar("T")

OnProgress: TypeAlias = Callable[[list[ToolResultContent]], None]
"""Takes what a tool shows while it runs, each time all of it; called on the event loop."""

logger = logging.getLogger("agenthost.tools")


class ToolContext:
    """One call, as its tool sees it. A tool gets it by a parameter with this annotation.

    Attributes:
        session: the URI of the session.
        turn_id: the turn that asked.
        call_id: the call.
    """

    def __init__(
        self,
        *,
        session: str = "",
        turn_id: str = "",
        call_id: str = "",
        on_progress: OnProgress | None = None,
    ) -> None:
        self.session = session
        self.turn_id = turn_id
        self.call_id = call_id
        self._on_progress = on_progress
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()
        self._latest: list[ToolResultContent] | None = None
        self._cancelled = threading.Event()

    @property
    def is_cancelled(self) -> bool:
        """Whether nobody waits for the result any more: a blocking tool should look, and stop."""
        return self._cancelled.is_set()

    async def progress(self, *content: str | ToolResultContent) -> None:
        """Show this while the tool runs, in place of what was shown before; for asynchronous tools."""
        self._show(_blocks(content))
        await asyncio.sleep(0)

    def report(self, *content: str | ToolResultContent) -> None:
        """Do the same from any thread, without waiting; of many reports at once only the last may be seen."""
        with self._lock:
            is_under_way = self._latest is not None
            self._latest = _blocks(content)
            if self._loop is not None and not is_under_way:
                # A loop that is closed has nobody left to show it to.
                with suppress(RuntimeError):
                    self._loop.call_soon_threadsafe(self._show_latest)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Take reports from here to the end of the block, and none after it: the result has the last word."""
        self._loop = asyncio.get_running_loop()
        try:
            yield
        except BaseException:
            self._cancelled.set()
            raise
        finally:
            with self._lock:
                self._loop = None

    def _show_latest(self) -> None:
        with self._lock:
            content, self._latest = self._latest, None
        if content is not None:
            self._show(content)

    def _show(self, content: list[ToolResultContent]) -> None:
        if self._loop is not None and self._on_progress is not None:
            self._on_progress(content)


async def run_in_thread(call: Callable[[], T], name: str) -> T:
    """Run a blocking call in a thread of its own, with the caller's context variables.

    Cancelling leaves the thread to itself: its result is dropped, its error goes to the log. The thread is
    not of a pool, so one that never ends takes nobody's place and does not hold up the end of the process.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()

    def settle(result: Any, error: BaseException | None) -> None:
        if not done.done():
            done.set_result((result, error))
        elif error is not None:
            logger.warning("tool %s failed after nobody waited for it", name, exc_info=error)

    def work() -> None:
        result, error = None, None
        try:
            result = call()
        except BaseException as raised:  # raised again where it is awaited
            error = raised
        # A loop that is closed has nobody left who waits.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, result, error)

    run = contextvars.copy_context().run
    threading.Thread(target=run, args=(work,), name=f"tool {name}", daemon=True).start()
    value, error = await done
    if error is not None:
        raise error
    return value  # type: ignore[no-any-return] # what `call` gave


def _blocks(content: tuple[str | ToolResultContent, ...]) -> list[ToolResultContent]:
    return [text_block(block) if isinstance(block, str) else block for block in content]
