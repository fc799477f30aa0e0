"""Frames: the fast and the general way decode the same."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.client.ahp.frames import TextFrame, decode_frame, read_envelope
from agenthost.errors import InvalidValue
from agenthost.wire.jsonrpc import BadFrame, Notification, decode_message

TEXTS = {
    "session/delta": ("session", "turnId", "partId", "content"),
    "session/reasoning": ("session", "turnId", "partId", "content"),
    "session/toolCallDelta": ("session", "turnId", "toolCallId", "content"),
    "terminal/data": ("terminal", "data"),
}


def action_frame(action: Any, **more: Any) -> bytes:
    params = {"action": action, "serverSeq": 7, **more}
    return json.dumps({"jsonrpc": "2.0", "method": "action", "params": params}).encode()


@given(st.sampled_from(sorted(TEXTS)), st.text())
def test_text_actions_are_decoded_fast(kind: str, text: str) -> None:
    action = {"type": kind, **dict.fromkeys(TEXTS[kind], text)}
    data = action_frame(action)
    if "\\ud" in data.decode():  # half a surrogate pair is no text
        data = action_frame({**action, **dict.fromkeys(TEXTS[kind], "x")})
    found = decode_frame(data)
    assert isinstance(found, TextFrame)
    message = decode_message(data)
    assert isinstance(message, Notification)
    envelope = read_envelope(message.params)
    assert found.params.serverSeq == envelope["serverSeq"]
    assert all(found.params.action[key] == value for key, value in dict(envelope["action"]).items())


@pytest.mark.parametrize(
    "more", [{"origin": {"clientId": "a", "clientSeq": 1}}, {"rejectionReason": "no"}, {"mood": 1}]
)
def test_an_envelope_with_other_fields_is_decoded_the_general_way(more: Any) -> None:
    action = {"type": "terminal/data", "terminal": "t", "data": "x"}
    found = decode_frame(action_frame(action, **more))
    assert isinstance(found, Notification)
    assert read_envelope(found.params) == {"action": action, "serverSeq": 7, **more}


def test_what_is_not_a_message_is_a_bad_frame() -> None:
    for data in (b"", b"\xff", b"[]", b"[" * 5000, b'{"jsonrpc":"2.0","method":5}'):
        with pytest.raises(BadFrame):
            decode_frame(data)


@pytest.mark.parametrize(
    "params", [{}, {"envelope": 5}, {"action": {}, "serverSeq": 1}, {"action": {"type": "x/y"}}]
)
def test_what_is_not_an_envelope_is_invalid(params: Any) -> None:
    with pytest.raises(InvalidValue):
        read_envelope(params)
