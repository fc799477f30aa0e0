"""Answers of model services, byte for byte, for what aimock cannot be made to say, in each format."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from aap_servers import answer

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


def event(data: Any, name: str | None = None) -> bytes:
    """Return an event of a stream."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


def refused(status: str, message: str = "no", kind: str = "some_error", **headers: str) -> list[bytes]:
    """Return an error response that all clients understand."""
    body = {"type": "error", "error": {"type": kind, "code": kind, "message": message}}
    return answer(body, status, **headers)


@dataclass(frozen=True)
class Wire:
    """How answers look in one format: how they begin, go on, end, and break.

    Attributes:
        path: where requests arrive, as `OddServer` names it.
        begin: what comes first.
        text: a piece of text.
        end: how it ends; given why, in the words of the format.
        broken: an error in mid-stream.
        stops: the words for what has no text in between: a limit, and a refusal.
    """

    path: str
    begin: list[bytes]
    text: Callable[[str], list[bytes]]
    end: Callable[[str], list[bytes]]
    broken: list[bytes]
    stops: tuple[str, str, str]

    def whole(self, *texts: str, stop: int = 0) -> list[bytes]:
        """Return a whole answer; `stop` is 0 for the usual end, 1 for the limit, 2 for a refusal."""
        return [*self.start(*texts), *self.end(self.stops[stop])]

    def start(self, *texts: str) -> list[bytes]:
        """Return the beginning of an answer."""
        return [HEAD, *self.begin, *(piece for text in texts for piece in self.text(text))]


def _chunk(delta: Any, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return event(
        {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    )


CHAT = Wire(
    "post_v1_chat_completions",
    [_chunk({"role": "assistant", "content": ""})],
    lambda text: [_chunk({"content": text})],
    lambda why: [_chunk({}, why), event("[DONE]")],
    [event({"error": {"message": "out of order", "type": "server_error", "code": "server_error"}})],
    ("stop", "length", "content_filter"),
)


def _response(status: str, **more: Any) -> Any:
    base = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "output": [], "tools": []}
    more = {"parallel_tool_calls": True, "tool_choice": "auto", **more}
    return {**base, "status": status, **more}


def _message_item(status: str) -> Any:
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": status, "content": []}


def _responses_end(why: str) -> list[bytes]:
    if why == "completed":
        return [
            event({"type": "response.completed", "sequence_number": 9, "response": _response("completed")})
        ]
    response = _response("incomplete", incomplete_details={"reason": why})
    return [event({"type": "response.incomplete", "sequence_number": 9, "response": response})]


_PLACE = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
RESPONSES = Wire(
    "post_v1_responses",
    [
        event({"type": "response.created", "sequence_number": 0, "response": _response("in_progress")}),
        event(
            {
                "type": "response.output_item.added",
                "sequence_number": 1,
                "output_index": 0,
                "item": _message_item("in_progress"),
            }
        ),
    ],
    lambda text: [
        event(
            {
                "type": "response.output_text.delta",
                "sequence_number": 2,
                "delta": text,
                "logprobs": [],
                **_PLACE,
            }
        )
    ],
    _responses_end,
    [
        event(
            {"type": "error", "sequence_number": 5, "code": "server_error", "message": "out of order"},
            "error",
        )
    ],
    ("completed", "max_output_tokens", "content_filter"),
)


def _anthropic(kind: str, **more: Any) -> bytes:
    return event({"type": kind, **more}, kind)


_USAGE = {"input_tokens": 1, "output_tokens": 1}
ANTHROPIC = Wire(
    "post_v1_messages",
    [
        _anthropic(
            "message_start",
            message={
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": "m",
                "content": [],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": _USAGE,
            },
        ),
        _anthropic("content_block_start", index=0, content_block={"type": "text", "text": ""}),
    ],
    lambda text: [_anthropic("content_block_delta", index=0, delta={"type": "text_delta", "text": text})],
    lambda why: [
        _anthropic("content_block_stop", index=0),
        _anthropic("message_delta", delta={"stop_reason": why, "stop_sequence": None}, usage=_USAGE),
        _anthropic("message_stop"),
    ],
    [_anthropic("error", error={"type": "overloaded_error", "message": "Overloaded"})],
    ("end_turn", "max_tokens", "refusal"),
)


def _candidate(text: str, finish: str | None = None) -> bytes:
    candidate: Any = {"content": {"role": "model", "parts": [{"text": text}] if text else []}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return event({"candidates": [candidate], "modelVersion": "m"})


GOOGLE = Wire(
    "post_v1beta_models_gemini-3.5-flash:streamgeneratecontent",
    [],
    lambda text: [_candidate(text)],
    lambda why: [_candidate("", why)],
    [event({"error": {"code": 503, "message": "out of order", "status": "UNAVAILABLE"}})],
    ("STOP", "MAX_TOKENS", "SAFETY"),
)

BY_NAME: dict[str, Wire] = {"chat": CHAT, "responses": RESPONSES, "anthropic": ANTHROPIC, "google": GOOGLE}


def answers(wire: Wire, *told: Sequence[bytes]) -> dict[str, list[list[bytes]]]:
    """Return the answers of an `OddServer`, in order; the last one is repeated."""
    return {wire.path: [list(one) for one in told]}
