"""Markdown as it streams: final blocks are painted once, and only the last block is painted again.

A block is final when the next one begins. A block that outgrows the screen is split where it does not show:
code between lines, a paragraph between words, a list between items.
"""

import re
from collections.abc import Iterator
from typing import Any, ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, ListItem, Markdown, MarkdownElement
from rich.padding import Padding
from rich.segment import Segment
from rich.syntax import Syntax

from agenthost.cli.chat.terminal.paint import Painter
from agenthost.cli.chat.terminal.text import clean
from agenthost.core.ansi import strip_escapes

__all__ = ["MarkdownStream", "ThoughtStream"]

MAX_BLOCK_LENGTH = 20_000
"""A longer block is split anywhere: painting it again and again would take too long."""

# Without HTML: text that looks like a tag rarely is one, and would not be shown at all.
PARSER = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])

_WORD = re.compile(r"\S+")


class _Heading(Heading):
    """A heading on the left, without a box."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield self.text


class _Code(CodeBlock):
    """Code in the colours of the terminal, on the terminal's background."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        shown = Syntax(code, self.lexer_name, theme="ansi_dark", word_wrap=True, background_color="default")
        yield Padding(shown, (0, 0, 0, 2))


class _Item(ListItem):
    """A list item whose number is followed by a full stop."""

    def render_number(
        self, console: Console, options: ConsoleOptions, number: int, last_number: int
    ) -> RenderResult:
        margin = len(str(last_number)) + 3
        lines = console.render_lines(
            self.elements, options.update(width=options.max_width - margin), style=self.style
        )
        style = console.get_style("markdown.item.number", default="none")
        for at, line in enumerate(lines):
            yield Segment(f"{number}. ".rjust(margin) if at == 0 else " " * margin, style)
            yield from line
            yield Segment.line()


