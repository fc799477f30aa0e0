"""Tools: how they are declared, switched on and called. Knows nothing of who runs them.

The result of a call holds content and so lives in `message`.
"""

from typing import NotRequired, TypeAlias, TypedDict

from agenthost.wire.json import JsonObject

__all__ = ["JSONSchema", "ServerToolRef", "ToolCall", "ToolCallInput", "ToolSpec"]

JSONSchema: TypeAlias = JsonObject
"""A JSON Schema. It is the model's to read: we carry it and do not look inside."""

ToolCallInput: TypeAlias = JsonObject
"""The arguments of a call, by name."""


class ToolCall(TypedDict):
    """The agent asks for a tool to be run."""

    toolCallId: str
    name: str
    input: ToolCallInput


class ToolSpec(TypedDict):
    """A tool that can be called: the client's own in a request, the agent's in its description."""

    name: str
    title: NotRequired[str]
    description: str
    parameters: JSONSchema


class ServerToolRef(TypedDict):
    """Switches one of the agent's tools on; without `trust` each call needs the client's permission."""

    name: str
    trust: NotRequired[bool]
