"""The recorder: decides what is written with an action, in the same commit.

Transcript and private data follow from the actions, whoever dispatched them: a turn begins with the user's
message, a call ends with the tool's message, and a turn that ends leaves what was said in it. Knows what to
write; `Session` writes it.
"""

from collections.abc import Callable, Sequence
from typing import Any, cast

import msgspec

from agenthost.core.decisions import message_name
from agenthost.core.queries import TURN_ENDINGS, find_active_call, tool_calls
from agenthost.core.transcript import Message, close_open_calls, requested_calls
from agenthost.core.turn_transcript import (
    SKIPPED,
    WITHHELD,
    answer_message,
    covered_parts,
    denied_message,
    reported_messages,
    result_content,
    tool_message,
    user_message,
)
from agenthost.errors import NotJson
from agenthost.host.sessions.approvals import remembered
from agenthost.host.state.private import Private, with_values
from agenthost.host.state.session import Session, TranscriptEntry
from agenthost.wire.json import Json, JsonObject, decode_json

MAX_TAKEN = 100
"""How many pending messages that were used up a session remembers: the newest ones."""


class SideWrites(msgspec.Struct, frozen=True, gc=False):
    """The writes in the same commit as an action."""

    messages: Sequence[TranscriptEntry] = ()
    private: Private | None = None
    cut: int | None = None


NO_WRITES = SideWrites()

_OF_A_TURN = frozenset({"asked", "held", "shown", "crashes", "tasks"})
"""The fields of the private data that belong to the running turn."""


def turn_messages(session: Session, turn_id: str) -> list[Message]:
    """Return the messages of the newest turn so far: they are at the end of the transcript."""
    found = []
    for said in reversed(session.messages):
        if said.turn != turn_id:
            break
        found.append(said.message)
    found.reverse()
    return found


def _turn_started(session: Session, action: Json, _answers: Any) -> SideWrites:
    said = [TranscriptEntry(action["turnId"], user_message(action["message"]))]
    message_id = action.get("queuedMessageId")
    if not message_id:
        return SideWrites(said)
    # C1: a turn may start from the steering message too.
    is_steering = session.chat.get("steeringMessage", {}).get("id") == message_id
    return SideWrites(said, taken_message(session, "steering" if is_steering else "queued", message_id))


def _message_removed(session: Session, action: Json, _answers: Any) -> SideWrites:
    return SideWrites(private=taken_message(session, action["kind"], action["id"]))


def taken_message(session: Session, kind: str, message_id: str) -> Private | None:
    """Record that a pending message was used or removed: a repeat must not add it again (HR-C09)."""
    name, before = message_name(kind, message_id), session.private.get("taken", [])
    return None if name in before else with_values(session.private, taken=[*before, name][-MAX_TAKEN:])


def _turn_ended(session: Session, action: Json, _answers: Any) -> SideWrites:
    """Write what was said so far. Calls that are still open are closed, so that a model accepts it."""
    turn = session.chat.get("activeTurn")
    # H1: the reducer ignores such an action.
    if turn is None or turn["id"] != action["turnId"]:
        return NO_WRITES
    messages = turn_messages(session, turn["id"])
    notes = session.notes
    said: list[Message] = []
    parts = turn["responseParts"]
    if tool_calls(parts):  # skipped for most turns, which have no calls
        said += close_open_calls(messages, SKIPPED)
        said += reported_messages(parts, [*messages, *said], notes, is_over=True)
    answer = answer_message(parts, covered_parts([*messages, *said]), {}, notes)
    said += [] if answer is None else [answer]
    private = without_turn(session)
    return SideWrites([TranscriptEntry(turn["id"], message) for message in said], private)


def without_turn(session: Session, **values: Json) -> Private | None:
    """Return the private data without the fields of the running turn, and with these values."""
    if not values and _OF_A_TURN.isdisjoint(session.private):
        return None
    return with_values(session.private, **values, **dict.fromkeys(_OF_A_TURN))


def _confirmed(session: Session, action: Json, _answers: Any) -> SideWrites:
    if not action["approved"]:
        return _closed(session, action, denied_message(action))
    name = _call(session, action)["toolName"]
    # The definition that the user was shown; the tool may have another one by now.
    pin = session.private.get("shown", {}).get(action["toolCallId"])
    is_edited = "editedToolInput" in action
    consent = remembered(session.private, name, action.get("selectedOptionId"), pin, is_edited=is_edited)
    return SideWrites(private=with_values(session.private, **consent)) if consent else NO_WRITES


