"""Servers of the newest protocol, and odd ones: pages, other tools, questions in answers, odd schemas."""

from pathlib import Path
from typing import Any

import pytest

from agenthost.tools.mcp import McpServer
from agenthost.tools.mcp.offered_tools import MAX_DEFINITION_BYTES, MAX_TOOLS
from hosting import run
from mcp_shop import Shop, selling, shown
from talking import Talk
from turning import until


def test_all_pages_are_read_and_other_tools_are_heard_of(tmp_path: Path) -> None:
    async def story() -> None:
        shop = Shop("a", "b", "c", "d", "e")
        async with selling(tmp_path, shop) as host:
            talk = await Talk.begin(host)
            assert shown(talk) == ["shop_a", "shop_b", "shop_c", "shop_d", "shop_e"]
            await talk.say("shop_e")
            assert talk.answer == "done: called e"
            await shop.change("a", "new")
            await until(talk, lambda _: shown(talk) == ["shop_a", "shop_new"])
            await talk.say("shop_new")
            assert talk.answer == "done: called new"

    run(story)


def test_a_question_in_an_answer_is_asked_of_who_called(tmp_path: Path) -> None:
    async def story() -> None:
        async with selling(tmp_path, Shop("ask")) as host:
            talk, other = await Talk.begin(host), await Talk.begin(host)
            for one in (talk, other):
                await one.send("shop_ask")
            for one, size in ((other, 1), (talk, 2)):
                asked = await one.hear_one("inputRequested")
                assert asked["request"]["message"] == "shop: How big?"
                await one.reply(asked, {"size": {"kind": "number", "value": size}})
                await one.finish()
                assert one.answer == f"done: size {size}"

    run(story)


def test_invalid_names_are_replaced_and_invalid_schemas_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        shop = Shop("files/read", "files.read", "x" * 100, "bad")
        shop.schemas["bad"] = {"type": "object", "properties": 5}
        async with selling(tmp_path, shop) as host:
            talk = await Talk.begin(host)
            first, second, third = shown(talk)
            assert first == "shop_files_read"
            assert second.startswith("shop_files_read_")
            assert len(third) == 64
            await talk.say(second)
            assert talk.answer == "done: called files.read"

    run(story)
    assert "MCP server shop: the tool shop_bad is left out: $.inputSchema.properties" in caplog.text


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "MCP server 'x': give either a command to run or a url, not both"),
        ({"command": "a", "url": "http://b"}, "give either a command to run or a url, not both"),
        ({"url": "ftp://b"}, "expected a url that begins with http:// or https://, found 'ftp://b'"),
        ({"url": "http://b", "env": {"A": "1"}}, "env and cwd are for a command; a url takes headers"),
        ({"command": "a", "headers": {"A": "1"}}, "headers are for a url; a command takes env"),
        ({"command": "'a"}, "is not a command"),
        ({"command": "a", "tools": "echo"}, "tools is a list of names, not one name"),
    ],
)
def test_invalid_settings_are_refused_in_the_declaration(given: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        McpServer("x", **given)


def test_a_name_is_checked_and_a_secret_that_is_written_down_is_warned_of(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(ValueError, match="'a b' is not a valid name for an MCP server"):
        McpServer("a b", command="x")
    McpServer("x", url="http://b", headers={"Authorization": "Bearer abc123"})
    assert "Authorization contains a literal secret; use a reference instead: $NAME" in caplog.text
    assert "abc123" not in caplog.text


def test_of_20000_tools_the_first_are_offered_and_those_that_are_named_are_always(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        shop = Shop(*(f"t{number}" for number in range(20_000)), page=20_000)
        async with selling(tmp_path, shop) as host:
            talk = await Talk.begin(host)
            assert shown(talk) == [f"shop_t{number}" for number in range(MAX_TOOLS)]
        async with selling(tmp_path, shop, tools=["t1500"]) as host:
            assert shown(await Talk.begin(host)) == ["shop_t1500"]

    run(story)
    assert "MCP server shop lists more than 2000 tools" in caplog.text
    assert f"only the first {MAX_TOOLS} are used" in caplog.text


def test_a_tool_whose_definition_is_too_large_or_too_deep_is_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        shop = Shop("good", "large", "deep")
        shop.said["large"] = {"description": "x" * MAX_DEFINITION_BYTES}
        deep: Any = {"type": "object"}
        for _ in range(40):
            deep = {"type": "object", "properties": {"a": deep}}
        shop.schemas["deep"] = deep
        async with selling(tmp_path, shop) as host:
            assert shown(await Talk.begin(host)) == ["shop_good"]

    run(story)
    assert "the tool shop_large is left out: it has 65" in caplog.text
    assert "the tool shop_deep is left out: nested deeper than 64 levels" in caplog.text
