"""The bodies of every version: what is taken as it is, and how the rest is refused."""

from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aap_bodies
from agenthost.errors import InvalidValue, NotJson
from agenthost.wire.aap import VERSIONED, v1, v2, v3
from agenthost.wire.json import MAX_GIVEN_DEPTH, Json, decode_json, encode_json
from agenthost.wire.shape import Shape
from strategies import share, values_of

VERSIONS = [(v1, "inputSchema"), (v2, "inputSchema"), (v3, "parameters")]
SHAPES = [
    pytest.param(shape, id=f"v{version.VERSION} {path}")
    for version, _ in VERSIONS
    for path, shape in [*version.REQUESTS.items(), *version.RESPONSES.items()]
]


def requests(version: ModuleType, key: str) -> list[tuple[str, Json]]:
    turn = {"agent": {"options": {"language": "English"}}, "stream": "delta", "tools": [aap_bodies.tool(key)]}
    denied = aap_bodies.permission(granted=False, reason="No, thanks")
    results = [aap_bodies.history()[3], aap_bodies.permission(), denied]
    path = "POST /sessions/:id/turns" if version is v3 else "POST /session/:id"
    opening = "POST /sessions" if version is v3 else "PUT /session"
    return [
        (path, {**turn, "messages": [aap_bodies.question()]}),
        (path, {"messages": results}),
        (opening, {"agent": aap_bodies.config(), "messages": [*aap_bodies.history(), aap_bodies.question()]}),
        (opening, {"agent": {"name": "a"}, "messages": [], "tools": [aap_bodies.tool(key)]}),
    ]


def responses(version: ModuleType, key: str) -> list[tuple[str, Json]]:
    session = {"sessionId": "s1", "agent": aap_bodies.config(), "tools": [aap_bodies.tool(key)]}
    past = {"compacted": aap_bodies.history(), "full": []}
    meta = ("GET /meta", {"version": version.VERSION, "agents": [aap_bodies.agent(key)]})
    if version is v3:
        turns = [("POST /sessions/:id/turns", answer) for answer in aap_bodies.answers()]
        opened = ("POST /sessions", {"sessionId": "s1"})
        pages = [("GET /sessions", {"sessions": [session], "next": "s1"}), ("GET /sessions/:id", session)]
        return [meta, opened, *pages, ("GET /sessions/:id/history", {"history": past}), *turns]
    turns = [("POST /session/:id", answer) for answer in aap_bodies.answers()]
    opened = ("PUT /session", {"sessionId": "s1", **aap_bodies.answers()[0]})
    if version is v2:
        page = ("GET /sessions", {"sessions": [session], "next": "s1"})
        return [meta, opened, page, ("GET /session/:id/history", {"history": past}), *turns]
    page = ("GET /sessions", {"sessions": ["s1", "s2"], "nextCursor": "s2"})
    return [meta, opened, page, ("GET /session/:id", {**session, "history": past}), *turns]


REQUESTS = [
    (version.REQUESTS[path], body) for version, key in VERSIONS for path, body in requests(version, key)
]
RESPONSES = [
    (version.RESPONSES[path], body) for version, key in VERSIONS for path, body in responses(version, key)
]


@pytest.mark.parametrize(("shape", "body"), [*REQUESTS, *RESPONSES])
def test_the_documented_bodies_are_accepted_unchanged(shape: Shape[Any], body: Json) -> None:
    assert shape.decode(encode_json(body)) == body


@pytest.mark.parametrize("shape", SHAPES)
def test_a_body_keeps_every_key_that_we_do_not_know(shape: Shape[Any]) -> None:
    @settings(max_examples=share(25))
    @given(values_of(shape.kind, unknown_keys=True))
    def holds(body: Json) -> None:
        assert shape.decode(encode_json(body)) == body

    holds()


USER = {"role": "user", "content": "hi"}


