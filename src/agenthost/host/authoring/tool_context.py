"""The context of a tool call: everything that a running tool can use, from its own thread or from the loop.

Knows nothing of tools, nor of how progress is shown.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TypeAlias

from agenthost.core.line_counts import count_lines
from agenthost.errors import ToolError
from agenthost.host.authoring.questions import Answers, Question
from agenthost.host.authoring.tool_results import text_block
from agenthost.host.files.workspace import Workspace
from agenthost.host.state.blobs import NewBlob
from agenthost.host.storage import PutContent
from agenthost.host.terminals.command_runner import MAX_OUTPUT, CommandResult, CommandRunner
from agenthost.wire.ahp.common import UsageInfo
from agenthost.wire.ahp.tool import (
    FileEditSide,
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
]

OnProgress: TypeAlias = Callable[[list[ToolResultContent]], None]
"""Takes everything that a running tool shows, each time in full; called on the event loop."""

OnAsk: TypeAlias = Callable[[int, list[Question], str | None, str | None], Awaitable[Answers]]
"""Asks the user: the number of the request in this call, the questions, a message, a link."""


@dataclass(frozen=True, slots=True)
class Delegated:
    """The outcome of a task that was given to another agent.

    Attributes:
        block: a content block that shows its chat.
        session: its session.
        text: its last answer, or as much of it as there is.
        error: why it failed, if it did.
        usage: what it cost, if known.
    """

    block: ToolResultSubagentContent
    session: str
    text: str = ""
    error: str | None = None
    usage: UsageInfo | None = None


OnDelegate: TypeAlias = Callable[[str, str, Collection[str], OnProgress], Awaitable[Delegated]]
"""Delegates a task: the agent's name, the task, the tools that need no approval, a callback for progress."""


@dataclass(slots=True)
class Slot:
    """A slot among the tools that may run at once. A tool that waits for people frees it meanwhile."""

    _slots: asyncio.Semaphore
    _is_held: bool = False

    async def take(self) -> None:
        """Wait for a free slot."""
        if not self._is_held:
            await self._slots.acquire()
            self._is_held = True

    def leave(self) -> None:
        """Free the slot for others."""
        if self._is_held:
            self._is_held = False
            self._slots.release()


