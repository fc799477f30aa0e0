"""Settings of the host, of models and of sessions: schemas and values."""

from typing import Literal, NotRequired, TypedDict

from agenthost.wire.json import Json, JsonObject


class ConfigPropertySchema(TypedDict):
    """The schema of one setting."""

    type: Literal["string", "number", "boolean", "array", "object"]
    title: str
    description: NotRequired[str]
    default: NotRequired[Json]
    enum: NotRequired[list[str]]
    enumLabels: NotRequired[list[str]]  # parallel to `enum`
    enumDescriptions: NotRequired[list[str]]  # parallel to `enum`
    readOnly: NotRequired[bool]  # true: shown but not editable
    items: NotRequired["ConfigPropertySchema"]
    properties: NotRequired[dict[str, "ConfigPropertySchema"]]
    required: NotRequired[list[str]]


class ConfigSchema(TypedDict):
    """The settings of a host or a model."""

    type: Literal["object"]
    properties: dict[str, ConfigPropertySchema]
    required: NotRequired[list[str]]


class SessionConfigPropertySchema(ConfigPropertySchema):
    """One setting of a session."""

    enumDynamic: NotRequired[bool]  # true: use `sessionConfigCompletions`
    sessionMutable: NotRequired[bool]  # true: may change after creation


class SessionConfigSchema(TypedDict):
    """The settings of a session."""

    type: Literal["object"]
    properties: dict[str, SessionConfigPropertySchema]
    required: NotRequired[list[str]]


class SessionConfigState(TypedDict):
    """A session's settings: their schema and their values."""

    schema: SessionConfigSchema
    values: JsonObject


class RootConfigState(TypedDict):
    """The host's settings: their schema and their values."""

    schema: ConfigSchema
    values: JsonObject
