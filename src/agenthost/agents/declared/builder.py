"""Builds the agent that a TOML table describes."""

import re
from pathlib import Path
from types import ModuleType
from typing import Any

from agenthost.agents.acp import AcpAgent
from agenthost.agents.acp.servers import McpServerConfig, check_servers
from agenthost.agents.declared.locations import LoadModule, Location
from agenthost.agents.declared.tables import AgentTable, McpTable, OptionTable, SubagentTable
from agenthost.agents.model import ModelAgent
from agenthost.errors import AgentUnavailable
from agenthost.host.authoring.agent import Agent, Description
from agenthost.host.authoring.options import Option
from agenthost.host.authoring.tool import Tool
from agenthost.host.authoring.tool_source import ToolSource
from agenthost.host.authoring.turn import Turn
from agenthost.tools.mcp import McpServer
from agenthost.tools.subagents import subagent
from agenthost.tools.workspace import workspace_tools

__all__ = ["build_agent"]

WORKSPACE = "workspace"
"""The name in `tools` for all workspace tools."""

_PROGRAM_KEYS = {"title", "description", "version", "acp", "env", "cwd", "mode", "mcp"}
"""The keys of an agent that is a program (ACP). It brings the rest itself."""

_OPTION = re.compile(r"\{(\w+)\}")


class _TomlModelAgent(ModelAgent):
    """A model whose instructions may name options of the session: `{tone}`."""

    def instructions(self, turn: Turn) -> str:
        """Return the instructions with the values of options filled in, except secrets."""
        shown = {option.name for option in self.options if option.kind != "secret"}

        def value(match: re.Match[str]) -> str:
            return turn.options[match[1]] if match[1] in shown else match[0]

        return _OPTION.sub(value, self.system)


def build_agent(name: str, table: AgentTable, location: Location, load: LoadModule) -> Agent:
    """Build an agent.

    Raises:
        AgentFileError: keys contradict each other, or name something that does not exist.
        ValueError: a value is refused.
    """
    if (table.model is None) == (table.acp is None):
        example = 'a model = "openai:gpt-5", or a program that speaks ACP, acp = "gemini --acp"'
        raise location.error(f"an agent is either {example}" + ("; not both" if table.model else ""))
    try:
        return (
            _program(name, table, location) if table.acp is not None else _model(name, table, location, load)
        )
    except AgentUnavailable as error:  # a library is not installed
        raise location.error(str(error)) from None


def _description(table: AgentTable) -> Description:
    given = {"title": table.title, "description": table.description, "version": table.version}
    return {key: value for key, value in given.items() if value is not None}  # type: ignore[return-value]


def _program(name: str, table: AgentTable, location: Location) -> Agent:
    for key in table.__struct_fields__:
        if key not in _PROGRAM_KEYS and getattr(table, key):
            raise location.under(key).error("a program (acp) brings its own; leave it out")
    cwd = None if table.cwd is None else _path(table.cwd, location)
    servers = [_server_config(key, one, location.under("mcp").under(key)) for key, one in table.mcp.items()]
    return AcpAgent(
        name,
        table.acp or "",
        env=table.env,
        cwd=cwd,
        mode=table.mode,
        mcp_servers=servers,
        **_description(table),
    )


def _server_config(name: str, table: McpTable, location: Location) -> McpServerConfig:
    """Return the declaration of an MCP server that the program connects to itself."""
    given = {key: value for key in table.__struct_fields__ if (value := getattr(table, key))}
    for key in given.keys() - {"command", "url", "env", "headers"}:
        raise location.under(key).error("the program (acp) decides how it uses the server; leave it out")
    server: Any = {"name": name, **given}
    try:
        check_servers([server])
    except ValueError as error:
        raise location.error(str(error)) from None
    return server  # type: ignore[no-any-return] # just checked


