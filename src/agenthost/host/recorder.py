"""The recorder: what is written down beside an action, in the same commit.

Transcript and private data follow the actions, whoever let them happen: a user's message begins with the
turn, a tool's message ends a call, and a turn that ends leaves what it had said so far. Knows what to write;
writing it is the business of `session`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import msgspec

from agenthost.core.decisions import message_name
from agenthost.core.recording import (
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
from agenthost.core.transcript import Message, calls_of, close_open_calls
from agenthost.errors import NotJson
from agenthost.host.consent import remembered
from agenthost.host.session import Said, Session
from agenthost.host.setup import changed, private_of
from agenthost.wire.json import Json, JsonObject, decode_json

MAX_TAKEN = 100
"""How many messages that waited are remembered of a session, the newest."""

Notes: TypeAlias = Mapping[str, JsonObject]
"""What an agent wants to have kept of parts and calls, by their ids."""

Noted: TypeAlias = Callable[[Session], Notes]
"""Gives what the agent of the running turn wants to have kept."""


class Beside(msgspec.Struct, frozen=True, gc=False):
    """What goes into one commit with an action."""

    messages: Sequence[Said] = ()
    private: JsonObject | None = None
    cut: int | None = None


NOTHING = Beside()


def turn_messages(session: Session, turn_id: str) -> list[Message]:
    """Give what was said in the newest turn so far: it is at the end of the transcript."""
    found = []
    for said in reversed(session.messages):
        if said.turn != turn_id:
            break
        found.append(said.message)
    found.reverse()
    return found


def beside(session: Session, action: Json, answers: JsonObject | None, noted: Noted) -> Beside:
    """Give what is to be written beside an action that is about to happen.

    `answers` are the final ones, of an input request that is settled.
    """
    record = _RECORDS.get(action["type"])
    return NOTHING if record is None else record(session, action, answers, noted)


def _turn_started(session: Session, action: Json, _answers: Any, _noted: Noted) -> Beside:
    said = [Said(action["turnId"], user_message(action["userMessage"]))]
    message_id = action.get("queuedMessageId")
    if not message_id:
        return Beside(said)
    is_steering = session.state.get("steeringMessage", {}).get("id") == message_id
    return Beside(said, _taken(session, "steering" if is_steering else "queued", message_id))


def _message_removed(session: Session, action: Json, _answers: Any, _noted: Noted) -> Beside:
    return Beside(private=_taken(session, action["kind"], action["id"]))


def _taken(session: Session, kind: str, message_id: str) -> JsonObject | None:
    """Note that a message has had its time: sent again, it must not be a second one."""
    name, before = message_name(kind, message_id), private_of(session).get("taken", [])
    return None if name in before else changed(session, taken=[*before, name][-MAX_TAKEN:])


def _turn_ended(session: Session, action: Json, _answers: Any, noted: Noted) -> Beside:
    """Write down what was said so far; calls that are still open are closed, so that a model can read it."""
    turn = session.state.get("activeTurn")
    if turn is None or turn["id"] != action["turnId"]:
        return NOTHING
    messages = turn_messages(session, turn["id"])
    notes = noted(session)
    said: list[Message] = []
    parts = turn["responseParts"]
    if "toolCall" in [part["kind"] for part in parts]:  # most turns have none, and no need to look
        said += close_open_calls(messages, SKIPPED)
        said += reported_messages(parts, [*messages, *said], notes, is_over=True)
    answer = answer_message(parts, covered_parts([*messages, *said]), {}, notes)
    said += [] if answer is None else [answer]
    private = without_turn(session)
    return Beside([Said(turn["id"], message) for message in said], private)


def without_turn(session: Session, **values: Json) -> JsonObject | None:
    """Give the private data without what belongs to the running turn, and with these values."""
    return changed(session, **values, asked=None, held=None, shown=None, crashes=None, tasks=None)


def _confirmed(session: Session, action: Json, _answers: Any, _noted: Noted) -> Beside:
    if not action["approved"]:
        return _closed(session, action, denied_message(action))
    name = _call(session, action)["toolName"]
    pin = private_of(session).get("shown", {}).get(action["toolCallId"])
    is_edited = "editedToolInput" in action
    consent = remembered(session.private, name, action.get("selectedOptionId"), pin, is_edited=is_edited)
    return Beside(private=changed(session, **consent)) if consent else NOTHING


def _completed(session: Session, action: Json, _answers: Any, _noted: Noted) -> Beside:
    call = _call(session, action)
    if not call or action.get("requiresResultConfirmation") is True:
        return NOTHING
    return _closed(session, action, answer_to(session, call, action["result"]))


def _closed(session: Session, action: Json, message: Message) -> Beside:
    """Write down how a call ended, and forget how it was asked for."""
    said = _in_turn(session, action, message)
    return Beside(said.messages, private=without_shown(session, action["toolCallId"]))


def without_shown(session: Session, call_id: str) -> JsonObject | None:
    """Give the private data without the definition that a call was asked for with; nothing if it had none."""
    shown = private_of(session).get("shown", {})
    if call_id not in shown:
        return None
    left = {name: pin for name, pin in shown.items() if name != call_id}
    return changed(session, shown=cast("Json", left or None))


def _result_confirmed(session: Session, action: Json, _answers: Any, _noted: Noted) -> Beside:
    call = _call(session, action)
    if not action["approved"]:
        return _in_turn(session, action, tool_message(action["toolCallId"], WITHHELD))
    held = private_of(session).get("held", {})
    if call["toolCallId"] in held:
        return _in_turn(session, action, tool_message(call["toolCallId"], held[call["toolCallId"]]))
    return _in_turn(session, action, answer_to(session, call, call))


def answer_to(session: Session, call: JsonObject, result: Any) -> Message:
    """Give what the model reads of the result of a call."""
    return tool_message(call["toolCallId"], result_content(result, _edited_input(session, call)))


def _edited_input(session: Session, call: JsonObject) -> str | None:
    """Give the input that a call ran with, if somebody changed it: the model asked for another."""
    text = call.get("toolInput")
    for said in reversed(session.messages):
        for asked in calls_of(said.message):
            if asked["toolCallId"] == call["toolCallId"]:
                return None if text is None or _is_json_of(text, asked["input"]) else text
    return None


def _is_json_of(text: str, value: JsonObject) -> bool:
    try:
        return bool(decode_json(text) == value)
    except NotJson:
        return False


def _input_completed(session: Session, action: Json, answers: Any, _noted: Noted) -> Beside:
    asked = private_of(session).get("asked", {})
    kept = {"response": action["response"], "answers": answers or {}}
    return Beside(private=changed(session, asked={**asked, action["requestId"]: kept}))


def _config_changed(session: Session, action: Json, _answers: Any, _noted: Noted) -> Beside:
    """Keep the settings beside the row too, so that a list of sessions can show them without their states."""
    kept = {} if action.get("replace") is True else private_of(session).get("config", {})
    return Beside(private=changed(session, config={**kept, **action["config"]}))


def _truncated(session: Session, action: Json, _answers: Any, _noted: Noted) -> Beside:
    ended = [turn["id"] for turn in session.state["turns"]]
    last = action.get("turnId")
    kept = ended[: ended.index(last) + 1] if last in ended else []
    stops = {turn: why for turn, why in private_of(session).get("stops", {}).items() if turn in kept}
    return Beside(cut=session.end_of(last), private=without_turn(session, stops=stops or None))


def _in_turn(session: Session, action: Json, message: Message) -> Beside:
    """Write down how a call ended, unless it never was whole: then the transcript does not have it."""
    asked = (call for said in turn_messages(session, action["turnId"]) for call in calls_of(said))
    if not any(call["toolCallId"] == action["toolCallId"] for call in asked):
        return NOTHING
    return Beside((Said(action["turnId"], message),))


def _call(session: Session, action: Json) -> JsonObject:
    parts: list[Any] = session.state["activeTurn"]["responseParts"] if "activeTurn" in session.state else []
    calls = (part["toolCall"] for part in reversed(parts) if part["kind"] == "toolCall")
    return next((call for call in calls if call["toolCallId"] == action["toolCallId"]), {})


_RECORDS: dict[str, Callable[[Session, Json, Any, Noted], Beside]] = {
    "session/turnStarted": _turn_started,
    "session/pendingMessageRemoved": _message_removed,
    "session/turnComplete": _turn_ended,
    "session/turnCancelled": _turn_ended,
    "session/error": _turn_ended,
    "session/toolCallConfirmed": _confirmed,
    "session/toolCallComplete": _completed,
    "session/toolCallResultConfirmed": _result_confirmed,
    "session/inputCompleted": _input_completed,
    "session/configChanged": _config_changed,
    "session/truncated": _truncated,
}
