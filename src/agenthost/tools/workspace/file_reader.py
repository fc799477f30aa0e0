"""`read_file`: part of a text file with line numbers, or an image. Any size; the result is limited."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from io import BytesIO
from typing import Annotated, BinaryIO

from agenthost.errors import ToolError
from agenthost.host.authoring.threads import run_in_thread
from agenthost.host.authoring.tool import tool
from agenthost.host.authoring.tool_context import ToolContext
from agenthost.host.authoring.tool_results import ToolResult, embed
from agenthost.host.files.jail import READ, Place
from agenthost.host.files.reader import guess_content_type, opened_file
from agenthost.host.files.reader import read_file as read_bytes
from agenthost.tools.workspace.paths import open_path, relative_path
from agenthost.tools.workspace.texts import BOM

__all__ = ["FilePath", "read_file"]

FilePath = Annotated[str, "the file, relative to the workspace"]

MAX_LINES = 2_000
MAX_CHARACTERS = 48_000
"""The limits of one call; the model can ask for the rest."""

MAX_LINE_CHARACTERS = 2_000
MAX_IMAGE_BYTES = 5 * 1024 * 1024
MAX_WHOLE_BYTES = 64 * 1024 * 1024
"""Files up to this size are read to the end, to report their version and number of lines."""

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
    limit: Annotated[int, f"how many lines, at most {MAX_LINES}"] = MAX_LINES,
) -> ToolResult:
    """Read a file of the workspace: text with line numbers (a number, a tab, the line), or an image.

    The first line of the result names the part and the version of the file.
    """
    if offset < 1 or limit < 1:
        raise ToolError("`offset` and `limit` have to be at least 1")
    part = FilePart(offset, min(limit, MAX_LINES))
    kept = await context.kept(path)
    if kept is not None:  # the whole output of a command, under the path that `run` reported
        part.read(BytesIO(kept), len(kept), context)
        return ToolResult(part.format(path), message="Read the output of a command")
    return await run_in_thread(lambda: _read(path, part, context), "read_file")


def _read(path: str, part: "FilePart", context: ToolContext) -> ToolResult:
    with open_path(context.files, path, READ, follow=True) as place:
        name = relative_path(context.files, place.path)
        kind = guess_content_type(place.name)
        if kind in IMAGES:
            return _image(place, name, kind)
        with opened_file(place) as (descriptor, status):
            if b"\0" in os.pread(descriptor, BINARY_PROBE, 0):
                raise ToolError(f"{path!r:.200} is binary: {kind or 'not text'}, {status.st_size} bytes")
            with os.fdopen(os.dup(descriptor), "rb") as file:
                part.read(file, status.st_size, context)
    return ToolResult(part.format(name), message=f"Read {name}")


def _image(place: Place, name: str, kind: str) -> ToolResult:
    data = read_bytes(place, MAX_IMAGE_BYTES)
    return ToolResult([f"{name}: {kind}, {len(data)} bytes", embed(data, kind)], message=f"Looked at {name}")


@dataclass(slots=True)
class FilePart:
    """Some lines of a file.

    Attributes:
        offset: the number of the first line.
        limit: how many lines are wanted.
        lines: the lines read so far.
        size: about how many characters they have.
        total: how many lines of the file were seen.
        is_whole: whether the file was read to its end.
        version: its version, if it was.
        is_crlf: whether lines end with CRLF.
        is_odd: whether some bytes are not UTF-8.
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
        """Whether a limit is reached."""
        return len(self.lines) >= self.limit or self.size >= MAX_CHARACTERS

    def read(self, file: BinaryIO, size: int, context: ToolContext) -> None:
        """Read the lines, and the rest of the file if it is not too large."""
        digest = sha256()
        for line, length, raw in _lines(file):
            digest.update(raw)
            if length:
                self.total += 1
                if self.total >= self.offset and not self.is_full:
                    self._add(line, length)
            if context.is_cancelled or (self.is_full and size > MAX_WHOLE_BYTES):
                return
        self.is_whole = True
        self.version = digest.hexdigest()[:8]

    def _add(self, line: bytes, length: int) -> None:
        """Add a line, which may be cut off."""
        text = line.decode(errors="replace").removesuffix("\n")
        self.is_crlf = self.is_crlf or text.endswith("\r")
        text = text.removesuffix("\r")
        if self.total == 1:
            text = text.removeprefix(BOM)
        if len(text) > MAX_LINE_CHARACTERS:
            text = f"{text[:MAX_LINE_CHARACTERS]}… [the line has {length} bytes]"
        self.is_odd = self.is_odd or "\ufffd" in text
        self.lines.append(text)
        self.size += len(text) + 8

    def format(self, name: str) -> str:
        """Return the result for the model."""
        head = [self._place(name)]
        if self.is_whole:
            head.append(f"version {self.version}")
        if self.is_crlf:
            head.append("lines end with CRLF")
        if self.is_odd:
            head.append("some bytes are not UTF-8")
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
    """Yield `(start, length, raw)`: the bytes just read, and at the end of a line its start and length."""
    start, length = b"", 0
    while raw := file.readline(PIECE):
        start = start or raw
        length += len(raw)
        is_end = raw.endswith(b"\n") or len(raw) < PIECE
        yield (start, length, raw) if is_end else (b"", 0, raw)
        if is_end:
            start, length = b"", 0
    if length:  # the file ends at a piece boundary
        yield start, length, b""
