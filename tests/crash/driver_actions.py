"""The actions of the driver: what it says, and how it answers an agent that waits for somebody."""

import json
from typing import Any

from agenthost.core import actions
from agenthost.core.queries import client_of
from agenthost.wire.ahp.message import Message
from crash.plan import Exchange
from crash.script import usual_result

__all__ = ["answer", "cut", "message", "response", "start"]


def start(turn_id: str, text: str) -> Any:
    """Return the action that starts a turn; the host knows the time."""
    return {"type": "chat/turnStarted", "turnId": turn_id, "message": message(text)}


def message(text: str) -> Message:
    """Return what the driver says."""
    return {"text": text, "origin": {"kind": "user"}}


def cut(one: Exchange) -> Any:
    """Return the action that removes the turns after one."""
    return actions.truncated(one.cut_after or None)


def answer(request_id: str, text: str) -> Any:
    """Return the action that answers a question."""
    given = {"state": "submitted", "value": {"kind": "text", "value": text}}
    completed = {"type": "chat/inputCompleted", "requestId": request_id, "response": "accept"}
    return {**completed, "answers": {"answer": given}}


def response(call: Any) -> Any:
    """Return what the driver does about a call that waits for somebody; nothing about others."""
    match call["status"]:
        case "pending-confirmation" if json.loads(call["toolInput"])["text"].endswith("-deny"):
            return {
                "type": "chat/toolCallConfirmed",
                "approved": False,
                "reason": "denied",
                "reasonMessage": "not today",
            }
        case "pending-confirmation":
            return {"type": "chat/toolCallConfirmed", "approved": True, "confirmed": "user-action"}
        case "pending-result-confirmation":
            return {"type": "chat/toolCallResultConfirmed", "approved": True}
        case "running" if client_of(call) is not None:
            text = usual_result("remote", json.loads(call["toolInput"])["text"])
            content = [{"type": "text", "text": text}]
            result = {"success": True, "pastTenseMessage": "Did it", "content": content}
            return {"type": "chat/toolCallComplete", "result": result}
    return None
