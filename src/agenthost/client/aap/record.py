"""Records: what a turn has said so far, and which of its calls are open. Pure; sees events and messages."""

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

__all__ = ["Answer", "Record", "events_of", "open_calls_of"]


@dataclass(frozen=True, slots=True)
class Answer:
    """A turn that is over.

    Attributes:
        stop_reason: why it is: `end_turn`, `max_tokens`, `refusal`, `error`, or one of a newer server.
        messages: all that it made, in order: what the agent said, and what tools gave, wherever they ran.
        session_id: the session.
    """

    stop_reason: StopReason
    messages: list[AgentMessage]
    session_id: str

    @property
    def text(self) -> str:
        """What the agent said; a blank line stands between two messages."""
        return "\n\n".join(filter(None, (_joined(message, "text") for message in self._own())))

    @property
    def thinking(self) -> str:
        """What the agent thought, as far as it tells."""
        return "\n\n".join(filter(None, (_joined(message, "thinking") for message in self._own())))

    def _own(self) -> list[AgentMessage]:
        return [message for message in self.messages if message["role"] == "assistant"]


class Record:
    """What a turn has said so far, over all its requests.

    Attributes:
        messages: the messages that are whole.
        stop_reason: why the last request ended, if it has.
    """

    def __init__(self, open_calls: Sequence[ToolCall] = ()) -> None:
        self.messages: list[AgentMessage] = []
        self.stop_reason: StopReason | None = None
        self._calls: dict[str, ToolCall] = {call["toolCallId"]: call for call in open_calls}
        self._blocks: list[ContentBlock] = []  # of the message that is being said
        self._kind = ""
        self._chunks: list[str] = []  # of the block that is being said: joining them each time would be slow

    @property
    def open_calls(self) -> list[ToolCall]:
        """The calls that have neither a result nor an answer."""
        return list(self._calls.values())

    def take(self, event: SSEEvent) -> None:
        """Take the next event; one that is not known changes nothing."""
        if event["event"] == "text_delta":
            self._say("text", event["delta"])
        elif event["event"] == "thinking_delta":
            self._say("thinking", event["delta"])
        elif event["event"] == "text":
            self._end_block()
            self._say("text", event["text"])
        elif event["event"] == "thinking":
            self._end_block()
            self._say("thinking", event["thinking"])
        elif event["event"] == "tool_call":
            self._take_call(event["toolCallId"], event["name"], event["input"])
        elif event["event"] == "tool_result":
            self._take_result(event["toolCallId"], event["content"])
        elif event["event"] == "turn_stop":
            self._end_message()
            self.stop_reason = event["stopReason"]

    def take_whole(self, answer: PostSessionTurnResponse) -> None:
        """Take all that a request gave at once, exactly as it came, but for what was noted already."""
        noted = {message["toolCallId"] for message in self.messages if message["role"] == "tool"}
        self.messages += [one for one in answer["messages"] if one.get("toolCallId") not in noted]
        self.stop_reason = answer["stopReason"]
        for call in open_calls_of(answer["messages"]):
            self._calls[call["toolCallId"]] = call

    def answer(self, answers: Sequence[ApplicationMessage]) -> list[ToolMessage]:
        """Note what the application answers to the open calls; gives the results among it.

        A server need not tell what its history says of a call that was denied, so it is noted here.
        """
        results = [result for message in answers if (result := _result_of(message))]
        for message in answers:
            self._calls.pop(message.get("toolCallId", ""), None)  # type: ignore[call-overload]
        self.messages += results
        self.stop_reason = None
        return results

    def _say(self, kind: str, text: str) -> None:
        if kind != self._kind:
            self._end_block()
            self._kind = kind
        self._chunks.append(text)

    def _end_block(self) -> None:
        if text := "".join(self._chunks):
            self._blocks.append({"type": self._kind, self._kind: text})  # type: ignore[arg-type]
        self._kind, self._chunks = "", []

    def _take_call(self, call_id: str, name: str, arguments: ToolCallInput) -> None:
        self._end_block()
        call: ToolCall = {"toolCallId": call_id, "name": name, "input": arguments}
        self._blocks.append({"type": "tool_use", **call})
        self._calls[call_id] = call

    def _take_result(self, call_id: str, content: Content) -> None:
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


def open_calls_of(messages: Sequence[HistoryMessage] | Sequence[AgentMessage]) -> list[ToolCall]:
    """Find the calls at the end of a history that have no result: of its last assistant message."""
    answered: set[str] = set()
    for message in reversed(messages):
        if message["role"] == "tool":
            answered.add(message["toolCallId"])
        elif message["role"] == "assistant":
            return [call for call in _calls_in(message["content"]) if call["toolCallId"] not in answered]
        elif message["role"] == "user":
            return []
    return []


def events_of(answer: PostSessionTurnResponse) -> Iterator[SSEEvent]:
    """Give the events that a turn would have streamed, had it not come whole."""
    yield {"event": "turn_start"}
    for message in answer["messages"]:
        if message["role"] == "tool":
            yield {
                "event": "tool_result",
                "toolCallId": message["toolCallId"],
                "content": message["content"],
            }
        elif message["role"] == "assistant":
            yield from map(_event_of, filter(_is_said, _blocks_of(message["content"])))
    yield {"event": "turn_stop", "stopReason": answer["stopReason"]}


_SAID = {"text": "text", "thinking": "thinking", "tool_use": "tool_call"}


def _is_said(block: ContentBlock) -> bool:
    return block["type"] in _SAID


def _event_of(block: ContentBlock) -> Any:
    rest = {key: value for key, value in block.items() if key != "type"}
    return {"event": _SAID[block["type"]], **rest}


def _blocks_of(content: Content) -> list[ContentBlock]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content


def _calls_in(content: Content) -> list[ToolCall]:
    return [
        {"toolCallId": block["toolCallId"], "name": block["name"], "input": block["input"]}
        for block in _blocks_of(content)
        if block["type"] == "tool_use"
    ]


def _joined(message: AgentMessage, kind: str) -> str:
    blocks: list[Any] = list(_blocks_of(message["content"]))
    return "".join(block[kind] for block in blocks if block["type"] == kind)


def _result_of(message: ApplicationMessage) -> ToolMessage | None:
    if message["role"] == "tool":
        return message
    if message["role"] == "tool_permission" and not message["granted"]:
        reason = message.get("reason")
        text = f"Tool call denied: {reason}" if reason else "Tool call denied"
        return {"role": "tool", "toolCallId": message["toolCallId"], "content": text}
    return None
