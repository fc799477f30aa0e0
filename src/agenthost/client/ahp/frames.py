"""Frames: what the host sends, decoded.

While a turn streams, nearly all frames are text actions. Those are decoded straight into structs, in a
quarter of the time. A frame with any other field is decoded the general way, so that nothing of it is lost.
"""

from typing import Literal

import msgspec

from agenthost.wire.ahp.actions.text import ChatDelta, ChatReasoning, ChatToolCallDelta, TerminalData
from agenthost.wire.jsonrpc import Message, decode_message

__all__ = ["TextFrame", "TextParams", "decode_frame"]


class TextParams(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """An envelope of the host with a text action, and nothing else."""

    channel: str
    action: ChatDelta | ChatReasoning | ChatToolCallDelta | TerminalData
    serverSeq: int
    origin: None = None
    rejectionReason: None = None


class TextFrame(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """The whole frame of such an envelope."""

    jsonrpc: Literal["2.0"]
    method: Literal["action"]
    params: TextParams


_decode_text = msgspec.json.Decoder(TextFrame).decode


def decode_frame(data: bytes) -> TextFrame | Message:
    """Return a decoded frame.

    Raises:
        BadFrame: it is not a message.
    """
    try:
        return _decode_text(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return decode_message(data)
