"""Agents as AAP describes them, with their options.

In AAP the models of an agent are its option `model`, which sets the model of the session (O6).
"""

from collections.abc import Iterable
from typing import Any

from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.options import Option
from agenthost.host.authoring.tool import Tool
from agenthost.wire.aap.v3 import AgentCapabilities, AgentInfo, AgentOption, GetMetaResponse, ToolSpec

__all__ = ["MODEL", "SECRET_MASK", "agent_info", "meta", "options_of"]

MODEL = "model"
SECRET_MASK = "***"  # noqa: S105 - shown in place of a secret (O3)


def meta(agents: Iterable[Agent]) -> GetMetaResponse:
    """Return the description of the server (M1)."""
    return {"version": 3, "agents": [agent_info(agent) for agent in agents]}


def agent_info(agent: Agent) -> AgentInfo:
    """Return the description of an agent."""
    info: AgentInfo = {"name": agent.name, "version": agent.version}
    if agent.title:
        info["title"] = agent.title
    if agent.description:
        info["description"] = agent.description
    if tools := [_tool(one) for one in agent.toolset.exposed()]:
        info["tools"] = tools
    if options := [_option(option) for option in options_of(agent)]:
        info["options"] = options
    info["capabilities"] = _capabilities(agent)
    return info


def options_of(agent: Agent) -> list[Option]:
    """Return the options of an agent, including `model` if it has models."""
    declared = list(agent.options)
    # O6. An agent may declare an option of this name itself.
    if agent.models and all(option.name != MODEL for option in declared):
        choices = [model.id for model in agent.models]
        declared.append(Option.select(MODEL, choices, title="Model", description="The model that answers."))
    return declared


def _tool(one: Tool) -> ToolSpec:
    spec: ToolSpec = {"name": one.name, "description": one.description, "parameters": one.schema}
    if one.title:
        spec["title"] = one.title
    return spec


def _option(option: Option) -> AgentOption:
    # O3: a default may be a real secret.
    is_masked = option.kind == "secret" and option.default
    default = SECRET_MASK if is_masked else option.default
    shown: Any = {"type": option.kind, "name": option.name, "default": default}
    if option.title:
        shown["title"] = option.title
    if option.description:
        shown["description"] = option.description
    if option.kind == "select":
        shown["options"] = list(option.choices)
    return shown  # type: ignore[no-any-return]


def _capabilities(agent: Agent) -> AgentCapabilities:
    capabilities: Any = {}
    for name, kinds in (("history", agent.history), ("stream", agent.stream), ("image", agent.images)):
        if kinds:
            capabilities[name] = {kind: {} for kind in kinds}
    if agent.client_tools:
        capabilities["application"] = {"tools": {}}
    return capabilities  # type: ignore[no-any-return]
