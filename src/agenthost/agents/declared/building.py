"""Building: the agent that a table describes."""

import re
from pathlib import Path
from types import ModuleType
from typing import Any

from agenthost.agents.acp import AcpAgent
from agenthost.agents.acp.servers import HandedServer, servers_of
from agenthost.agents.declared.places import LoadModule, Place
from agenthost.agents.declared.tables import AgentTable, McpTable, OptionTable, SubagentTable
from agenthost.agents.model import ModelAgent
from agenthost.errors import AgentUnavailable
from agenthost.host.agent import Agent, Description
from agenthost.host.options import Option
from agenthost.host.tools import Tool
from agenthost.host.toolsources import ToolSource
from agenthost.host.turn import Turn
from agenthost.tools.mcp import McpServer
from agenthost.tools.subagents import subagent
from agenthost.tools.workspace import workspace_tools

__all__ = ["build"]

WORKSPACE = "workspace"
"""Stands for all tools that work on the files of the workspace."""

_OF_PROGRAMS = {"title", "description", "version", "acp", "env", "cwd", "mode", "mcp"}
"""What may be said of an agent that is a program; the rest is its own business."""

_OPTION = re.compile(r"\{(\w+)\}")


class _Written(ModelAgent):
    """A model whose instructions may name options of the session: `{tone}`."""

    def instructions(self, turn: Turn) -> str:
        """Give the instructions, with the values of options in them; secret ones never."""
        shown = {option.name for option in self.options if option.kind != "secret"}

        def value(match: re.Match[str]) -> str:
            return turn.options[match[1]] if match[1] in shown else match[0]

        return _OPTION.sub(value, self.system)


def build(name: str, table: AgentTable, place: Place, load: LoadModule) -> Agent:
    """Build an agent.

    Raises:
        DeclarationError: what is written makes no sense together, or names what is not there.
        ValueError: a part of it refuses what it is given.
    """
    if (table.model is None) == (table.acp is None):
        example = 'a model = "openai:gpt-5", or a program that speaks ACP, acp = "gemini --acp"'
        raise place.wrong(f"an agent is either {example}" + ("; not both" if table.model else ""))
    try:
        return _program(name, table, place) if table.acp is not None else _model(name, table, place, load)
    except AgentUnavailable as error:  # a library that is not installed
        raise place.wrong(str(error)) from None


def _described(table: AgentTable) -> Description:
    said = {"title": table.title, "description": table.description, "version": table.version}
    return {key: value for key, value in said.items() if value is not None}  # type: ignore[return-value]


def _program(name: str, table: AgentTable, place: Place) -> Agent:
    for key in table.__struct_fields__:
        if key not in _OF_PROGRAMS and getattr(table, key):
            raise place.under(key).wrong("an agent that is a program (acp) has its own; leave it out")
    cwd = None if table.cwd is None else _path(table.cwd, place)
    servers = [_handed(key, one, place.under("mcp").under(key)) for key, one in table.mcp.items()]
    return AcpAgent(
        name,
        table.acp or "",
        env=table.env,
        cwd=cwd,
        mode=table.mode,
        mcp_servers=servers,
        **_described(table),
    )


def _handed(name: str, table: McpTable, place: Place) -> HandedServer:
    """Give an MCP server that the program starts or reaches by itself."""
    given = {key: value for key in table.__struct_fields__ if (value := getattr(table, key))}
    for key in given.keys() - {"command", "url", "env", "headers"}:
        raise place.under(key).wrong("the program (acp) uses the server in its own way; leave it out")
    server: Any = {"name": name, **given}
    try:
        servers_of([server])
    except ValueError as error:
        raise place.wrong(str(error)) from None
    return server  # type: ignore[no-any-return] # just checked


def _model(name: str, table: AgentTable, place: Place, load: LoadModule) -> Agent:
    for key in ("env", "cwd", "mode"):
        if getattr(table, key):
            raise place.under(key).wrong("only a program (acp, or an [mcp] server) has one")
    declared = _described(table)
    declared["options"] = [
        _option(key, one, place.under("options").under(key)) for key, one in table.options.items()
    ]
    declared["tools"] = [*_tools(table, place, load), *_servers(table, place), *_subagents(table)]
    declared["mask_errors"] = table.mask_errors
    if table.context_tokens is not None:
        declared["context_tokens"] = table.context_tokens
    return _Written(
        name,
        model=table.model or "",
        models=table.models,
        base_url=table.base_url,
        api_key_env=table.api_key_env,
        settings=table.settings,
        system=_system(table, place),
        **declared,
    )


def _system(table: AgentTable, place: Place) -> str:
    if table.system_file is None:
        return table.system or ""
    if table.system is not None:
        raise place.under("system_file").wrong("there is a system beside it; say one of them")
    path = _path(table.system_file, place)
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not text in UTF-8"
        raise place.under("system_file").wrong(f"{path} cannot be read: {why}") from None


def _path(text: str, place: Place) -> Path:
    return place.folder / Path(text).expanduser()


def _option(name: str, table: OptionTable, place: Place) -> Option:
    if table.type == "select" and not table.choices:
        raise place.wrong('a select needs choices = ["…", "…"]')
    if table.type != "select" and table.choices:
        raise place.under("choices").wrong('only type = "select" has choices')
    more = {"title": table.title, "description": table.description}
    if table.type == "select":
        return Option.select(name, table.choices, table.default, **more)
    if table.type == "secret":
        if table.default is not None:
            raise place.under("default").wrong("a secret has no default: it would be written down")
        return Option.secret(name, **more)
    return Option.text(name, table.default or "", **more)


def _tools(table: AgentTable, place: Place, load: LoadModule) -> list[Any]:
    found: list[Any] = []
    for at, name in enumerate(table.tools):
        here = place.under(f"tools[{at}]")
        found += workspace_tools() if name == WORKSPACE else _named(name, here, load)
    return found


def _named(name: str, place: Place, load: LoadModule) -> list[Any]:
    """Find a tool in Python: `module:name`, or `file.py:name` beside the file."""
    module, colon, attribute = name.rpartition(":")
    if not colon or not module or not attribute:
        right = f'"{WORKSPACE}", "module:function" or "file.py:function"'
        raise place.wrong(f"expected {right}, found {name!r}")
    loaded = load(str(_path(module, place)) if module.endswith(".py") else module)
    value = _attribute(loaded, attribute, place)
    values = list(value) if isinstance(value, list | tuple) else [value]
    for one in values:
        if not isinstance(one, Tool | ToolSource) and not callable(one):
            raise place.wrong(f"{attribute} in {module} is no tool, but a {type(one).__name__}")
    return values


def _attribute(module: ModuleType, name: str, place: Place) -> Any:
    try:
        return getattr(module, name)
    except AttributeError:
        raise place.wrong(f"there is no {name} in {module.__file__ or module.__name__}") from None


def _servers(table: AgentTable, place: Place) -> list[McpServer]:
    made = []
    for name, one in table.mcp.items():
        here = place.under("mcp").under(name)
        cwd = None if one.cwd is None else _path(one.cwd, place)
        more = {key: getattr(one, key) for key in one.__struct_fields__ if key != "cwd"}
        try:
            made.append(McpServer(name, cwd=cwd, **more))
        except ValueError as error:
            raise here.wrong(str(error)) from None
    return made


def _subagents(table: AgentTable) -> list[Tool]:
    if isinstance(table.subagents, list):
        return [subagent(name) for name in table.subagents]
    return [_subagent(name, one) for name, one in table.subagents.items()]


def _subagent(name: str, table: SubagentTable) -> Tool:
    return subagent(name, title=table.title, description=table.description, trust=table.trust)
