"""Projection: what happens in a turn, as events of AAP. Pure; sees actions and the state that follows them.

A turn of the session may be several requests here: one that waits for its application, for results or for
permissions, stops with `tool_use`, and the next request goes on with it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from agenthost.core.recording import is_reported, result_content
from agenthost.host.packing import Run
from agenthost.wire.aap.event import encode_event
from agenthost.wire.aap.message import Content
from agenthost.wire.aap.session import StopReason, StreamMode
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.json import decode_json

__all__ = [
    "TURN_START",
    "Projection",
    "Told",
    "is_for_application",
    "open_calls",
    "waits_for_application",
]

TURN_START = encode_event({"event": "turn_start"})

_FRAMES = {
    "session/delta": (b'event: text_delta\ndata: {"delta":', b"}\n\n"),
    "session/reasoning": (b'event: thinking_delta\ndata: {"delta":', b"}\n\n"),
}
_encode_lines = msgspec.json.Encoder().encode_lines

_ENDINGS = {"session/turnComplete", "session/turnCancelled", "session/error"}


@dataclass(slots=True)
class Told:
    """Which calls of a turn an application was told: that they are asked for, and that they ended."""

    asked: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)

    @classmethod
    def all_in(cls, state: SessionState) -> "Told":
        """Take all calls of the running turn for told."""
        calls = _calls(state)
        ended = {call["toolCallId"] for call in calls if call["status"] == "completed"}
        return cls({call["toolCallId"] for call in calls}, ended)


class Projection:
    """One request's view of a turn.

    `stop_reason` is set once the turn has stopped, for this request.

    Args:
        turn_id: the turn.
        app_id: the client id that stands for the application.
        mode: how the application wants the answer.
        content_of: gives what the model reads of the result of a call.
        stopped: gives the reason of a turn that is complete, if it is not the usual one.
        told: the calls that were told before this request; more are added to it.
    """

    def __init__(
        self,
        turn_id: str,
        app_id: str,
        mode: StreamMode,
        content_of: Callable[[str], Content],
        stopped: Callable[[], StopReason | None],
        told: "Told",
    ) -> None:
        self.stop_reason: StopReason | None = None
        self._turn_id = turn_id
        self._app_id = app_id
        self._mode = mode
        self._content_of = content_of
        self._stopped = stopped
        self.told = told
        self._parts: list[tuple[str, str, list[str]]] = []  # the texts of this message so far, by part

    def stream(self, run: Run) -> bytes:
        """Give the events for a run of text."""
        if self._mode == "none" or run.turn != self._turn_id or run.kind not in _FRAMES:
            return b""
        if self._mode == "delta":
            return _framed(run)
        if not self._parts or self._parts[-1][:2] != (run.kind, run.part):
            self._parts.append((run.kind, run.part, []))
        self._parts[-1][2].extend(run.texts)
        return b""

    def take(self, action: Any, after: SessionState) -> bytes:
        """Give the events for anything else that happened."""
        kind = action["type"]
        if kind == "session/responsePart":
            return b""  # nothing yet: its text streams, and so a turn waits for nobody
        events: list[Any] = []
        if kind in _ENDINGS and action["turnId"] == self._turn_id:
            events += self._whole_texts()
            self.stop_reason = (self._stopped() or "end_turn") if kind == "session/turnComplete" else "error"
        elif kind.startswith("session/toolCall") and action["turnId"] == self._turn_id:
            events += self._on_call(kind, action, after)
        self.look_for_stop(after)
        if self.stop_reason is not None:
            events.append({"event": "turn_stop", "stopReason": self.stop_reason})
        return b"".join(map(encode_event, events)) if self._mode != "none" else b""

    def tell_missed(self, state: SessionState) -> bytes:
        """Give the events for calls that an agent ran by itself while nobody listened."""
        events = [event for call in _calls(state) if is_reported(call) for event in self._on_own(call)]
        return b"".join(map(encode_event, events)) if self._mode != "none" else b""

    def break_off(self) -> bytes:
        """End here: what comes next is not known any more."""
        self.stop_reason = "error"
        return encode_event({"event": "turn_stop", "stopReason": "error"}) if self._mode != "none" else b""

    def _on_call(self, kind: str, action: Any, after: SessionState) -> list[Any]:
        call = _find(after, action["toolCallId"])
        if call is None:
            return []
        base = {"toolCallId": call["toolCallId"]}
        if is_reported(call):
            return self._on_own(call)
        if kind == "session/toolCallReady":
            return [*self._whole_texts(), self._called(call)]
        has_result = call["status"] == "completed" or call.get("reason") == "result-denied"
        is_end = kind in ("session/toolCallComplete", "session/toolCallResultConfirmed")
        if is_end and has_result and call.get("toolClientId") != self._app_id:
            return [{"event": "tool_result", **base, "content": self._content_of(call["toolCallId"])}]
        return []

    def _called(self, call: Any) -> Any:
        self.told.asked.add(call["toolCallId"])
        called = {"name": call["toolName"], "input": decode_json(call.get("toolInput", "{}"))}
        return {"event": "tool_call", "toolCallId": call["toolCallId"], **called}

    def _on_own(self, call: Any) -> list[Any]:
        """Tell of a call that its agent runs: when it asks, and when it has ended."""
        call_id = call["toolCallId"]
        is_done = call["status"] == "completed" and call_id not in self.told.ended
        events: list[Any] = []
        if (is_done or call["status"] == "pending-confirmation") and call_id not in self.told.asked:
            events += [*self._whole_texts(), self._called(call)]
        if is_done:
            self.told.ended.add(call_id)
            content = self._content_of(call_id) or result_content(call)
            events.append({"event": "tool_result", "toolCallId": call_id, "content": content})
        return events

    def _whole_texts(self) -> list[Any]:
        parts, self._parts = self._parts, []
        return [
            {"event": "text", "text": "".join(texts)}
            if kind == "session/delta"
            else {"event": "thinking", "thinking": "".join(texts)}
            for kind, _, texts in parts
        ]

    def look_for_stop(self, after: SessionState) -> None:
        """Note that the turn has stopped for this request, if the state says so."""
        if self.stop_reason is not None:
            return
        turn = after.get("activeTurn")
        if turn is None or turn["id"] != self._turn_id:
            self.stop_reason = "error"  # cut off: somebody took the turn back
        elif waits_for_application(after, self._app_id):
            self.stop_reason = "tool_use"


def _framed(run: Run) -> bytes:
    """Encode texts as events, all at once: between two JSON strings there is a line end, and in them none."""
    head, tail = _FRAMES[run.kind]
    lines = _encode_lines(run.texts)
    return head + lines[:-1].replace(b"\n", tail + head) + tail


def open_calls(state: SessionState) -> list[Any]:
    """Give the calls of the running turn that have not ended."""
    return [call for call in _calls(state) if call["status"] not in ("completed", "cancelled")]


def _calls(state: SessionState) -> list[Any]:
    turn = state.get("activeTurn")
    parts: list[Any] = turn["responseParts"] if turn else []
    return [part["toolCall"] for part in parts if part["kind"] == "toolCall"]


def waits_for_application(state: SessionState, app_id: str) -> bool:
    """Tell whether a turn can only go on when its application has done something.

    What else is under way comes first: a tool that runs, another client's, a result that somebody looks at.
    But not what an agent runs by itself: nobody knows whether it does not wait for the same.
    """
    calls = [(is_for_application(call, app_id), is_reported(call)) for call in open_calls(state)]
    return any(is_ours for is_ours, _ in calls) and all(is_ours or is_its for is_ours, is_its in calls)


def is_for_application(call: Any, app_id: str) -> bool:
    """Tell whether a call waits for its application: for a permission, or for the result of its own tool."""
    if call["status"] == "running":
        return bool(call.get("toolClientId") == app_id)
    return bool(call["status"] == "pending-confirmation")


def _find(state: SessionState, call_id: str) -> Any:
    return next((call for call in reversed(_calls(state)) if call["toolCallId"] == call_id), None)
