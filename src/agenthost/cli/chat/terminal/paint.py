"""Text, Markdown and code as lines for a terminal, with or without colours.

Each line is complete: it begins and ends without a style, and fits the width. No line moves the cursor.
"""

import re
from collections.abc import Callable
from io import StringIO

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text
from rich.theme import Theme

from agenthost.cli.chat.terminal.text import clean

__all__ = ["Painter"]

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

_TRAILING_SPACES = re.compile(r" +((?:\x1b\[0?m)?)$")


class Painter:
    """Paints for one terminal, whose width may change at any time."""

    def __init__(
        self, width: Callable[[], int], *, has_colours: bool = True, has_styles: bool = True
    ) -> None:
        self._width = width
        self._console = Console(
            file=StringIO(),
            force_terminal=has_styles,
            # The sixteen colours that users set in their terminal.
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

    def lines(self, renderable: RenderableType, *, indent: int = 0) -> list[str]:
        """Paint something that rich can render."""
        shown = Padding(renderable, (0, 0, 0, indent), expand=False) if indent else renderable
        with self._console.capture() as captured:
            self._console.print(shown, width=self.width, overflow="fold", no_wrap=False, crop=False)
        return [_TRAILING_SPACES.sub(r"\1", line) for line in captured.get().rstrip("\n").split("\n")]

    def text(self, text: str, style: str = "", *, indent: int = 0) -> list[str]:
        """Paint plain text, wrapped."""
        return self.lines(Text(clean(text), style=style, overflow="fold"), indent=indent)

    def marked(self, mark: str, text: str, style: str = "", *, mark_style: str = "") -> list[str]:
        """Paint text after a mark; its other lines are indented to match."""
        first, *rest = self.text(text, style, indent=len(mark) + 1) or [""]
        head = self.span(mark, mark_style)
        return [f"{head} {first[len(mark) + 1 :]}", *rest]

    def span(self, text: str, style: str) -> str:
        """Paint a few words without wrapping."""
        with self._console.capture() as captured:
            self._console.print(
                Text(clean(text), style=style), end="", width=10_000, no_wrap=True, crop=False
            )
        return captured.get()
