"""Agents: what they offer, and how a session configures one."""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.aap.tool import ServerToolRef, ToolSpec
from agenthost.wire.annotations import Tag
from agenthost.wire.json import JsonObject

__all__ = [
    "AgentCapabilities",
    "AgentConfig",
    "AgentInfo",
    "AgentOption",
    "AgentOverrides",
    "ApplicationCapabilities",
    "HistoryCapabilities",
    "HistoryType",
    "ImageCapabilities",
    "Present",
    "SecretAgentOption",
    "SelectAgentOption",
    "StreamCapabilities",
    "TextAgentOption",
]

Present: TypeAlias = JsonObject
"""An object without fields so far. If it is present, so is the capability."""

HistoryType: TypeAlias = Literal["compacted", "full"]
"""The kinds of history: what the model continues from, and everything as it happened."""


class TextAgentOption(TypedDict):
    """An option with free text as its value."""

    type: Literal["text"]
    name: str
    title: NotRequired[str]
    description: NotRequired[str]
    default: str


class SecretAgentOption(TypedDict):
    """An option whose value is masked when typed, and never sent back in clear."""

    type: Literal["secret"]
    name: str
    title: NotRequired[str]
    description: NotRequired[str]
    default: str


class SelectAgentOption(TypedDict):
    """An option with a fixed list of values."""

    type: Literal["select"]
    name: str
    title: NotRequired[str]
    description: NotRequired[str]
    options: list[str]
    default: str


AgentOption: TypeAlias = Annotated[TextAgentOption | SecretAgentOption | SelectAgentOption, Tag("type")]
"""Something about an agent that a session can set."""


class AgentOverrides(TypedDict):
    """The fields of the session's agent that a turn can change: all but its name."""

    tools: NotRequired[list[ServerToolRef]]
    options: NotRequired[dict[str, str]]


class AgentConfig(AgentOverrides):
    """The agent of a session: its name, the tools switched on, the options set."""

    name: str


class HistoryCapabilities(TypedDict):
    """The kinds of history that can be read back."""

    compacted: NotRequired[Present]
    full: NotRequired[Present]


class StreamCapabilities(TypedDict):
    """The response modes on offer. An agent without this object has only `none`."""

    delta: NotRequired[Present]
    message: NotRequired[Present]
    none: NotRequired[Present]


class ApplicationCapabilities(TypedDict):
    """What the client may provide."""

    tools: NotRequired[Present]


class ImageCapabilities(TypedDict):
    """Where images may come from: `https://` URLs, base64 `data:` URLs."""

    http: NotRequired[Present]
    data: NotRequired[Present]


class AgentCapabilities(TypedDict):
    """What an agent supports; what is missing here is not supported."""

    history: NotRequired[HistoryCapabilities]
    stream: NotRequired[StreamCapabilities]
    application: NotRequired[ApplicationCapabilities]
    image: NotRequired[ImageCapabilities]


class AgentInfo(TypedDict):
    """An agent as the server describes it, with the tools and options that it shows to clients."""

    name: str
    title: NotRequired[str]
    version: str
    description: NotRequired[str]
    tools: NotRequired[list[ToolSpec]]
    options: NotRequired[list[AgentOption]]
    capabilities: NotRequired[AgentCapabilities]
