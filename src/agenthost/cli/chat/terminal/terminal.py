"""The interface of a terminal for the chat. `screen` moves the cursor, `plain` only prints lines."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ["ChatTerminal", "InputCancelled", "KeyChoice"]


class InputCancelled(Exception):
    """The user cancelled the line that was asked for."""


@dataclass(frozen=True, slots=True)
class KeyChoice:
    """A key to press, and what it does."""

    key: str
    label: str


class ChatTerminal(Protocol):
    """A terminal, as the chat sees it. To withdraw a question, cancel the task that asks it.

    Attributes:
        on_interrupt: called on Ctrl-C, unless that cancelled a line.
    """

    on_interrupt: Callable[[], None]

    @property
    def max_live_rows(self) -> int:
        """How many rows can be repainted."""

    def print_lines(self, lines: Sequence[str]) -> None:
        """Print lines that stay."""

    def update(self, lines: Sequence[str], status: str) -> None:
        """Replace the lines that may still change, and the status below them."""

    async def read_message(self) -> str:
        """Wait for the next message.

        Raises:
            EOFError: the input has ended.
        """

    async def ask_key(self, about: Sequence[str], keys: Sequence[KeyChoice]) -> str:
        """Ask for one of the keys; `about` says what for."""

    async def ask_line(
        self,
        label: str,
        text: str = "",
        *,
        about: Sequence[str] = (),
        completions: Sequence[str] = (),
        is_suggested: bool = False,
    ) -> str:
        """Ask for a line that starts out as `text`; Tab completes it from `completions`.

        If the text is only suggested, Enter accepts it and typing replaces it.

        Raises:
            InputCancelled: the user cancelled it.
        """

    def put_back(self, text: str) -> None:
        """Return a text to the input line, to be edited or sent again."""
