"""What is refused: always a 4xx with one body, and nothing is stored. What is refused runs nothing either."""

import json
from typing import Any

import pytest

from aap_talking import Speaker, assistant, permission, result, used, user
from rules import rule

IMAGE = "data:image/png;base64,iVBORw0KGgo="


def everything(app: Speaker, session: str) -> Any:
    return app.show(session), app.history(session), app.get(f"{app.base}/sessions")


def create_path(app: Speaker) -> tuple[str, str]:
    return ("POST", f"{app.base}/sessions") if app.number == 3 else ("PUT", f"{app.base}/session")


@rule("X1", "X2")
@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b'{"messages": [}', 400),
        (b"\xff\xfe", 400),
        (b'{"messages": [{"role": "user", "content": "\xff"}]}', 400),
        (b'{"messages": [{"role": "user", "content": "\\ud800"}]}', 400),
        (b'{"messages": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400),
        (b'{"a":' * 200 + b"1" + b"}" * 200, 400),
        (b'{"messages": [{"role": "user", "content": "a", "at": 1e999}]}', 400),
        (b'{"messages": [{"role": "user", "content": "a", "at": ' + b"9" * 5_000 + b"}]}", 400),
        (b'{"messages": NaN}', 400),
        (b"null", 422),
        (b"[]", 422),
        (b'"Hello"', 422),
        (b"5", 422),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_body_that_is_no_json_object_is_refused(app: Speaker, raw: bytes, status: int) -> None:
    session = app.begin("Hello").session
    before = everything(app, session)
    for method, path in (("POST", app.turns(session)), create_path(app)):
        refused = app.ask(method, path, raw=raw)
        assert (refused.status, refused.error["code"]) == (
            status,
            "invalid_json" if status == 400 else "invalid_request",
        )
    assert everything(app, session) == before


@rule("X3", "X6")
@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "$.messages"),
        ({"messages": None}, "$.messages"),
        ({"messages": []}, "$.messages"),
        ({"messages": "Hello"}, "$.messages"),
        ({"messages": ["Hello"]}, "$.messages[0]"),
        ({"messages": [{}]}, "$.messages[0].role"),
        ({"messages": [{"role": "user"}]}, "$.messages[0].content"),
        ({"messages": [{"role": "user", "content": 5}]}, "$.messages[0].content"),
        ({"messages": [{"role": "user", "content": [5]}]}, "$.messages[0].content"),
        ({"messages": [user([{"type": "sound", "url": "a"}])]}, "$.messages[0].content[0].type"),
        ({"messages": [user([{"type": "thinking", "thinking": "a"}])]}, "$.messages[0].content[0].type"),
        ({"messages": [user([used("c", "add")])]}, "$.messages[0].content[0].type"),
        ({"messages": [user([{"type": "text"}])]}, "$.messages[0].content[0].text"),
        ({"messages": [{"role": "system", "content": "a"}]}, "$.messages[0].role"),
        ({"messages": [assistant("a")]}, "$.messages[0].role"),
        ({"messages": [{"role": "User", "content": "a"}]}, "$.messages[0].role"),
        ({"messages": [user("a"), user("b")]}, "$.messages[1]"),
        ({"messages": [user("a"), permission("c")]}, "$.messages[0]"),
        ({"messages": [result("c", "r"), user("a")]}, "$.messages[1]"),
        ({"messages": [{**user("a"), "_private": {"host": {}}}]}, "$.messages[0]._private"),
        ({"messages": [{"role": "tool", "content": "a"}]}, "$.messages[0].toolCallId"),
        ({"messages": [{"role": "tool_permission", "toolCallId": "c"}]}, "$.messages[0].granted"),
        ({"messages": [{**permission("c"), "granted": "yes"}]}, "$.messages[0].granted"),
        ({"messages": [{**permission("c"), "granted": 1}]}, "$.messages[0].granted"),
        ({"messages": [permission("c", reason=5)]}, "$.messages[0].reason"),
        ({"messages": [user("a")], "stream": "fast"}, "$.stream"),
        ({"messages": [user("a")], "stream": True}, "$.stream"),
        ({"messages": [user("a")], "agent": "demo"}, "$.agent"),
        ({"messages": [user("a")], "agent": {"tools": {}}}, "$.agent.tools"),
        ({"messages": [user("a")], "agent": {"tools": [{"trust": True}]}}, "$.agent.tools[0].name"),
        (
            {"messages": [user("a")], "agent": {"tools": [{"name": "add", "trust": 1}]}},
            "$.agent.tools[0].trust",
        ),
        ({"messages": [user("a")], "agent": {"options": []}}, "$.agent.options"),
        ({"messages": [user("a")], "tools": {}}, "$.tools"),
        ({"messages": [user("a")], "tools": [{"name": "a"}]}, "$.tools[0]."),
    ],
    ids=lambda value: json.dumps(value)[:60] if isinstance(value, dict) else value,
)
def test_a_turn_of_the_wrong_shape_is_refused_at_its_field(app: Speaker, body: Any, path: str) -> None:
    session = app.begin("Hello").session
    before = everything(app, session)
    refused = app.ask("POST", app.turns(session), body)
    assert (refused.status, refused.error["code"]) == (422, "invalid_request")
    assert refused.error["path"].startswith(path)
    assert refused.error["message"].startswith(refused.error["path"])
    assert everything(app, session) == before


