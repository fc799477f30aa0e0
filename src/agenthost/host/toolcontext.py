"""The context of a tool call: what a running tool may know and tell, and the thread that a blocking one gets.

Knows the event loop and threads, nothing of tools or of what is done with a report.
"""

import asyncio
import contextvars
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from agenthost.errors import ToolError
from agenthost.host.contents import NewContent
from agenthost.host.storage import PutContent
from agenthost.host.terminals.toolrun import LONGEST_OUTPUT, Ran, Runner
from agenthost.host.toolresults import text_block
from agenthost.wire.ahp.tool import DiffCounts, FileVersion, ToolResultContent, ToolResultFileEditContent

__all__ = ["OnProgress", "ToolContext", "count_lines", "run_in_thread"]

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
        workspace: the folder that files may be touched in.
        writes: the contents that the result refers to, to be written with it.
    """

    def __init__(
        self,
        *,
        session: str = "",
        turn_id: str = "",
        call_id: str = "",
        workspace: Path | None = None,
        on_progress: OnProgress | None = None,
        new_content: Callable[[bytes, str], NewContent] | None = None,
        runner: Runner | None = None,
    ) -> None:
        self.workspace = workspace or Path()
        self.writes: list[PutContent] = []
        self._new_content = new_content
        self._runner = runner
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

    async def terminal(
        self,
        command: str,
        *,
        title: str | None = None,
        seconds: float | None = None,
        longest: int = LONGEST_OUTPUT,
    ) -> Ran:
        """Run a line for `sh` in a terminal, in the workspace, shown live in the call.

        For asynchronous tools. After so many `seconds` it is ended, and so it is when the call is cancelled.
        The result has the first `longest` characters of what it printed, and a block for the tool's result.

        Raises:
            ToolError: there are no terminals here.
            HostError: none could be started.
        """
        if self._runner is None:
            raise ToolError("there are no terminals here")
        return await self._runner.run(
            command, lambda block: self._show([block]), title=title, seconds=seconds, longest=longest
        )

    def report(self, *content: str | ToolResultContent) -> None:
        """Do the same from any thread, without waiting; of many reports at once only the last may be seen."""
        with self._lock:
            is_under_way = self._latest is not None
            self._latest = _blocks(content)
            if self._loop is not None and not is_under_way:
                # A loop that is closed has nobody left to show it to.
                with suppress(RuntimeError):
                    self._loop.call_soon_threadsafe(self._show_latest)

    def edited(self, path: Path, before: str | None, after: str | None) -> ToolResultFileEditContent:
        """Make a block that shows a change of a file.

        `before` is absent for a new one, `after` for one that was removed. Any thread may call it. Both
        versions are kept, by reference.
        """
        block: ToolResultFileEditContent = {"type": "fileEdit", "diff": count_lines(before, after)}
        if before is not None:
            block["before"] = self._version(path, before)
        if after is not None:
            block["after"] = self._version(path, after)
        return block

    def _version(self, path: Path, text: str) -> FileVersion:
        uri = path.absolute().as_uri()
        if self._new_content is None:
            return {"uri": uri, "content": {"uri": uri}}
        content = self._new_content(text.encode(errors="replace"), "text/plain")
        self.writes.append(content.write)
        return {"uri": uri, "content": content.ref}

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


def count_lines(before: str | None, after: str | None) -> DiffCounts:
    """Count the lines that a change adds and removes."""
    old, new = (before or "").splitlines(), (after or "").splitlines()
    added = removed = 0
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=True).get_opcodes():
        if kind != "equal":
            removed, added = removed + b - a, added + d - c
    return {"added": added, "removed": removed}


def _blocks(content: tuple[str | ToolResultContent, ...]) -> list[ToolResultContent]:
    return [text_block(block) if isinstance(block, str) else block for block in content]
