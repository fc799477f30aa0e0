"""The machine, as a program may use it through the host: files inside the jail, commands in terminals.

People see both: what is written becomes a change of a file, and a command runs in a terminal to look into.
What the program does by itself, without asking us, is not held by this.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from acp.exceptions import RequestError
from acp.schema import (
    CreateTerminalRequest,
    KillTerminalRequest,
    ReadTextFileRequest,
    ReleaseTerminalRequest,
    TerminalOutputRequest,
    WaitForTerminalExitRequest,
    WriteTextFileRequest,
)

from agenthost.agents.acp.showing import Showing
from agenthost.errors import HostError, ResourceNotFound
from agenthost.host.terminals.terminal import Terminal
from agenthost.host.terminals.toolrun import QUIET, plain
from agenthost.wire.ahp.tool import ToolResultContent, ToolResultTerminalContent
from agenthost.wire.json import JsonObject

__all__ = ["Machine"]

MOST_OUTPUT = 1024 * 1024
"""How many bytes of a terminal's output are kept for the program, unless it says."""

NO_TURN = "the turn has ended"


class Tail:
    """The end of what a command prints: the protocol drops the beginning."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._texts: list[str] = []
        self._size = 0
        self.is_cut = False

    def add(self, text: str) -> None:
        """Take more of it."""
        self._texts.append(text)
        self._size += len(text)
        while self._size - len(self._texts[0]) > self._most:
            self._size -= len(self._texts.pop(0))
            self.is_cut = True

    def text(self) -> str:
        """Give it as plain text, cut between characters."""
        text = plain("".join(self._texts))
        data = text.encode(errors="replace")
        if len(data) <= self._most:
            return text
        self.is_cut = True
        return data[-self._most :].decode(errors="ignore")


@dataclass(slots=True)
class Running:
    """A terminal of the program."""

    terminal: Terminal
    tail: Tail

    def status(self) -> JsonObject | None:
        """Give how the command ended, if it has."""
        if not self.terminal.has_exited:
            return None
        code = self.terminal.code
        return {} if code is None else {"exitCode": code}


Handler: TypeAlias = Callable[[Any], Awaitable[JsonObject]]


class Machine:
    """What one session of the program may use. `showing` gives the turn that runs.

    `is_blank` makes a file that is not there an empty one, for programs that do not understand otherwise.
    """

    def __init__(self, showing: Callable[[], Showing | None], *, is_blank: bool) -> None:
        self._showing = showing
        self._is_blank = is_blank
        self._terminals: dict[str, Running] = {}
        self._blocks: dict[str, ToolResultTerminalContent] = {}
        self._handlers: dict[str, tuple[Any, Handler]] = {
            "fs/read_text_file": (ReadTextFileRequest, self._read),
            "fs/write_text_file": (WriteTextFileRequest, self._write),
            "terminal/create": (CreateTerminalRequest, self._create),
            "terminal/output": (TerminalOutputRequest, self._output),
            "terminal/wait_for_exit": (WaitForTerminalExitRequest, self._wait),
            "terminal/kill": (KillTerminalRequest, self._kill),
            "terminal/release": (ReleaseTerminalRequest, self._release),
        }

    async def serve(self, method: str, params: JsonObject) -> JsonObject:
        """Do what the program asks for.

        Raises:
            RequestError: it cannot be done, or may not; the sentence says why.
        """
        if method not in self._handlers:
            raise RequestError.method_not_found(method)
        model, handler = self._handlers[method]
        try:
            return await handler(model.model_validate(params))
        except ResourceNotFound as error:
            raise RequestError(-32002, f"Resource not found: {error}", {"uri": error.uri}) from None
        except HostError as error:
            raise RequestError(-32602, str(error), {"details": str(error)}) from None

    def _turn(self) -> Showing:
        showing = self._showing()
        if showing is None or showing.turn.is_over:
            raise RequestError(-32602, NO_TURN, {"details": NO_TURN})
        return showing

    # Files

    async def _read(self, asked: ReadTextFileRequest) -> JsonObject:
        path = _absolute(asked.path)
        try:
            text = await self._turn().turn.means.read(path)
        except ResourceNotFound:
            if not self._is_blank:
                raise
            text = ""
        if asked.line is not None or asked.limit is not None:
            first = max((asked.line or 1) - 1, 0)
            lines = text.splitlines(keepends=True)[first:]
            text = "".join(lines if asked.limit is None else lines[: asked.limit])
        return {"content": text}

    async def _write(self, asked: WriteTextFileRequest) -> JsonObject:
        showing, path = self._turn(), _absolute(asked.path)
        before = await showing.turn.means.write(path, asked.content)
        if not showing.turn.is_over:
            showing.wrote(path, before, asked.content)
        return {}

    # Terminals

    async def _create(self, asked: CreateTerminalRequest) -> JsonObject:
        turn = self._turn().turn
        tail = Tail(MOST_OUTPUT if asked.output_byte_limit is None else asked.output_byte_limit)
        terminal = await turn.means.run(
            # A command without arguments is a line for a shell, as programs use it.
            [asked.command, *asked.args] if asked.args else asked.command,
            turn_id=turn.id,
            folder=turn.workspace if asked.cwd is None else _absolute(asked.cwd),
            env=QUIET | {one.name: one.value for one in asked.env or []},
            heard=tail.add,
        )
        self._terminals[terminal.uri] = Running(terminal, tail)
        title = terminal.info()["title"]
        self._blocks[terminal.uri] = {"type": "terminal", "resource": terminal.uri, "title": title}
        return {"terminalId": terminal.uri}

    def block(self, terminal_id: str, call_id: str) -> ToolResultContent | None:
        """Give what shows a terminal in a call; the call holds the terminal while it runs."""
        running = self._terminals.get(terminal_id)
        if running is not None:
            claim = running.terminal.claim
            if claim["kind"] == "session" and "toolCallId" not in claim:
                running.terminal.give_to({**claim, "toolCallId": call_id})
        return self._blocks.get(terminal_id)

    def _find(self, terminal_id: str) -> Running:
        if terminal_id not in self._terminals:
            sentence = f"there is no terminal {terminal_id!r:.200}"
            raise RequestError(-32002, sentence, {"details": sentence})
        return self._terminals[terminal_id]

    async def _output(self, asked: TerminalOutputRequest) -> JsonObject:
        running = self._find(asked.terminal_id)
        told: JsonObject = {"output": running.tail.text(), "truncated": running.tail.is_cut}
        status = running.status()
        return told if status is None else {**told, "exitStatus": status}

    async def _wait(self, asked: WaitForTerminalExitRequest) -> JsonObject:
        running = self._find(asked.terminal_id)
        await running.terminal.wait_exited()
        return running.status() or {}

    async def _kill(self, asked: KillTerminalRequest) -> JsonObject:
        await self._find(asked.terminal_id).terminal.end()
        return {}

    async def _release(self, asked: ReleaseTerminalRequest) -> JsonObject:
        running = self._find(asked.terminal_id)
        del self._terminals[asked.terminal_id]
        await self._let_go(running.terminal)
        return {}

    async def _let_go(self, terminal: Terminal) -> None:
        """End a command; people can still look at it, and take it from the session."""
        claim = terminal.claim
        if claim["kind"] == "session":
            await terminal.end()
            terminal.give_to({"kind": "session", "session": claim["session"]})

    async def close(self) -> None:
        """End all commands: the program is gone."""
        terminals, self._terminals = self._terminals, {}
        for running in terminals.values():
            await self._let_go(running.terminal)


def _absolute(text: str) -> Path:
    path = Path(text)
    if not path.is_absolute():
        sentence = f"expected an absolute path, found {text!r:.200}"
        raise RequestError(-32602, sentence, {"details": sentence})
    return path
