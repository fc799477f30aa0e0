"""Frames: what the host sends, decoded.

While a turn streams, nearly all frames are text actions. Those are decoded straight into structs, in a
quarter of the time. A frame with any other field is decoded the general way, so that nothing of it is lost.
"""

from typing import Any, Literal

import msgspec

from agenthost.errors import InvalidValue
from agenthost.wire.ahp.legacy.actions.envelope import ActionEnvelope
from agenthost.wire.ahp.legacy.actions.text import (
    SessionDelta,
    SessionReasoning,
    SessionToolCallDelta,
    TerminalData,
)
from agenthost.wire.ahp.legacy.methods import METHODS
from agenthost.wire.jsonrpc import Message, decode_message

__all__ = ["TextFrame", "TextParams", "decode_frame", "read_envelope"]


class TextParams(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """An envelope of the host with a text action, and nothing else."""

    action: SessionDelta | SessionReasoning | SessionToolCallDelta | TerminalData
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


def read_envelope(params: Any) -> ActionEnvelope:
    """Return the envelope of an `action`: its params (HR-R08), or inside of them, as some hosts send it.

    Raises:
        InvalidValue: it is not an envelope.
    """
    inner = params.get("envelope")
    if "action" not in params and isinstance(inner, dict):
        params = inner
    envelope: ActionEnvelope = METHODS["action"].params.take(params)
    if "type" not in envelope["action"]:
        raise InvalidValue("$.action.type", "a string", "nothing")
    return envelope
