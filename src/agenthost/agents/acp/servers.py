"""MCP servers that a program is to use: as people write them down, and as ACP wants them."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from agenthost.host.programs.command import resolved
from agenthost.wire.json import JsonObject

__all__ = ["McpServer", "server_params", "servers_of"]


class McpServer(TypedDict):
    """An MCP server: a program with arguments and environment, or a URL with headers.

    `$NAME` in the environment and the headers is a variable of the host's own environment.
    """

    name: str
    command: NotRequired[str]
    args: NotRequired[Sequence[str]]
    env: NotRequired[Mapping[str, str]]
    url: NotRequired[str]
    type: NotRequired[str]
    headers: NotRequired[Mapping[str, str]]


def servers_of(servers: Sequence[McpServer]) -> tuple[McpServer, ...]:
    """Check MCP servers.

    Raises:
        ValueError: one has no name, or is neither a program nor a URL.
    """
    for server in servers:
        if not server.get("name"):
            raise ValueError(f"an MCP server needs a name: {server!r}")
        if ("command" in server) == ("url" in server):
            raise ValueError(f"MCP server {server['name']!r} needs either a command or a url")
        if server.get("type", "http") not in ("http", "sse", "stdio"):
            raise ValueError(f"MCP server {server['name']!r}: its type is http, sse or stdio")
    return tuple(servers)


def server_params(server: McpServer) -> JsonObject:
    """Give a server as ACP wants it, its variables in their places.

    Raises:
        AgentUnavailable: a variable is not set.
    """
    name = server["name"]
    if "command" in server:
        env = _pairs(server.get("env", {}), name)
        return {"name": name, "command": server["command"], "args": list(server.get("args", ())), "env": env}
    headers = _pairs(server.get("headers", {}), name)
    return {
        "type": server.get("type", "http"),
        "name": name,
        "url": server.get("url", ""),
        "headers": headers,
    }


def _pairs(values: Mapping[str, str], server: str) -> list[Any]:
    return [
        {"name": key, "value": resolved(value, f"MCP server {server!r}")} for key, value in values.items()
    ]