@pytest.mark.parametrize(
    ("body", "path", "expected", "found"),
    [
        ([], "$", "an object (PostSessionTurnRequest)", "a list"),
        ({}, "$.messages", "a list", "nothing"),
        ({"messages": None}, "$.messages", "a list", "null"),
        (
            {"messages": [USER, {"role": "user", "content": 5}]},
            "$.messages[1].content",
            "a string or a list",
            "the number 5",
        ),
        ({"messages": [{"role": "user"}]}, "$.messages[0].content", "a string or a list", "nothing"),
        (
            {"messages": [{"content": "x"}]},
            "$.messages[0].role",
            "'user' or 'tool' or 'tool_permission'",
            "nothing",
        ),
        (
            {"messages": [{"role": "assistant", "content": "x"}]},
            "$.messages[0].role",
            "'user' or 'tool' or 'tool_permission'",
            "'assistant'",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "audio"}]}]},
            "$.messages[0].content[0].type",
            "'text' or 'thinking' or 'tool_use' or 'image'",
            "'audio'",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "text"}]}]},
            "$.messages[0].content[0].text",
            "a string",
            "nothing",
        ),
        ({"messages": [{"role": "tool", "content": "x"}]}, "$.messages[0].toolCallId", "a string", "nothing"),
        (
            {"messages": [{"role": "tool_permission", "toolCallId": "c", "granted": "yes"}]},
            "$.messages[0].granted",
            "true or false",
            "a string",
        ),
        ({"messages": [USER], "stream": "fast"}, "$.stream", "'delta' or 'message' or 'none'", "'fast'"),
        ({"messages": [USER], "stream": None}, "$.stream", "'delta' or 'message' or 'none'", "null"),
        (
            {"messages": [USER], "agent": {"options": {"size": 3}}},
            "$.agent.options.size",
            "a string",
            "the number 3",
        ),
        (
            {"messages": [USER], "agent": {"tools": [{"trust": True}]}},
            "$.agent.tools[0].name",
            "a string",
            "nothing",
        ),
        (
            {"messages": [USER], "tools": [{"name": "a", "description": "b"}]},
            "$.tools[0].parameters",
            "an object",
            "nothing",
        ),
    ],
)
def test_a_bad_turn_is_refused_with_the_path_and_the_reason(
    body: Json, path: str, expected: str, found: str
) -> None:
    with pytest.raises(InvalidValue) as caught:
        v3.POST_TURN.decode(encode_json(body))
    assert str(caught.value) == f"{path}: expected {expected}, found {found}"
    assert (caught.value.path, caught.value.expected, caught.value.found) == (path, expected, found)


def test_each_version_asks_for_the_schema_of_a_tool_under_its_own_name() -> None:
    body = {"messages": [USER], "tools": [aap_bodies.tool("parameters")]}
    assert v3.POST_TURN.take(body) is body
    for older in (v1, v2):
        with pytest.raises(
            InvalidValue, match=r"^\$\.tools\[0\]\.inputSchema: expected an object, found nothing$"
        ):
            older.POST_SESSION.take(body)


def test_a_first_turn_must_have_messages_in_the_older_versions_only() -> None:
    body = {"agent": {"name": "a"}}
    assert v3.POST_SESSIONS.take(body) is body
    for older in (v1, v2):
        with pytest.raises(InvalidValue, match=r"^\$\.messages: expected a list, found nothing$"):
            older.PUT_SESSION.take(body)


def test_a_session_needs_the_name_of_its_agent() -> None:
    with pytest.raises(InvalidValue, match=r"^\$\.agent\.name: expected a string, found nothing$"):
        v3.POST_SESSIONS.take({"agent": {"options": {}}})


def test_a_newer_server_is_understood_as_far_as_possible() -> None:
    novel = {"role": "narrator", "content": {"some": "thing"}}
    block = {"role": "assistant", "content": [{"type": "audio", "url": "x"}]}
    body = {"stopReason": "bored", "messages": [novel, block], "cost": 3}
    assert v3.POST_TURN_RESPONSE.decode(encode_json(body)) == body


