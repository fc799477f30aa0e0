"""The plain face: a terminal whose cursor does not move. What is shown comes after what was shown before."""

import asyncio
import codecs
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

from agenthost.cli.chat.calls import headline
from agenthost.cli.chat.face import Ask, Asks, Key, Typed
from agenthost.cli.chat.story import Piece, Said
from agenthost.cli.chat.view import View
from agenthost.cli.ending import safe

__all__ = ["Plain", "PlainView"]

PROMPT = "> "


class Plain:
    """A `Face` that reads and writes lines."""

    def __init__(self) -> None:
        self.interrupted: Callable[[], None] = lambda: None
        self._lines = Typed()
        self._asks = Asks(lambda: None)
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._typed = ""
        self._begun = ""
        self._is_at_start = True
        self._is_prompted = False

    @contextmanager
    def attended(self) -> Iterator[None]:
        """Read the keyboard, and hear Ctrl-C, inside of this block."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        try:
            loop.add_reader(sys.stdin.fileno(), self._take)
            yield
        finally:
            self.write("" if self._is_at_start else "\n")
            loop.remove_reader(sys.stdin.fileno())
            loop.remove_signal_handler(signal.SIGINT)

    # Printing

    @property
    def room(self) -> int:
        """How many rows can be painted again: none, but this is how many a question may have."""
        return 1_000

    def show(self, lines: Sequence[str]) -> None:
        """Print lines."""
        self.write("" if self._is_at_start else "\n")
        self.write("".join(f"{line}\n" for line in lines))

    def write(self, text: str) -> None:
        """Print a piece of text."""
        if text:
            self._is_at_start, self._is_prompted = text.endswith("\n"), False
            sys.stdout.write(safe(text, sys.stdout))
            sys.stdout.flush()

    def live(self, lines: Sequence[str], status: str) -> None:
        """Paint nothing; but say when it is somebody's turn to type."""
        del lines
        if not status and self._asks.top is None and not self._is_prompted:
            self.write("" if self._is_at_start else "\n")
            self.write(PROMPT)
            self._is_prompted = True

    # Asking

    async def read(self) -> str:
        """Wait for a message.

        Raises:
            EOFError: there will be none any more.
        """
        return await self._lines.next()

    async def key(self, about: Sequence[str], keys: Sequence[Key]) -> str:
        """Ask for one of some keys, which is typed with Enter behind it."""
        self.show([*about, "  " + "   ".join(f"[{one.key}] {one.label}" for one in keys)])
        while True:
            typed = (await self._ask(Ask(about, label=f"  {'/'.join(one.key for one in keys)}? "))).strip()
            if typed[:1].lower() in [one.key for one in keys]:
                return typed[:1].lower()

    async def line(
        self,
        label: str,
        text: str = "",
        *,
        about: Sequence[str] = (),
        words: Sequence[str] = (),
        is_suggested: bool = False,
    ) -> str:
        """Ask for a line; an empty one takes the text that is there.

        Raises:
            Back: no line is given.
        """
        del words, is_suggested
        self.show(about)
        shown = f"{label}[{text}] " if text else label
        return await self._ask(Ask(about, label=shown)) or text

    async def _ask(self, ask: Ask) -> str:
        with self._asks.asking(ask):
            self.write("" if self._is_at_start else "\n")
            self.write(ask.label)
            return await ask.answer

    def put_back(self, text: str) -> None:
        """Show the text again: it cannot be put where somebody types."""
        self.show([f"(not sent: {text})"])

    # What is typed

    def _take(self) -> None:
        data = os.read(sys.stdin.fileno(), 65_536)
        self._typed += self._decoder.decode(data)
        *lines, self._typed = self._typed.split("\n")
        for line in lines:
            # The terminal has shown what was typed, and its end.
            self._is_at_start, self._is_prompted = True, False
            self._line(line.rstrip("\r"))
        if not data:
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
            if self._asks.top is not None:
                self._asks.top.take_back()
            self._lines.end()

    def _line(self, line: str) -> None:
        top = self._asks.top
        if top is not None:
            top.give(line)
        elif line.endswith("\\"):
            self._begun += line[:-1] + "\n"
        else:
            text, self._begun = self._begun + line, ""
            self._lines.put(text)

    def _interrupt(self) -> None:
        if self._asks.top is not None and not self._asks.top.answer.done():
            self._asks.top.take_back()
        else:
            self.interrupted()


class PlainView(View):
    """The story as text that comes, without colours and marks that not every terminal has."""

    marks: ClassVar[dict[str, str]] = {
        "note": "-",
        "well": "+",
        "badly": "!",
        "stopped": "!",
        "content": "-",
        "agent": "->",
    }

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._begun: set[str] = set()
        self._is_flowing = False

    def hint(self, text: str) -> None:
        """Say it like everything else."""
        self.note(text)

    def _said(self, event: Said) -> None:
        # What was typed here is on the terminal already.
        if self.is_past or not self._hearing.is_ours("turn", event.turn_id):
            super()._said(event)

    def _grow(self, piece: Piece) -> None:
        plain: Any = self._face
        if not self._is_flowing:
            plain.show([""] if self._last else [])
            plain.write("(thinks) " if piece.kind == "thought" else "")
        self._is_flowing, self._last = True, piece.kind
        plain.write(piece.text)

    def _end_flow(self) -> None:
        if self._is_flowing:
            self._is_flowing = False
            self._face.show([])

    def live(self, state: Any, calls: list[Any], trouble: str) -> None:
        """Say once that a call runs, and whether something goes on."""
        for call in calls:
            if call["status"] == "running" and call["toolCallId"] not in self._begun:
                self._begun.add(call["toolCallId"])
                self._end_flow()
                self._face.show([f"… {headline(call)}"])
        self._face.live((), trouble or ("busy" if "activeTurn" in state else ""))