class _Markdown(Markdown):
    """Markdown as people write it in a chat: line breaks are kept."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _Code,
        "code_block": _Code,
        "list_item_open": _Item,
    }

    def __init__(self, tokens: list[Token]) -> None:
        super().__init__("", hyperlinks=False)
        self.parsed = tokens
        for token in tokens:
            if token.children:
                token.children = _inline(token.children)


def _blocks(text: str) -> Iterator[list[Token]]:
    """Yield the tokens of each block."""
    block: list[Token] = []
    for token in PARSER.parse(text):
        block.append(token)
        if token.level == 0 and token.nesting <= 0:
            yield block
            block = []


def _inline(tokens: list[Token]) -> list[Token]:
    """Keep line breaks, and show a link whose text is its address only once."""
    made: list[Token] = []
    is_bare = False
    for at, token in enumerate(tokens):
        if token.type == "softbreak":
            token.type = "hardbreak"
        if token.type == "link_open":
            text = tokens[at + 1].content if tokens[at + 1].type == "text" else None
            is_bare = text is not None and str(token.attrs.get("href", "")).removeprefix("mailto:") == text
        if not (is_bare and token.type in ("link_open", "link_close")):
            made.append(token)
    return made


class MarkdownStream:
    """An answer in Markdown that is still being written."""

    def __init__(self, painter: Painter) -> None:
        self._painter = painter
        self._text = ""
        self._is_first = True
        self._continues_block = False
        self._painted: tuple[str, int, list[str]] = ("", 0, [])

    def feed(self, piece: str) -> None:
        """Add a piece of text."""
        self._text += clean(piece)

    def preview(self) -> list[str]:
        """Paint what may still change."""
        return self._paint(self._text) if self._text.strip() else []

    def flush(self, rows: int) -> list[str]:
        """Paint what is final, and forget it. Try to keep the rest to about this many rows."""
        blocks = [token for token in PARSER.parse(self._text) if token.level == 0 and token.map is not None]
        if not blocks:
            return []
        done = []
        start, continues_block = _last_start(self._text, blocks)
        if start:
            lines = self._text.splitlines(keepends=True)
            done += self._paint_final(
                "".join(lines[:start]), "".join(lines[start:]), continues_block=continues_block
            )
        if len(self.preview()) > rows or len(self._text) > MAX_BLOCK_LENGTH:
            done += self._split(blocks[-1], rows)
        return done

    def finish(self) -> list[str]:
        """Paint the rest."""
        return self._paint_final(self._text, "") if self._text.strip() else []

    def _paint_final(self, final: str, rest: str, *, continues_block: bool = False) -> list[str]:
        painted = self._paint(final)
        self._text, self._is_first, self._continues_block = rest, False, continues_block
        return painted

    def _split(self, block: Token, rows: int) -> list[str]:
        """Paint and forget the beginning of the last block, which has grown too large."""
        if block.type == "fence":
            return self._split_code(rows)
        if block.type != "paragraph_open" and len(self._text) <= MAX_BLOCK_LENGTH:
            return []  # only its end is shown until it is complete
        painted = [strip_escapes(line) for line in self.preview()]
        count = sum(len(line.split()) for line in painted[:-2])
        words = list(_WORD.finditer(self._text))
        if len(words) != sum(len(line.split()) for line in painted) and len(self._text) <= MAX_BLOCK_LENGTH:
            return []  # it is painted with other words than it is written, such as links
        end = words[min(count, len(words)) - 1].end() if words and count else 0
        return (
            self._paint_final(self._text[:end], self._text[end:].lstrip(), continues_block=True)
            if end
            else []
        )

    def _split_code(self, rows: int) -> list[str]:
        opening, *code = self._text.splitlines(keepends=True)
        if _is_closed(opening, code) or len(code) < 3:
            return []
        kept = max(1, min(rows // 2, len(code) // 2))
        final, rest = code[:-kept], code[-kept:]
        return self._paint_final(opening + "".join(final), opening + "".join(rest), continues_block=True)

    def _paint(self, text: str) -> list[str]:
        width = self._painter.width
        if self._painted[:2] != (text, width):
            painted = [_trimmed(self._painter.lines(_Markdown(block))) for block in _blocks(text)]
            self._painted = (text, width, [line for block in painted for line in ["", *block]][1:])
        lines = self._painted[2]
        return lines if self._is_first or self._continues_block else ["", *lines]


def _trimmed(lines: list[str]) -> list[str]:
    """Remove the empty lines around a block; one is added between blocks."""
    filled = [at for at, line in enumerate(lines) if strip_escapes(line).strip()]
    return lines[filled[0] : filled[-1] + 1] if filled else []


def _last_start(text: str, blocks: list[Token]) -> tuple[int, bool]:
    """Return the line where the part that may still change begins, and whether it is inside a list."""
    last: Any = blocks[-1]
    if last.type in ("bullet_list_open", "ordered_list_open"):
        tokens = PARSER.parse(text)
        items: list[Any] = [one for one in tokens if one.type == "list_item_open" and one.level == 1]
        starts = [item.map[0] for item in items if item.map[0] >= last.map[0]]
        if len(starts) > 1:
            return starts[-1], True
    return last.map[0], False


def _is_closed(opening: str, code: list[str]) -> bool:
    mark = opening.lstrip()[:1]
    fence = re.match(re.escape(mark) + "+", opening.lstrip())
    last = code[-1].strip() if code else ""
    return fence is not None and set(last) == {mark} and len(last) >= len(fence[0])


class ThoughtStream:
    """A thought that is still being written: dim plain text."""

    def __init__(self, painter: Painter) -> None:
        self._painter = painter
        self._text = ""

    def feed(self, piece: str) -> None:
        """Add a piece of text."""
        self._text += clean(piece)

    def preview(self) -> list[str]:
        """Paint what may still change."""
        return self._paint(self._text) if self._text.strip() else []

    def flush(self, rows: int) -> list[str]:
        """Paint the complete lines, and forget them."""
        whole, end, rest = self._text.rpartition("\n")
        if not end and len(self._text) > rows * self._painter.width:
            whole, _, rest = self._text.rpartition(" ")
        if not whole.strip():
            return []
        self._text = rest
        return self._paint(whole)

    def finish(self) -> list[str]:
        """Paint the rest."""
        text, self._text = self._text.rstrip(), ""
        return self._paint(text) if text else []

    def _paint(self, text: str) -> list[str]:
        return self._painter.text(text, "dim italic", indent=2)
