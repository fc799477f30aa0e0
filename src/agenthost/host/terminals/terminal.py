"""One terminal: a program on a pty, and the resource that shows it.

Output of the program becomes actions, in order; actions of clients become input, sizes and claims. Knows no
connections: actions come from the dispatcher, and the resource knows who is subscribed.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

from agenthost.core import actions
from agenthost.core.decisions import Context, decide
from agenthost.core.decisions.grants import ALL_RIGHTS, Rights
from agenthost.host.access.identity import Identity
from agenthost.host.log.journal import Journal
from agenthost.host.log.subscriptions import Hub, LogItem
from agenthost.host.state.terminal import TerminalResource
from agenthost.host.terminals.commands import CommandTracker
from agenthost.host.terminals.flow_control import MAX_WAITING, FlowControl
from agenthost.host.terminals.process import MAX_INPUT_QUEUE, Process
from agenthost.host.terminals.scanner import Event, Finished, Folder, Ready, Scanner, Started, Title
from agenthost.host.terminals.shells import Shell
from agenthost.wire.ahp.actions import TerminalAction
from agenthost.wire.ahp.actions.envelope import ActionOrigin
from agenthost.wire.ahp.actions.text import TerminalData
from agenthost.wire.ahp.terminal import TerminalClaim, TerminalInfo, TerminalState
from agenthost.wire.json import JsonObject

log = logging.getLogger("agenthost.terminals")

MAX_INPUT = 64 * 1024
"""How many bytes a client may type at once."""

PACE_SECONDS = 0.008
"""How long continuous output may wait, to be shown in larger pieces. Nobody sees the difference."""

OVER_SECONDS = 5.0
"""How long reading the last output may take after the program ended."""


class OnChange(Protocol):
    """Called when a terminal's entry in the list changed. Unless it is urgent, the update can wait."""

    def __call__(self, *, is_urgent: bool) -> None:
        """Handle the change."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """Callbacks of a terminal: for changes of its entry in the list, and for its output.

    With `is_private`, input is shown only to the client that typed it.
    """

    on_change: OnChange
    on_output: Callable[[str], None] | None = None
    is_private: bool = False


class Terminal:
    """A terminal. Created by `Terminals`, which also updates the root.

    Attributes:
        owner: whose it is.
        resource: what subscribers see.
        has_exited: whether its program has ended and all of its output was read.
    """

    def __init__(
        self,
        uri: str,
        number: int,
        state: TerminalState,
        process: Process,
        *,
        journal: Journal,
        hub: Hub,
        scrollback: int,
        hooks: Hooks,
        shell: Shell,
        owner: str = "",
    ) -> None:
        self.uri = uri
        self.owner = owner
        self.resource = TerminalResource(uri, number, state, journal=journal, hub=hub, scrollback=scrollback)
        self.has_exited = False
        self._process = process
        self._journal = journal
        self._hooks = hooks
        self._shell = shell
        self._scanner = Scanner(shell.nonce)
        self._flow = FlowControl(process, hub, number, self._read)
        self._events: list[Event] = []
        self._waiting = 0
        self._is_announced = False
        self._loop = asyncio.get_running_loop()
        self._pace: asyncio.TimerHandle | None = None
        self._printed = 0.0
        self._commands = CommandTracker()
        self._output_done = asyncio.Event()
        self._waiters: list[asyncio.Future[None]] = []
        self._task: asyncio.Task[None] | None = None

    # Properties

    @property
    def claim(self) -> TerminalClaim:
        """Who holds it."""
        return self.resource.live.base["claim"]

    @property
    def code(self) -> int | None:
        """The exit code of its program, if it is known."""
        return self._process.code

    def info(self) -> TerminalInfo:
        """Return its entry in the root's list."""
        state = self.resource.live.base
        return {
            "resource": self.uri,
            "title": state["title"],
            "claim": state["claim"],
            "lifecycle": state["lifecycle"],
        }

    # Output

    def start(self) -> None:
        """Start reading. By now it is in the list, so subscribers miss no output."""
        self._task = asyncio.create_task(self._run())
        self._flow.adjust(0)

    def _read(self) -> None:
        self._queue(self._scanner.feed(self._process.read(), is_last=self._process.is_over))
        if self._process.is_over:
            self._output_done.set()
        self._flow.adjust(self._waiting)

    def _queue(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, str):
                self._waiting += len(event)
                if self._hooks.on_output is not None:
                    self._hooks.on_output(event)
        self._events += events
        if self._events and not self._is_announced:
            self._schedule()

    def _schedule(self) -> None:
        """Show output at once after a pause; while much is printed, in pieces that are worth a commit."""
        now = self._loop.time()
        if self._waiting >= MAX_WAITING or now - self._printed >= PACE_SECONDS:
            self._announce()
        elif self._pace is None:
            self._pace = self._loop.call_at(self._printed + PACE_SECONDS, self._announce)

    def _announce(self) -> None:
        if self._pace is not None:
            self._pace.cancel()
            self._pace = None
        if self._events and not self._is_announced:
            self._is_announced = True
            self._journal.expect(self)

    def gather(self) -> None:
        """Apply what was read. The journal calls this when it forms a group."""
        self._is_announced = False
        self.flush()

    def flush(self) -> None:
        """Apply what was read, in few actions: consecutive text is one, and only the last title counts."""
        if not self._events:
            return
        events, self._events, self._waiting = self._events, [], 0
        self._printed = self._loop.time()
        texts: list[str] = []
        title: str | None = None
        folder: str | None = None
        for event in events:
            match event:
                case str():
                    texts.append(event)
                case Title(text):
                    title = text
                case Folder(path):
                    folder = path
                case _:
                    texts = self._print(texts)
                    self._apply_mark(event)
        self._print(texts)
        self._rename(title, folder)
        self._flow.adjust(0)

    def _print(self, texts: list[str]) -> list[str]:
        if texts:
            self.resource.act(TerminalData("".join(texts)))
        return []

    def _rename(self, title: str | None, folder: str | None) -> None:
        state = self.resource.live.base
        if title and title != state["title"]:
            self.resource.act(actions.terminal_title_changed(title))
            self._hooks.on_change(is_urgent=False)  # a program may change it all the time
        if folder is not None and (uri := Path(folder).as_uri()) != state.get("cwd"):
            self.resource.act(actions.terminal_cwd_changed(uri))

    def _apply_mark(self, event: Ready | Started | Finished) -> None:
        match event:
            case Ready():
                self._shell.remove_script()
                if not self.resource.live.base.get("supportsCommandDetection"):
                    self.resource.act(actions.command_detection_available())
            case Started(line):
                self._act_all(self._commands.start(line))
            case Finished(code):
                self._act_all(self._commands.finish(code))

    def _act_all(self, reports: list[TerminalAction]) -> None:
        for action in reports:
            self.resource.act(action)

    # Actions of clients

    def refuse(
        self,
        action: Any,
        origin: ActionOrigin,
        reason: str,
        client: Identity,
        legacy: Sequence[JsonObject] | None = None,
    ) -> LogItem:
        """Refuse a client's action; see `TerminalResource.refuse`."""
        return self.resource.refuse(action, origin, reason, client, legacy)

    def dispatch(
        self,
        action: Any,
        origin: ActionOrigin,
        client: Identity,
        taken: Callable[[], None] = lambda: None,
        rights: Rights = ALL_RIGHTS,
        legacy: Sequence[JsonObject] | None = None,
    ) -> LogItem | None:
        """Apply a client's action and its effects. Return the refusal if it is refused.

        `taken` is called when an action is accepted. `legacy` is the action as a client
        of an older protocol sent it.
        """
        self.flush()
        state = self.resource.live.base
        context = Context(has_exited=self.has_exited, rights=rights)
        decided = decide(state, action, origin["clientId"], context=context)
        if isinstance(decided, str):
            return self.resource.refuse(action, origin, decided, client, legacy)
        applied = cast("TerminalAction", decided)  # routed here by its type
        reason = self._objection(applied)
        if reason is not None:
            return self.resource.refuse(action, origin, reason, client, legacy)
        is_hidden = self._hooks.is_private and applied["type"] == "terminal/input"
        self.resource.act(applied, origin, client if is_hidden else None)
        taken()
        try:
            self._follow(applied)
        except Exception:  # the action itself is applied already
            log.exception("the effect of %r failed", applied["type"])
        return None

    def _objection(self, action: TerminalAction) -> str | None:
        if action["type"] != "terminal/input":
            return None
        size = len(action["data"].encode(errors="replace"))
        if size > MAX_INPUT:
            return f"more than {MAX_INPUT} bytes cannot be typed at once"  # HR-R07
        if self._process.unread_input + size > MAX_INPUT_QUEUE:
            return "the program does not read what is typed, and too much of it waits already"
        return None

    def _follow(self, action: TerminalAction) -> None:
        match action["type"]:
            case "terminal/input":
                self._process.write(action["data"].encode(errors="replace"))
            case "terminal/resized":
                self._process.resize(action["cols"], action["rows"])
            case "terminal/claimed" | "terminal/titleChanged":
                self._notify()

    # Operations of the host

    def set_claim(self, claim: TerminalClaim) -> None:
        """Change who holds it."""
        if claim != self.claim:
            self.resource.act(actions.terminal_claimed(claim))
            self._notify()

    def _notify(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)
        self._hooks.on_change(is_urgent=True)

    async def wait(self, look: Callable[[], bool]) -> None:
        """Wait until `look` returns true. It is called again when the program ends or the claim changes."""
        while not look():
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            await waiter

    async def wait_exited(self) -> None:
        """Wait until the program has ended and all of its output was applied."""
        await self.wait(lambda: self.has_exited)

    async def _run(self) -> None:
        await self._process.wait()
        # Every process that could print has ended, so the output has an end. A slow subscriber delays it.
        with suppress(TimeoutError):
            async with asyncio.timeout(OVER_SECONDS):
                await self._output_done.wait()
        self._exit()

    def _exit(self) -> None:
        self._flow.close()
        self._process.close()
        self._shell.remove_script()
        self._queue(self._scanner.feed(b"", is_last=True))
        self.flush()
        self._act_all(self._commands.finish(None))
        self.has_exited = True
        self.resource.act(actions.terminal_exited(self._process.code))
        self._notify()

    async def end(self) -> None:
        """End the program and everything it started, within bounded time. The terminal stays visible."""
        await self._process.end()
        if self._task is not None:
            await self._task

    async def remove(self) -> None:
        """End the program, and show nothing more of it."""
        self.resource.close()
        self._flow.close()
        self._output_done.set()
        await self.end()
