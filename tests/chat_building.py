"""Small, complete states and actions of sessions, chats and terminals, so that a test shows what matters.

Every builder returns a fresh plain dict. Fields come as keywords of any name, unknown ones included. The
parts of a turn and the pieces of a terminal are those of `building`.
"""

from typing import Any

from building import CALL, TURN, tool_call

Json = dict[str, Any]

CHAT = "ahp-chat:/one"
BEGUN = "2026-01-02T03:04:05.000Z"
BEFORE = "2026-01-01T00:00:00.000Z"


# States.


def session(**over: Any) -> Json:
    """Build an idle session without chats."""
    base = {"provider": "demo", "title": "Old title", "status": 1, "lifecycle": "ready"}
    return {**base, "activeClients": [], "chats": [], **over}


def chat(**over: Any) -> Json:
    """Build an idle chat without history."""
    return {"resource": CHAT, "title": "Chat", "status": 1, "modifiedAt": BEFORE, "turns": [], **over}


def in_turn(*parts: Json, status: Any = 8, turn: Any = None, **over: Any) -> Json:
    """Build a chat whose turn `t1` runs with these response parts; `turn` is laid over that turn."""
    active = {"id": TURN, "startedAt": BEGUN, "message": said(), "responseParts": list(parts), **(turn or {})}
    return chat(status=status, **{"activeTurn": active, **over})


def done(turn_id: str, *parts: Json, **over: Any) -> Json:
    """Build a turn of the history."""
    times = {"startedAt": BEGUN, "duration": 5}
    turn = {"id": turn_id, **times, "message": said(turn_id), "responseParts": list(parts)}
    return {**turn, "state": "complete", **over}


def failed(turn_id: str, *parts: Json, resumable: Any = True, **over: Any) -> Json:
    """Build a turn of the history that ended with an error."""
    return done(turn_id, *parts, broken(resumable=resumable), state="error", **over)


def terminal(*content: Json, **over: Any) -> Json:
    """Build a running terminal held by a client, showing this content."""
    claim = {"kind": "client", "clientId": "me"}
    running = {"status": "running"}
    return {"title": "Shell", "content": list(content), "claim": claim, "lifecycle": running, **over}


def summary(resource: str, **over: Any) -> Json:
    """Build a chat as its session lists it."""
    return {"resource": resource, "title": f"Chat {resource}", "status": 1, "modifiedAt": BEFORE, **over}


# Parts of a turn, and smaller pieces.


def said(words: Any = "Hello", **over: Any) -> Json:
    """Build a message of the user."""
    return {"text": words, "origin": {"kind": "user"}, **over}


def message(message_id: str, words: Any = "Later", **over: Any) -> Json:
    """Build a pending message."""
    return {"id": message_id, "message": said(words), **over}


def question(request_id: str, *, answers: Any = None, response: Any = None, **over: Any) -> Json:
    """Build the part that asks the user something; it is open until it has a response."""
    part = {
        "kind": "inputRequest",
        "request": request(request_id, **({"answers": answers} if answers else {})),
    }
    return {**part, **({"response": response} if response else {}), **over}


def request(request_id: str, **over: Any) -> Json:
    return {"id": request_id, "message": f"Tell me {request_id}", **over}


def broken(**over: Any) -> Json:
    """Build the part that ends a turn with an error."""
    return {"kind": "error", "error": {"errorType": "Boom", "message": "It broke"}, **over}


def auth_required(**over: Any) -> Json:
    """Build a call whose MCP server waits for somebody to sign in."""
    return tool_call("auth-required", **{**mcp_running(), "auth": {"reason": "required"}, **over})


def mcp_running(**over: Any) -> Json:
    """Build the fields of a call that an MCP server runs."""
    contributor = {"kind": "mcp", "customizationId": "server"}
    said_yes = {"invocationMessage": "Working", "confirmed": "user-action"}
    return {"contributor": contributor, **said_yes, **over}


def work(work_id: str, **over: Any) -> Json:
    """Build a shell that runs in the background."""
    base = {"kind": "shell", "id": work_id, "label": "Serve", "startedAt": BEFORE, "command": "serve"}
    return {**base, **over}


# Actions.


def session_act(name: str, **fields: Any) -> Json:
    return {"type": f"session/{name}", **fields}


def act(name: str, **fields: Any) -> Json:
    """Build an action on a chat."""
    return {"type": f"chat/{name}", **fields}


def turn_act(name: str, **fields: Any) -> Json:
    """Build an action on the turn `t1` of a chat."""
    return act(name, **{"turnId": TURN, **fields})


def call_act(name: str, **fields: Any) -> Json:
    """Build an action on the tool call `c1` of the turn `t1`."""
    return turn_act(name, **{"toolCallId": CALL, **fields})


def started(turn_id: Any = "t2", **fields: Any) -> Json:
    return act("turnStarted", **{"turnId": turn_id, "startedAt": BEGUN, "message": said("Go on"), **fields})


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


def end(name: Any = "turnComplete", **fields: Any) -> Json:
    """Build the action that ends the turn `t1` after two seconds."""
    return turn_act(name, **{"duration": 2000, **fields})


def terminal_act(name: str, **fields: Any) -> Json:
    return {"type": f"terminal/{name}", **fields}
