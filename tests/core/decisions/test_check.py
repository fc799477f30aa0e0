"""What an edge makes for its client is refused like everything else, as an error with the same sentence."""

from typing import Any

import pytest

from agenthost.core import actions, session_meta
from agenthost.core.decisions import Context, check
from agenthost.core.decisions.grants import Rights
from agenthost.errors import (
    ActionRefused,
    AgentUnavailable,
    GrantMissing,
    HostError,
    InvalidValue,
    SessionNotReady,
    TooLarge,
    TurnInProgress,
)
from agenthost.wire.json import encode_json
from chat_building import BEGUN
from deciding import ME, in_turn, reason, session

START = actions.turn_started("t9", {"text": "Hello", "origin": {"kind": "user"}}, BEGUN)
FORGED = actions.turn_started("t9", {"text": "Hello", "origin": {"kind": "agent"}}, BEGUN)
FOR_YOU = actions.active_client_set({"clientId": "you", "tools": []})
TWO_ALIKE = actions.active_client_set({"clientId": ME, "tools": [{"name": "a"}, {"name": "a"}]})


@pytest.mark.parametrize(
    ("state", "action", "context", "error"),
    [
        (in_turn(), START, {}, TurnInProgress),
        (session(lifecycle="failed"), START, {}, SessionNotReady),
        (session(), START, {"message_bytes": 4}, TooLarge),
        (session(), START, {"lacks": AgentUnavailable("a token is missing")}, AgentUnavailable),
        (session(), START, {"rights": Rights(frozenset())}, GrantMissing),
        (session(), FORGED, {}, InvalidValue),
        (session(), FOR_YOU, {}, ActionRefused),
        (session(), TWO_ALIKE, {}, InvalidValue),
        (session(), actions.turn_cancelled("t1", 5), {}, ActionRefused),
        (session(), actions.turn_resumed("t1"), {}, ActionRefused),
    ],
)
def test_a_refusal_is_an_error_of_its_kind(
    state: Any, action: Any, context: dict[str, Any], error: type[HostError]
) -> None:
    with pytest.raises(error) as raised:
        check(state, action, ME, Context(**context))
    assert str(raised.value) == reason(state, action, **context)


def test_what_is_allowed_raises_nothing() -> None:
    state: Any = session()
    check(state, START, ME, Context(message_bytes=1_000))
    check(state, START, ME, Context(rights=Rights(frozenset({"sessions"}))))


@pytest.mark.parametrize("text", ["x" * 40, "\u0001" * 10, "é" * 20, "\U0001f600" * 10])
def test_the_size_of_a_message_is_that_of_its_json(text: str) -> None:
    state: Any = session()
    action = actions.turn_started("t9", {"text": text, "origin": {"kind": "user"}}, BEGUN)
    size = len('{"text":""}') + len(text.encode()) + 5 * text.count("\u0001")
    check(state, action, ME, Context(message_bytes=size))
    with pytest.raises(TooLarge):
        check(state, action, ME, Context(message_bytes=size - 1))


@pytest.mark.parametrize("more", [{"attachments": []}, {"origin": {"kind": "user", "x-new": ["a" * 90]}}])
def test_what_else_a_message_has_counts_too(more: Any) -> None:
    state: Any = session()
    action: Any = {**START, "message": {**START["message"], **more}}
    size = len(encode_json(action["message"])) - len(',"origin":{"kind":"user"}')
    check(state, action, ME, Context(message_bytes=size))
    with pytest.raises(TooLarge):
        check(state, action, ME, Context(message_bytes=size - 1))


def test_an_edge_may_change_the_model_of_a_session() -> None:
    state: Any = session()
    action = session_meta.model_changed(state.session, {"id": "large"})
    check(state, action, ME, Context(["large"]))
    with pytest.raises(ActionRefused, match="there is no model 'large'"):
        check(state, action, ME, Context(["small"]))
