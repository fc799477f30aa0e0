"""Frames: what the host sends, decoded. Streamed text in one go, all else the general way.

Nearly all frames of a session that talks are text actions. Those are read straight into structs, the frame
and what is in it, in a quarter of the time; one that has more in it than usual is read the general way.
"""

from typing import Any, Literal

import msgspec

from agenthost.errors import InvalidValue
from agenthost.wire.ahp.actions.envelope import ActionEnvelope
from agenthost.wire.ahp.actions.text import SessionDelta, SessionReasoning, SessionToolCallDelta, TerminalData
from agenthost.wire.ahp.methods import METHODS
from agenthost.wire.jsonrpc import Message, decode_message

__all__ = ["TextFrame", "TextParams", "decode_frame", "envelope_of"]


class TextParams(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """An envelope of the host's own, with a text action."""

    action: SessionDelta | SessionReasoning | SessionToolCallDelta | TerminalData
    serverSeq: int
    origin: None = None
    rejectionReason: None = None


class TextFrame(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """The whole frame around it."""

    jsonrpc: Literal["2.0"]
    method: Literal["action"]
    params: TextParams


_decode_text = msgspec.json.Decoder(TextFrame).decode


def decode_frame(data: bytes) -> TextFrame | Message:
    """Decode a frame.

    Raises:
        BadFrame: it holds no message.
    """
    try:
        return _decode_text(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return decode_message(data)


def envelope_of(params: Any) -> ActionEnvelope:
    """Read the params of `action`: the envelope, or an object with it inside, as some hosts send it.

    Raises:
        InvalidValue: it is no envelope.
    """
    inner = params.get("envelope")
    if "action" not in params and isinstance(inner, dict):
        params = inner
    envelope: ActionEnvelope = METHODS["action"].params.take(params)
    if "type" not in envelope["action"]:
        raise InvalidValue("$.action.type", "a string", "nothing")
    return envelope
