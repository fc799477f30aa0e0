"""The root: what every client sees of the host."""

from typing import NotRequired, TypedDict

from agenthost.wire.ahp.legacy.common import Meta, ProtectedResourceMetadata
from agenthost.wire.ahp.legacy.config import ConfigSchema, RootConfigState
from agenthost.wire.ahp.legacy.customization import CustomizationRef
from agenthost.wire.ahp.legacy.enums import PolicyState
from agenthost.wire.ahp.legacy.terminal import TerminalInfo


class SessionModelInfo(TypedDict):
    """A model that an agent offers."""

    id: str
    provider: str
    name: str
    maxContextWindow: NotRequired[float]
    supportsVision: NotRequired[bool]
    policyState: NotRequired[PolicyState]
    configSchema: NotRequired[ConfigSchema]
    _meta: NotRequired[Meta]  # well-known key: `pricing`


class ModelSelection(TypedDict):
    """The model chosen for a session, with its settings."""

    id: str
    config: NotRequired[dict[str, str]]


class AgentInfo(TypedDict):
    """An agent that sessions can be made with."""

    provider: str
    displayName: str
    description: str
    models: list[SessionModelInfo]
    protectedResources: NotRequired[list[ProtectedResourceMetadata]]
    customizations: NotRequired[list[CustomizationRef]]


class RootState(TypedDict):
    """What every client sees of the host: its agents, terminals and settings."""

    agents: list[AgentInfo]
    activeSessions: NotRequired[int]  # count of non-disposed sessions
    terminals: NotRequired[list[TerminalInfo]]
    config: NotRequired[RootConfigState]
