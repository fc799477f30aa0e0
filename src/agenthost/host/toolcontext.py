"""The context of a tool call: what a running tool may know and tell, and the thread that a blocking one gets.

Knows the event loop and threads, nothing of tools or of what is done with a report.
"""

import asyncio
import contextvars
import logging
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from agenthost.core.comparison import are_quickly_compared
from agenthost.errors import ToolError
from agenthost.host.asking import Answers, Question
from agenthost.host.contents import NewContent
from agenthost.host.files.workspace import Workspace
from agenthost.host.storage import PutContent
from agenthost.host.terminals.toolrun import LONGEST_OUTPUT, Ran, Runner
from agenthost.host.toolresults import text_block
from agenthost.wire.ahp.common import UsageInfo
from agenthost.wire.ahp.tool import (
    DiffCounts,
    FileVersion,
    ToolResultContent,
    ToolResultFileEditContent,
    ToolResultResourceContent,
    ToolResultSubagentContent,
)

__all__ = [
    "Delegated",
    "OnAsk",
    "OnDelegate",
    "OnProgress",
    "Slot",
    "ToolContext",
    "count_lines",
    "run_in_thread",
]

T = TypeVar("T")

OnProgress: TypeAlias = Callable[[list[ToolResultContent]], None]
"""Takes what a tool shows while it runs, each time all of it; called on the event loop."""

OnAsk: TypeAlias = Callable[[int, list[Question], str | None, str | None], Awaitable[Answers]]
"""Asks the user: the number of the question in this call, the questions, what is said to them, a link."""

logger = logging.getLogger("agenthost.tools")


@dataclass(frozen=True, slots=True)
class Delegated:
    """What came of a task that was given to another agent.

    Attributes:
        block: shows its session in a result.
        text: what it said in the end.
        error: why it did not get there; what it said until then is still there.
        usage: what it cost, if it says.
    """

    block: ToolResultSubagentContent
    text: str = ""
    error: str | None = None
    usage: UsageInfo | None = None


OnDelegate: TypeAlias = Callable[[str, str, Collection[str], OnProgress], Awaitable[Delegated]]
"""Has a task done: by which agent, what, which of its tools need no asking, and what shows how it gets on."""


class Slot:
    """A place among the tools that may run at once, which one that waits for people leaves to others."""

    def __init__(self, slots: asyncio.Semaphore) -> None:
        self._slots = slots
        self._is_held = False

    async def take(self) -> None:
        """Wait for a place."""
        if not self._is_held:
            await self._slots.acquire()
            self._is_held = True

    def leave(self) -> None:
        """Let others have the place."""
        if self._is_held:
            self._is_held = False
            self._slots.release()


