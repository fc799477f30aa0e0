"""One terminal: a program on a pty, and the resource that shows it.

What the program prints becomes actions, in the order that it was printed; what clients do becomes keys, sizes
and owners. Knows no connections: actions come from the dispatcher, and the resource knows who listens.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from agenthost.core.decisions import Context, decide
from agenthost.core.decisions.grants import ALL_RIGHTS, Rights
from agenthost.host.identity import Identity
from agenthost.host.journal import Journal
from agenthost.host.subscriptions import Hub, Shown
from agenthost.host.terminals.commands import Commands, Told
from agenthost.host.terminals.flow import MOST_WAITING, Flow
from agenthost.host.terminals.process import QUEUE_BYTES, Process
from agenthost.host.terminals.resource import TerminalResource
from agenthost.host.terminals.scanner import Event, Finished, Folder, Ready, Scanner, Started, Title
from agenthost.host.terminals.shells import Shell
from agenthost.wire.ahp.actions.envelope import ActionOrigin
from agenthost.wire.ahp.actions.text import TerminalData
from agenthost.wire.ahp.terminal import TerminalClaim, TerminalInfo, TerminalState

log = logging.getLogger("agenthost.terminals")

LONGEST_INPUT = 64 * 1024
"""How many bytes a client may type at once."""

PACE_SECONDS = 0.008
"""How long output that goes on and on may wait, to be shown in larger pieces. Nobody sees the difference."""

OVER_SECONDS = 5.0
"""How long the last output may take after the program ended."""


class OnChange(Protocol):
    """Hears that a terminal's entry in the list changed; it can wait a moment, unless that is urgent."""

    def __call__(self, *, is_urgent: bool) -> None:
        """Take note."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """Who is told what a terminal does: `told` when its entry in the list changes, `heard` of its output.

    `is_private` shows keys to nobody but the client that typed them.
    """

    told: OnChange
    heard: Callable[[str], None] | None = None
    is_private: bool = False


class Terminal:
    """A terminal. Made by `Terminals`, which also tells the root.

    Attributes:
        owner: whose it is.
        resource: what subscribers see.
        has_exited: whether its program has ended, and all of its output was read.
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
        self._flow = Flow(process, hub, number, self._read)
        self._events: list[Event] = []
        self._waiting = 0
        self._is_expected = False
        self._loop = asyncio.get_running_loop()
        self._pace: asyncio.TimerHandle | None = None
        self._printed = 0.0
        self._commands = Commands()
        self._over = asyncio.Event()
        self._moves: list[asyncio.Future[None]] = []
        self._life: asyncio.Task[None] | None = None

    # What it is

    @property
    def claim(self) -> TerminalClaim:
        """Who holds it."""
        return self.resource.live.base["claim"]

    @property
    def code(self) -> int | None:
        """The exit code of its program, if that is known."""
        return self._process.code

    def info(self) -> TerminalInfo:
        """Give its entry in the root's list."""
        state = self.resource.live.base
        info: TerminalInfo = {"resource": self.uri, "title": state["title"], "claim": state["claim"]}
        if "exitCode" in state:
            info["exitCode"] = state["exitCode"]
        return info

    # Output

    def begin(self) -> None:
        """Start to read; it is known by now, so that no output is lost."""
        self._life = asyncio.create_task(self._live())
        self._flow.settle(0)

    def _read(self) -> None:
        self._take(self._scanner.feed(self._process.read(), is_last=self._process.is_over))
        if self._process.is_over:
            self._over.set()
        self._flow.settle(self._waiting)

    def _take(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, str):
                self._waiting += len(event)
                if self._hooks.heard is not None:
                    self._hooks.heard(event)
        self._events += events
        if self._events and not self._is_expected:
            self._expect_soon()

    def _expect_soon(self) -> None:
        """Have it happen at once after a silence; while much is printed, in pieces worth a commit."""
        now = self._loop.time()
        if self._waiting >= MOST_WAITING or now - self._printed >= PACE_SECONDS:
            self._expect()
        elif self._pace is None:
            self._pace = self._loop.call_at(self._printed + PACE_SECONDS, self._expect)

    def _expect(self) -> None:
        if self._pace is not None:
            self._pace.cancel()
            self._pace = None
        if self._events and not self._is_expected:
            self._is_expected = True
            self._journal.expect(self)

    def gather(self) -> None:
        """Let what was read happen; the journal calls this when it forms a group."""
        self._is_expected = False
        self.settle()

    def settle(self) -> None:
        """Let what was read happen now, in few actions: text that goes on is one, the last title counts."""
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
                    self._mark(event)
        self._print(texts)
        self._name(title, folder)
        self._flow.settle(0)

    def _print(self, texts: list[str]) -> list[str]:
        if texts:
            self.resource.act(TerminalData(self.uri, "".join(texts)))
        return []

    def _name(self, title: str | None, folder: str | None) -> None:
        state = self.resource.live.base
        if title and title != state["title"]:
            self._act("titleChanged", title=title)
            self._hooks.told(is_urgent=False)  # a program may change it all the time
        if folder is not None and (uri := Path(folder).as_uri()) != state.get("cwd"):
            self._act("cwdChanged", cwd=uri)

    def _mark(self, event: Ready | Started | Finished) -> None:
        match event:
            case Ready():
                self._shell.forget()
                if not self.resource.live.base.get("supportsCommandDetection"):
                    self._act("commandDetectionAvailable")
            case Started(line):
                self._tell(self._commands.start(line))
            case Finished(code):
                self._tell(self._commands.finish(code))

    def _tell(self, told: list[Told]) -> None:
        for kind, fields in told:
            self._act(kind, **fields)

    def _act(self, kind: str, **fields: Any) -> None:
        self.resource.act({"type": f"terminal/{kind}", "terminal": self.uri, **fields})

    # What clients do

    def refuse(self, action: Any, origin: ActionOrigin, reason: str, client: Identity) -> Shown:
        """Answer a client's action with a refusal; see `TerminalResource.refuse`."""
        return self.resource.refuse(action, origin, reason, client)

    def dispatch(
        self,
        action: Any,
        origin: ActionOrigin,
        client: Identity,
        taken: Callable[[int], None] = lambda _: None,
        rights: Rights = ALL_RIGHTS,
    ) -> Shown | None:
        """Let a client's action happen, with what follows from it. Gives the refusal, if it is refused.

        `taken` is called with the number of an action that happens.
        """
        self.settle()
        state = self.resource.live.base
        context = Context(has_exited=self.has_exited, rights=rights)
        decided: Any = decide(state, action, origin["clientId"], context=context)
        reason = decided if isinstance(decided, str) else self._objection(decided)
        if reason is not None:
            return self.resource.refuse(action, origin, reason, client)
        is_hidden = self._hooks.is_private and decided["type"] == "terminal/input"
        self.resource.act(decided, origin, client if is_hidden else None)
        taken(self._journal.last_seq)
        try:
            self._follow(decided)
        except Exception:  # the action itself has happened
            log.exception("what follows from %r failed", decided["type"])
        return None

    def _objection(self, action: Any) -> str | None:
        if action["type"] != "terminal/input":
            return None
        size = len(action["data"].encode(errors="replace"))
        if size > LONGEST_INPUT:
            return f"more than {LONGEST_INPUT} bytes cannot be typed at once"
        if self._process.waiting + size > QUEUE_BYTES:
            return "the program does not read what is typed, and too much of it waits already"
        return None

    def _follow(self, action: Any) -> None:
        match action["type"]:
            case "terminal/input":
                self._process.type(action["data"].encode(errors="replace"))
            case "terminal/resized":
                self._process.resize(action["cols"], action["rows"])
            case "terminal/claimed" | "terminal/titleChanged":
                self._moved()

    # What the host does

    def give_to(self, claim: TerminalClaim) -> None:
        """Let somebody else hold it."""
        if claim != self.claim:
            self._act("claimed", claim=claim)
            self._moved()

    def _moved(self) -> None:
        moves, self._moves = self._moves, []
        for move in moves:
            if not move.done():
                move.set_result(None)
        self._hooks.told(is_urgent=True)

    async def wait(self, look: Callable[[], bool]) -> None:
        """Wait until this is so; it is asked again when the program has ended or somebody else holds it."""
        while not look():
            move: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._moves.append(move)
            await move

    async def wait_exited(self) -> None:
        """Wait until the program has ended, and all of its output has happened."""
        await self.wait(lambda: self.has_exited)

    async def _live(self) -> None:
        await self._process.wait()
        # All who could print have ended, so what is there can be read to its end; unless somebody is behind.
        with suppress(TimeoutError):
            async with asyncio.timeout(OVER_SECONDS):
                await self._over.wait()
        self._exit()

    def _exit(self) -> None:
        self._flow.close()
        self._process.close()
        self._shell.forget()
        self._take(self._scanner.feed(b"", is_last=True))
        self.settle()
        self._tell(self._commands.finish(None))
        self.has_exited = True
        self._act("exited", **({} if self._process.code is None else {"exitCode": self._process.code}))
        self._moved()

    async def end(self) -> None:
        """End the program and all that it started, within bounded time; it stays to be looked at."""
        await self._process.end()
        if self._life is not None:
            await self._life

    async def leave(self) -> None:
        """End it, and let nothing more be seen of it."""
        self.resource.leave()
        self._flow.close()
        self._over.set()
        await self.end()
