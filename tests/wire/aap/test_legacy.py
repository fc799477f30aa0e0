"""Versions 1 and 2: nothing is lost in a conversion from version 3 and back."""

from copy import deepcopy
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aap_bodies
from agenthost.errors import InvalidValue
from agenthost.wire.aap import v1, v2, v3
from agenthost.wire.json import Json
from agenthost.wire.shape import STRICT, Shape
from strategies import share, values_of

NOUNS = [
    ("tool", v1.ToolSpec, v3.ToolSpec),
    ("agent", v1.AgentInfo, v3.AgentInfo),
    ("turn", v1.SessionTurnRequest, v3.PostSessionTurnRequest),
]
NOUNS_OF_2 = [
    ("session", v2.SessionInfo, v3.SessionInfo),
    ("sessions", v2.SessionListResponse, v3.GetSessionsResponse),
    ("meta", v2.MetaResponse, v3.GetMetaResponse),
]
PAIRS = [(version, *noun) for version in (v1, v2) for noun in NOUNS] + [(v2, *noun) for noun in NOUNS_OF_2]


@pytest.mark.parametrize(("version", "noun", "old", "new"), PAIRS)
def test_a_value_of_version_3_survives_the_older_form(
    version: ModuleType, noun: str, old: Any, new: Any
) -> None:
    from_v3, to_v3 = getattr(version, f"{noun}_from_v3"), getattr(version, f"{noun}_to_v3")

    @settings(max_examples=share(30))
    @given(values_of(new, unknown_keys=True))
    def holds(value: Json) -> None:
        before = deepcopy(value)
        older = Shape[Any](old, STRICT).take(from_v3(value))
        assert to_v3(older) == value == before

    holds()


@pytest.mark.parametrize(("version", "noun", "old", "new"), PAIRS)
def test_an_older_value_survives_version_3(version: ModuleType, noun: str, old: Any, new: Any) -> None:
    from_v3, to_v3 = getattr(version, f"{noun}_from_v3"), getattr(version, f"{noun}_to_v3")

    @settings(max_examples=share(30))
    @given(values_of(old, unknown_keys=True))
    def holds(value: Json) -> None:
        before = deepcopy(value)
        newer = Shape[Any](new, STRICT).take(to_v3(value))
        assert from_v3(newer) == value == before

    holds()


def test_a_tool_has_its_schema_under_another_name() -> None:
    assert v1.tool_from_v3(aap_bodies.tool("parameters", x=1)) == aap_bodies.tool("inputSchema", x=1)
    assert v1.tool_to_v3(aap_bodies.tool("inputSchema", x=1)) == aap_bodies.tool("parameters", x=1)


def test_a_tool_with_both_names_loses_neither() -> None:
    both: Json = {"name": "a", "description": "b", "parameters": {"new": 1}, "inputSchema": {"old": 1}}
    assert v1.tool_from_v3(both)["inputSchema"] == {"new": 1}
    assert v1.tool_to_v3(both)["parameters"] == {"old": 1}
    assert v1.tool_to_v3(v1.tool_from_v3(both)) == both


@pytest.mark.parametrize("version", [v1, v2])
def test_a_server_describes_itself_in_the_version_it_speaks(version: ModuleType) -> None:
    new: Json = {"version": 3, "agents": [aap_bodies.agent("parameters")], "x-more": 1}
    old = {"version": version.VERSION, "agents": [aap_bodies.agent("inputSchema")], "x-more": 1}
    assert version.meta_from_v3(new) == old
    assert version.meta_to_v3(old) == new


def test_version_1_lists_ids_with_the_cursor_under_both_names() -> None:
    sessions: Any = [{"sessionId": name, "agent": aap_bodies.config()} for name in ("s1", "s2")]
    first = v1.sessions_from_v3({"sessions": sessions, "next": "s2"})
    assert first == {"sessions": ["s1", "s2"], "next": "s2", "nextCursor": "s2"}
    assert v1.sessions_from_v3({"sessions": sessions}) == {"sessions": ["s1", "s2"]}


