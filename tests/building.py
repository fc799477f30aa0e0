"""Small, complete states and actions for the reducer tests, so that a test shows only what matters to it.

Every builder returns a fresh plain dict. The tool call builders of one status fill in what that status
requires; `tool_call` adds the identity only, for writing an expected call out in full. Fields come as
keywords of any name, unknown ones included, so even the named keywords are typed as any JSON value.
"""

from typing import Any

Json = dict[str, Any]

SESSION = "demo:/one"
TERMINAL = "terminal:/one"
TURN = "t1"
CALL = "c1"


# States.


def root(**over: Any) -> Json:
    """Build a host with nothing on offer."""
    return {"agents": [], **over}


def session(*, status: Any = 1, summary: Any = None, **over: Any) -> Json:
    """Build an idle session without history; `summary` is laid over its summary."""
    base = {"resource": SESSION, "provider": "demo", "title": "Old title", "status": status}
    times = {"createdAt": 1000, "modifiedAt": 2000}
    return {"summary": {**base, **times, **(summary or {})}, "lifecycle": "ready", "turns": [], **over}


def in_turn(*parts: Json, status: Any = 8, turn: Any = None, **over: Any) -> Json:
    """Build a session whose turn `t1` runs with these response parts; `turn` is laid over that turn."""
    active = {"id": TURN, "userMessage": {"text": "Hello"}, "responseParts": list(parts), **(turn or {})}
    return session(status=status, **{"activeTurn": active, **over})


def done(turn_id: str, *parts: Json, **over: Any) -> Json:
    """Build a turn of the history."""
    return {
        "id": turn_id,
        "userMessage": {"text": f"Question {turn_id}"},
        "responseParts": list(parts),
        "state": "complete",
        **over,
    }


def terminal(*content: Json, **over: Any) -> Json:
    """Build a terminal held by a client, showing this content."""
    return {
        "title": "Shell",
        "content": list(content),
        "claim": {"kind": "client", "clientId": "me"},
        **over,
    }


# Response parts.


def markdown(part_id: str, content: Any = "", **over: Any) -> Json:
    return {"kind": "markdown", "id": part_id, "content": content, **over}


def reasoning(part_id: str, content: Any = "", **over: Any) -> Json:
    return {"kind": "reasoning", "id": part_id, "content": content, **over}


def tool_call(status: str, *, call: Any = CALL, **fields: Any) -> Json:
    """Build a tool call part with its identity, its status and exactly these fields."""
    identity = {"toolCallId": call, "toolName": "bash", "displayName": "Shell"}
    return {"kind": "toolCall", "toolCall": {**identity, "status": status, **fields}}


def streaming(**over: Any) -> Json:
    return tool_call("streaming", **over)


def pending(**over: Any) -> Json:
    return tool_call("pending-confirmation", **{"invocationMessage": "May I?", **over})


def running(**over: Any) -> Json:
    return tool_call("running", **{"invocationMessage": "Working", "confirmed": "user-action", **over})


def pending_result(**over: Any) -> Json:
    return tool_call("pending-result-confirmation", **{**_finished(), **over})


def completed(**over: Any) -> Json:
    return tool_call("completed", **{**_finished(), **over})


def cancelled(**over: Any) -> Json:
    return tool_call("cancelled", **{"invocationMessage": "May I?", "reason": "denied", **over})


def _finished() -> Json:
    return {
        "invocationMessage": "Working",
        "confirmed": "user-action",
        "success": True,
        "pastTenseMessage": "Worked",
    }


# Smaller pieces.


def text(words: str) -> Json:
    """Build a text block of a tool's result."""
    return {"type": "text", "text": words}


def option(option_id: str, kind: Any = "approve", **over: Any) -> Json:
    return {"id": option_id, "label": f"Choose {option_id}", "kind": kind, **over}


def message(message_id: str, words: Any = "Later", **over: Any) -> Json:
    """Build a pending message."""
    return {"id": message_id, "userMessage": {"text": words}, **over}


