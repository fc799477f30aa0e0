"""The root in both protocols."""

from typing import Any, cast

from agenthost.core.legacy.customizations import is_plugin, lift_plugin, project_plugin
from agenthost.core.legacy.terminals import ChatOf, lift_terminals, project_terminal
from agenthost.core.session_meta import is_stand_in
from agenthost.wire.ahp.legacy.actions import RootAction as LegacyRootAction
from agenthost.wire.ahp.legacy.root import AgentInfo as LegacyAgentInfo
from agenthost.wire.ahp.legacy.root import RootState as LegacyRootState
from agenthost.wire.ahp.root import AgentInfo, RootState


def project_root_state(state: RootState) -> LegacyRootState:
    """Return the state of the root as legacy clients see it."""
    return cast("LegacyRootState", _project({key: value for key, value in state.items() if key != "_meta"}))


def project_root_action(action: Any) -> LegacyRootAction:
    """Return an action on the root as legacy clients see it. They know them all."""
    return cast("LegacyRootAction", _project(action))


def upgrade_root(state: LegacyRootState, chat_of: ChatOf) -> RootState:
    """Return the state of a legacy root."""
    lifted: Any = {**state, "agents": lift_agents(state["agents"])}
    if "terminals" in state:
        lifted["terminals"] = lift_terminals(state["terminals"], chat_of)
    return cast("RootState", lifted)


def lift_agents(agents: list[LegacyAgentInfo]) -> list[AgentInfo]:
    """Return the agents of a legacy host."""
    lifted: list[Any] = [dict(agent) for agent in agents]
    for agent in lifted:
        if "customizations" in agent:
            agent["customizations"] = [lift_plugin(one) for one in agent["customizations"]]
    return cast("list[AgentInfo]", lifted)


def _project(record: Any) -> dict[str, Any]:
    """Return a state or an action, both of which name agents and terminals alike."""
    projected = dict(record)
    if "agents" in projected:
        projected["agents"] = [_project_agent(agent) for agent in projected["agents"]]
    if "terminals" in projected:
        projected["terminals"] = [project_terminal(one) for one in projected["terminals"]]
    return projected


def _project_agent(agent: AgentInfo) -> LegacyAgentInfo:
    """Return an agent. The model that stands for one that has none is for clients that need one (A1)."""
    projected: Any = {key: value for key, value in agent.items() if key != "capabilities"}
    projected["models"] = [one for one in projected["models"] if not is_stand_in(one)]
    if "customizations" in projected:
        plugins = [one for one in projected["customizations"] if is_plugin(one)]
        projected["customizations"] = [project_plugin(one) for one in plugins]
    return cast("LegacyAgentInfo", projected)