@rule("X4")
@pytest.mark.parametrize("name", ["nobody", "Demo", "", "demo "])
def test_an_agent_that_is_not_served_is_refused(app: Speaker, name: str) -> None:
    before = app.get(f"{app.base}/sessions")
    refused = app.make({"name": name})
    assert (refused.status, refused.error["path"]) == (422, "$.agent.name")
    assert "'demo'" in refused.error["message"]
    assert app.get(f"{app.base}/sessions") == before


@rule("X4")
@pytest.mark.parametrize(
    ("agent", "tools", "path"),
    [
        ("stepper", [{"name": "nothing"}], "$.agent.tools[0].name"),
        ("stepper", [{"name": "note"}, {"name": "secretly"}], "$.agent.tools[1].name"),
        ("stepper", [{"name": "note"}, {"name": "note", "trust": True}], "$.agent.tools[1].name"),
        ("plain", [{"name": "note"}], "$.agent.tools[0].name"),
    ],
)
def test_a_server_tool_that_the_agent_does_not_offer_is_refused(
    app: Speaker, agent: str, tools: Any, path: str
) -> None:
    session = app.begin("Hello", {"name": agent}).session
    before = app.show(session)
    for refused in (
        app.make({"name": agent, "tools": tools}),
        app.turn(session, "Hello", agent={"tools": tools}),
    ):
        assert (refused.status, refused.error["path"]) == (422, path)
        assert "secretly" not in refused.error["message"].replace("found 'secretly'", "")
    assert app.show(session) == before


@rule("X5")
@pytest.mark.parametrize("names", [["a", "a"], ["note"], ["a", "note"], ["secretly"], [""]])
def test_tool_names_must_be_unique_across_server_and_application(app: Speaker, names: list[str]) -> None:
    agent = {"name": "stepper", "tools": [{"name": "note"}]}
    session = app.begin("Hello", agent).session
    before = everything(app, session)
    own = [app.tool(name) for name in names]
    for refused in (
        app.make(agent, tools=own),
        app.turn(session, "Hello", tools=own),
        app.turn(session, "Hello", tools=own, agent={"tools": agent["tools"]}),
    ):
        assert (refused.status, refused.error["path"]) == (422, f"$.tools[{len(names) - 1}].name")
    assert everything(app, session) == before
    # A tool of the server's that is switched off keeps its name: it may be switched on later.
    refused = app.turn(session, "Hello", tools=[app.tool("other")])
    assert (refused.status, refused.error["path"]) == (422, "$.tools[0].name")


