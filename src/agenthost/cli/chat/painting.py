"""Painting: text, Markdown and code as lines for a terminal, with its colours or without.

Every line stands for itself: it begins and ends without any colour, and fits the width. Nothing that is
painted can move the cursor.
"""

import re
from collections.abc import Callable
from io import StringIO

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text
from rich.theme import Theme

from agenthost.cli.ending import without_controls

__all__ = ["Painter", "clean", "one_line", "plain"]

THEME = Theme(
    {
        "markdown.h1": "bold underline",
        "markdown.h2": "bold",
        "markdown.h3": "bold",
        "markdown.h4": "bold dim",
        "markdown.h5": "bold dim",
        "markdown.h6": "bold dim",
        "markdown.code": "cyan",
        "markdown.block_quote": "dim",
        "markdown.item.bullet": "dim",
        "markdown.item.number": "dim",
        "markdown.hr": "dim",
        "markdown.link": "underline",
        "markdown.link_url": "dim",
        "markdown.table.border": "dim",
        "markdown.table.header": "bold",
    }
)

_TRAILING = re.compile(r" +((?:\x1b\[0?m)?)$")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def clean(text: str) -> str:
    """Give a text that moves no cursor, with tabs as spaces and all ends of lines alike."""
    return without_controls(text.replace("\r\n", "\n").replace("\r", "\n")).expandtabs(4)


def plain(line: str) -> str:
    """Give a painted line without its colours."""
    return _COLOURS.sub("", line)


def one_line(text: str, longest: int) -> str:
    """Give a text in one line, cut if it is too long."""
    words = " ".join(clean(text).split())
    return words if len(words) <= longest else words[: max(1, longest - 1)] + "…"


class Painter:
    """Paints for one terminal, which may change its width at any time."""

    def __init__(
        self, width: Callable[[], int], *, has_colours: bool = True, has_styles: bool = True
    ) -> None:
        self._width = width
        self._console = Console(
            file=StringIO(),
            force_terminal=has_styles,
            # The sixteen colours that people choose themselves.
            color_system="standard" if has_styles else None,
            no_color=not has_colours,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
            theme=THEME,
        )

    @property
    def width(self) -> int:
        """How many columns there are."""
        return max(10, self._width())

    def lines(self, what: RenderableType, *, indent: int = 0) -> list[str]:
        """Paint something that rich knows."""
        shown = Padding(what, (0, 0, 0, indent), expand=False) if indent else what
        with self._console.capture() as captured:
            self._console.print(shown, width=self.width, overflow="fold", no_wrap=False, crop=False)
        return [_TRAILING.sub(r"\1", line) for line in captured.get().rstrip("\n").split("\n")]

    def text(self, text: str, style: str = "", *, indent: int = 0) -> list[str]:
        """Paint a text as it is, wrapped."""
        return self.lines(Text(clean(text), style=style, overflow="fold"), indent=indent)

    def marked(self, mark: str, text: str, style: str = "", *, mark_style: str = "") -> list[str]:
        """Paint a text behind a mark: its further lines begin below its first."""
        first, *rest = self.text(text, style, indent=len(mark) + 1) or [""]
        head = self.span(mark, mark_style)
        return [f"{head} {first[len(mark) + 1 :]}", *rest]

    def span(self, text: str, style: str) -> str:
        """Paint a few words that need no wrapping."""
        with self._console.capture() as captured:
            self._console.print(
                Text(clean(text), style=style), end="", width=10_000, no_wrap=True, crop=False
            )
        return captured.get()
