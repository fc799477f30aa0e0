"""Random actions on a chat, for the state that they meet: some come too late."""

from collections.abc import Callable
from typing import Any

from drawn_values import (
    ANSWER,
    OPTIONS,
    QUESTIONS,
    Draw,
    Json,
    answers,
    errors,
    few,
    flags,
    messages,
    metas,
    one_of,
    pick,
    some,
    texts,
    times,
    tool_contents,
)


def chat_action(draw: Draw, chat: Any) -> Json:
    turn = chat.get("activeTurn")
    if turn is None:
        return pick(draw, idle_action, pending_action, chat_noise)(draw, chat)
    often = (turn_action, turn_action, call_action, call_action, call_action, question_action)
    return pick(draw, *often, pending_action, chat_noise, turn_end)(draw, chat)


def idle_action(draw: Draw, chat: Any) -> Json:
    turns = [turn["id"] for turn in chat["turns"]]
    kinds = ("chat/turnStarted", "chat/turnStarted", "chat/turnResume", "chat/turnResume", "chat/truncated")
    kind = pick(draw, *kinds)
    if kind == "chat/turnResume" and turns:
        return {"type": kind, "turnId": turns[-1]}
    if kind == "chat/truncated":
        return {"type": kind, **some(draw, turnId=pick(draw, *turns, "unknown"))}
    return turn_started(draw, chat)


def turn_started(draw: Draw, chat: Any) -> Json:
    taken = {turn["id"] for turn in [*chat["turns"], chat.get("activeTurn") or {"id": ""}]}
    turn_id = next(f"t{n}" for n in range(100) if f"t{n}" not in taken)
    fields = {"turnId": turn_id, "startedAt": draw(times), "message": draw(messages)}
    return {"type": "chat/turnStarted", **fields, **some(draw, queuedMessageId=pick(draw, "m1", "m2", ""))}


def turn_end(draw: Draw, chat: Any) -> Json:
    ends = ("chat/turnComplete", "chat/turnCancelled", "chat/error", "chat/error", "chat/error")
    kind = pick(draw, *ends, "over", "cut")
    if kind == "over":
        return turn_started(draw, chat)
    if kind == "cut":
        return {
            "type": "chat/truncated",
            **some(draw, turnId=pick(draw, *[t["id"] for t in chat["turns"]], "?")),
        }
    ended = {"type": kind, "turnId": chat["activeTurn"]["id"], "duration": pick(draw, -1, 0, 2500)}
    return {**ended, "part": draw(errors)} if kind == "chat/error" else ended


def turn_action(draw: Draw, chat: Any) -> Json:
    turn_id = chat["activeTurn"]["id"]
    kind = pick(draw, "chat/responsePart", "chat/delta", "chat/delta", "chat/reasoning", "chat/usage")
    action = {"type": kind, "turnId": turn_id, **some(draw, _meta=metas)}
    if kind == "chat/usage":
        return {**action, "usage": some(draw, inputTokens=3, model="m", _meta={"k": 1})}
    known = [part["id"] for part in chat["activeTurn"]["responseParts"] if "id" in part]
    part_id = pick(draw, "p1", "p2", "p3", *known, *known)
    if kind != "chat/responsePart":
        return {**action, "partId": part_id, "content": draw(texts)}
    parts: tuple[Json, ...] = (
        {"kind": "markdown", "id": part_id, "content": draw(texts)},
        {"kind": "reasoning", "id": part_id, "content": draw(texts)},
        {"kind": "contentRef", "uri": "f:/a", "nonce": "1"},
        {"kind": "systemNotification", "content": {"markdown": "*note*"}, "_meta": {"k": 1}},
        {"kind": "hologram", "beam": 1},
        {
            "kind": "toolCall",
            "toolCall": {
                **call_identity(draw),
                "status": "completed",
                "invocationMessage": "Did",
                **SAID_YES,
                **DONE,
            },
        },
    )
    return {**action, "part": pick(draw, *parts)}


SAID_YES = {"confirmed": "user-action", "selectedOption": OPTIONS[0]}
DONE: Json = {"success": True, "pastTenseMessage": "Done", "content": [{"type": "text", "text": "x"}]}


def call_identity(draw: Draw) -> Json:
    identity = {"toolCallId": pick(draw, "c1", "c2", "c3"), "toolName": "look", "displayName": "Look"}
    client, server = {"kind": "client", "clientId": "me"}, {"kind": "mcp", "customizationId": "s"}
    contributor = pick(draw, None, client, server)
    extra = {} if contributor is None else {"contributor": contributor}
    return {**identity, **extra, **some(draw, intention="because", _meta=metas)}


def call_action(draw: Draw, chat: Any) -> Json:
    turn = chat["activeTurn"]
    calls = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
    live = [call for call in calls if call["status"] in CALL_ACTIONS]
    identity = call_identity(draw)
    # An id may come again once its call has ended.
    is_taken = identity["toolCallId"] in [call["toolCallId"] for call in live]
    if not live or (pick(draw, *range(4)) == 0 and not is_taken):
        return {"type": "chat/toolCallStart", "turnId": turn["id"], **identity}
    call = pick(draw, *live)
    action = pick(draw, *CALL_ACTIONS[call["status"]])(draw, call)
    return {"turnId": turn["id"], "toolCallId": call["toolCallId"], **action}


