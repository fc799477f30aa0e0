"""Projection: the actions of a turn as events of AAP. Pure; sees actions and the states after them.

A turn of a session may take several requests here: when it waits for results or permissions of its
application, it stops with `tool_use` (P2, P3), and the next request continues it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from agenthost.core.queries import (
    ENDED_CALL_STATUSES,
    TURN_ENDINGS,
    active_calls,
    client_of,
    find_active_call,
    has_ended,
)
from agenthost.core.turn_transcript import is_reported, result_content
from agenthost.host.log.text_runs import TextRun
from agenthost.wire.aap.event import encode_event
from agenthost.wire.aap.message import Content
from agenthost.wire.aap.session import StopReason, StreamMode
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.json import decode_json

__all__ = [
    "TURN_START",
    "AnnouncedCalls",
    "Projection",
    "is_for_application",
    "open_calls",
    "waits_for_application",
]

TURN_START = encode_event({"event": "turn_start"})

_FRAMES = {
    "chat/delta": (b'event: text_delta\ndata: {"delta":', b"}\n\n"),
    "chat/reasoning": (b'event: thinking_delta\ndata: {"delta":', b"}\n\n"),
}
_encode_lines = msgspec.json.Encoder().encode_lines


@dataclass(slots=True)
class AnnouncedCalls:
    """Which calls of a turn an application has been sent: their beginning, and their end."""

    asked: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)

    @classmethod
    def all_in(cls, state: ChatState) -> "AnnouncedCalls":
        """Return an object that counts all calls of the running turn as sent."""
        calls = active_calls(state)
        ended = {call["toolCallId"] for call in calls if call["status"] == "completed"}
        return cls({call["toolCallId"] for call in calls}, ended)


class Projection:
    """One request's view of a turn.

    `stop_reason` is set once the turn has stopped, for this request.

    Args:
        turn_id: the id of the turn.
        app_id: the client id of the application.
        mode: the stream mode.
        content_of: returns what the model reads of the result of a call.
        stopped: returns the stop reason of a complete turn, if it is not the usual one.
        told: the calls that were sent before this request; more are added to it.
    """

    def __init__(
        self,
        turn_id: str,
        app_id: str,
        mode: StreamMode,
        content_of: Callable[[str], Content],
        stopped: Callable[[], StopReason | None],
        told: "AnnouncedCalls",
    ) -> None:
        self.stop_reason: StopReason | None = None
        self._turn_id = turn_id
        self._app_id = app_id
        self._mode = mode
        self._content_of = content_of
        self._stopped = stopped
        self.told = told
        self._parts: list[tuple[str, str, list[str]]] = []  # the texts of the current message, by part

    def stream(self, run: TextRun) -> bytes:
        """Return the events for a run of text."""
        if self._mode == "none" or run.turn != self._turn_id or run.kind not in _FRAMES:
            return b""
        if self._mode == "delta":
            # One replace frames all texts: JSON strings contain no line ends, so each line end separates two.
            head, tail = _FRAMES[run.kind]
            lines = _encode_lines(run.texts)
            return head + lines[:-1].replace(b"\n", tail + head) + tail
        if not self._parts or self._parts[-1][:2] != (run.kind, run.part):
            self._parts.append((run.kind, run.part, []))
        self._parts[-1][2].extend(run.texts)
        return b""

    def take(self, action: Any, after: ChatState) -> bytes:
        """Return the events for any other action."""
        kind = action["type"]
        if kind == "chat/responsePart":
            return b""  # text still streams, so the turn waits for nobody
        events: list[Any] = []
        if kind in TURN_ENDINGS and action["turnId"] == self._turn_id:
            if self._parts:
                events += self._whole_texts()
            # T4. Cancelled turns end with `error` here, too (Z5).
            self.stop_reason = (self._stopped() or "end_turn") if kind == "chat/turnComplete" else "error"
        elif kind.startswith("chat/toolCall") and action["turnId"] == self._turn_id:
            events += self._on_call(kind, action, after)
        if self.stop_reason is None:
            self.look_for_stop(after)
        # T1: the body is made of the transcript, not of events.
        if self._mode == "none":
            return b""
        if self.stop_reason is not None:
            events.append({"event": "turn_stop", "stopReason": self.stop_reason})
        return b"".join(map(encode_event, events))

    def tell_missed(self, state: ChatState) -> bytes:
        """Return the events for calls that an agent ran by itself between two requests (P14)."""
        events = [event for call in active_calls(state) if is_reported(call) for event in self._on_own(call)]
        return b"".join(map(encode_event, events)) if self._mode != "none" else b""

    def break_off(self) -> bytes:
        """End the stream: the log no longer has what comes next."""
        self.stop_reason = "error"
        return encode_event({"event": "turn_stop", "stopReason": "error"}) if self._mode != "none" else b""

    def _on_call(self, kind: str, action: Any, after: ChatState) -> list[Any]:
        call: Any = find_active_call(after, action["toolCallId"])
        if call is None:
            return []
        base = {"toolCallId": call["toolCallId"]}
        if is_reported(call):
            return self._on_own(call)
        if kind == "chat/toolCallReady":
            # T3: the text before a call is complete.
            return [*(self._whole_texts() if self._parts else ()), self._called(call)]
        has_result = call["status"] == "completed" or call.get("reason") == "result-denied"
        is_end = kind in ("chat/toolCallComplete", "chat/toolCallResultConfirmed")
        # The application has sent the results of its own tools itself.
        if is_end and has_result and client_of(call) != self._app_id:
            return [{"event": "tool_result", **base, "content": self._content_of(call["toolCallId"])}]
        return []

    def _called(self, call: Any) -> Any:
        self.told.asked.add(call["toolCallId"])
        called = {"name": call["toolName"], "input": decode_json(call.get("toolInput", "{}"))}
        return {"event": "tool_call", "toolCallId": call["toolCallId"], **called}

    def _on_own(self, call: Any) -> list[Any]:
        """Return the events of a call that its agent runs: when it asks, and when it has ended (P14)."""
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
            if kind == "chat/delta"
            else {"event": "thinking", "thinking": "".join(texts)}
            for kind, _, texts in parts
        ]

    def look_for_stop(self, after: ChatState) -> None:
        """Set the stop reason if the turn has stopped for this request."""
        turn = after.get("activeTurn")
        if turn is None or turn["id"] != self._turn_id:
            self.stop_reason = "error"  # the turn was removed
        elif waits_for_application(after, self._app_id):
            self.stop_reason = "tool_use"


def open_calls(state: ChatState) -> list[Any]:
    """Return the calls of the running turn that have not ended."""
    return [call for call in active_calls(state) if not has_ended(call)]


def waits_for_application(state: ChatState, app_id: str) -> bool:
    """Return whether a turn can only continue when its application has answered.

    Not while other calls are open: a running tool, another client's call, a result that awaits approval (P6).
    Calls that the agent runs by itself do not count: they may be waiting for the same answer (P14).
    """
    turn = state.get("activeTurn")
    is_waiting = False
    # A plain loop, because this runs after each action of a turn.
    for part in turn["responseParts"] if turn else ():
        if part["kind"] == "toolCall":
            call: Any = part["toolCall"]
            if call["status"] in ENDED_CALL_STATUSES:
                continue
            if is_for_application(call, app_id):
                is_waiting = True
            elif not is_reported(call):
                return False
    return is_waiting


def is_for_application(call: Any, app_id: str) -> bool:
    """Return whether a call waits for its application: for a permission, or for the result of its tool."""
    if call["status"] == "running":
        return client_of(call) == app_id
    return bool(call["status"] == "pending-confirmation")