def _completed(session: Session, action: Json, _answers: Any) -> SideWrites:
    call = _call(session, action)
    # The model reads nothing of a result that is still to be confirmed.
    if not call or action.get("requiresResultConfirmation") is True:
        return NO_WRITES
    return _closed(session, action, answer_to(session, call, action["result"]))


def _closed(session: Session, action: Json, message: Message) -> SideWrites:
    """Write how a call ended, and forget the definition that it was shown with."""
    said = _in_turn(session, action, message)
    return SideWrites(said.messages, private=without_shown(session, action["toolCallId"]))


def without_shown(session: Session, call_id: str) -> Private | None:
    """Return the private data without the definition that a call was shown with; None if there is none."""
    shown = session.private.get("shown")
    if not shown or call_id not in shown:
        return None
    left = {name: pin for name, pin in shown.items() if name != call_id}
    return with_values(session.private, shown=cast("Json", left or None))


def _result_confirmed(session: Session, action: Json, _answers: Any) -> SideWrites:
    call = _call(session, action)
    if not action["approved"]:
        return _in_turn(session, action, tool_message(action["toolCallId"], WITHHELD))
    held = session.private.get("held", {})
    # The full result, where the state has references to large contents.
    if call["toolCallId"] in held:
        return _in_turn(session, action, tool_message(call["toolCallId"], held[call["toolCallId"]]))
    return _in_turn(session, action, answer_to(session, call, call))


def answer_to(session: Session, call: JsonObject, result: Any) -> Message:
    """Return what the model reads of the result of a call."""
    # Input can only be edited by the user who approves a call.
    edited = _edited_input(session, call) if call.get("confirmed") == "user-action" else None
    return tool_message(call["toolCallId"], result_content(result, edited))


def _edited_input(session: Session, call: JsonObject) -> str | None:
    """Return the input that a call ran with, if it is not the one that the model asked for."""
    text = call.get("toolInput")
    for said in reversed(session.messages):
        for asked in requested_calls(said.message):
            if asked["toolCallId"] == call["toolCallId"]:
                return None if text is None or _is_json_of(text, asked["input"]) else text
    return None


def _is_json_of(text: str, value: JsonObject) -> bool:
    try:
        return bool(decode_json(text) == value)
    except NotJson:
        return False


def _input_completed(session: Session, action: Json, answers: Any) -> SideWrites:
    asked = session.private.get("asked", {})
    kept = {"response": action["response"], "answers": answers or {}}
    return SideWrites(private=with_values(session.private, asked={**asked, action["requestId"]: kept}))


def _config_changed(session: Session, action: Json, _answers: Any) -> SideWrites:
    """Keep the settings with the row too, so that a list of sessions can show them without loading states."""
    kept = {} if action.get("replace") is True else session.private.get("config", {})
    return SideWrites(private=with_values(session.private, config={**kept, **action["config"]}))


def _truncated(session: Session, action: Json, _answers: Any) -> SideWrites:
    ended = [turn["id"] for turn in session.chat["turns"]]
    last = action.get("turnId")
    # C9: without an id, all turns go.
    kept = ended[: ended.index(last) + 1] if last in ended else []
    stops = {turn: why for turn, why in session.private.get("stops", {}).items() if turn in kept}
    return SideWrites(cut=session.end_of(last), private=without_turn(session, stops=stops or None))


def _in_turn(session: Session, action: Json, message: Message) -> SideWrites:
    """Write how a call ended, unless its input was never complete: then the transcript does not have it."""
    asked = (call for said in turn_messages(session, action["turnId"]) for call in requested_calls(said))
    if not any(call["toolCallId"] == action["toolCallId"] for call in asked):
        return NO_WRITES
    return SideWrites((TranscriptEntry(action["turnId"], message),))


def _call(session: Session, action: Json) -> JsonObject:
    call: Any = find_active_call(session.chat, action["toolCallId"])
    return call or {}


RECORDS: dict[str, Callable[[Session, Any, Any], SideWrites]] = {
    "chat/turnStarted": _turn_started,
    "chat/pendingMessageRemoved": _message_removed,
    **dict.fromkeys(TURN_ENDINGS, _turn_ended),
    "chat/toolCallConfirmed": _confirmed,
    "chat/toolCallComplete": _completed,
    "chat/toolCallResultConfirmed": _result_confirmed,
    "chat/inputCompleted": _input_completed,
    "session/configChanged": _config_changed,
    "chat/truncated": _truncated,
}
"""For each type of action, returns what to write with it, before it is applied. The arguments are the
session, the action, and the final answers if it completes an input request. Other types write nothing."""