def call_delta(draw: Draw, _call: Any) -> Json:
    return {"type": "chat/toolCallDelta", **some(draw, content=texts, invocationMessage="Looking")}


def call_ready(draw: Draw, call: Any) -> Json:
    is_clients = call.get("contributor", {}).get("kind") == "client"
    offered = some(
        draw,
        toolInput=pick(draw, "{}", '{"a":1}', {"uri": "f:/input"}),
        confirmationTitle="Sure?",
        edits={"items": []},
        editable=flags,
        options=OPTIONS,
        riskAssessment={"kind": "judge", "status": "loading"},
        intention="why",
        contributor={"kind": "mcp", "customizationId": "s"},
        confirmed=pick(draw, "setting", "not-needed"),
    )
    # A client that runs a call is never asked twice: legacy clients could not be told.
    if is_clients and call["status"] == "pending-confirmation":
        offered["confirmed"] = "setting"
    return {
        "type": "chat/toolCallReady",
        "invocationMessage": pick(draw, "Look", {"markdown": "*L*"}),
        **offered,
    }


def call_confirmed(draw: Draw, _call: Any) -> Json:
    option = some(draw, selectedOptionId=pick(draw, "yes", "no", "other", ""))
    if draw(flags):
        edited = some(draw, editedToolInput=texts)
        return {
            "type": "chat/toolCallConfirmed",
            "approved": True,
            "confirmed": "user-action",
            **edited,
            **option,
        }
    said = some(draw, reasonMessage=texts, userSuggestion=messages)
    return {"type": "chat/toolCallConfirmed", "approved": False, "reason": "denied", **said, **option}


def call_content(draw: Draw, _call: Any) -> Json:
    return {"type": "chat/toolCallContentChanged", "content": draw(tool_contents)}


def call_complete(draw: Draw, call: Any) -> Json:
    result = {
        "success": call["status"] != "auth-required" and draw(flags),
        "pastTenseMessage": "Looked",
        **some(draw, content=tool_contents, structuredContent={"a": 1}, error={"message": "no"}),
        **some(draw, beam=1),
    }
    asked = some(draw, requiresResultConfirmation=flags)
    return {"type": "chat/toolCallComplete", "result": result, **asked}


def call_released(draw: Draw, _call: Any) -> Json:
    return {"type": "chat/toolCallResultConfirmed", "approved": draw(flags)}


def call_auth(_draw: Draw, call: Any) -> Json:
    if call["status"] == "auth-required":
        return {"type": "chat/toolCallAuthResolved"}
    if call.get("contributor", {}).get("kind") != "mcp":
        return {"type": "chat/toolCallContentChanged", "content": []}
    return {"type": "chat/toolCallAuthRequired", "auth": {"reason": "required"}}


CALL_ACTIONS: dict[str, tuple[Callable[[Draw, Any], Json], ...]] = {
    "streaming": (call_delta, call_ready, call_ready),
    "pending-confirmation": (call_confirmed, call_confirmed, call_ready, call_complete),
    "running": (call_content, call_complete, call_complete, call_ready, call_auth),
    "auth-required": (call_auth, call_complete, call_content, call_ready),
    "pending-result-confirmation": (call_released,),
}
"""What may happen to a call in each of its states; some of it comes too late."""


def question_action(draw: Draw, chat: Any) -> Json:
    asked = [part["request"]["id"] for part in chat["activeTurn"]["responseParts"] if "request" in part]
    request_id = pick(draw, "r1", "r2", *asked, *asked)
    kind = pick(draw, "chat/inputRequested", "chat/inputAnswerChanged", "chat/inputCompleted")
    if kind == "chat/inputRequested":
        request = {"id": request_id, **some(draw, message=texts, questions=QUESTIONS, answers=answers)}
        return {"type": kind, "request": request}
    if kind == "chat/inputCompleted":
        response = pick(draw, "accept", "decline", "cancel")
        return {"type": kind, "requestId": request_id, "response": response, **some(draw, answers=answers)}
    return {"type": kind, "requestId": request_id, "questionId": "q1", **some(draw, answer=ANSWER)}


def pending_action(draw: Draw, _chat: Any) -> Json:
    kind = pick(draw, "chat/pendingMessageSet", "chat/pendingMessageRemoved", "chat/queuedMessagesReordered")
    if kind == "chat/queuedMessagesReordered":
        return {"type": kind, "order": draw(few(one_of("m1", "m2", "m3"), 3))}
    meant = {
        "type": kind,
        "kind": pick(draw, "steering", "queued", "queued"),
        "id": pick(draw, "m1", "m2", "m3"),
    }
    return {**meant, "message": draw(messages)} if kind == "chat/pendingMessageSet" else meant


def chat_noise(draw: Draw, _chat: Any) -> Json:
    return pick(
        draw,
        {"type": "chat/activityChanged", **some(draw, activity=texts)},
        {"type": "chat/draftChanged", "draft": draw(messages)},
        {"type": "chat/workingDirectorySet", "directory": "f:/w"},
        {"type": "chat/isReadChanged", "isRead": True},
        {"type": "chat/isArchivedChanged", "isArchived": draw(flags)},
        {"type": "chat/movableChanged", "movable": True},
        {"type": "chat/backgroundWorkRemoved", "id": "w"},
    )
