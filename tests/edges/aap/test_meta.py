"""What a server says of itself, in each version."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from aap_talking import Speaker
from agenthost.agents.demo import demo
from agenthost.edges.aap.openapi import openapi
from agenthost.wire.aap import v1, v2, v3
from rules import rule
from serving import ask

SHAPES: dict[int, Any] = {1: v1.GET_META_RESPONSE, 2: v2.GET_META_RESPONSE, 3: v3.GET_META_RESPONSE}


def agents(app: Speaker) -> dict[str, Any]:
    return {agent["name"]: agent for agent in app.get(f"{app.base}/meta")["agents"]}


@rule("M1")
def test_the_server_names_its_version_and_its_agents(app: Speaker) -> None:
    meta = app.get(f"{app.base}/meta")
    assert meta["version"] == app.number
    assert [agent["name"] for agent in meta["agents"]][:2] == ["demo", "stepper"]
    SHAPES[app.number].take(meta)


@rule("M1")
def test_an_agent_says_what_it_is_and_what_it_can_do(app: Speaker) -> None:
    agent = agents(app)["demo"]
    assert (agent["title"], agent["version"]) == ("Demo", "1.0.0")
    assert agent["description"].startswith("Show what a host can do")
    assert agent["capabilities"] == {
        "history": {"compacted": {}, "full": {}},
        "stream": {"delta": {}, "message": {}, "none": {}},
        "image": {"http": {}, "data": {}},
        "application": {"tools": {}},
    }


@rule("M2")
def test_the_schema_of_a_tool_has_the_name_of_the_version(app: Speaker) -> None:
    tool = next(tool for tool in agents(app)["demo"]["tools"] if tool["name"] == "add")
    assert (tool["title"], tool["description"]) == ("Add", "Add two numbers.")
    assert ({"inputSchema", "parameters"} & tool.keys()) == {app.word}
    assert set(tool[app.word]["properties"]) == {"a", "b"}
    Draft202012Validator.check_schema(tool[app.word])


@rule("M3")
def test_what_an_agent_does_not_offer_is_not_there(app: Speaker) -> None:
    plain = agents(app)["plain"]
    assert plain["capabilities"] == {}
    assert "tools" not in plain
    assert "title" not in plain


@rule("M4")
def test_tools_that_are_not_exposed_are_not_listed(app: Speaker) -> None:
    assert [tool["name"] for tool in agents(app)["stepper"]["tools"]] == ["note", "other", "slow"]


@rule("M5", "O6")
def test_options_are_declared_and_the_models_are_one_of_them(app: Speaker) -> None:
    options = {option["name"]: option for option in agents(app)["demo"]["options"]}
    assert {name: option["type"] for name, option in options.items()} == {
        "style": "select",
        "greeting": "text",
        "token": "secret",
        "model": "select",
    }
    assert (options["style"]["options"], options["style"]["default"]) == (["plain", "loud"], "plain")
    assert options["model"]["options"] == [model.id for model in demo.models]
    assert options["model"]["default"] == "swift"


@rule("M6")
def test_without_a_version_in_the_path_it_is_the_newest(newest: Speaker) -> None:
    assert newest.get("/aap/meta") == newest.get("/aap/v3/meta")
    assert newest.ask("GET", "/aap/v4/meta").error["code"] == "not_found"


@rule("M6")
def test_the_paths_of_one_version_are_not_those_of_another(app: Speaker) -> None:
    wrong = "session" if app.number == 3 else "sessions"
    assert app.ask("GET", f"{app.base}/{wrong}/x/history").status == 404
    assert app.ask("PUT" if app.number == 3 else "POST", f"{app.base}/{wrong}", {}).status in (404, 405)


@rule("M7")
def test_the_openapi_document_is_served_and_valid(newest: Speaker) -> None:
    answer = ask(newest.url, "/openapi.json")
    assert answer.json == openapi()
    for schema in answer.json["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    served = {(method, path) for path, item in answer.json["paths"].items() for method in item}
    assert served == {
        ("get", "/meta"),
        ("get", "/sessions"),
        ("post", "/sessions"),
        ("get", "/sessions/{id}"),
        ("delete", "/sessions/{id}"),
        ("get", "/sessions/{id}/history"),
        ("post", "/sessions/{id}/turns"),
    }


@rule("X11")
@pytest.mark.parametrize("path", ["", "/nothing", "/meta/", "/sessions/", "/sessions/a/b/c"])
def test_an_unknown_path_gets_the_usual_error_body(app: Speaker, path: str) -> None:
    assert app.ask("GET", app.base + path).error == {
        "code": "not_found",
        "message": "there is nothing at this path",
    }


@rule("X11")
@pytest.mark.parametrize("method", ["PATCH", "PUT", "HEAD"])
def test_a_wrong_method_is_refused_with_the_allowed_ones(app: Speaker, method: str) -> None:
    reply = app.ask(method, f"{app.base}/meta")
    assert (reply.status, reply.headers["allow"]) == (405, "GET")
    if method != "HEAD":
        assert reply.error["code"] == "method_not_allowed"
    assert app.ask(method, app.one("x")).headers["allow"].startswith("GET, DELETE")
