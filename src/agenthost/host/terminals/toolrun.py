"""A tool's command in a terminal: people watch it live and may type into it, the model reads what it printed.

While the command runs, the terminal is held by the tool call; when the call ends, by the session, so that it
can still be looked at. Somebody who detaches it from the call lets the call end, and the command go on.
"""

import asyncio
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agenthost.host.terminals.registry import Terminals
from agenthost.host.terminals.terminal import Terminal
from agenthost.wire.ahp.terminal import TerminalSessionClaim
from agenthost.wire.ahp.tool import ToolResultTerminalContent

LONGEST_OUTPUT = 32 * 1024
"""How many characters of the output the model reads, unless told."""

SPARE = 4
"""How much more than that is kept at first: sequences go when the text is made plain."""

QUIET = {"PAGER": "cat", "GIT_PAGER": "cat"}
"""So that nothing waits for somebody to turn the page."""

_SEQUENCE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P^_X][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
)


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a command.

    Attributes:
        output: the beginning of what it printed, as plain text; `is_cut` tells whether there was more.
        code: its exit code, if it ended by itself.
        is_late: it took too long, and was ended.
        is_detached: somebody took the terminal out of the call; the command may still run.
        block: what shows the terminal in a result.
    """

    output: str
    is_cut: bool
    code: int | None
    is_late: bool
    is_detached: bool
    block: ToolResultTerminalContent


class Collected:
    """The beginning of what a command prints."""

    def __init__(self, longest: int, heard: Callable[[str], None] | None = None) -> None:
        self._longest = longest
        self._heard = heard
        self._texts: list[str] = []
        self._room = SPARE * longest
        self._is_cut = False

    def add(self, text: str) -> None:
        """Take more of it."""
        if self._heard is not None:
            self._heard(text)
        self._is_cut = self._is_cut or len(text) > self._room
        if self._room > 0:
            self._texts.append(text[: self._room])
            self._room -= len(text)

    def plain(self) -> tuple[str, bool]:
        """Give it as plain text, and whether that is not all of it."""
        text = plain("".join(self._texts))
        return text[: self._longest], self._is_cut or len(text) > self._longest


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs the commands of one tool call."""

    terminals: Terminals
    session: str
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
        longest: int = LONGEST_OUTPUT,
        folder: Path | None = None,
        heard: Callable[[str], None] | None = None,
    ) -> Ran:
        """Run a line for `sh`, at most so long, and wait for its end; see `ToolContext.terminal`.

        Raises:
            HostError: no terminal could be started.
        """
        collected = Collected(longest, heard)
        uri = f"agenthost-terminal:/{secrets.token_hex(16)}"
        terminal = await self.terminals.create(
            uri,
            self._claim(),
            name=title,
            command=command,
            folder=folder,
            env=QUIET,
            owner=self.owner,
            heard=collected.add,
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
                terminal.give_to({"kind": "session", "session": self.session})
        output, is_cut = collected.plain()
        code = None if is_late or is_detached else terminal.code
        return Ran(output, is_cut, code, is_late, is_detached, block)

    def _claim(self) -> TerminalSessionClaim:
        return {
            "kind": "session",
            "session": self.session,
            "turnId": self.turn_id,
            "toolCallId": self.call_id,
        }

    def _is_held(self, terminal: Terminal) -> bool:
        return terminal.claim == self._claim()


def plain(text: str) -> str:
    """Give printed text as one would read it: no sequences, and lines that were written over as they end."""
    lines = _SEQUENCE.sub("", text).replace("\r\n", "\n").split("\n")
    return "\n".join(_last_writing(line) for line in lines)


def _last_writing(line: str) -> str:
    return next((part for part in reversed(line.split("\r")) if part), "") if "\r" in line else line
