"""History: a transcript of ours as the messages of the library, valid for every service.

Each call has exactly one result, right after it; requests and answers alternate; ids and names are such as
all services take. What a service needs to have back (signatures of thoughts, ids) is in `_private` under its
name; of thoughts, only those go back that have it. Knows no turn.
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

from agenthost.core.transcript import Block, Content, Message, calls_of
from agenthost.wire.ahp.tool import ToolDefinition
from agenthost.wire.json import JsonObject

__all__ = ["Names", "definitions", "gone_tools", "instructions_of", "to_history", "without_links"]

NO_RESULT = "There is no result: the call was given up."
NO_TEXT = "(no text)"
NO_IMAGE = "[an image, which this model cannot see]"
NO_SUCH_IMAGE = "[an image that cannot be read]"
FIRST_WORD = "(The assistant speaks first.)"

_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_UNFIT = re.compile(r"[^A-Za-z0-9_-]")


class Names:
    """Names of tools as services take them, and the way back."""

    def __init__(self, names: Iterable[str]) -> None:
        self._to: dict[str, str] = {}
        self._back: dict[str, str] = {}
        for name in names:
            self.add(name)

    def add(self, name: str) -> str:
        """Give the name that a service knows a tool by."""
        if name not in self._to:
            fit = _UNFIT.sub("_", name)[:64]
            if not fit or fit in self._back:
                fit = f"{fit[:51]}_{_mark(name)}"
            self._to[name], self._back[fit] = fit, name
        return self._to[name]

    def back(self, name: str) -> str:
        """Give the name that we know a tool by."""
        return self._back.get(name, name)


def definitions(tools: Sequence[ToolDefinition], names: Names) -> list[Definition]:
    """Describe tools to a service."""
    return [
        Definition(
            name=names.add(tool["name"]),
            description=tool.get("description"),
            parameters_json_schema={"properties": {}, **tool.get("inputSchema", {}), "type": "object"},
        )
        for tool in tools
    ]


def gone_tools(messages: Sequence[Message]) -> list[ToolDefinition]:
    """Describe the tools that were called and are no more."""
    called = dict.fromkeys(call["name"] for message in messages for call in calls_of(message))
    return [{"name": name, "description": "This tool is not there any more."} for name in called]


def instructions_of(system: str, messages: Sequence[Message]) -> str:
    """Give all instructions, wherever they are: services differ in where else they take them."""
    more = [message["content"] for message in messages if message["role"] == "system"]
    return "\n\n".join(text for text in (system, *more) if text.strip())


def to_history(
    messages: Sequence[Message], service: str, names: Names, *, sees_images: bool = True
) -> list[ModelMessage]:
    """Give a transcript as a service of this name can read it. It begins and ends with a request."""
    return _History(service, names, sees_images=sees_images).made_of(messages)


class _History:
    def __init__(self, service: str, names: Names, *, sees_images: bool) -> None:
        self._service = service
        self._names = names
        self._sees_images = sees_images
        self._messages: list[ModelMessage] = []
        self._used: set[str] = set()
        self._calls: list[tuple[str, ToolCallPart]] = []  # of the message at hand, with our ids

    def made_of(self, messages: Sequence[Message]) -> list[ModelMessage]:
        results = _results_of(messages)
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
            self._request([UserPromptPart(FIRST_WORD)])
        last = self._messages[-1]
        if isinstance(last, ModelResponse):
            last.parts = [*last.parts, *parts]
            return
        kept = self._kept(message)
        self._messages.append(
            ModelResponse(
                parts=parts,
                provider_name=self._service if kept else None,
                provider_url=kept.get("url"),
                provider_response_id=kept.get("id"),
                canonical_system=kept.get("system"),
                model_name=kept.get("model"),
            )
        )

    def _returned(self, call: ToolCallPart, content: Content | None) -> ToolReturnPart:
        told = NO_RESULT if content is None else self._content(content)
        return ToolReturnPart(tool_name=call.tool_name, content=told, tool_call_id=call.tool_call_id)

    def _parts(self, block: Block) -> Iterator[ModelResponsePart]:
        kept = self._kept(block)
        kept = {**kept, "provider_name": self._service} if kept else {}
        for thought in kept.pop("thoughts", []):
            yield ThinkingPart("", provider_name=self._service, **thought)
        match block["type"]:
            case "text" if block["text"].strip():
                yield TextPart(block["text"], **kept)
            case "thinking" if kept:
                yield ThinkingPart(block["thinking"], **kept)
            case "tool_use":
                name, call_id = self._names.add(block["name"]), self._fitting_id(block["toolCallId"])
                part = ToolCallPart(name, block["input"], call_id, **kept)
                self._calls.append((block["toolCallId"], part))
                yield part

    def _kept(self, holder: Any) -> JsonObject:
        """Give what the service wants to have back with this message or block."""
        kept: Any = holder.get("_private", {}).get(self._service)
        return kept if isinstance(kept, dict) else {}

    def _fitting_id(self, call_id: str) -> str:
        """Give an id that no other call has and that all services take; the same each time."""
        fit = call_id if _ID.fullmatch(call_id) else f"call_{_mark(call_id)}"
        again = 1
        while fit in self._used:
            again += 1
            fit = f"call_{_mark(call_id)}_{again}"
        self._used.add(fit)
        return fit

    def _content(self, content: Content) -> Any:
        if isinstance(content, str):
            return content
        told: list[UserContent] = []
        for block in content:
            if block["type"] == "text" and block["text"]:
                told.append(block["text"])
            elif block["type"] == "image":
                told.append(_image(block["url"]) if self._sees_images else NO_IMAGE)
        if all(isinstance(one, str) for one in told):
            return "\n".join(str(one) for one in told)
        return told


def without_links(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Put words in the place of images that would have to be fetched."""
    return [
        replace(message, parts=[_without_links(part) for part in message.parts])
        if isinstance(message, ModelRequest)
        else message
        for message in messages
    ]


def _without_links(part: ModelRequestPart) -> ModelRequestPart:
    if not isinstance(part, UserPromptPart | ToolReturnPart) or not isinstance(part.content, list):
        return part
    told = [NO_SUCH_IMAGE if isinstance(item, ImageUrl) else item for item in part.content]
    return replace(part, content=told)  # type: ignore[arg-type] # fits either


def _results_of(messages: Sequence[Message]) -> dict[tuple[int, str], Content]:
    """Find what came of each call, by the place of the message that asks for it, and its id."""
    places: dict[str, int] = {}
    results: dict[tuple[int, str], Content] = {}
    for index, message in enumerate(messages):
        if message["role"] == "tool" and message["toolCallId"] in places:
            results[places.pop(message["toolCallId"]), message["toolCallId"]] = message["content"]
        places.update({call["toolCallId"]: index for call in calls_of(message)})
    return results


def _image(url: str) -> UserContent:
    try:
        return BinaryContent.from_data_uri(url) if url.startswith("data:") else ImageUrl(url)
    except ValueError:
        return NO_SUCH_IMAGE


def _mark(text: str) -> str:
    return blake2s(text.encode(errors="replace"), digest_size=6).hexdigest()
