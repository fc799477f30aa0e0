"""Tool results: what a tool returned or raised, as content blocks for people and text for the model.

Knows values and errors, nothing of running a tool or of who asked for it.
"""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agenthost.core.media_types import sniff_media_type
from agenthost.core.tool_text import replace_surrogates
from agenthost.core.turn_transcript import result_texts
from agenthost.wire.ahp.tool import (
    ToolResultContent,
    ToolResultEmbeddedResourceContent,
    ToolResultTextContent,
)
from agenthost.wire.ahp.toolcall import ToolCallError, ToolCallResult
from agenthost.wire.error_messages import Mismatch
from agenthost.wire.json import JsonObject, copy_json, encode_json
from agenthost.wire.shape import STRICT, Shape

__all__ = ["ToolOutcome", "ToolResult", "embed", "failure", "outcome_of", "text_block"]

_BLOCKS: Shape[list[ToolResultContent]] = Shape(list[ToolResultContent], STRICT)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool returns to control all parts of its result.

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
    """The outcome of a call, successful or not."""

    message: str
    content: list[ToolResultContent] = field(default_factory=list)
    structured: JsonObject | None = None
    error: ToolCallError | None = None

    @property
    def success(self) -> bool:
        """Whether the tool succeeded."""
        return self.error is None

    def result(self) -> ToolCallResult:
        """Return the outcome as the result of a tool call."""
        result: ToolCallResult = {"success": self.error is None, "pastTenseMessage": self.message}
        if self.content:
            result["content"] = self.content
        if self.structured is not None:
            result["structuredContent"] = self.structured
        if self.error is not None:
            result["error"] = self.error
        return result

    def texts(self) -> list[ToolResultTextContent]:
        """Return what the model reads: the error, if any, then the text. Never empty."""
        error = self.error["message"] if self.error else None
        return [text_block(text) for text in result_texts(self.content, error)] or [text_block("")]

    @property
    def text(self) -> str:
        """What the model reads, as one text."""
        return "\n".join(block["text"] for block in self.texts())


def outcome_of(value: Any, *, title: str) -> ToolOutcome:
    """Turn what a tool returned into its outcome.

    Raises:
        TypeError: the value cannot be encoded as JSON.
    """
    done = f"Ran {title}"
    if isinstance(value, ToolResult):
        return _outcome_of_result(value, title)
    if value is None or isinstance(value, str):
        return ToolOutcome(done, [text_block(value or "")])
    if isinstance(value, bytes | bytearray | memoryview):
        return ToolOutcome(done, [embed(bytes(value))])
    # A copy: certainly JSON, not shared with the tool, and the same as text and as structure.
    plain = copy_json(value)
    text = encode_json(plain).decode()
    if type(plain) is list and plain and _is_content(plain):
        return ToolOutcome(done, plain)
    structured = plain if type(plain) is dict else {"result": plain}
    return ToolOutcome(done, [text_block(text)], structured)


def failure(sentence: str, *, title: str, code: str) -> ToolOutcome:
    """Return the outcome of a failed call, with one sentence for the model."""
    return ToolOutcome(f"{title} failed", error={"message": replace_surrogates(sentence), "code": code})


def text_block(text: str) -> ToolResultTextContent:
    """Return a block of text."""
    return {"type": "text", "text": text if text.isascii() else replace_surrogates(text)}


def embed(data: bytes, content_type: str | None = None) -> ToolResultEmbeddedResourceContent:
    """Return a block with binary data, such as an image; common types are recognized by their first bytes."""
    kind = content_type or sniff_media_type(data) or "application/octet-stream"
    return {"type": "embeddedResource", "data": b64encode(data).decode(), "contentType": kind}


def _outcome_of_result(result: ToolResult, title: str) -> ToolOutcome:
    blocks = [result.content] if isinstance(result.content, str) else result.content
    content = _copy([text_block(block) if isinstance(block, str) else block for block in blocks])
    if not _is_content(content):
        raise TypeError("the content of a ToolResult must be text or content blocks")
    error: ToolCallError | None = None
    if result.error is not None:
        error = {"message": replace_surrogates(result.error), "code": "failed"}
    message = result.message or (f"{title} failed" if error else f"Ran {title}")
    return ToolOutcome(replace_surrogates(message), content, _copy(result.structured), error)


def _is_content(value: Any) -> bool:
    try:
        _BLOCKS.check(value)
    except Mismatch:
        return False
    return True


def _copy(value: Any) -> Any:
    """Copy a value as JSON: it is then not shared, and a value that cannot be stored fails here."""
    return None if value is None else copy_json(value)
