"""Tools: how they are declared, enabled and called.

The result of a call has content, so it is defined in `message`.
"""

from typing import NotRequired, TypeAlias, TypedDict

from agenthost.wire.json import JsonObject

__all__ = ["JSONSchema", "ServerToolRef", "ToolCall", "ToolCallInput", "ToolSpec"]

JSONSchema: TypeAlias = JsonObject
"""A JSON Schema. It is meant for the model: we pass it on unread."""

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
    """Enables one of the agent's tools; without `trust` each call needs the client's permission."""

    name: str
    trust: NotRequired[bool]
