"""The root: what every client sees of the host."""

from typing import NotRequired, TypedDict

from agenthost.wire.ahp.common import URI, JsonPrimitive, Meta, ProtectedResourceMetadata
from agenthost.wire.ahp.config import ConfigSchema, RootConfigState
from agenthost.wire.ahp.customization import Customization
from agenthost.wire.ahp.enums import PolicyState
from agenthost.wire.ahp.terminal import TerminalInfo


class SessionModelInfo(TypedDict):
    """A model that an agent offers."""

    id: str
    provider: str
    name: str
    maxContextWindow: NotRequired[float]
    maxOutputTokens: NotRequired[float]
    maxPromptTokens: NotRequired[float]
    supportsVision: NotRequired[bool]
    policyState: NotRequired[PolicyState]
    configSchema: NotRequired[ConfigSchema]
    _meta: NotRequired[Meta]  # well-known key: `pricing`


class ModelSelection(TypedDict):
    """The model chosen for a message, with its settings."""

    id: str
    config: NotRequired[dict[str, JsonPrimitive]]


class AgentSelection(TypedDict):
    """The custom agent chosen for a message."""

    uri: URI


class MultipleChatsCapability(TypedDict):
    """The sessions of an agent may have several chats."""

    fork: NotRequired[bool]
    sideChat: NotRequired[bool]


class MultipleWorkingDirectoriesCapability(TypedDict):
    """The sessions of an agent may have several working directories."""

    immutablePrimary: NotRequired[bool]  # true: the first one stays
    primaryReplacement: NotRequired[bool]  # true: the first one may be replaced


class AgentCapabilities(TypedDict):
    """Optional abilities of an agent's sessions."""

    multipleChats: NotRequired[MultipleChatsCapability]
    multipleWorkingDirectories: NotRequired[MultipleWorkingDirectoriesCapability]


class AgentInfo(TypedDict):
    """An agent that sessions can be made with."""

    provider: str
    displayName: str
    description: str
    models: list[SessionModelInfo]
    protectedResources: NotRequired[list[ProtectedResourceMetadata]]
    customizations: NotRequired[list[Customization]]
    capabilities: NotRequired[AgentCapabilities]


class RootState(TypedDict):
    """What every client sees of the host: its agents, terminals and settings."""

    agents: list[AgentInfo]
    activeSessions: NotRequired[int]  # count of non-disposed sessions
    terminals: NotRequired[list[TerminalInfo]]
    config: NotRequired[RootConfigState]
    _meta: NotRequired[Meta]
