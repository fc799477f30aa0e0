"""Token estimates: how much of a model's context messages take. Uses no model and no tokenizer.

An ASCII character counts as a quarter of a token, and longer UTF-8 sequences as more: about 0.6 for a letter
of Greek, Cyrillic, Hebrew or Arabic, 1 for a character of Chinese, Japanese, Korean or Hindi, 1.4 for an
emoji. Real tokenizers differ by a third or more in either direction, so leave a margin, or provide your own
estimate. All images count the same, however long their URL is. `_private` and unknown keys are not counted.
"""

from collections.abc import Callable
from typing import TypeAlias

from agenthost.core.transcript import Block, Message
from agenthost.wire.json import encode_json

Estimate: TypeAlias = Callable[[Message], int]
"""Returns how many tokens a message takes: not negative, and always the same for the same message."""

IMAGE_TOKENS = 1_600
"""The most that common models charge for one image of ordinary size."""

MESSAGE_TOKENS = 4
"""The overhead of each message, and of each call in it: role and framing."""


def estimate_tokens(message: Message) -> int:
    """Estimate the tokens of a message, in the time that it takes to count its bytes."""
    content = message["content"]
    if isinstance(content, str):
        return MESSAGE_TOKENS + estimate_text(content)
    return MESSAGE_TOKENS + sum(map(_estimate_block, content))


def estimate_text(text: str) -> int:
    """Estimate the tokens of a text."""
    chars = len(text)
    size = chars if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    # A quarter for each character, and three eighths for each byte beyond its first; rounded up.
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
