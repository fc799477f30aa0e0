"""`read_file`: a part of a text with its line numbers, or an image. Any size; what is given is bounded."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from io import BytesIO
from typing import Annotated, BinaryIO

from agenthost.errors import ToolError
from agenthost.host.files.jail import READ, Place
from agenthost.host.files.reading import content_type_of, opened_file
from agenthost.host.files.reading import read_file as read_bytes
from agenthost.host.toolcontext import ToolContext, run_in_thread
from agenthost.host.toolresults import ToolResult, embed
from agenthost.host.tools import tool
from agenthost.tools.workspace.paths import at, name_of
from agenthost.tools.workspace.texts import BOM

__all__ = ["FilePath", "read_file"]

FilePath = Annotated[str, "the file, seen from the workspace"]

MOST_LINES = 2_000
MOST_CHARACTERS = 48_000
"""How much one call gives; the model asks for the rest if it needs it."""

LONGEST_LINE = 2_000
LARGEST_IMAGE = 5 * 1024 * 1024
LARGEST_WHOLE = 64 * 1024 * 1024
"""Up to this a file is read to its end, for its version and the number of its lines."""

BINARY_PROBE = 8 * 1024
PIECE = 64 * 1024
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")


@tool(
    title="Read file", read_only=True, open_world=False, trusted=True, grant="files", invocation="Read {path}"
)
async def read_file(
    path: FilePath,
    context: ToolContext,
    offset: Annotated[int, "the first line, counted from 1"] = 1,
    limit: Annotated[int, f"how many lines, at most {MOST_LINES}"] = MOST_LINES,
) -> ToolResult:
    """Read a file of the workspace: text with line numbers (a number, a tab, the line), or an image.

    The first line of the result names the part and the version of the file.
    """
    if offset < 1 or limit < 1:
        raise ToolError("`offset` and `limit` have to be at least 1")
    part = Part(offset, min(limit, MOST_LINES))
    kept = await context.kept(path)
    if kept is not None:  # the whole output of a command, which the model was told of
        part.read(BytesIO(kept), len(kept), context)
        return ToolResult(part.told(path), message="Read what was kept")
    return await run_in_thread(lambda: _read(path, part, context), "read_file")


def _read(path: str, part: "Part", context: ToolContext) -> ToolResult:
    with at(context.files, path, READ, follow=True) as place:
        name = name_of(context.files, place.path)
        kind = content_type_of(place.name)
        if kind in IMAGES:
            return _image(place, name, kind)
        with opened_file(place) as (descriptor, status):
            if b"\0" in os.pread(descriptor, BINARY_PROBE, 0):
                raise ToolError(f"{path!r:.200} is binary: {kind or 'not text'}, {status.st_size} bytes")
            with os.fdopen(os.dup(descriptor), "rb") as file:
                part.read(file, status.st_size, context)
    return ToolResult(part.told(name), message=f"Read {name}")


def _image(place: Place, name: str, kind: str) -> ToolResult:
    data = read_bytes(place, LARGEST_IMAGE)
    return ToolResult([f"{name}: {kind}, {len(data)} bytes", embed(data, kind)], message=f"Looked at {name}")


@dataclass(slots=True)
class Part:
    """Some lines of a file, as far as they were read.

    Attributes:
        offset: the first line.
        limit: how many.
        lines: them.
        total: how many lines the file has, as far as is known.
        is_whole: whether the file was read to its end.
        version: which one it is, in that case.
        is_crlf: whether lines end as on Windows.
        is_odd: whether something in it is no UTF-8.
    """

    offset: int
    limit: int
    lines: list[str] = field(default_factory=list)
    size: int = 0
    total: int = 0
    is_whole: bool = False
    version: str = ""
    is_crlf: bool = False
    is_odd: bool = False

    @property
    def is_full(self) -> bool:
        """Whether no more lines are wanted."""
        return len(self.lines) >= self.limit or self.size >= MOST_CHARACTERS

    def read(self, file: BinaryIO, size: int, context: ToolContext) -> None:
        """Read them; to the end, if the file is not too large for that."""
        digest = sha256()
        for line, length, raw in _lines(file):
            digest.update(raw)
            if length:
                self.total += 1
                if self.total >= self.offset and not self.is_full:
                    self._add(line, length)
            if context.is_cancelled or (self.is_full and size > LARGEST_WHOLE):
                return
        self.is_whole = True
        self.version = digest.hexdigest()[:8]

    def _add(self, line: bytes, length: int) -> None:
        """Take a line, of which only the beginning may be there."""
        text = line.decode(errors="replace").removesuffix("\n")
        self.is_crlf = self.is_crlf or text.endswith("\r")
        text = text.removesuffix("\r")
        if self.total == 1:
            text = text.removeprefix(BOM)
        if len(text) > LONGEST_LINE:
            text = f"{text[:LONGEST_LINE]}… [the line has {length} bytes]"
        self.is_odd = self.is_odd or "\ufffd" in text
        self.lines.append(text)
        self.size += len(text) + 8

    def told(self, name: str) -> str:
        """Say it to the model."""
        head = [self._place(name)]
        if self.is_whole:
            head.append(f"version {self.version}")
        if self.is_crlf:
            head.append("lines end with CRLF")
        if self.is_odd:
            head.append("some bytes are no UTF-8")
        numbered = (f"{number}\t{line}" for number, line in enumerate(self.lines, self.offset))
        return "\n".join(["; ".join(head), *numbered, *self._rest()])

    def _place(self, name: str) -> str:
        if not self.total:
            return f"{name}: empty"
        if not self.lines:
            raise ToolError(f"{name!r} has {self.total} lines; line {self.offset} is after its end")
        last = self.offset + len(self.lines) - 1
        return f"{name}: lines {self.offset} to {last}" + (f" of {self.total}" if self.is_whole else "")

    def _rest(self) -> list[str]:
        following = self.offset + len(self.lines)
        has_more = self.total >= following or not self.is_whole
        return [f"[there is more: go on with offset={following}]"] if has_more and self.lines else []


def _lines(file: BinaryIO) -> Iterator[tuple[bytes, int, bytes]]:
    """Give the beginning of each line, its length when it is whole, else 0, and the bytes just read."""
    start, length = b"", 0
    while raw := file.readline(PIECE):
        start = start or raw
        length += len(raw)
        is_end = raw.endswith(b"\n") or len(raw) < PIECE
        yield (start, length, raw) if is_end else (b"", 0, raw)
        if is_end:
            start, length = b"", 0
    if length:  # the file ended where a piece did
        yield start, length, b""
