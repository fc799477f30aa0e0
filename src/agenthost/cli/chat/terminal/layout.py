"""The layout of the screen, from top to bottom.

The lines that may still change, the status, the open prompt with its keys, the input line, and its
completions. In a small window, the upper parts give way first.
"""

from collections.abc import Callable
from typing import Protocol

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    Dimension,
    FormattedTextControl,
    HSplit,
    Layout,
    Window,
)
from prompt_toolkit.layout.menus import CompletionsMenu
from prompt_toolkit.styles import Style

__all__ = ["STYLE", "ScreenContents", "build_layout"]

MAX_INPUT_ROWS = 10
MAX_COMPLETION_ROWS = 6

STYLE = Style.from_dict({"prompt": "bold ansicyan", "status": "ansicyan", "keys": "bold"})


class ScreenContents(Protocol):
    """The contents of the screen."""

    @property
    def live_lines(self) -> list[str]:
        """The lines that may still change."""

    @property
    def status(self) -> str:
        """The status line."""

    @property
    def about(self) -> list[str]:
        """The lines above the prompt."""

    @property
    def key_hints(self) -> str:
        """The keys that answer the prompt."""

    @property
    def is_asking_line(self) -> bool:
        """Whether the prompt asks for a line."""

    @property
    def label(self) -> str:
        """The label of that line."""

    @property
    def answer(self) -> Buffer:
        """Where that line is typed."""

    @property
    def message(self) -> Buffer:
        """Where messages are typed."""


def build_layout(contents: ScreenContents) -> Layout:
    """Lay out a screen."""
    is_asking = Condition(lambda: contents.is_asking_line)
    rows = [
        _lines(lambda: contents.live_lines),
        _lines(lambda: [""] if contents.status else []),
        _wrapped(lambda: contents.status, "class:status"),
        _lines(lambda: contents.about),
        _wrapped(lambda: contents.key_hints, "class:keys"),
        ConditionalContainer(_editor(contents.answer, lambda: contents.label), is_asking),
        ConditionalContainer(_editor(contents.message, lambda: "> "), ~is_asking),
        CompletionsMenu(max_height=MAX_COMPLETION_ROWS),
        Window(height=Dimension(min=0, preferred=0)),  # takes the remaining rows
    ]
    return Layout(HSplit(rows), focused_element=contents.message)


def _lines(lines: Callable[[], list[str]]) -> ConditionalContainer:
    window = Window(
        FormattedTextControl(lambda: ANSI("\n".join(lines()))),
        height=lambda: Dimension(min=0, preferred=len(lines()), max=len(lines())),
        wrap_lines=False,
    )
    return ConditionalContainer(window, Condition(lambda: bool(lines())))


def _wrapped(text: Callable[[], str], style: str) -> ConditionalContainer:
    window = Window(FormattedTextControl(text), style=style, wrap_lines=True, dont_extend_height=True)
    return ConditionalContainer(window, Condition(lambda: bool(text())))


def _editor(buffer: Buffer, label: Callable[[], str]) -> Window:
    return Window(
        BufferControl(buffer),
        get_line_prefix=lambda line, wrap: [
            ("class:prompt", label() if line == 0 and wrap == 0 else " " * len(label()))
        ],
        wrap_lines=True,
        dont_extend_height=True,
        height=Dimension(min=1, max=MAX_INPUT_ROWS),
    )