def _model(name: str, table: AgentTable, location: Location, load: LoadModule) -> Agent:
    for key in ("env", "cwd", "mode"):
        if getattr(table, key):
            raise location.under(key).error("only a program (acp, or an [mcp] server) takes it")
    declared = _description(table)
    declared["options"] = [
        _option(key, one, location.under("options").under(key)) for key, one in table.options.items()
    ]
    declared["tools"] = [*_tools(table, location, load), *_servers(table, location), *_subagents(table)]
    declared["mask_errors"] = table.mask_errors
    if table.context_tokens is not None:
        declared["context_tokens"] = table.context_tokens
    return _TomlModelAgent(
        name,
        model=table.model or "",
        models=table.models,
        base_url=table.base_url,
        api_key_env=table.api_key_env,
        settings=table.settings,
        system=_system(table, location),
        **declared,
    )


def _system(table: AgentTable, location: Location) -> str:
    if table.system_file is None:
        return table.system or ""
    if table.system is not None:
        raise location.under("system_file").error("there is also a system; use only one of them")
    path = _path(table.system_file, location)
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not text in UTF-8"
        raise location.under("system_file").error(f"{path} cannot be read: {why}") from None


def _path(text: str, location: Location) -> Path:
    return location.folder / Path(text).expanduser()


def _option(name: str, table: OptionTable, location: Location) -> Option:
    if table.type == "select" and not table.choices:
        raise location.error('a select needs choices = ["…", "…"]')
    if table.type != "select" and table.choices:
        raise location.under("choices").error('only type = "select" has choices')
    more = {"title": table.title, "description": table.description}
    if table.type == "select":
        return Option.select(name, table.choices, table.default, **more)
    if table.type == "secret":
        if table.default is not None:
            raise location.under("default").error(
                "a secret cannot have a default: it would stand in this file"
            )
        return Option.secret(name, **more)
    return Option.text(name, table.default or "", **more)


def _tools(table: AgentTable, location: Location, load: LoadModule) -> list[Any]:
    found: list[Any] = []
    for at, name in enumerate(table.tools):
        here = location.under(f"tools[{at}]")
        found += workspace_tools() if name == WORKSPACE else _import_tool(name, here, load)
    return found


def _import_tool(name: str, location: Location, load: LoadModule) -> list[Any]:
    """Import a tool: `module:name`, or `file.py:name` relative to the TOML file."""
    module, colon, attribute = name.rpartition(":")
    if not colon or not module or not attribute:
        right = f'"{WORKSPACE}", "module:function" or "file.py:function"'
        raise location.error(f"expected {right}, found {name!r}")
    loaded = load(str(_path(module, location)) if module.endswith(".py") else module)
    value = _attribute(loaded, attribute, location)
    values = list(value) if isinstance(value, list | tuple) else [value]
    for one in values:
        if not isinstance(one, Tool | ToolSource) and not callable(one):
            raise location.error(f"{attribute} in {module} is not a tool, but of type {type(one).__name__}")
    return values


def _attribute(module: ModuleType, name: str, location: Location) -> Any:
    try:
        return getattr(module, name)
    except AttributeError:
        raise location.error(f"there is no {name} in {module.__file__ or module.__name__}") from None


def _servers(table: AgentTable, location: Location) -> list[McpServer]:
    servers = []
    for name, one in table.mcp.items():
        here = location.under("mcp").under(name)
        cwd = None if one.cwd is None else _path(one.cwd, location)
        more = {key: getattr(one, key) for key in one.__struct_fields__ if key != "cwd"}
        try:
            servers.append(McpServer(name, cwd=cwd, **more))
        except ValueError as error:
            raise here.error(str(error)) from None
    return servers


def _subagents(table: AgentTable) -> list[Tool]:
    if isinstance(table.subagents, list):
        return [subagent(name) for name in table.subagents]
    return [_subagent(name, one) for name, one in table.subagents.items()]


def _subagent(name: str, table: SubagentTable) -> Tool:
    return subagent(name, title=table.title, description=table.description, trust=table.trust)