class ToolContext:
    """One call, as its tool sees it. A tool gets it through a parameter with this annotation.

    Attributes:
        session: the URI of the session.
        turn_id: the id of the turn.
        call_id: the id of the call.
        writes: the contents that the result refers to, written with it.
        slot: the call's slot among the tools that may run at once.
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
        new_content: Callable[..., NewBlob] | None = None,
        kept: Callable[[str], Awaitable[bytes | None]] | None = None,
        runner: CommandRunner | None = None,
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
        """The session's folder, as a jail: all file access goes through it.

        The first access reads the disk, so it is for tools in threads.

        Raises:
            ResourceError: the folder no longer exists, or may no longer be used.
        """
        return self._find_workspace()

    @property
    def workspace(self) -> Path:
        """The path of the session's folder. Raises like `files`."""
        return self.files.folder

    @property
    def is_cancelled(self) -> bool:
        """Whether the call was cancelled. A blocking tool should check this, and stop."""
        return self._cancelled.is_set()

    async def progress(self, *content: str | ToolResultContent) -> None:
        """Show content while the tool runs, replacing what was shown before. For asynchronous tools."""
        self._show(_blocks(content))
        await asyncio.sleep(0)

    async def terminal(
        self,
        command: str,
        *,
        title: str | None = None,
        seconds: float | None = None,
        longest: int = MAX_OUTPUT,
        heard: Callable[[str], None] | None = None,
    ) -> CommandResult:
        """Run a line of `sh` in a terminal, in the workspace, shown live in the call.

        For asynchronous tools. The command is ended after `seconds`, or when the call is cancelled. The
        result has the first `longest` characters of the output, and a block for the tool's result. `heard` is
        called with all output as it arrives.

        Raises:
            ToolError: terminals are not available.
            HostError: no terminal could be started, or not in this folder.
        """
        if self._runner is None:
            raise ToolError("there are no terminals here")
        return await self._runner.run(
            command,
            lambda block: self._show([block]),
            title=title,
            seconds=seconds,
            max_output=longest,
            folder=await asyncio.to_thread(lambda: self.workspace),
            on_output=heard,
        )

    async def ask(
        self, *questions: Question | str, message: str | None = None, url: str | None = None
    ) -> Answers:
        """Ask the user, and wait for the answers. The wait does not count against the tool's time limit.

        For asynchronous tools. A plain string asks for text; its answer has the key `answer`.

        Raises:
            ToolError: there is no user to ask.
        """
        if self._on_ask is None:
            raise ToolError("there is no user to ask here")
        made = [Question.text("answer", one) if isinstance(one, str) else one for one in questions]
        self._asked += 1
        async with self.waiting():
            return await self._on_ask(self._asked, made, message, url)

    async def delegate(self, agent: str, task: str, *, trust: Collection[str] = ()) -> Delegated:
        """Give a task to another agent of this host, in its own session, and wait until it has ended.

        For asynchronous tools, once per call. The session is shown in the call from the start. The tools that
        need no approval are those that need none in this session, and those in `trust`. A call that is run
        again after a restart continues the same session, so the tool may be `resumable`.

        Raises:
            ToolError: there are no other agents, or delegation is nested too deeply.
            AgentNotFound: there is no agent with that name.
        """
        if self._on_delegate is None:
            raise ToolError("other agents are not available here")
        async with self.waiting():
            return await self._on_delegate(agent, task, trust, self._show)

    @asynccontextmanager
    async def waiting(self) -> AsyncIterator[None]:
        """Stop the clock and free the slot inside the block, to wait for people or for another agent."""
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
        """Do what `progress` does from any thread, without waiting. Only the last of several may show."""
        with self._lock:
            is_under_way = self._latest is not None
            self._latest = _blocks(content)
            if self._loop is not None and not is_under_way:
                # If the loop is closed, there is nobody left to show it to.
                with suppress(RuntimeError):
                    self._loop.call_soon_threadsafe(self._show_latest)

    def edited(self, path: Path, before: str | None, after: str | None) -> ToolResultFileEditContent:
        """Return a block that shows a change of a file. Can be called from any thread.

        `before` is None for a new file, `after` for a removed one. Both versions are stored, and the block
        refers to them.
        """
        block: ToolResultFileEditContent = {"type": "fileEdit", "diff": count_lines(before, after)}
        if before is not None:
            block["before"] = self._version(path, before)
        if after is not None:
            block["after"] = self._version(path, after)
        return block

    def keep(self, data: bytes, content_type: str = "text/plain") -> ToolResultResourceContent | None:
        """Store content with the result, and return a block that refers to it; None without a host."""
        if self._new_content is None:
            return None
        content = self._new_content(data, content_type)
        self.writes.append(content.write)
        return {"type": "resource", **content.ref}

    async def kept(self, uri: str) -> bytes | None:
        """Return the content that an earlier call of this session stored under this URI, if any."""
        return None if self._kept is None else await self._kept(uri)

    def _version(self, path: Path, text: str) -> FileEditSide:
        uri = path.absolute().as_uri()
        if self._new_content is None:
            return {"uri": uri, "content": {"uri": uri}}
        content = self._new_content(text.encode(errors="replace"), "text/plain", path.name)
        self.writes.append(content.write)
        return {"uri": uri, "content": content.ref}

    @contextmanager
    def running(self, clock: asyncio.Timeout | None = None) -> Iterator[None]:
        """Accept reports inside the block, and none after it: nothing may follow the result.

        `clock` is the call's time limit.
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


def _blocks(content: tuple[str | ToolResultContent, ...]) -> list[ToolResultContent]:
    return [text_block(block) if isinstance(block, str) else block for block in content]
