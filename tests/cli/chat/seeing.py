"""Somebody at a terminal: a command on a real pty, and what its screen looks like, scrollback and all."""

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

# A terminal of its own, so that Ctrl-C becomes a signal where it should.
OWN_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


class Seen:
    """A command that runs at a terminal, and what is to be seen there."""

    def __init__(self, master: int, process: "subprocess.Popen[bytes]", columns: int, rows: int) -> None:
        self.process = process
        self.raw = b""
        self._master = master
        self._screen = pyte.HistoryScreen(columns, rows, history=100_000, ratio=0.001)
        self._stream = pyte.ByteStream(self._screen)
        self._is_over = False

    # Looking

    @property
    def screen(self) -> list[str]:
        """The rows of the screen."""
        return [line.rstrip() for line in self._screen.display]

    @property
    def lines(self) -> list[str]:
        """All that was ever printed, as somebody sees it who scrolls up."""
        above = [_text(row, self._screen.columns) for row in self._screen.history.top]
        return [line.rstrip() for line in (*above, *self._screen.display)]

    @property
    def text(self) -> str:
        """All lines, without the empty ones at the end."""
        return "\n".join(self.lines).rstrip()

    def style(self, words: str) -> Any:
        """Give how the first character of some words on the screen looks."""
        for number, line in enumerate(self._screen.display):
            if words in line:
                return self._screen.buffer[number][line.index(words)]
        raise AssertionError(f"{words!r} is not on the screen")

    # Waiting

    def wait(self, look: Callable[["Seen"], Any], what: str = "") -> Any:
        """Wait until this is so."""
        until = time.monotonic() + TIMEOUT
        while not (found := look(self)):
            assert not self._is_over, f"it ended before {what}:\n{self.text}"
            assert time.monotonic() < until, f"never came {what}:\n{self.text}"
            self._read(0.5)
        return found

    def wait_for(self, words: str, times: int = 1) -> None:
        """Wait until these words are to be seen, on the screen or above it."""
        self.wait(lambda seen: seen.text.count(words) >= times, repr(words))

    def wait_screen(self, words: str) -> None:
        """Wait until these words are on the screen itself."""
        self.wait(lambda seen: words in "\n".join(seen.screen), repr(words))

    def wait_gone(self, words: str) -> None:
        """Wait until these words are not on the screen any more."""
        self.wait(lambda seen: words not in "\n".join(seen.screen), f"without {words!r}")

    def wait_prompt(self) -> None:
        """Wait until nothing goes on, and something can be typed."""
        self.wait(lambda seen: seen.screen[seen._screen.cursor.y] == ">", "a prompt")

    def _read(self, seconds: float) -> None:
        ready, _, _ = select.select([self._master], [], [], seconds)
        if not ready:
            return
        try:
            data = os.read(self._master, 65_536)
        except OSError:  # how Linux says that nobody is at the other end
            data = b""
        self._is_over = not data
        self.raw += data
        self._stream.feed(data)

    # Doing

    def complete(self, words: str) -> None:
        """Press Tab until these words are on the screen: a busy host may not know all files at first."""
        pressed = 0.0

        def look(seen: "Seen") -> bool:
            nonlocal pressed
            is_there = words in "\n".join(seen.screen)
            if not is_there and time.monotonic() - pressed > 3:
                pressed = time.monotonic()
                seen.type("\t")
            return is_there

        self.wait(look, repr(words))

    def type(self, text: str) -> None:
        """Press keys."""
        data = text.encode()
        while data:
            data = data[os.write(self._master, data) :]

    def say(self, text: str) -> None:
        """Type a line."""
        self.type(f"{text}\r")

    def resize(self, columns: int, rows: int) -> None:
        """Make the window another size."""
        self._shrink(rows)
        self._screen.lines, self._screen.columns = rows, columns
        self._screen.set_margins()
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process.send_signal(signal.SIGWINCH)

    def _shrink(self, rows: int) -> None:
        """Let the lines scroll away that do not fit any more, as terminals do."""
        line = self._screen.cursor.y
        surplus = max(0, line + 1 - rows)
        self._screen.cursor.y = self._screen.lines - 1
        for _ in range(surplus):
            self._screen.index()
        self._screen.cursor.y = line - surplus
        for number in [one for one in self._screen.buffer if one >= rows]:
            del self._screen.buffer[number]

    def rest(self) -> int:
        """Look on until the command has ended; gives its exit code."""
        until = time.monotonic() + TIMEOUT
        while not self._is_over:
            assert time.monotonic() < until, f"it does not end:\n{self.text}"
            self._read(0.5)
        return self.process.wait(TIMEOUT)

    def leave(self) -> None:
        """Press Ctrl-D, and see that it ends well."""
        self.type("\x04")
        assert self.rest() == 0, self.text
        assert "Traceback" not in self.text


def _text(row: Any, columns: int) -> str:
    return "".join(row[column].data for column in range(columns))


@contextmanager
def at_terminal(
    *words: str, columns: int = 80, rows: int = 24, home: Path | None = None, **over: str
) -> Iterator[Seen]:
    """Run `agenthost` at a terminal, and end it in the end, whatever happened."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    given = environment(**{"TERM": "xterm", **({"XDG_STATE_HOME": str(home)} if home else {}), **over})
    if "NO_COLOR" not in over:
        given.pop("NO_COLOR", None)
    process = subprocess.Popen(
        [sys.executable, "-c", OWN_TERMINAL, sys.executable, "-m", "agenthost", *words],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=given,
        start_new_session=True,
    )
    os.close(slave)
    with process:
        try:
            yield Seen(master, process, columns, rows)
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            os.close(master)


def chat(server: str, *words: str, **how: Any) -> Any:
    """Run the chat at a terminal; what is typed is not remembered."""
    private: Sequence[str] = () if "home" in how else ("--private",)
    return at_terminal("chat", server, *private, *words, **how)
