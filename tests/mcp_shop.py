"""A server of the newest protocol whose tools a test changes, and a host with an agent that knows them."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as mcp
import uvicorn
from mcp.server import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

from agenthost.host.host import Host
from agenthost.tools.mcp import McpServer
from mcp_calling import caller
from talking import Talk, talking

OBJECT: Any = {"type": "object"}


class Shop:
    """A server whose tools a test changes; each page of its list has two, unless told."""

    def __init__(self, *names: str, page: int = 2) -> None:
        self.names = list(names)
        self.page = page
        self.called: list[str] = []
        self.said: dict[str, Any] = {}
        """What is said of a tool beside its name and schema, by its name."""
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
        end = start + self.page
        return mcp.ListToolsResult(
            tools=[self.tool(name) for name in self.names[start:end]],
            next_cursor=str(end) if end < len(self.names) else None,
            ttl_ms=0,
            cache_scope="private",
        )

    def tool(self, name: str) -> mcp.Tool:
        return mcp.Tool(name=name, input_schema=self.schemas.get(name, OBJECT), **self.said.get(name, {}))

    async def call_tool(
        self, _context: Any, params: mcp.CallToolRequestParams
    ) -> mcp.CallToolResult | mcp.InputRequiredResult:
        if params.name == "ask" and not params.input_responses:
            form = {"type": "object", "properties": {"size": {"type": "integer"}}}
            asked = mcp.ElicitRequest(
                params=mcp.ElicitRequestFormParams(message="How big?", requested_schema=form)
            )
            return mcp.InputRequiredResult(input_requests={"q": asked}, request_state="s")
        self.called.append(params.name)
        answer: Any = (params.input_responses or {}).get("q")
        said = f"size {answer.content['size']}" if answer else f"called {params.name}"
        return mcp.CallToolResult(content=[mcp.TextContent(text=said)])

    async def change(self, *names: str) -> None:
        self.names = list(names)
        await self.tell()

    async def tell(self) -> None:
        """Tell that the list of tools has changed."""
        await self.bus.publish(ToolsListChanged())


@asynccontextmanager
async def open_shop(shop: Shop) -> AsyncIterator[str]:
    """Serve a shop; returns its URL."""
    config = uvicorn.Config(shop.server.streamable_http_app(), log_level="critical", ws="none")
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        running = asyncio.create_task(server.serve(sockets=[listener]))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        yield url
        server.should_exit = server.force_exit = True
        await running


@asynccontextmanager
async def selling(folder: Path, shop: Shop, **more: Any) -> AsyncIterator[Host]:
    """Serve a shop, and open a host with an agent that knows its tools."""
    async with open_shop(shop) as url, buying(folder, url, **{"trust": True, **more}) as host:
        yield host


@asynccontextmanager
async def buying(folder: Path, url: str, **more: Any) -> AsyncIterator[Host]:
    """Open a host with an agent that knows the tools of the shop at a URL."""
    async with talking(folder, caller(McpServer("shop", url=url, **more))) as host:
        await host.parts.tool_sources.wait(host.agents["demo"])
        yield host


def shown(talk: Talk) -> list[str]:
    """Return the names of the tools that a session shows."""
    return [one["name"] for one in talk.state["serverTools"]]
