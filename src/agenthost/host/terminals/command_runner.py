"""Commands of tools in terminals: people watch live and may type, and the model reads the output.

While the command runs, the tool call holds the terminal. When the call ends, the session holds it, so that
people can still look at it. Detaching the terminal from the call ends the call, and the command goes on.
"""

import asyncio
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agenthost.core.ansi import strip_escapes
from agenthost.host.terminals.registry import Terminals
from agenthost.host.terminals.terminal import Terminal
from agenthost.wire.ahp.terminal import TerminalSessionClaim
from agenthost.wire.ahp.tool import ToolResultTerminalContent

MAX_OUTPUT = 32 * 1024
"""How many characters of the output the model reads by default."""

SPARE = 4
"""How many times that are kept at first: escape sequences are removed later."""

QUIET = {"PAGER": "cat", "GIT_PAGER": "cat"}
"""Environment without pagers, which would wait for a key."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The result of a command.

    Attributes:
        output: the beginning of its output, as plain text.
        is_cut: whether there was more output.
        code: its exit code, if it ended by itself.
        is_late: whether it took too long and was ended.
        is_detached: whether a client detached the terminal from the call. The command may still run.
        block: the block that shows the terminal in a tool result.
    """

    output: str
    is_cut: bool
    code: int | None
    is_late: bool
    is_detached: bool
    block: ToolResultTerminalContent


class OutputBuffer:
    """Collects the beginning of a command's output."""

    def __init__(self, max_output: int, on_output: Callable[[str], None] | None = None) -> None:
        self._longest = max_output
        self._on_output = on_output
        self._texts: list[str] = []
        self._room = SPARE * max_output
        self._is_cut = False

    def add(self, text: str) -> None:
        """Add output."""
        if self._on_output is not None:
            self._on_output(text)
        self._is_cut = self._is_cut or len(text) > self._room
        if self._room > 0:
            self._texts.append(text[: self._room])
            self._room -= len(text)

    def plain_text(self) -> tuple[str, bool]:
        """Return the output as plain text, and whether it was cut."""
        text = plain_text("".join(self._texts))
        return text[: self._longest], self._is_cut or len(text) > self._longest


@dataclass(frozen=True, slots=True)
class CommandRunner:
    """Runs the commands of one tool call."""

    terminals: Terminals
    session: str
    chat: str
    owner: str
    turn_id: str
    call_id: str

    async def run(
        self,
        command: str,
        show: Callable[[ToolResultTerminalContent], None],
        *,
        title: str | None = None,
        seconds: float | None = None,
        max_output: int = MAX_OUTPUT,
        folder: Path | None = None,
        on_output: Callable[[str], None] | None = None,
    ) -> CommandResult:
        """Run a line for `sh` with a time limit, and wait for its end; see `ToolContext.terminal`.

        Raises:
            HostError: no terminal could be started.
        """
        collected = OutputBuffer(max_output, on_output)
        uri = f"agenthost-terminal:/{secrets.token_hex(16)}"
        terminal = await self.terminals.create(
            uri,
            self._claim(),
            name=title,
            command=command,
            folder=folder,
            env=QUIET,
            owner=self.owner,
            on_output=collected.add,
        )
        block: ToolResultTerminalContent = {
            "type": "terminal",
            "resource": uri,
            "title": terminal.info()["title"],
        }
        is_late = False
        try:
            show(block)
            async with asyncio.timeout(seconds):
                await terminal.wait(lambda: terminal.has_exited or not self._is_held(terminal))
        except TimeoutError:
            is_late = True
        finally:
            is_detached = not self._is_held(terminal)
            if not is_detached:
                await terminal.end()
                terminal.set_claim({"kind": "session", "session": self.session, "chat": self.chat})
        output, is_cut = collected.plain_text()
        code = None if is_late or is_detached else terminal.code
        return CommandResult(output, is_cut, code, is_late, is_detached, block)

    def _claim(self) -> TerminalSessionClaim:
        return {
            "kind": "session",
            "session": self.session,
            "chat": self.chat,
            "turnId": self.turn_id,
            "toolCallId": self.call_id,
        }

    def _is_held(self, terminal: Terminal) -> bool:
        return terminal.claim == self._claim()


def plain_text(text: str) -> str:
    """Return printed text as a person would read it: without escape sequences or overwritten text."""
    lines = _CONTROL.sub("", strip_escapes(text)).replace("\r\n", "\n").split("\n")
    return "\n".join(_last_overwrite(line) for line in lines)


def _last_overwrite(line: str) -> str:
    """Return what a line shows in the end, after carriage returns, as of progress bars."""
    return next((part for part in reversed(line.split("\r")) if part), "") if "\r" in line else line