@rule("X5")
@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ("text", ""),
        ([], ""),
        ({"type": "string"}, ".type"),
        ({"type": "thing"}, ".type"),
        ({"type": ["object", 5]}, ".type"),
        ({"properties": []}, ".properties"),
        ({"properties": {"a": {"type": "int"}}}, ".properties.a.type"),
        ({"properties": {"a": {"anyOf": [True, 5]}}}, ".properties.a.anyOf[1]"),
        ({"required": "a"}, ".required"),
        ({"required": [1]}, ".required"),
        ({"properties": {"a": {"enum": 5}}}, ".properties.a.enum"),
    ],
    ids=str,
)
def test_the_schema_of_a_tool_must_be_valid(app: Speaker, schema: Any, path: str) -> None:
    session = app.begin("Hello").session
    for refused in (
        app.make(tools=[app.tool("a"), app.tool("b", schema)]),
        app.turn(session, "Hello", tools=[app.tool("a"), app.tool("b", schema)]),
    ):
        assert (refused.status, refused.error["path"]) == (422, f"$.tools[1].{app.word}{path}")
        assert refused.error["message"].startswith(refused.error["path"])
    assert not app.show(session).get("tools")


@rule("X8")
def test_what_the_agent_does_not_declare_is_refused(app: Speaker) -> None:
    plain = app.begin("Hello", {"name": "plain"}).session
    brief = app.begin("Hello", {"name": "brief"}, stream="message").session
    for session, more, path in (
        (plain, {"stream": "delta"}, "$.stream"),
        (plain, {"stream": "message"}, "$.stream"),
        (brief, {"stream": "delta"}, "$.stream"),
        (brief, {"stream": "none"}, "$.stream"),
        (brief, {}, "$.stream"),
        (plain, {"tools": [app.tool("a")]}, "$.tools"),
    ):
        refused = app.turn(session, "Hello", **more)
        assert (refused.status, refused.error["path"]) == (422, path)
    assert app.turn(plain, "Hello", tools=[]).status == 200
    assert len(app.history(brief, "compacted")) == 2


@rule("X8", "X9")
@pytest.mark.parametrize(
    ("agent", "url"),
    [
        ("demo", "http://a.example/b.png"),
        ("demo", "file:///etc/passwd"),
        ("demo", "javascript:alert(1)"),
        ("demo", ""),
        ("demo", "data:image/png,abc"),
        ("demo", "data:image/png;base64"),
        ("demo", "data:image/png;base64,not base64!"),
        ("demo", "data:image/png;base64,ü"),
        ("demo", "data:text/html;base64,PGI+"),
        ("brief", "https://a.example/b.png"),
        ("plain", "https://a.example/b.png"),
        ("plain", IMAGE),
    ],
)
def test_an_image_that_the_agent_does_not_take_is_refused(app: Speaker, agent: str, url: str) -> None:
    mode = "message" if agent == "brief" else "none"
    content = [{"type": "text", "text": "Look"}, {"type": "image", "url": url}]
    session = app.begin("Hello", {"name": agent}, stream=mode).session
    before = app.show(session)
    refused = app.turn(session, user(content), stream=mode)
    assert (refused.status, refused.error["path"]) == (422, "$.messages[0].content[1].url")
    refused = (
        app.begin(content, {"name": agent}, stream=mode)
        if app.number < 3
        else app.make({"name": agent}, [user(content)])
    )
    assert (refused.status, refused.error["path"]) == (422, "$.messages[0].content[1].url")
    assert app.show(session) == before


@rule("X13")
def test_a_body_that_is_too_large_is_not_even_read(app: Speaker) -> None:
    session = app.begin("Hello").session
    listening = app.open("POST", app.turns(session), raw=b"{}", Content_Length=str(10**12))
    refused = listening.rest()
    assert (refused.status, refused.error["code"]) == (413, "too_large")
