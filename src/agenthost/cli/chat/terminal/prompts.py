"""Prompts: what the terminal asks for, and the messages that were typed."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from agenthost.cli.chat.terminal.terminal import InputCancelled, KeyChoice

__all__ = ["MessageQueue", "Prompt", "PromptStack"]


@dataclass(slots=True)
class Prompt:
    """A question to the user, answered by a key if it has keys, else by a line.

    Attributes:
        text: what has been typed so far; kept here while another prompt is on top.
        is_open: whether it accepts answers yet.
        is_suggested: whether the text is a suggestion, which typing replaces.
        answer: the key or the line.
    """

    about: Sequence[str]
    keys: Sequence[KeyChoice] = ()
    label: str = ""
    text: str = ""
    completions: Sequence[str] = ()
    is_open: bool = True
    is_suggested: bool = False
    answer: "asyncio.Future[str]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def try_answer(self, text: str) -> bool:
        """Answer with a key or a line. Return whether that was a valid answer."""
        is_valid = not self.keys or text in [choice.key for choice in self.keys]
        if is_valid and not self.answer.done():
            self.answer.set_result(text)
        return is_valid

    def cancel(self) -> None:
        """End it without an answer."""
        if not self.answer.done():
            self.answer.set_exception(InputCancelled())


class PromptStack:
    """The open prompts: the newest is shown, the others wait. `on_change` is called after each change."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._prompts: list[Prompt] = []
        self._on_change = on_change

    @property
    def current(self) -> Prompt | None:
        """The prompt that is shown."""
        return self._prompts[-1] if self._prompts else None

    @contextmanager
    def open(self, prompt: Prompt) -> Iterator[Prompt]:
        """Show a prompt until the block ends."""
        self._prompts.append(prompt)
        self._on_change()
        try:
            yield prompt
        finally:
            self._prompts.remove(prompt)
            self._on_change()


class MessageQueue:
    """The messages that were typed and not read yet."""

    def __init__(self) -> None:
        self._messages: asyncio.Queue[str | None] = asyncio.Queue()

    def put(self, message: str) -> None:
        """Add a message."""
        self._messages.put_nowait(message)

    def end(self) -> None:
        """End the input: there are no more messages."""
        self._messages.put_nowait(None)

    async def next(self) -> str:
        """Wait for the next message.

        Raises:
            EOFError: the input has ended.
        """
        message = await self._messages.get()
        if message is None:
            self.end()  # for the next reader
            raise EOFError
        return message