class ToolContext:
    """One call, as its tool sees it. A tool gets it by a parameter with this annotation.

    Attributes:
        session: the URI of the session.
        turn_id: the turn that asked.
        call_id: the call.
        writes: the contents that the result refers to, to be written with it.
        slot: the place that the call has among those that run at once.
    """

    def __init__(
        self,
        *,
        session: str = "",
        turn_id: str = "",
        call_id: str = "",
        workspace: Path | Callable[[], Workspace] | None = None,
        on_progress: OnProgress | None = None,
        on_ask: OnAsk | None = None,
        on_delegate: OnDelegate | None = None,
        new_content: Callable[[bytes, str], NewContent] | None = None,
        kept: Callable[[str], Awaitable[bytes | None]] | None = None,
        runner: Runner | None = None,
    ) -> None:
        self._find_workspace = (
            workspace if callable(workspace) else partial(Workspace.at, workspace or Path())
        )
        self.writes: list[PutContent] = []
        self._new_content = new_content
        self._kept = kept
        self._runner = runner
        self.session = session
        self.turn_id = turn_id
        self.call_id = call_id
        self.slot: Slot | None = None
        self._on_progress = on_progress
        self._on_ask = on_ask
        self._on_delegate = on_delegate
        self._asked = 0
        self._waits = 0
        self._clock: asyncio.Timeout | None = None
        self._time_left = 0.0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()
        self._latest: list[ToolResultContent] | None = None
        self._cancelled = threading.Event()

    @cached_property
    def files(self) -> Workspace:
        """The folder that the session works in, as a jail: whoever touches files goes through it.

        Looks at the disk the first time, so that is for tools in threads.

        Raises:
            ResourceError: the folder is not there any more, or may not be touched any more.
        """
        return self._find_workspace()

    @property
    def workspace(self) -> Path:
        """The folder that the session works in, and that files may be touched in. Raises as `files` does."""
        return self.files.folder

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
        heard: Callable[[str], None] | None = None,
    ) -> Ran:
        """Run a line for `sh` in a terminal, in the workspace, shown live in the call.

        For asynchronous tools. After so many `seconds` it is ended, and so it is when the call is cancelled.
        The result has the first `longest` characters of what it printed, and a block for the tool's result;
        `heard` is called with everything, as it is printed.

        Raises:
            ToolError: there are no terminals here.
            HostError: none could be started, or not in this folder.
        """
        if self._runner is None:
            raise ToolError("there are no terminals here")
        return await self._runner.run(
            command,
            lambda block: self._show([block]),
            title=title,
            seconds=seconds,
            longest=longest,
            folder=await asyncio.to_thread(lambda: self.workspace),
            heard=heard,
        )

    async def ask(
        self, *questions: Question | str, message: str | None = None, url: str | None = None
    ) -> Answers:
        """Ask the user, and wait for the answers; the time that this takes is not the tool's.

        For asynchronous tools. A plain string asks for text; its answer is `answer`.

        Raises:
            ToolError: there is nobody to ask here.
        """
        if self._on_ask is None:
            raise ToolError("there is nobody to ask here")
        made = [Question.text("answer", one) if isinstance(one, str) else one for one in questions]
        self._asked += 1
        async with self.waiting():
            return await self._on_ask(self._asked, made, message, url)

    async def delegate(self, agent: str, task: str, *, trust: Collection[str] = ()) -> Delegated:
        """Give a task to another agent of this host, in a session of its own, and wait for its end.

        For asynchronous tools, once in a call. The session is shown in the call from its first moment. Which
        of its tools need no asking: those that need none in this session, and `trust`. A call that is run
        again after a restart goes on with the same session; so the tool may be `resumable`.

        Raises:
            ToolError: there are no other agents here, or they are too deep in each other.
            AgentNotFound: there is none of that name.
        """
        if self._on_delegate is None:
            raise ToolError("there are no other agents here")
        async with self.waiting():
            return await self._on_delegate(agent, task, trust, self._show)

    @asynccontextmanager
    async def waiting(self) -> AsyncIterator[None]:
        """Wait for people, or for what may wait for people: no time passes, and others may have the place."""
        self._waits += 1
        if self._waits == 1:
            self._stop_clock()
            if self.slot is not None:
                self.slot.leave()
        try:
            yield
            if self._waits == 1 and self.slot is not None:
                await self.slot.take()
        finally:
            self._waits -= 1
            if self._waits == 0:
                self._start_clock()

    def _stop_clock(self) -> None:
        if self._clock is not None and (when := self._clock.when()) is not None:
            self._time_left = when - asyncio.get_running_loop().time()
            self._clock.reschedule(None)

    def _start_clock(self) -> None:
        if self._clock is not None and self._loop is not None and not self._clock.expired():
            self._clock.reschedule(asyncio.get_running_loop().time() + self._time_left)

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

    def keep(self, data: bytes, content_type: str = "text/plain") -> ToolResultResourceContent | None:
        """Keep content with the result, and make the block that refers to it; nothing, without a host."""
        if self._new_content is None:
            return None
        content = self._new_content(data, content_type)
        self.writes.append(content.write)
        return {"type": "resource", **content.ref}

    async def kept(self, uri: str) -> bytes | None:
        """Give what an earlier call of this session kept, by its URI; nothing, if that is none."""
        return None if self._kept is None else await self._kept(uri)

    def _version(self, path: Path, text: str) -> FileVersion:
        uri = path.absolute().as_uri()
        if self._new_content is None:
            return {"uri": uri, "content": {"uri": uri}}
        content = self._new_content(text.encode(errors="replace"), "text/plain")
        self.writes.append(content.write)
        return {"uri": uri, "content": content.ref}

    @contextmanager
    def running(self, clock: asyncio.Timeout | None = None) -> Iterator[None]:
        """Take reports from here to the end of the block, and none after it: the result has the last word.

        `clock` is what limits the time of it.
        """
        self._loop = asyncio.get_running_loop()
        self._clock = clock if clock is not None and clock.when() is not None else None
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
    old, new = _without_common((before or "").splitlines(), (after or "").splitlines())
    if not are_quickly_compared(old, new):
        # Exact would take too long: lines that are on one side only, wherever they are.
        return {
            "added": (Counter(new) - Counter(old)).total(),
            "removed": (Counter(old) - Counter(new)).total(),
        }
    added = removed = 0
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=True).get_opcodes():
        if kind != "equal":
            removed, added = removed + b - a, added + d - c
    return {"added": added, "removed": removed}


def _without_common(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Take away the lines that both begin and end with: most edits are small, however large the file is."""
    shortest = min(len(old), len(new))
    start = next((place for place in range(shortest) if old[place] != new[place]), shortest)
    rest = shortest - start
    end = next((place for place in range(rest) if old[-1 - place] != new[-1 - place]), rest)
    return old[start : len(old) - end], new[start : len(new) - end]


def _blocks(content: tuple[str | ToolResultContent, ...]) -> list[ToolResultContent]:
    return [text_block(block) if isinstance(block, str) else block for block in content]
