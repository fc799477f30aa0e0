"""Records: what a turn has said so far, and which of its calls are open. Pure: events and messages in."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agenthost.wire.aap.v3 import (
    AgentMessage,
    ApplicationMessage,
    Content,
    ContentBlock,
    HistoryMessage,
    PostSessionTurnResponse,
    SSEEvent,
    StopReason,
    ToolCall,
    ToolCallInput,
    ToolMessage,
)

__all__ = ["Answer", "Record", "find_open_calls", "to_events"]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a finished turn.

    Attributes:
        stop_reason: `end_turn`, `max_tokens`, `refusal`, `error`, or one that a newer server has.
        messages: all messages of the turn, in order: of the agent and of tools, wherever they ran.
        session_id: the session.
    """

    stop_reason: StopReason
    messages: list[AgentMessage]
    session_id: str

    @property
    def text(self) -> str:
        """What the agent said, with a blank line between messages."""
        return "\n\n".join(filter(None, (_join(message, "text") for message in self._own())))

    @property
    def thinking(self) -> str:
        """What the agent thought, as far as it shows."""
        return "\n\n".join(filter(None, (_join(message, "thinking") for message in self._own())))

    def _own(self) -> list[AgentMessage]:
        return [message for message in self.messages if message["role"] == "assistant"]


class Record:
    """The messages of a turn so far, over all its requests.

    Attributes:
        messages: the complete messages.
        stop_reason: why the last request ended; None while it runs.
    """

    def __init__(self, open_calls: Sequence[ToolCall] = ()) -> None:
        self.messages: list[AgentMessage] = []
        self.stop_reason: StopReason | None = None
        self._calls: dict[str, ToolCall] = {call["toolCallId"]: call for call in open_calls}
        self._blocks: list[ContentBlock] = []  # of the message in progress
        self._kind = ""
        self._chunks: list[str] = []  # of the block in progress; joined once

    @property
    def open_calls(self) -> list[ToolCall]:
        """The calls that have no result and no answer yet."""
        return list(self._calls.values())

    def add(self, event: SSEEvent) -> None:
        """Add an event; unknown ones change nothing."""
        if event["event"] == "text_delta":
            self._append("text", event["delta"])
        elif event["event"] == "thinking_delta":
            self._append("thinking", event["delta"])
        elif event["event"] == "text":
            self._end_block()
            self._append("text", event["text"])
        elif event["event"] == "thinking":
            self._end_block()
            self._append("thinking", event["thinking"])
        elif event["event"] == "tool_call":
            self._add_call(event["toolCallId"], event["name"], event["input"])
        elif event["event"] == "tool_result":
            self._add_result(event["toolCallId"], event["content"])
        elif event["event"] == "turn_stop":
            self._end_message()
            self.stop_reason = event["stopReason"]

    def add_answer(self, answer: PostSessionTurnResponse) -> None:
        """Add the whole answer to a request, exactly as it came, except for results already recorded."""
        known = {message["toolCallId"] for message in self.messages if message["role"] == "tool"}
        self.messages += [one for one in answer["messages"] if one.get("toolCallId") not in known]
        self.stop_reason = answer["stopReason"]
        for call in find_open_calls(answer["messages"]):
            self._calls[call["toolCallId"]] = call

    def answer(self, answers: Sequence[ApplicationMessage]) -> list[ToolMessage]:
        """Add the application's answers to the open calls and return the tool results among them.

        A denial counts as a result: the server need not repeat what its history says about it (P4).
        """
        results = [result for message in answers if (result := _as_result(message))]
        for message in answers:
            self._calls.pop(message.get("toolCallId", ""), None)  # type: ignore[call-overload]
        self.messages += results
        self.stop_reason = None
        return results

    def _append(self, kind: str, text: str) -> None:
        if kind != self._kind:
            self._end_block()
            self._kind = kind
        self._chunks.append(text)

    def _end_block(self) -> None:
        if text := "".join(self._chunks):
            self._blocks.append({"type": self._kind, self._kind: text})  # type: ignore[arg-type]
        self._kind, self._chunks = "", []

    def _add_call(self, call_id: str, name: str, arguments: ToolCallInput) -> None:
        self._end_block()
        call: ToolCall = {"toolCallId": call_id, "name": name, "input": arguments}
        self._blocks.append({"type": "tool_use", **call})
        self._calls[call_id] = call

    def _add_result(self, call_id: str, content: Content) -> None:
        self._end_message()
        self._calls.pop(call_id, None)
        self.messages.append({"role": "tool", "toolCallId": call_id, "content": content})

    def _end_message(self) -> None:
        self._end_block()
        blocks, self._blocks = self._blocks, []
        if len(blocks) == 1 and blocks[0]["type"] == "text":
            self.messages.append({"role": "assistant", "content": blocks[0]["text"]})
        elif blocks:
            self.messages.append({"role": "assistant", "content": blocks})


def find_open_calls(messages: Sequence[HistoryMessage] | Sequence[AgentMessage]) -> list[ToolCall]:
    """Return the open calls of a history: those of its last assistant message without a result (C5)."""
    answered: set[str] = set()
    for message in reversed(messages):
        if message["role"] == "tool":
            answered.add(message["toolCallId"])
        elif message["role"] == "assistant":
            return [call for call in _calls_in(message["content"]) if call["toolCallId"] not in answered]
        elif message["role"] == "user":
            return []
    return []


def to_events(answer: PostSessionTurnResponse) -> Iterator[SSEEvent]:
    """Yield the events that a turn would have streamed."""
    yield {"event": "turn_start"}
    for message in answer["messages"]:
        if message["role"] == "tool":
            yield {
                "event": "tool_result",
                "toolCallId": message["toolCallId"],
                "content": message["content"],
            }
        elif message["role"] == "assistant":
            yield from map(_to_event, filter(_is_shown, _blocks(message["content"])))
    yield {"event": "turn_stop", "stopReason": answer["stopReason"]}


_EVENT_NAMES = {"text": "text", "thinking": "thinking", "tool_use": "tool_call"}


def _is_shown(block: ContentBlock) -> bool:
    return block["type"] in _EVENT_NAMES


def _to_event(block: ContentBlock) -> Any:
    rest = {key: value for key, value in block.items() if key != "type"}
    return {"event": _EVENT_NAMES[block["type"]], **rest}


def _blocks(content: Content) -> list[ContentBlock]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content


def _calls_in(content: Content) -> list[ToolCall]:
    return [
        {"toolCallId": block["toolCallId"], "name": block["name"], "input": block["input"]}
        for block in _blocks(content)
        if block["type"] == "tool_use"
    ]


def _join(message: AgentMessage, kind: str) -> str:
    blocks: list[Any] = list(_blocks(message["content"]))
    return "".join(block[kind] for block in blocks if block["type"] == kind)


def _as_result(message: ApplicationMessage) -> ToolMessage | None:
    if message["role"] == "tool":
        return message
    if message["role"] == "tool_permission" and not message["granted"]:
        reason = message.get("reason")
        text = f"Tool call denied: {reason}" if reason else "Tool call denied"
        return {"role": "tool", "toolCallId": message["toolCallId"], "content": text}
    return None
