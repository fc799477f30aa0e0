"""Tool results: what a tool returned or raised, as content blocks for people and text for the model.

Knows values and errors, nothing of running a tool or of who asked for it.
"""

import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agenthost.core.recording import told
from agenthost.errors import HostError
from agenthost.wire.ahp.tool import (
    ToolResultContent,
    ToolResultEmbeddedResourceContent,
    ToolResultTextContent,
)
from agenthost.wire.ahp.toolcall import ToolCallError, ToolCallResult
from agenthost.wire.json import JsonObject, copy_json, encode_json
from agenthost.wire.mismatch import Mismatch
from agenthost.wire.shape import STRICT, Shape

__all__ = ["ToolOutcome", "ToolResult", "embed", "failure", "outcome_of", "sentence_of", "text_block"]

_LONGEST = 200
"""How much of the message of an unexpected error the model and the application are shown."""

_PATH = re.compile(r"(?<![\w:/.])(?:~?/|[A-Za-z]:\\)[^\s'\":,;)]+")

_MAGIC: dict[bytes, str] = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"%PDF-": "application/pdf",
}

_BLOCKS: Shape[list[ToolResultContent]] = Shape(list[ToolResultContent], STRICT)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool returns to say everything itself.

    Attributes:
        content: text, content blocks, or both.
        structured: the result as a JSON object.
        message: what was done, in the past tense, for people: `Read 3 files`.
        error: why it failed; the content is kept.
    """

    content: str | Sequence[ToolResultContent | str] = ()
    structured: JsonObject | None = None
    message: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a call came to, well or not."""

    message: str
    content: list[ToolResultContent] = field(default_factory=list)
    structured: JsonObject | None = None
    error: ToolCallError | None = None

    @property
    def success(self) -> bool:
        """Whether the tool did what it was asked for."""
        return self.error is None

    def result(self) -> ToolCallResult:
        """Give the outcome as the result of a tool call."""
        result: ToolCallResult = {"success": self.success, "pastTenseMessage": self.message}
        if self.content:
            result["content"] = self.content
        if self.structured is not None:
            result["structuredContent"] = self.structured
        if self.error is not None:
            result["error"] = self.error
        return result

    def texts(self) -> list[ToolResultTextContent]:
        """Give what the model reads: the error, if any, then the text; never nothing at all."""
        error = self.error["message"] if self.error else None
        return [text_block(text) for text in told(self.content, error)] or [text_block("")]

    @property
    def text(self) -> str:
        """What the model reads, as one text."""
        return "\n".join(block["text"] for block in self.texts())


def outcome_of(value: Any, *, title: str) -> ToolOutcome:
    """Turn what a tool returned into its outcome.

    Raises:
        TypeError: the value has no JSON.
    """
    done = f"Ran {title}"
    if isinstance(value, ToolResult):
        return _outcome_of_result(value, title)
    if value is None or isinstance(value, str):
        return ToolOutcome(done, [text_block(value or "")])
    if isinstance(value, bytes | bytearray | memoryview):
        return ToolOutcome(done, [embed(bytes(value))])
    # A copy, so that it is JSON, nobody else's, and the same as text and as structure.
    plain = copy_json(value)
    text = encode_json(plain).decode()
    if plain and _is_content(plain):
        return ToolOutcome(done, plain)
    structured = plain if type(plain) is dict else {"result": plain}
    return ToolOutcome(done, [text_block(text)], structured)


def failure(sentence: str, *, title: str, code: str) -> ToolOutcome:
    """Make the outcome of a call that failed, with one sentence for the model."""
    return ToolOutcome(f"{title} failed", error={"message": _clean(sentence), "code": code})


def sentence_of(error: BaseException, name: str, *, masked: bool = False) -> str:
    """Say to the model what a tool raised: our own errors as they are, others cut short and without paths.

    If `masked`, only the class of the others is told.
    """
    if isinstance(error, HostError):
        return str(error) or f"{name} failed"
    short = "" if masked else _line_of(error)
    return f"{name} failed: {type(error).__name__}" + (f": {short}" if short else "")


def _line_of(error: BaseException) -> str:
    """Return the text of an error as one line of at most `_LONGEST` characters."""
    try:
        # The text of an error of the system repeats the name of the file; its reason alone does not.
        said = str((isinstance(error, OSError) and error.strerror) or error)
    except Exception:  # it is somebody else's code that makes the text
        return ""
    printable = "".join(one if one.isprintable() else " " for one in said)
    words = _PATH.sub("…", " ".join(printable.split()))
    return words if len(words) <= _LONGEST else words[:_LONGEST] + "…"


def text_block(text: str) -> ToolResultTextContent:
    """Make a block of text."""
    return {"type": "text", "text": _clean(text)}


def embed(data: bytes, content_type: str | None = None) -> ToolResultEmbeddedResourceContent:
    """Make a block of bytes, such as an image; the type of common ones is known by how they begin."""
    kind = content_type or _sniff(data)
    return {"type": "embeddedResource", "data": b64encode(data).decode(), "contentType": kind}


def _outcome_of_result(result: ToolResult, title: str) -> ToolOutcome:
    blocks = [result.content] if isinstance(result.content, str) else result.content
    content = _copy([text_block(block) if isinstance(block, str) else block for block in blocks])
    if not _is_content(content):
        raise TypeError("the content of a ToolResult is not made of content blocks")
    error: ToolCallError | None = None
    if result.error is not None:
        error = {"message": _clean(result.error), "code": "failed"}
    message = result.message or (f"{title} failed" if error else f"Ran {title}")
    return ToolOutcome(_clean(message), content, _copy(result.structured), error)


def _is_content(value: Any) -> bool:
    try:
        _BLOCKS.check(value)
    except Mismatch:
        return False
    return True


def _copy(value: Any) -> Any:
    """Make sure that a value is JSON, and nobody else's: what cannot be written down must not get further."""
    return None if value is None else copy_json(value)


def _clean(text: str) -> str:
    """Replace what UTF-8 cannot hold, such as parts of the name of a file."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def _sniff(data: bytes) -> str:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next(
        (kind for magic, kind in _MAGIC.items() if data.startswith(magic)), "application/octet-stream"
    )
