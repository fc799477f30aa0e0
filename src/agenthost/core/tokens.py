"""Tokens: how much room messages take in a model's context, estimated. Knows no model and no tokenizer.

Text: a quarter token for each ASCII character and more for what UTF-8 writes longer: about 0.6 for a letter
of Greek, Cyrillic, Hebrew or Arabic, 1 for a character of Chinese, Japanese, Korean or Hindi, 1.4 for an
emoji. Real tokenizers differ from that by a third and more either way, so leave a margin, or bring an
estimate of your own. Pictures count alike, whatever their URL weighs. `_private` and unknown keys count
nothing.
"""

from collections.abc import Callable
from typing import TypeAlias

from agenthost.core.transcript import Block, Message
from agenthost.wire.json import encode_json

Estimate: TypeAlias = Callable[[Message], int]
"""How many tokens a message takes: not negative, always the same for the same message."""

IMAGE_TOKENS = 1_600
"""What the common models charge at most for one picture of ordinary size."""

MESSAGE_TOKENS = 4
"""What each message, and each call in one, takes beside its text: its role and its frame."""


def estimate_tokens(message: Message) -> int:
    """Estimate the tokens of a message, without looking at it longer than it takes to count its bytes."""
    content = message["content"]
    if isinstance(content, str):
        return MESSAGE_TOKENS + estimate_text(content)
    return MESSAGE_TOKENS + sum(map(_estimate_block, content))


def estimate_text(text: str) -> int:
    """Estimate the tokens of a text."""
    chars = len(text)
    size = chars if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    # A quarter for each character, and three eighths for each byte that it takes beyond one; rounded up.
    return (2 * chars + 3 * (size - chars) + 7) // 8


def _estimate_block(block: Block) -> int:
    match block["type"]:
        case "text":
            return estimate_text(block["text"])
        case "thinking":
            return estimate_text(block["thinking"])
        case "image":
            return IMAGE_TOKENS
        case "tool_use":
            return MESSAGE_TOKENS + estimate_text(block["name"] + encode_json(block["input"]).decode())
