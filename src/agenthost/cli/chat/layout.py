"""The layout of the screen, from top to bottom.

Lines that are painted again, what goes on, what is asked for with its keys, the line to type in,
and what could complete it. In a small window all but the last ones give way.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from agenthost.cli.chat.screen import Screen

__all__ = ["STYLE", "layout_of"]

MOST_TYPED_ROWS = 10
MOST_PROPOSALS = 6

STYLE = Style.from_dict({"prompt": "bold ansicyan", "status": "ansicyan", "keys": "bold"})


def layout_of(screen: "Screen") -> Layout:
    """Lay out a screen."""
    is_asked = Condition(lambda: screen.is_asked)
    rows = [
        _lines(lambda: screen.drawn),
        _lines(lambda: [""] if screen.status else []),
        _words(lambda: screen.status, "class:status"),
        _lines(lambda: screen.about),
        _words(lambda: screen.keys, "class:keys"),
        ConditionalContainer(_editor(screen.answer, lambda: screen.label), is_asked),
        ConditionalContainer(_editor(screen.message, lambda: "> "), ~is_asked),
        CompletionsMenu(max_height=MOST_PROPOSALS),
        Window(height=Dimension(min=0, preferred=0)),  # takes what is left
    ]
    return Layout(HSplit(rows), focused_element=screen.message)


def _lines(lines: Callable[[], list[str]]) -> ConditionalContainer:
    window = Window(
        FormattedTextControl(lambda: ANSI("\n".join(lines()))),
        height=lambda: Dimension(min=0, preferred=len(lines()), max=len(lines())),
        wrap_lines=False,
    )
    return ConditionalContainer(window, Condition(lambda: bool(lines())))


def _words(words: Callable[[], str], style: str) -> ConditionalContainer:
    window = Window(FormattedTextControl(words), style=style, wrap_lines=True, dont_extend_height=True)
    return ConditionalContainer(window, Condition(lambda: bool(words())))


def _editor(buffer: Buffer, label: Callable[[], str]) -> Window:
    return Window(
        BufferControl(buffer),
        get_line_prefix=lambda line, wrap: [
            ("class:prompt", label() if line == 0 and wrap == 0 else " " * len(label()))
        ],
        wrap_lines=True,
        dont_extend_height=True,
        height=Dimension(min=1, max=MOST_TYPED_ROWS),
    )
