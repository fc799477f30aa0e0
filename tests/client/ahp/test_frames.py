"""Frames: the quick way and the general way read the same."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.client.ahp.frames import TextFrame, decode_frame, envelope_of
from agenthost.errors import InvalidValue
from agenthost.wire.jsonrpc import BadFrame, Notification, decode_message

TEXTS = {
    "session/delta": ("session", "turnId", "partId", "content"),
    "session/reasoning": ("session", "turnId", "partId", "content"),
    "session/toolCallDelta": ("session", "turnId", "toolCallId", "content"),
    "terminal/data": ("terminal", "data"),
}


def frame_of(action: Any, **more: Any) -> bytes:
    params = {"action": action, "serverSeq": 7, **more}
    return json.dumps({"jsonrpc": "2.0", "method": "action", "params": params}).encode()


@given(st.sampled_from(sorted(TEXTS)), st.text())
def test_text_is_read_in_one_go(kind: str, text: str) -> None:
    action = {"type": kind, **dict.fromkeys(TEXTS[kind], text)}
    data = frame_of(action)
    if "\\ud" in data.decode():  # half a surrogate pair is no text
        data = frame_of({**action, **dict.fromkeys(TEXTS[kind], "x")})
    found = decode_frame(data)
    assert isinstance(found, TextFrame)
    message = decode_message(data)
    assert isinstance(message, Notification)
    envelope = envelope_of(message.params)
    assert found.params.serverSeq == envelope["serverSeq"]
    assert all(found.params.action[key] == value for key, value in dict(envelope["action"]).items())


@pytest.mark.parametrize(
    "more", [{"origin": {"clientId": "a", "clientSeq": 1}}, {"rejectionReason": "no"}, {"mood": 1}]
)
def test_an_envelope_with_more_in_it_is_read_the_general_way(more: Any) -> None:
    action = {"type": "terminal/data", "terminal": "t", "data": "x"}
    found = decode_frame(frame_of(action, **more))
    assert isinstance(found, Notification)
    assert envelope_of(found.params) == {"action": action, "serverSeq": 7, **more}


def test_what_is_no_message_is_said_to_be_none() -> None:
    for data in (b"", b"\xff", b"[]", b"[" * 5000, b'{"jsonrpc":"2.0","method":5}'):
        with pytest.raises(BadFrame):
            decode_frame(data)


@pytest.mark.parametrize(
    "params", [{}, {"envelope": 5}, {"action": {}, "serverSeq": 1}, {"action": {"type": "x/y"}}]
)
def test_what_is_no_envelope_is_refused(params: Any) -> None:
    with pytest.raises(InvalidValue):
        envelope_of(params)
