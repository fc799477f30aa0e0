"""Converts a transcript to messages of the library that are valid for every service.

Each call has exactly one result, right after it; requests and responses alternate; ids and names are accepted
by all services. What a service must get back (signatures of thoughts, ids) is in `_private` under its name;
thoughts without it are left out.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2s
from typing import Any

from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.tools import ToolDefinition as Definition

from agenthost.core.transcript import Block, Content, Message, requested_calls
from agenthost.wire.ahp.tool import ToolDefinition
from agenthost.wire.json import JsonObject

__all__ = [
    "ToolNames",
    "collect_instructions",
    "removed_tools",
    "replace_image_links",
    "to_history",
    "tool_definitions",
]

NO_RESULT = "There is no result: the call was given up."
NO_TEXT = "(no text)"
NO_IMAGE = "[an image, which this model cannot see]"
NO_SUCH_IMAGE = "[an image that cannot be read]"
ASSISTANT_FIRST = "(The assistant speaks first.)"

_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_INVALID = re.compile(r"[^A-Za-z0-9_-]")


class ToolNames:
    """Maps the names of tools to names that services accept, and back."""

    def __init__(self, names: Iterable[str]) -> None:
        self._to: dict[str, str] = {}
        self._back: dict[str, str] = {}
        for name in names:
            self.add(name)

    def add(self, name: str) -> str:
        """Return the name of a tool for the service."""
        if name not in self._to:
            fit = _INVALID.sub("_", name)[:64]
            if not fit or fit in self._back:
                fit = f"{fit[:51]}_{_digest(name)}"
            self._to[name], self._back[fit] = fit, name
        return self._to[name]

    def original(self, name: str) -> str:
        """Return our name of a tool, given the service's."""
        return self._back.get(name, name)


def tool_definitions(tools: Sequence[ToolDefinition], names: ToolNames) -> list[Definition]:
    """Return the definitions of tools for the library."""
    return [
        Definition(
            name=names.add(tool["name"]),
            description=tool.get("description"),
            parameters_json_schema={"properties": {}, **tool.get("inputSchema", {}), "type": "object"},
        )
        for tool in tools
    ]


def removed_tools(messages: Sequence[Message]) -> list[ToolDefinition]:
    """Return definitions for the tools that were called, for services that require some."""
    called = dict.fromkeys(call["name"] for message in messages for call in requested_calls(message))
    return [{"name": name, "description": "This tool is not there any more."} for name in called]


def collect_instructions(system: str, messages: Sequence[Message]) -> str:
    """Return all instructions as one text: services differ in where they accept system messages."""
    more = [message["content"] for message in messages if message["role"] == "system"]
    return "\n\n".join(text for text in (system, *more) if text.strip())


def to_history(
    messages: Sequence[Message], service: str, names: ToolNames, *, sees_images: bool = True
) -> list[ModelMessage]:
    """Convert a transcript for a service. The result begins and ends with a request."""
    return _History(service, names, sees_images=sees_images).convert(messages)


