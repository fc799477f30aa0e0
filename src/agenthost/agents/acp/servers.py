"""MCP servers that a program should use: as people declare them, and as ACP's `session/new` takes them."""

import shutil
from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from agenthost.host.programs.command import expand_variables, parse_command
from agenthost.wire.json import JsonObject

__all__ = ["McpServerConfig", "check_servers", "server_params"]


class McpServerConfig(TypedDict):
    """An MCP server: a command (a line or a list of words), or a URL.

    `$NAME` in `env` and `headers` stands for a variable of the host's own environment. The `type` of a URL is
    `http` by default, or `sse`.
    """

    name: str
    command: NotRequired[str | Sequence[str]]
    env: NotRequired[Mapping[str, str]]
    url: NotRequired[str]
    type: NotRequired[str]
    headers: NotRequired[Mapping[str, str]]


def check_servers(servers: Sequence[McpServerConfig]) -> tuple[McpServerConfig, ...]:
    """Check the declared MCP servers.

    Raises:
        ValueError: a server has no name, or not exactly one of a command and a URL.
    """
    for server in servers:
        if not server.get("name"):
            raise ValueError(f"an MCP server needs a name: {server!r}")
        if ("command" in server) == ("url" in server):
            raise ValueError(f"MCP server {server['name']!r} needs either a command or a url")
        if "command" in server:
            parse_command(server["command"], {})
        elif server.get("type", "http") not in ("http", "sse"):
            raise ValueError(f"MCP server {server['name']!r}: its type has to be http or sse")
    return tuple(servers)


def server_params(server: McpServerConfig) -> JsonObject:
    """Return a server as ACP takes it, with its variables filled in.

    Raises:
        AgentUnavailable: a variable is not set.
    """
    name = server["name"]
    if "command" in server:
        program, *args = parse_command(server["command"], {}).words
        env = _pairs(server.get("env", {}), name)
        return {"name": name, "command": shutil.which(program) or program, "args": args, "env": env}
    headers = _pairs(server.get("headers", {}), name)
    kind = server.get("type", "http")
    return {"type": kind, "name": name, "url": server.get("url", ""), "headers": headers}


def _pairs(values: Mapping[str, str], server: str) -> list[Any]:
    return [
        {"name": key, "value": expand_variables(value, f"MCP server {server!r}")}
        for key, value in values.items()
    ]
