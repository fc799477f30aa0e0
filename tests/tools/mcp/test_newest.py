"""Servers of the newest protocol, and odd ones: pages, other tools, questions in answers, odd schemas."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as mcp
import pytest
import uvicorn
from mcp.server import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

from agenthost.host.host import Host
from agenthost.tools.mcp import McpServer
from hosting import run
from mcp_serving import caller
from talking import Talk, talking
from turning import until

OBJECT: Any = {"type": "object"}


class Shop:
    """A server whose tools a test changes; each page of its list has two."""

    def __init__(self, *names: str) -> None:
        self.names = list(names)
        self.bus = InMemorySubscriptionBus()
        self.schemas: dict[str, Any] = {}
        self.server: Server[Any] = Server(
            "shop",
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_subscriptions_listen=ListenHandler(self.bus),
        )

    async def list_tools(
        self, _context: Any, params: mcp.PaginatedRequestParams | None
    ) -> mcp.ListToolsResult:
        start = int(params.cursor) if params and params.cursor else 0
        page = self.names[start : start + 2]
        more = str(start + 2) if start + 2 < len(self.names) else None
        tools = [mcp.Tool(name=name, input_schema=self.schemas.get(name, OBJECT)) for name in page]
        return mcp.ListToolsResult(tools=tools, next_cursor=more, ttl_ms=0, cache_scope="private")

    async def call_tool(
        self, _context: Any, params: mcp.CallToolRequestParams
    ) -> mcp.CallToolResult | mcp.InputRequiredResult:
        if params.name == "ask" and not params.input_responses:
            form = {"type": "object", "properties": {"size": {"type": "integer"}}}
            asked = mcp.ElicitRequest(
                params=mcp.ElicitRequestFormParams(message="How big?", requested_schema=form)
            )
            return mcp.InputRequiredResult(input_requests={"q": asked}, request_state="s")
        answer: Any = (params.input_responses or {}).get("q")
        said = f"size {answer.content['size']}" if answer else f"called {params.name}"
        return mcp.CallToolResult(content=[mcp.TextContent(text=said)])

    async def change(self, *names: str) -> None:
        self.names = list(names)
        await self.bus.publish(ToolsListChanged())


@asynccontextmanager
async def selling(folder: Path, shop: Shop) -> AsyncIterator[Host]:
    """Serve a shop at a URL, and open a host with an agent that knows its tools."""
    config = uvicorn.Config(shop.server.streamable_http_app(), log_level="critical", ws="none")
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        running = asyncio.create_task(server.serve(sockets=[listener]))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        async with talking(folder, caller(McpServer("shop", url=url, trust=True))) as host:
            await host.sourcing.wait(host.agents["demo"])
            yield host
        server.should_exit = server.force_exit = True
        await running


def shown(talk: Talk) -> list[str]:
    return [one["name"] for one in talk.state["serverTools"]]


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


def test_names_that_no_model_takes_get_others_and_schemas_that_are_none_are_left_out(
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
        ({}, "MCP server 'x': say either a command to run or a url, and not both"),
        ({"command": "a", "url": "http://b"}, "say either a command to run or a url, and not both"),
        ({"url": "ftp://b"}, "expected a url that begins with http:// or https://, found 'ftp://b'"),
        ({"url": "http://b", "env": {"A": "1"}}, "env and cwd are for a command; a url takes headers"),
        ({"command": "a", "headers": {"A": "1"}}, "headers are for a url; a command takes env"),
        ({"command": "'a"}, "is not a command"),
        ({"command": "a", "tools": "echo"}, "tools is a list of names, not one name"),
    ],
)
def test_a_server_that_makes_no_sense_is_refused_where_it_is_declared(given: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        McpServer("x", **given)


def test_a_name_is_checked_and_a_secret_that_is_written_down_is_warned_of(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(ValueError, match="'a b' is no name for an MCP server"):
        McpServer("a b", command="x")
    McpServer("x", url="http://b", headers={"Authorization": "Bearer abc123"})
    assert "Authorization has its value written down; better is a reference: $NAME" in caplog.text
    assert "abc123" not in caplog.text
