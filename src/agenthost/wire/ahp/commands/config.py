"""Commands on the settings of a session that is to be created."""

from typing import NotRequired, TypedDict

from agenthost.wire.ahp.commands.params import RootParams
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.config import SessionConfigSchema
from agenthost.wire.json import JsonObject


class ResolveSessionConfigParams(RootParams):
    """`resolveSessionConfig`: the values chosen so far."""

    provider: NotRequired[str]
    workingDirectory: NotRequired[URI]
    config: NotRequired[JsonObject]


class ResolveSessionConfigResult(TypedDict):
    """`resolveSessionConfig`: the schema and the values."""

    schema: SessionConfigSchema
    values: JsonObject


class SessionConfigCompletionsParams(RootParams):
    """`sessionConfigCompletions`: the setting whose values are wanted."""

    provider: NotRequired[str]
    workingDirectory: NotRequired[URI]
    config: NotRequired[JsonObject]
    property: str
    query: NotRequired[str]


class SessionConfigValueItem(TypedDict):
    """A value that a setting may have."""

    value: str
    label: str
    description: NotRequired[str]


class SessionConfigCompletionsResult(TypedDict):
    """`sessionConfigCompletions`: its values."""

    items: list[SessionConfigValueItem]
