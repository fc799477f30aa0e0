"""Answers that think, privately, and then call a tool: what each service wants to have back afterwards.

aimock makes such answers too, but its journal shows requests in one form for all, without these parts.
"""

from typing import Any

from model_wires import BY_NAME, HEAD, event

SECRET = "c2VjcmV0LXNpZ25hdHVyZQ=="  # noqa: S105 - of nothing
"""What nobody but the service may see again."""

ARGUMENTS = '{"zone":"Rome"}'


def _anthropic() -> list[bytes]:
    wire = BY_NAME["anthropic"]
    return [
        HEAD,
        wire.begin[0],
        *_block(0, {"type": "thinking", "thinking": "", "signature": ""}),
        _delta(0, {"type": "thinking_delta", "thinking": "What time is it?"}),
        _delta(0, {"type": "signature_delta", "signature": SECRET}),
        _stop(0),
        *_block(1, {"type": "redacted_thinking", "data": SECRET}),
        _stop(1),
        *_block(2, {"type": "tool_use", "id": "toolu_1", "name": "clock", "input": {}}),
        _delta(2, {"type": "input_json_delta", "partial_json": ARGUMENTS}),
        _stop(2),
        *wire.end("tool_use")[1:],
    ]


def _block(index: int, block: Any) -> list[bytes]:
    kind = "content_block_start"
    return [event({"type": kind, "index": index, "content_block": block}, kind)]


def _delta(index: int, delta: Any) -> bytes:
    return event({"type": "content_block_delta", "index": index, "delta": delta}, "content_block_delta")


def _stop(index: int) -> bytes:
    return event({"type": "content_block_stop", "index": index}, "content_block_stop")


def _responses() -> list[bytes]:
    wire = BY_NAME["responses"]
    reasoning = {"id": "rs_1", "type": "reasoning", "summary": []}
    call = {
        "id": "fc_1",
        "type": "function_call",
        "call_id": "call_1",
        "name": "clock",
        "status": "completed",
    }
    items = [{**reasoning, "encrypted_content": SECRET}, {**call, "arguments": ARGUMENTS}]
    return [
        HEAD,
        wire.begin[0],
        _item("added", 0, reasoning),
        _item("done", 0, items[0]),
        _item("added", 1, {**call, "arguments": "", "status": "in_progress"}),
        event(
            {
                "type": "response.function_call_arguments.delta",
                "sequence_number": 4,
                "item_id": "fc_1",
                "output_index": 1,
                "delta": ARGUMENTS,
            }
        ),
        _item("done", 1, items[1]),
        *wire.end("completed"),
    ]


def _item(what: str, index: int, item: Any) -> bytes:
    kind = f"response.output_item.{what}"
    return event({"type": kind, "sequence_number": index, "output_index": index, "item": item})


_CALL = {
    "functionCall": {"id": "fc_1", "name": "clock", "args": {"zone": "Rome"}},
    "thoughtSignature": SECRET,
}


def _google() -> list[bytes]:
    content = {"role": "model", "parts": [{"text": "What time is it?", "thought": True}, _CALL]}
    return [HEAD, event({"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]})]


THINKING = {"anthropic": _anthropic(), "responses": _responses(), "google": _google()}
"""An answer of each format: a thought with a secret, then a call of `clock`."""


def sent_back(wire: str, body: Any) -> Any:
    """Return what a request repeats of such an answer."""
    match wire:
        case "anthropic":
            return body["messages"][1]["content"]
        case "responses":
            return [item for item in body["input"] if item.get("type") in ("reasoning", "function_call")]
        case _:
            return body["contents"][1]["parts"]


EXPECTED: dict[str, Any] = {
    "anthropic": [
        {"type": "thinking", "thinking": "What time is it?", "signature": SECRET},
        {"type": "redacted_thinking", "data": SECRET},
        {"type": "tool_use", "id": "toolu_1", "name": "clock", "input": {"zone": "Rome"}},
    ],
    "responses": [
        {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": SECRET},
        {
            "id": "fc_1",
            "type": "function_call",
            "call_id": "call_1",
            "name": "clock",
            "arguments": ARGUMENTS,
        },
    ],
    "google": [_CALL],
}