class _History:
    def __init__(self, service: str, names: ToolNames, *, sees_images: bool) -> None:
        self._service = service
        self._names = names
        self._sees_images = sees_images
        self._messages: list[ModelMessage] = []
        self._used: set[str] = set()
        self._calls: list[tuple[str, ToolCallPart]] = []  # of the current message, with our ids

    def convert(self, messages: Sequence[Message]) -> list[ModelMessage]:
        results = _find_results(messages)
        for index, message in enumerate(messages):
            if message["role"] == "user":
                self._request([UserPromptPart(self._content(message["content"]) or NO_TEXT)])
            elif message["role"] == "assistant":
                self._respond(message)
                self._request(
                    [self._returned(part, results.get((index, our_id))) for our_id, part in self._calls]
                )
        return self._messages

    def _request(self, parts: Sequence[ModelRequestPart]) -> None:
        last = self._messages[-1] if self._messages else None
        if isinstance(last, ModelRequest):
            last.parts = [*last.parts, *parts]
        elif parts:
            self._messages.append(ModelRequest(parts=list(parts)))

    def _respond(self, message: Message) -> None:
        content = message["content"]
        self._calls = []
        blocks: list[Any] = [{"type": "text", "text": content}] if isinstance(content, str) else content
        parts = [part for block in blocks for part in self._parts(block)]
        if not parts:
            return
        if not self._messages:
            self._request([UserPromptPart(ASSISTANT_FIRST)])
        last = self._messages[-1]
        if isinstance(last, ModelResponse):
            last.parts = [*last.parts, *parts]
            return
        private = self._private(message)
        self._messages.append(
            ModelResponse(
                parts=parts,
                provider_name=self._service if private else None,
                provider_url=private.get("url"),
                provider_response_id=private.get("id"),
                canonical_system=private.get("system"),
                model_name=private.get("model"),
            )
        )

    def _returned(self, call: ToolCallPart, content: Content | None) -> ToolReturnPart:
        result = NO_RESULT if content is None else self._content(content)
        return ToolReturnPart(tool_name=call.tool_name, content=result, tool_call_id=call.tool_call_id)

    def _parts(self, block: Block) -> Iterator[ModelResponsePart]:
        private = self._private(block)
        private = {**private, "provider_name": self._service} if private else {}
        for thought in private.pop("thoughts", []):
            yield ThinkingPart("", provider_name=self._service, **thought)
        match block["type"]:
            case "text" if block["text"].strip():
                yield TextPart(block["text"], **private)
            case "thinking" if private:
                yield ThinkingPart(block["thinking"], **private)
            case "tool_use":
                name, call_id = self._names.add(block["name"]), self._valid_id(block["toolCallId"])
                part = ToolCallPart(name, block["input"], call_id, **private)
                self._calls.append((block["toolCallId"], part))
                yield part

    def _private(self, holder: Any) -> JsonObject:
        """Return what the service must get back with this message or block."""
        private: Any = holder.get("_private", {}).get(self._service)
        return private if isinstance(private, dict) else {}

    def _valid_id(self, call_id: str) -> str:
        """Return a unique id that all services accept; the same one for the same transcript."""
        fit = call_id if _ID.fullmatch(call_id) else f"call_{_digest(call_id)}"
        again = 1
        while fit in self._used:
            again += 1
            fit = f"call_{_digest(call_id)}_{again}"
        self._used.add(fit)
        return fit

    def _content(self, content: Content) -> Any:
        if isinstance(content, str):
            return content
        content_parts: list[UserContent] = []
        for block in content:
            if block["type"] == "text" and block["text"]:
                content_parts.append(block["text"])
            elif block["type"] == "image":
                content_parts.append(_image(block["url"]) if self._sees_images else NO_IMAGE)
        if all(isinstance(one, str) for one in content_parts):
            return "\n".join(str(one) for one in content_parts)
        return content_parts


def replace_image_links(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Replace images that would have to be fetched by text."""
    return [
        replace(message, parts=[_replace_image_links(part) for part in message.parts])
        if isinstance(message, ModelRequest)
        else message
        for message in messages
    ]


def _replace_image_links(part: ModelRequestPart) -> ModelRequestPart:
    if not isinstance(part, UserPromptPart | ToolReturnPart) or not isinstance(part.content, list):
        return part
    content = [NO_SUCH_IMAGE if isinstance(item, ImageUrl) else item for item in part.content]
    return replace(part, content=content)  # type: ignore[arg-type] # valid for both


def _find_results(messages: Sequence[Message]) -> dict[tuple[int, str], Content]:
    """Find the result of each call, by the index of the message that makes it and the id of the call."""
    places: dict[str, int] = {}
    results: dict[tuple[int, str], Content] = {}
    for index, message in enumerate(messages):
        if message["role"] == "tool" and message["toolCallId"] in places:
            results[places.pop(message["toolCallId"]), message["toolCallId"]] = message["content"]
        places.update({call["toolCallId"]: index for call in requested_calls(message)})
    return results


def _image(url: str) -> UserContent:
    try:
        return BinaryContent.from_data_uri(url) if url.startswith("data:") else ImageUrl(url)
    except ValueError:
        return NO_SUCH_IMAGE


def _digest(text: str) -> str:
    return blake2s(text.encode(errors="replace"), digest_size=6).hexdigest()
