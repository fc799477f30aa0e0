"""A command at a real pty: what a user types, and what the screen and its scrollback show."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyte

from serving import TIMEOUT, environment

# Gives the command a controlling terminal, so that Ctrl-C reaches it as a signal.
SET_CONTROLLING_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


class TerminalRun:
    """A command that runs at a terminal, and what that shows."""

    def __init__(self, master: int, process: "subprocess.Popen[bytes]", columns: int, rows: int) -> None:
        self.process = process
        self.raw = b""
        self._master = master
        self._screen = pyte.HistoryScreen(columns, rows, history=100_000, ratio=0.001)
        self._stream = pyte.ByteStream(self._screen)
        self._is_over = False

    # What is shown

    @property
    def screen(self) -> list[str]:
        """The rows of the screen."""
        return [line.rstrip() for line in self._screen.display]

    @property
    def lines(self) -> list[str]:
        """All lines, from the top of the scrollback to the bottom of the screen."""
        above = [_text(row, self._screen.columns) for row in self._screen.history.top]
        return [line.rstrip() for line in (*above, *self._screen.display)]

    @property
    def text(self) -> str:
        """All lines, without the empty ones at the end."""
        return "\n".join(self.lines).rstrip()

    def style(self, words: str) -> Any:
        """Return the style of the first character of these words on the screen."""
        for number, line in enumerate(self._screen.display):
            if words in line:
                return self._screen.buffer[number][line.index(words)]
        raise AssertionError(f"{words!r} is not on the screen")

    # Waiting

    def wait(self, condition: Callable[["TerminalRun"], Any], what: str = "") -> Any:
        """Wait until the condition returns something true, and return that."""
        until = time.monotonic() + TIMEOUT
        while not (found := condition(self)):
            assert not self._is_over, f"the command ended before {what}:\n{self.text}"
            assert time.monotonic() < until, f"timed out waiting for {what}:\n{self.text}"
            self._read(0.5)
        return found

    def wait_for(self, words: str, times: int = 1) -> None:
        """Wait until these words are shown, on the screen or in the scrollback."""
        self.wait(lambda terminal: terminal.text.count(words) >= times, repr(words))

    def wait_screen(self, words: str) -> None:
        """Wait until these words are on the screen itself."""
        self.wait(lambda terminal: words in "\n".join(terminal.screen), repr(words))

    def wait_gone(self, words: str) -> None:
        """Wait until these words are no longer on the screen."""
        self.wait(lambda terminal: words not in "\n".join(terminal.screen), f"the end of {words!r}")

    def wait_prompt(self) -> None:
        """Wait until nothing runs and the cursor is at an empty prompt."""
        self.wait(lambda terminal: terminal.screen[terminal._screen.cursor.y] == ">", "a prompt")

    def _read(self, seconds: float) -> None:
        ready, _, _ = select.select([self._master], [], [], seconds)
        if not ready:
            return
        try:
            data = os.read(self._master, 65_536)
        except OSError:  # how Linux reports that the other end is closed
            data = b""
        self._is_over = not data
        self.raw += data
        self._stream.feed(data)

    # What the user does

    def complete(self, words: str) -> None:
        """Press Tab until these words are on the screen: a busy host may not have listed all files yet."""
        pressed = 0.0

        def is_completed(terminal: "TerminalRun") -> bool:
            nonlocal pressed
            is_there = words in "\n".join(terminal.screen)
            if not is_there and time.monotonic() - pressed > 3:
                pressed = time.monotonic()
                terminal.type("\t")
            return is_there

        self.wait(is_completed, repr(words))

    def type(self, text: str) -> None:
        """Press keys."""
        data = text.encode()
        while data:
            data = data[os.write(self._master, data) :]

    def say(self, text: str) -> None:
        """Type a line."""
        self.type(f"{text}\r")

    def resize(self, columns: int, rows: int) -> None:
        """Resize the window."""
        self._shrink(rows)
        self._screen.lines, self._screen.columns = rows, columns
        self._screen.set_margins()
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process.send_signal(signal.SIGWINCH)

    def _shrink(self, rows: int) -> None:
        """Scroll up the lines that no longer fit, as terminals do."""
        line = self._screen.cursor.y
        surplus = max(0, line + 1 - rows)
        self._screen.cursor.y = self._screen.lines - 1
        for _ in range(surplus):
            self._screen.index()
        self._screen.cursor.y = line - surplus
        for number in [one for one in self._screen.buffer if one >= rows]:
            del self._screen.buffer[number]

    def wait_exit(self) -> int:
        """Wait until the command has ended. Return its exit code."""
        until = time.monotonic() + TIMEOUT
        while not self._is_over:
            assert time.monotonic() < until, f"the command does not end:\n{self.text}"
            self._read(0.5)
        return self.process.wait(TIMEOUT)

    def leave(self) -> None:
        """Press Ctrl-D, and check that the command ends well."""
        self.type("\x04")
        assert self.wait_exit() == 0, self.text
        assert "Traceback" not in self.text


def _text(row: Any, columns: int) -> str:
    return "".join(row[column].data for column in range(columns))


@contextmanager
def at_terminal(
    *words: str, columns: int = 80, rows: int = 24, home: Path | None = None, **over: str
) -> Iterator[TerminalRun]:
    """Run `agenthost` at a terminal, and kill it at the end of the block."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    given = environment(**{"TERM": "xterm", **({"XDG_STATE_HOME": str(home)} if home else {}), **over})
    if "NO_COLOR" not in over:
        given.pop("NO_COLOR", None)
    process = subprocess.Popen(
        [sys.executable, "-c", SET_CONTROLLING_TERMINAL, sys.executable, "-m", "agenthost", *words],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=given,
        start_new_session=True,
    )
    os.close(slave)
    with process:
        try:
            yield TerminalRun(master, process, columns, rows)
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            os.close(master)


def chat(server: str, *words: str, **how: Any) -> Any:
    """Run the chat at a terminal, without a history unless it has a home."""
    private: Sequence[str] = () if "home" in how else ("--private",)
    return at_terminal("chat", server, *private, *words, **how)
