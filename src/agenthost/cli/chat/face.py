"""What a chat needs of a terminal. `screen` does it with a cursor that moves, `plain` without."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

__all__ = ["Ask", "Asks", "Back", "Face", "Key", "Typed"]


class Back(Exception):
    """Whoever was asked for a line would rather not give one."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key to press, and what it means."""

    key: str
    label: str


@dataclass(slots=True)
class Ask:
    """Something that is asked for: a key, if there are keys, else a line.

    Attributes:
        answer: what was pressed or typed.
        is_open: whether it may be answered yet.
        text: what has been typed of a line while something else is asked for.
        is_suggested: whether the text is a suggestion, in whose place somebody may type.
    """

    about: Sequence[str]
    keys: Sequence[Key] = ()
    label: str = ""
    text: str = ""
    words: Sequence[str] = ()
    is_open: bool = True
    is_suggested: bool = False
    answer: "asyncio.Future[str]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def give(self, text: str) -> bool:
        """Answer it, if that is an answer."""
        is_one = not self.keys or text in [one.key for one in self.keys]
        if is_one and not self.answer.done():
            self.answer.set_result(text)
        return is_one

    def take_back(self) -> None:
        """Answer it with nothing."""
        if not self.answer.done():
            self.answer.set_exception(Back())


class Asks:
    """What is asked for: the newest comes first, and those before it wait. `changed` hears of each change."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._asks: list[Ask] = []
        self._changed = changed

    @property
    def top(self) -> Ask | None:
        """What is asked for now."""
        return self._asks[-1] if self._asks else None

    @contextmanager
    def asking(self, ask: Ask) -> Iterator[Ask]:
        """Ask for something, until the block ends."""
        self._asks.append(ask)
        self._changed()
        try:
            yield ask
        finally:
            self._asks.remove(ask)
            self._changed()


class Typed:
    """The messages that were typed, until there are no more."""

    def __init__(self) -> None:
        self._messages: asyncio.Queue[str | None] = asyncio.Queue()

    def put(self, message: str) -> None:
        """Take a message."""
        self._messages.put_nowait(message)

    def end(self) -> None:
        """Take none any more."""
        self._messages.put_nowait(None)

    async def next(self) -> str:
        """Wait for the next one.

        Raises:
            EOFError: there will be none any more.
        """
        message = await self._messages.get()
        if message is None:
            self.end()  # for whoever asks again
            raise EOFError
        return message


class Face(Protocol):
    """A terminal, as a chat sees it. What is asked for can be withdrawn by cancelling.

    Attributes:
        interrupted: called when somebody presses Ctrl-C, unless it was to take back a line.
    """

    interrupted: Callable[[], None]

    @property
    def room(self) -> int:
        """How many rows can be painted again and again."""

    def show(self, lines: Sequence[str]) -> None:
        """Print lines that stay."""

    def live(self, lines: Sequence[str], status: str) -> None:
        """Paint lines that change, and what goes on, in place of those before."""

    async def read(self) -> str:
        """Wait for a message.

        Raises:
            EOFError: there will be none any more.
        """

    async def key(self, about: Sequence[str], keys: Sequence[Key]) -> str:
        """Ask for one of some keys; `about` says what for."""

    async def line(
        self,
        label: str,
        text: str = "",
        *,
        about: Sequence[str] = (),
        words: Sequence[str] = (),
        is_suggested: bool = False,
    ) -> str:
        """Ask for a line, with a text to begin with; `words` are those that Tab completes.

        A text that is only suggested is taken by Enter, and goes when something else is typed.

        Raises:
            Back: no line is given.
        """

    def put_back(self, text: str) -> None:
        """Put a text where messages are typed, to be sent again or changed."""
