"""A plain terminal: it prints line after line, and never moves the cursor."""

import asyncio
import codecs
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from agenthost.cli.chat.terminal.prompts import MessageQueue, Prompt, PromptStack
from agenthost.cli.chat.terminal.terminal import KeyChoice
from agenthost.cli.terminal_text import printable

__all__ = ["PlainTerminal"]

PROMPT = "> "


class PlainTerminal:
    """A `ChatTerminal` that reads and writes lines."""

    def __init__(self) -> None:
        self.on_interrupt: Callable[[], None] = lambda: None
        self._messages = MessageQueue()
        self._prompts = PromptStack(lambda: None)
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._partial_line = ""
        self._partial_message = ""
        self._is_at_line_start = True
        self._is_prompt_shown = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Read the keyboard and handle Ctrl-C inside this block."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        try:
            loop.add_reader(sys.stdin.fileno(), self._read_input)
            yield
        finally:
            self._end_line()
            loop.remove_reader(sys.stdin.fileno())
            loop.remove_signal_handler(signal.SIGINT)

    # Output

    @property
    def max_live_rows(self) -> int:
        """How many rows a question may have; nothing is repainted here."""
        return 1_000

    def print_lines(self, lines: Sequence[str]) -> None:
        """Print lines."""
        self._end_line()
        self.write("".join(f"{line}\n" for line in lines))

    def write(self, text: str) -> None:
        """Print a piece of text."""
        if text:
            self._is_at_line_start, self._is_prompt_shown = text.endswith("\n"), False
            sys.stdout.write(printable(text, sys.stdout))
            sys.stdout.flush()

    def _end_line(self) -> None:
        self.write("" if self._is_at_line_start else "\n")

    def update(self, lines: Sequence[str], status: str) -> None:
        """Show the prompt when nothing is going on; the lines are printed once they are final."""
        del lines
        if not status and self._prompts.current is None and not self._is_prompt_shown:
            self._end_line()
            self.write(PROMPT)
            self._is_prompt_shown = True

    # Prompts

    async def read_message(self) -> str:
        """Wait for the next message.

        Raises:
            EOFError: the input has ended.
        """
        return await self._messages.next()

    async def ask_key(self, about: Sequence[str], keys: Sequence[KeyChoice]) -> str:
        """Ask for one of the keys, followed by Enter."""
        self.print_lines([*about, "  " + "   ".join(f"[{choice.key}] {choice.label}" for choice in keys)])
        names = [choice.key for choice in keys]
        while True:
            typed = (await self._ask(Prompt(about, label=f"  {'/'.join(names)}? "))).strip()
            if typed[:1].lower() in names:
                return typed[:1].lower()

    async def ask_line(
        self,
        label: str,
        text: str = "",
        *,
        about: Sequence[str] = (),
        completions: Sequence[str] = (),
        is_suggested: bool = False,
    ) -> str:
        """Ask for a line; an empty one accepts `text`.

        Raises:
            InputCancelled: the user cancelled it.
        """
        del completions, is_suggested
        self.print_lines(about)
        shown = f"{label}[{text}] " if text else label
        return await self._ask(Prompt(about, label=shown)) or text

    async def _ask(self, prompt: Prompt) -> str:
        with self._prompts.open(prompt):
            self._end_line()
            self.write(prompt.label)
            return await prompt.answer

    def put_back(self, text: str) -> None:
        """Show the text again: it cannot be put into the input line."""
        self.print_lines([f"(not sent: {text})"])

    # Input

    def _read_input(self) -> None:
        data = os.read(sys.stdin.fileno(), 65_536)
        self._partial_line += self._decoder.decode(data)
        *lines, self._partial_line = self._partial_line.split("\n")
        for line in lines:
            # The terminal has echoed the line and its end.
            self._is_at_line_start, self._is_prompt_shown = True, False
            self._accept_line(line.rstrip("\r"))
        if not data:
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
            if self._prompts.current is not None:
                self._prompts.current.cancel()
            self._messages.end()

    def _accept_line(self, line: str) -> None:
        current = self._prompts.current
        if current is not None:
            current.try_answer(line)
        elif line.endswith("\\"):
            self._partial_message += line[:-1] + "\n"
        else:
            text, self._partial_message = self._partial_message + line, ""
            self._messages.put(text)

    def _interrupt(self) -> None:
        if self._prompts.current is not None and not self._prompts.current.answer.done():
            self._prompts.current.cancel()
        else:
            self.on_interrupt()