def test_a_null_that_means_absent_is_removed_from_a_response() -> None:
    page = v3.GET_SESSIONS_RESPONSE.decode(
        b'{"sessions":[{"sessionId":"s","agent":{"name":"a"},"tools":null}],"next":null}'
    )
    assert page == {"sessions": [{"sessionId": "s", "agent": {"name": "a"}}]}


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_any_version_of_a_server_can_be_recognized(version: int) -> None:
    assert VERSIONED.take({"version": version, "agents": "whatever"})["version"] == version


def test_another_version_is_not_read_as_version_3() -> None:
    with pytest.raises(InvalidValue, match=r"^\$\.version: expected the number 3, found the number 2$"):
        v3.GET_META_RESPONSE.take({"version": 2, "agents": []})


def nested(depth: int) -> bytes:
    inside = b"[" * depth + b"]" * depth
    return b'{"toolCallId":"c","role":"tool","content":"x","messages":[],"extra":' + inside + b"}"


def test_nesting_is_accepted_up_to_the_limit_and_refused_beyond() -> None:
    assert v3.POST_TURN.decode(nested(MAX_GIVEN_DEPTH - 1))["messages"] == []
    for depth in (MAX_GIVEN_DEPTH, 10_000, 1_000_000):
        with pytest.raises(NotJson, match="nested deeper than 96 levels"):
            v3.POST_TURN.decode(nested(depth))


@pytest.mark.parametrize("number", [b"1e400", b"-1e400", b"1" * 5000, b"NaN", b"Infinity"])
def test_a_number_out_of_range_is_refused(number: bytes) -> None:
    with pytest.raises(NotJson):
        v3.POST_TURN.decode(b'{"messages":[],"x":' + number + b"}")


def test_a_huge_number_in_the_wrong_place_is_shortened_in_the_error() -> None:
    with pytest.raises(InvalidValue) as caught:
        v3.POST_TURN.decode(b'{"messages":' + b"9" * 300 + b"}")
    assert caught.value.found.startswith("the number 9")
    assert len(caught.value.found) < 60


@pytest.mark.parametrize(
    "text", [rb'"\ud800"', rb'"\udc00x"', rb'"\ud800\ud800"', b'"\xed\xa0\x80"', b'"\xff"']
)
def test_half_a_character_is_refused(text: bytes) -> None:
    with pytest.raises(NotJson):
        v3.POST_TURN.decode(b'{"messages":[{"role":"user","content":' + text + b"}]}")


def test_megabytes_pass_and_long_texts_are_not_repeated_in_errors() -> None:
    long = "x" * 5_000_000
    body = {"messages": [{"role": "user", "content": long}]}
    assert v3.POST_TURN.decode(encode_json(body)) == body
    with pytest.raises(InvalidValue) as caught:
        v3.POST_TURN.decode(encode_json({"messages": [], "stream": long, long: 1}))
    assert len(str(caught.value)) < 200


@given(st.binary(max_size=40) | st.text(max_size=40).map(str.encode))
def test_arbitrary_bytes_raise_nothing_but_our_own_errors(data: bytes) -> None:
    with pytest.raises((NotJson, InvalidValue)):
        v3.POST_TURN.decode(data)


@pytest.mark.parametrize("shape", SHAPES)
def test_all_that_is_wrong_with_a_partial_value_is_what_is_missing(shape: Shape[Any]) -> None:
    @settings(max_examples=share(15))
    @given(values_of(shape.kind, partial=True, unknown_keys=True))
    def holds(body: Json) -> None:
        assert problem(shape, body) in (None, "nothing")

    holds()


def problem(shape: Shape[Any], body: Json) -> str | None:
    try:
        shape.take(decode_json(encode_json(body)))
    except InvalidValue as error:
        return error.found
    return None