@pytest.mark.parametrize(
    ("cursors", "expected"),
    [({"next": "a"}, "a"), ({"nextCursor": "b"}, "b"), ({"next": "a", "nextCursor": "a"}, "a"), ({}, None)],
)
def test_the_cursor_of_version_1_is_found_under_either_name(cursors: Json, expected: str | None) -> None:
    page: Json = {"sessions": [], **cursors}
    assert v1.next_cursor(page) == expected


@settings(max_examples=share(30))
@given(session=values_of(v3.SessionInfo, unknown_keys=True), history=values_of(v3.History, unknown_keys=True))
def test_version_1_reads_a_session_together_with_its_history(
    session: v3.SessionInfo, history: v3.History
) -> None:
    told = v1.GET_SESSION_RESPONSE.take(v1.session_from_v3(session, history))
    assert told["history"] == history
    assert v1.session_to_v3(told) == ({"tools": [], **session}, history)
    assert "history" not in v1.session_from_v3(session)
    assert v1.session_to_v3(v1.session_from_v3(session)) == ({"tools": [], **session}, {})


@settings(max_examples=share(30))
@given(
    request=values_of(v1.CreateSessionRequest, unknown_keys=True),
    last=values_of(v1.UserMessage, unknown_keys=True),
)
def test_opening_with_a_first_turn_splits_into_two_requests_and_joins_again(
    request: v1.CreateSessionRequest, last: v1.UserMessage
) -> None:
    request["messages"].append(last)
    before = deepcopy(request)
    session, turn = v1.create_to_v3(request)
    assert v3.POST_SESSIONS.take(session).get("messages") == request["messages"][:-1]
    assert v3.POST_TURN.take(turn)["messages"] == [last]
    assert turn.get("stream") == request.get("stream")
    assert v1.create_from_v3(session, turn) == request == before


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        ([], "$.messages: expected a list that ends with a user message, found an empty list"),
        (aap_bodies.history(), "$.messages[4].role: expected 'user', found 'assistant'"),
    ],
)
def test_opening_without_a_question_at_the_end_is_refused(messages: list[Json], message: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        v1.create_to_v3({"agent": {"name": "a"}, "messages": messages})
    assert str(caught.value) == message


def test_a_first_turn_that_answers_a_tool_has_no_older_form() -> None:
    turn: v3.PostSessionTurnRequest = {"messages": [aap_bodies.permission()]}
    with pytest.raises(
        InvalidValue, match=r"^\$\.messages\[0\]\.role: expected 'user', found 'tool_permission'$"
    ):
        v1.create_from_v3({"agent": {"name": "a"}}, turn)


def test_what_the_first_turn_changes_overrides_the_session() -> None:
    session: Any = {"agent": {"name": "a", "options": {"x": "1", "y": "1"}, "tools": []}, "tools": []}
    over = {"name": "b", "options": {"y": "2", "z": "2"}, "tools": [{"name": "t"}]}
    turn: Any = {"agent": over, "messages": [aap_bodies.question()], "tools": [aap_bodies.tool("parameters")]}
    assert v1.create_from_v3(session, turn) == {
        "agent": {"name": "a", "options": {"x": "1", "y": "2", "z": "2"}, "tools": [{"name": "t"}]},
        "messages": [aap_bodies.question()],
        "tools": [aap_bodies.tool("inputSchema")],
    }


@settings(max_examples=share(30))
@given(answer=values_of(v3.PostSessionTurnResponse, unknown_keys=True), opened=st.none() | st.just("s1"))
def test_an_answer_has_the_id_of_the_session_that_it_opened(
    answer: v3.PostSessionTurnResponse, opened: str | None
) -> None:
    older = v1.PUT_SESSION_RESPONSE.take(v1.answer_from_v3(answer, opened))
    assert older.get("sessionId") == opened
    assert v1.answer_to_v3(older) == answer


@pytest.mark.parametrize("answer", aap_bodies.answers())
def test_the_documented_answers_read_alike_in_all_versions(answer: Json) -> None:
    assert v1.answer_from_v3(answer) == answer == v2.answer_to_v3(answer)
