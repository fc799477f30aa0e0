"""MCP servers that a program is to use: as people write them down, and as ACP wants them."""

import shutil
from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from agenthost.host.programs.command import command_of, resolved
from agenthost.wire.json import JsonObject

__all__ = ["HandedServer", "server_params", "servers_of"]


class HandedServer(TypedDict):
    """An MCP server: a program, as a line or its words, or a URL.

    `$NAME` in the environment and the headers is a variable of the host's own environment. The type of a URL
    is `http`, unless it says `sse`.
    """

    name: str
    command: NotRequired[str | Sequence[str]]
    env: NotRequired[Mapping[str, str]]
    url: NotRequired[str]
    type: NotRequired[str]
    headers: NotRequired[Mapping[str, str]]


def servers_of(servers: Sequence[HandedServer]) -> tuple[HandedServer, ...]:
    """Check MCP servers.

    Raises:
        ValueError: one has no name, or is neither a program nor a URL.
    """
    for server in servers:
        if not server.get("name"):
            raise ValueError(f"an MCP server needs a name: {server!r}")
        if ("command" in server) == ("url" in server):
            raise ValueError(f"MCP server {server['name']!r} needs either a command or a url")
        if "command" in server:
            command_of(server["command"], {})
        elif server.get("type", "http") not in ("http", "sse"):
            raise ValueError(f"MCP server {server['name']!r}: its type is http or sse")
    return tuple(servers)


def server_params(server: HandedServer) -> JsonObject:
    """Give a server as ACP wants it, its variables in their places.

    Raises:
        AgentUnavailable: a variable is not set.
    """
    name = server["name"]
    if "command" in server:
        program, *args = command_of(server["command"], {}).words
        env = _pairs(server.get("env", {}), name)
        return {"name": name, "command": shutil.which(program) or program, "args": args, "env": env}
    headers = _pairs(server.get("headers", {}), name)
    kind = server.get("type", "http")
    return {"type": kind, "name": name, "url": server.get("url", ""), "headers": headers}


def _pairs(values: Mapping[str, str], server: str) -> list[Any]:
    return [
        {"name": key, "value": resolved(value, f"MCP server {server!r}")} for key, value in values.items()
    ]