def draft(words: str) -> Json:
    """Build an answer that is still being typed."""
    return {"state": "draft", "value": {"kind": "text", "value": words}}


def request(request_id: str, **over: Any) -> Json:
    """Build an input request."""
    return {"id": request_id, "message": f"Tell me {request_id}", **over}


def reference(uri: str, **over: Any) -> Json:
    """Build a reference to a customization."""
    return {"uri": uri, "displayName": f"Plug-in {uri}", **over}


def plugin(uri: str, **over: Any) -> Json:
    """Build a customization of a session."""
    return {"customization": reference(uri), "enabled": True, **over}


def tool(name: str, **over: Any) -> Json:
    return {"name": name, **over}


def config(**values: Any) -> Json:
    """Build a config state whose schema has one property."""
    schema = {"type": "object", "properties": {"mode": {"type": "string", "title": "Mode"}}}
    return {"schema": schema, "values": values}


def unclassified(value: str, **over: Any) -> Json:
    return {"type": "unclassified", "value": value, **over}


def command(command_id: str, output: Any = "", *, complete: Any = False, **over: Any) -> Json:
    line = {"commandId": command_id, "commandLine": f"run {command_id}", "output": output}
    return {"type": "command", **line, "timestamp": 500, "isComplete": complete, **over}


# Actions.


def act(name: str, **fields: Any) -> Json:
    """Build a session action."""
    return {"type": f"session/{name}", "session": SESSION, **fields}


def turn_act(name: str, **fields: Any) -> Json:
    """Build a session action of the turn `t1`."""
    return act(name, **{"turnId": TURN, **fields})


def call_act(name: str, **fields: Any) -> Json:
    """Build a session action on the tool call `c1` of the turn `t1`."""
    return turn_act(name, **{"toolCallId": CALL, **fields})


def started(turn_id: Any = "t2", **fields: Any) -> Json:
    return act("turnStarted", **{"turnId": turn_id, "userMessage": {"text": "Go on"}, **fields})


def start(**fields: Any) -> Json:
    return call_act("toolCallStart", **{"toolName": "bash", "displayName": "Shell", **fields})


def ready(**fields: Any) -> Json:
    return call_act("toolCallReady", **{"invocationMessage": "May I?", **fields})


def approve(**fields: Any) -> Json:
    return call_act("toolCallConfirmed", **{"approved": True, "confirmed": "user-action", **fields})


def deny(**fields: Any) -> Json:
    return call_act("toolCallConfirmed", **{"approved": False, "reason": "denied", **fields})


def complete(result: Any = None, **fields: Any) -> Json:
    outcome = {"success": True, "pastTenseMessage": "Worked", **(result or {})}
    return call_act("toolCallComplete", **{"result": outcome, **fields})


def confirm_result(*, approved: Any, **fields: Any) -> Json:
    return call_act("toolCallResultConfirmed", **{"approved": approved, **fields})


def show(*content: Json, **fields: Any) -> Json:
    return call_act("toolCallContentChanged", **{"content": list(content), **fields})


def broken(**fields: Any) -> Json:
    """Build the action that ends the turn `t1` with an error."""
    return turn_act("error", **{"error": {"errorType": "Boom", "message": "It broke"}, **fields})


def root_act(name: str, **fields: Any) -> Json:
    """Build a root action."""
    return {"type": f"root/{name}", **fields}


def term_act(name: str, **fields: Any) -> Json:
    """Build a terminal action."""
    return {"type": f"terminal/{name}", "terminal": TERMINAL, **fields}


# Looking into a result.


def only_call(state: Json) -> Json:
    """Take the tool call out of the one response part of the active turn."""
    [part] = state["activeTurn"]["responseParts"]
    call: Json = part["toolCall"]
    return call


def parts(state: Json) -> list[Json]:
    """Take the response parts of the active turn."""
    found: list[Json] = state["activeTurn"]["responseParts"]
    return found


def status(state: Json) -> int:
    """Take the status number of a session."""
    number: int = state["summary"]["status"]
    return number
