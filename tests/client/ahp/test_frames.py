"""Frames: the fast and the general way decode the same."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.client.ahp.dialect import CurrentDialect
from agenthost.client.ahp.frames import TextFrame, decode_frame
from agenthost.client.ahp.legacy_dialect import LegacyDialect
from agenthost.client.ahp.observable_replica import ObservableReplica
from agenthost.errors import InvalidValue
from agenthost.wire.jsonrpc import BadFrame, Notification, decode_message

DIALECT = CurrentDialect()
TEXTS = {
    "chat/delta": ("turnId", "partId", "content"),
    "chat/reasoning": ("turnId", "partId", "content"),
    "chat/toolCallDelta": ("turnId", "toolCallId", "content"),
    "terminal/data": ("data",),
}


def action_frame(action: Any, **more: Any) -> bytes:
    params = {"channel": "a:/1", "action": action, "serverSeq": 7, **more}
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
    (envelope,) = DIALECT.read_envelopes(message.params)
    assert found.params.channel == envelope["channel"]
    assert found.params.serverSeq == envelope["serverSeq"]
    assert all(found.params.action[key] == value for key, value in dict(envelope["action"]).items())


@pytest.mark.parametrize(
    "more", [{"origin": {"clientId": "a", "clientSeq": 1}}, {"rejectionReason": "no"}, {"mood": 1}]
)
def test_an_envelope_with_other_fields_is_decoded_the_general_way(more: Any) -> None:
    action = {"type": "terminal/data", "data": "x"}
    found = decode_frame(action_frame(action, **more))
    assert isinstance(found, Notification)
    (envelope,) = DIALECT.read_envelopes(found.params)
    assert envelope == {"channel": "a:/1", "action": action, "serverSeq": 7, **more}


def test_what_is_not_a_message_is_a_bad_frame() -> None:
    for data in (b"", b"\xff", b"[]", b"[" * 5000, b'{"jsonrpc":"2.0","method":5}'):
        with pytest.raises(BadFrame):
            decode_frame(data)


@pytest.mark.parametrize(
    "params", [{}, {"envelope": 5}, {"action": {}, "serverSeq": 1}, {"action": {"type": "x/y"}}]
)
def test_what_is_not_an_envelope_is_invalid(params: Any) -> None:
    for dialect in (DIALECT, LegacyDialect(ObservableReplica("me"))):
        with pytest.raises(InvalidValue):
            list(dialect.read_envelopes(params))
