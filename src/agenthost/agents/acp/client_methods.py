"""ACP's client methods (`fs/*`, `terminal/*`): files inside the jail, and commands in terminals of the host.

People see both: a write is shown as a file change, and a command runs in a terminal that they can open. This
does not restrict what the program does by itself, without these methods.
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

from agenthost.agents.acp.output import ProgramOutput
from agenthost.errors import HostError, ResourceNotFound
from agenthost.host.terminals.command_runner import QUIET, plain_text
from agenthost.host.terminals.terminal import Terminal
from agenthost.wire.ahp.tool import ToolResultContent, ToolResultTerminalContent
from agenthost.wire.json import JsonObject

__all__ = ["ClientMethods"]

MAX_OUTPUT_BYTES = 1024 * 1024
"""How many bytes of a terminal's output are kept for the program, unless it sets `outputByteLimit`."""

NO_TURN = "the turn has ended"


class OutputTail:
    """The end of a command's output. ACP: beyond the limit, output is truncated from its beginning."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._texts: list[str] = []
        self._size = 0
        self.is_cut = False

    def add(self, text: str) -> None:
        """Add output."""
        self._texts.append(text)
        self._size += len(text)
        while self._size - len(self._texts[0]) > self._limit:
            self._size -= len(self._texts.pop(0))
            self.is_cut = True

    def text(self) -> str:
        """Return it as plain text. ACP: it is cut at a character boundary."""
        text = plain_text("".join(self._texts))
        data = text.encode(errors="replace")
        if len(data) <= self._limit:
            return text
        self.is_cut = True
        return data[-self._limit :].decode(errors="ignore")


@dataclass(slots=True)
class RunningCommand:
    """A command that the program started in a terminal."""

    terminal: Terminal
    tail: OutputTail

    def status(self) -> JsonObject | None:
        """Return ACP's exit status; `None` while the command runs."""
        if not self.terminal.has_exited:
            return None
        code = self.terminal.code
        return {} if code is None else {"exitCode": code}


Handler: TypeAlias = Callable[[Any], Awaitable[JsonObject]]


class ClientMethods:
    """Serves the client methods of one session. `get_output` returns the output of the running turn.

    With `reads_missing_as_empty`, a missing file is read as an empty one, for programs that need it.
    """

    def __init__(
        self, get_output: Callable[[], ProgramOutput | None], *, reads_missing_as_empty: bool
    ) -> None:
        self._get_output = get_output
        self._reads_missing_as_empty = reads_missing_as_empty
        self._terminals: dict[str, RunningCommand] = {}
        self._blocks: dict[str, ToolResultTerminalContent] = {}
        self._handlers: dict[str, tuple[Any, Handler]] = {
            "fs/read_text_file": (ReadTextFileRequest, self._read),
            "fs/write_text_file": (WriteTextFileRequest, self._write),
            "terminal/create": (CreateTerminalRequest, self._create),
            "terminal/output": (TerminalOutputRequest, self._terminal_output),
            "terminal/wait_for_exit": (WaitForTerminalExitRequest, self._wait),
            "terminal/kill": (KillTerminalRequest, self._kill),
            "terminal/release": (ReleaseTerminalRequest, self._release),
        }

    async def handle_request(self, method: str, params: JsonObject) -> JsonObject:
        """Handle a request of the program.

        Raises:
            RequestError: it is not possible, or not allowed; the message says why.
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

    def _turn(self) -> ProgramOutput:
        output = self._get_output()
        if output is None or output.turn.is_over:
            raise RequestError(-32602, NO_TURN, {"details": NO_TURN})
        return output

    # Files

    async def _read(self, request: ReadTextFileRequest) -> JsonObject:
        path = _absolute(request.path)
        try:
            text = await self._turn().turn.machine.read(path)
        except ResourceNotFound:
            if not self._reads_missing_as_empty:
                raise
            text = ""
        if request.line is not None or request.limit is not None:
            first = max((request.line or 1) - 1, 0)
            lines = text.splitlines(keepends=True)[first:]
            text = "".join(lines if request.limit is None else lines[: request.limit])
        return {"content": text}

    async def _write(self, request: WriteTextFileRequest) -> JsonObject:
        output, path = self._turn(), _absolute(request.path)
        before = await output.turn.machine.write(path, request.content)
        if not output.turn.is_over:
            output.record_write(path, before, request.content)
        return {}

    # Terminals

    async def _create(self, request: CreateTerminalRequest) -> JsonObject:
        turn = self._turn().turn
        tail = OutputTail(
            MAX_OUTPUT_BYTES if request.output_byte_limit is None else request.output_byte_limit
        )
        terminal = await turn.machine.run(
            # Programs send whole command lines without `args`, so those go to a shell.
            [request.command, *request.args] if request.args else request.command,
            turn_id=turn.id,
            folder=turn.workspace if request.cwd is None else _absolute(request.cwd),
            env=QUIET | {one.name: one.value for one in request.env or []},
            heard=tail.add,
        )
        self._terminals[terminal.uri] = RunningCommand(terminal, tail)
        title = terminal.info()["title"]
        self._blocks[terminal.uri] = {"type": "terminal", "resource": terminal.uri, "title": title}
        return {"terminalId": terminal.uri}

    def block(self, terminal_id: str, call_id: str) -> ToolResultContent | None:
        """Return the block that shows a terminal in a call. The call claims the terminal while it runs."""
        running = self._terminals.get(terminal_id)
        if running is not None:
            claim = running.terminal.claim
            if claim["kind"] == "session" and "toolCallId" not in claim:
                claimed: Any = {**claim, "toolCallId": call_id}
                running.terminal.set_claim(claimed)
        return self._blocks.get(terminal_id)

    def _find(self, terminal_id: str) -> RunningCommand:
        if terminal_id not in self._terminals:
            sentence = f"there is no terminal {terminal_id!r:.200}"
            raise RequestError(-32002, sentence, {"details": sentence})
        return self._terminals[terminal_id]

    async def _terminal_output(self, request: TerminalOutputRequest) -> JsonObject:
        running = self._find(request.terminal_id)
        output: JsonObject = {"output": running.tail.text(), "truncated": running.tail.is_cut}
        status = running.status()
        return output if status is None else {**output, "exitStatus": status}

    async def _wait(self, request: WaitForTerminalExitRequest) -> JsonObject:
        running = self._find(request.terminal_id)
        await running.terminal.wait_exited()
        return running.status() or {}

    async def _kill(self, request: KillTerminalRequest) -> JsonObject:
        await self._find(request.terminal_id).terminal.end()
        return {}

    async def _release(self, request: ReleaseTerminalRequest) -> JsonObject:
        running = self._find(request.terminal_id)
        del self._terminals[request.terminal_id]
        await self._end_command(running.terminal)
        return {}

    async def _end_command(self, terminal: Terminal) -> None:
        """End a command. People can still open its terminal, and claim it."""
        claim = terminal.claim
        if claim["kind"] == "session":
            await terminal.end()
            terminal.set_claim({"kind": "session", "session": claim["session"], "chat": claim["chat"]})

    async def close(self) -> None:
        """End all commands: the program, or its session, has ended."""
        terminals, self._terminals = self._terminals, {}
        for running in terminals.values():
            await self._end_command(running.terminal)


def _absolute(text: str) -> Path:
    path = Path(text)
    if not path.is_absolute():
        sentence = f"expected an absolute path, found {text!r:.200}"
        raise RequestError(-32602, sentence, {"details": sentence})
    return path
