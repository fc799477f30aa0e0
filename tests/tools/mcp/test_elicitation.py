"""What a server asks for while it works: asked in the turn of its call, in each kind of question."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agenthost.host.authoring.questions import Answers, Choice
from agenthost.tools.mcp import McpServer
from agenthost.tools.mcp.questions import UnsupportedForm, answers_to_content, questions_from_schema
from hosting import run
from mcp_calling import caller
from mcp_serving import on_pipes
from talking import Talk, talking
from turning import pass_time, until_call

Every = Callable[..., McpServer]

FORM = "every_trigger-elicitation-request"


def kinds(request: Any) -> dict[str, str]:
    return {one["id"]: one["kind"] for one in request["questions"]}


def test_a_form_is_asked_in_the_turn_and_its_answers_reach_the_server(tmp_path: Path, every: Every) -> None:
    async def story() -> None:
        async with talking(tmp_path, caller(every(trust=True))) as host:
            talk = await Talk.begin(host)
            await talk.send(FORM)
            asked = await talk.hear_one("inputRequested")
            request = asked["request"]
            assert request["message"] == "every: Please provide inputs for the following fields:"
            assert kinds(request) == {
                "name": "text",
                "check": "boolean",
                "firstLine": "text",
                "email": "text",
                "homepage": "text",
                "birthdate": "text",
                "integer": "integer",
                "number": "number",
                "untitledSingleSelectEnum": "single-select",
                "untitledMultipleSelectEnum": "multi-select",
                "titledSingleSelectEnum": "single-select",
                "titledMultipleSelectEnum": "multi-select",
                "legacyTitledEnum": "single-select",
            }
            answers = {
                "name": {"kind": "text", "value": "Ann"},
                "check": {"kind": "boolean", "value": True},
                "integer": {"kind": "number", "value": 7},
                "titledSingleSelectEnum": {"kind": "selected", "value": "hero-2"},
                "titledMultipleSelectEnum": {"kind": "selected-many", "value": ["fish-1", "fish-3"]},
            }
            assert await talk.reply(asked, answers) is None
            await talk.finish()
            for words in ('"name": "Ann"', '"check": true', '"integer": 7', "hero-2", "fish-3"):
                assert words in talk.answer
            assert '"action": "accept"' in talk.answer
            await talk.send(FORM)
            await talk.reply(await talk.hear_one("inputRequested"), response="decline")
            await talk.finish()
            assert "User declined to provide the requested information" in talk.answer
            await talk.send(FORM)
            await talk.reply(await talk.hear_one("inputRequested"), response="cancel")
            await talk.finish()
            assert "User cancelled the elicitation dialog" in talk.answer

    run(story)


def test_a_page_is_shown_by_its_link_also_when_it_comes_as_an_error(tmp_path: Path, every: Every) -> None:
    async def story() -> None:
        async with talking(tmp_path, caller(every(trust=True))) as host:
            talk = await Talk.begin(host)
            await talk.send('every_trigger-url-elicitation {"url": "https://a.example/x", "errorPath": true}')
            first = (await talk.hear_one("inputRequested"))["request"]
            assert first["url"] == "https://modelcontextprotocol.io"
            await talk.reply({"request": first})
            second = (await talk.hear_one("inputRequested"))["request"]
            assert (second["url"], second.get("questions")) == ("https://a.example/x", None)
            await talk.reply({"request": second})
            await talk.finish()
            assert talk.answer.startswith("done: ")
            assert '"action": "accept"' in talk.answer

    run(story)


def test_by_http_each_session_is_asked_for_its_own_call(tmp_path: Path, url: str) -> None:
    async def story() -> None:
        async with talking(tmp_path, caller(McpServer("every", url=url, trust=True))) as host:
            talks = [await Talk.begin(host) for _ in range(3)]
            for talk in talks:
                await talk.send(FORM)
            asked = [await talk.hear_one("inputRequested") for talk in talks]
            for number, (talk, one) in enumerate(zip(talks, asked, strict=True)):
                await talk.reply(one, {"name": {"kind": "text", "value": f"Number {number}"}})
                await talk.finish()
                assert f"- Name: Number {number}" in talk.answer

    run(story)


def test_a_cancelled_turn_takes_its_question_along(tmp_path: Path, every: Every) -> None:
    async def story() -> None:
        async with talking(tmp_path, caller(every(trust=True))) as host:
            talk = await Talk.begin(host)
            await talk.send(FORM)
            await talk.hear_one("inputRequested")
            await talk.cancel()
            await talk.finish()
            assert "inputRequests" not in talk.state

    run(story)


def test_over_stdio_nobody_is_asked_for_another_session_and_turns_take_turns(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        async with talking(tmp_path, caller(on_pipes(trust=True))) as host:
            busy, asking = await Talk.begin(host), await Talk.begin(host)
            await busy.send('every_trigger-long-running-operation {"duration": 60, "steps": 600}')
            await busy.hear_one("toolCallContentChanged")
            await asking.send(FORM)
            await asking.finish()
            assert asking.answer == (
                "failed: MCP error -32600: calls of several turns are running, and the request does not"
                " say which one it belongs to"
            )
            await asking.send(FORM)
            await until_call(asking, "running")
            await pass_time(0.2)
            assert "inputRequests" not in asking.state  # it waits for the other now
            await busy.cancel()
            await asking.reply(await asking.hear_one("inputRequested"), response="decline")
            await asking.finish()

    run(story)


@pytest.mark.parametrize(
    ("field", "question"),
    [
        ({"type": "string", "minLength": 1, "format": "email"}, {"kind": "text", "minimum": 1}),
        ({"type": "number", "maximum": 3, "default": 2}, {"kind": "number", "maximum": 3, "default": 2}),
        ({"type": "boolean", "default": True}, {"kind": "boolean", "default": True}),
        (
            {"type": "string", "enum": ["a", "b"], "enumNames": ["Ah"], "default": "b"},
            {"kind": "single-select", "options": (Choice("a", "Ah"), Choice("b", recommended=True))},
        ),
        (
            {"type": "array", "items": {"anyOf": [{"const": "x", "title": "X"}]}, "minItems": 1},
            {"kind": "multi-select", "options": (Choice("x", "X"),), "minimum": 1},
        ),
    ],
)
def test_each_kind_of_field_is_a_question(field: Any, question: Any) -> None:
    schema = {"properties": {"f": {**field, "title": "T", "description": "D"}}, "required": ["f"]}
    (made,) = questions_from_schema(schema)
    assert (made.id, made.title, made.message, made.required) == ("f", "T", "D", True)
    assert {key: getattr(made, key) for key in question} == question


@pytest.mark.parametrize(
    "properties", [{"f": {"type": "object"}}, {"f": {"type": "array", "items": {}}}, {"f": 5}, [], {"f": {}}]
)
def test_a_form_that_cannot_be_asked_is_refused(properties: Any) -> None:
    with pytest.raises(UnsupportedForm):
        questions_from_schema({"properties": properties})


def test_whole_numbers_are_whole_for_the_server() -> None:
    answers = Answers("accept", {"n": {"state": "submitted", "value": {"kind": "number", "value": 3.0}}})
    content = answers_to_content(answers, {"properties": {"n": {"type": "integer"}}})
    assert content == {"n": 3}
    assert isinstance(content["n"], int)
