"""What a session shows of its chats, derived from the changes of a chat, here and nowhere else.

The reducer of a chat changes the chat alone. The host adds these actions on the session's channel, in the
commit of their cause: the chat's entry in the catalogue, what waits for input, and the unread mark (C2,
C4 of docs/ahp.md). The entry is updated once for a commit: a short turn begins and ends in the same one.
"""

from typing import Any

from agenthost.core import actions
from agenthost.core.chats import is_task
from agenthost.wire.ahp.actions import SessionAction
from agenthost.wire.ahp.chat import ChatState, ChatSummary, PartialChatSummary
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.enums import SessionStatus
from agenthost.wire.ahp.session import SessionInputRequest, SessionState

__all__ = ["QUIET", "chat_summary", "derived_actions", "summary_changes", "waiting_in"]

SHOWN_FIELDS = ("title", "status", "activity", "modifiedAt", "workingDirectories", "movable")
"""The fields of a chat that its entry in the catalogue repeats, and that can change."""

FIXED_FIELDS = ("origin", "interactivity")

WAITING = {"pending-confirmation", "pending-result-confirmation"}

QUIET = frozenset({"chat/delta", "chat/reasoning", "chat/toolCallDelta", "chat/responsePart", "chat/usage"})
"""Actions of a chat that change nothing that a session shows."""

_ASKING = frozenset(
    {
        "chat/toolCallReady",
        "chat/toolCallConfirmed",
        "chat/toolCallComplete",
        "chat/toolCallAuthResolved",
        "chat/inputRequested",
        "chat/turnResume",
    }
)
"""Actions after which something may wait that did not wait before."""


def chat_summary(chat: ChatState) -> ChatSummary:
    """Return the entry of a chat in the catalogue of its session."""
    fields: Any = chat
    summary: Any = {"resource": chat["resource"]}
    summary |= {key: fields[key] for key in (*SHOWN_FIELDS, *FIXED_FIELDS) if key in fields}
    return summary  # type: ignore[no-any-return] # built of a chat's fields


def derived_actions(
    session: SessionState, kind: str, before: ChatState, after: ChatState
) -> list[SessionAction]:
    """Return what follows at once in the session from an action of this type in one of its chats."""
    found: list[SessionAction] = []
    if session["status"] & SessionStatus.IS_READ and _became_unread(kind, before, after):
        found.append(actions.is_read_changed(is_read=False))
    # C4. Other actions cannot change what waits, so the parts of the turn are not searched.
    if "inputNeeded" in session or kind in _ASKING:
        found += _waiting_changes(session, after)
    return found


def summary_changes(before: ChatState, after: ChatState) -> PartialChatSummary:
    """Return what changes in the entry of a chat in the catalogue of its session."""
    # Written out: this runs for every turn, and most of these fields do not change.
    changes: PartialChatSummary = {}
    if after["status"] != before["status"]:
        changes["status"] = after["status"]
    if after["modifiedAt"] != before["modifiedAt"]:
        changes["modifiedAt"] = after["modifiedAt"]
    if after.get("activity") != before.get("activity"):
        # A merge cannot remove a field, so an activity that is over is an empty text.
        changes["activity"] = after.get("activity", "")
    if after["title"] != before["title"]:
        changes["title"] = after["title"]
    if after.get("workingDirectories") != before.get("workingDirectories"):
        changes["workingDirectories"] = after.get("workingDirectories", [])
    if after.get("movable") != before.get("movable"):
        changes["movable"] = after.get("movable", False)
    return changes


def _became_unread(kind: str, before: ChatState, after: ChatState) -> bool:
    if kind == "chat/inputRequested":  # C14: even if something waits already
        return True
    # What a subagent does is a part of the turn that gave the task.
    return (
        before.get("activeTurn", {}).get("id") != after.get("activeTurn", {}).get("id") and not is_task(after)
    ) or (
        after["status"] & 31 == SessionStatus.INPUT_NEEDED and before["status"] & 31 != after["status"] & 31
    )


def _waiting_changes(session: SessionState, chat: ChatState) -> list[SessionAction]:
    # New ones first: the session must not look idle in between.
    now = waiting_in(chat)
    known: dict[str, Any] = {
        one["id"]: one for one in session.get("inputNeeded", []) if one["chat"] == chat["resource"]
    }
    changed = [one for name, one in now.items() if name not in known or _differs(known[name], one)]
    gone = [name for name in known if name not in now]
    return [*map(actions.input_needed_set, changed), *map(actions.input_needed_removed, gone)]


def _differs(known: Any, now: Any) -> bool:
    """Return whether a call that waits for approval asks for something else now. Progress does not count."""
    return now["kind"] == "toolConfirmation" and bool(known.get("toolCall") != now["toolCall"])


def waiting_in(chat: ChatState) -> dict[str, SessionInputRequest]:
    """Return what waits for input in a chat, by id: calls to approve, calls for clients, questions."""
    turn = chat.get("activeTurn")
    found: dict[str, SessionInputRequest] = {}
    for part in turn["responseParts"] if turn else ():
        one: Any = None
        if part["kind"] == "toolCall":
            one = _waiting_call(chat["resource"], turn["id"] if turn else "", part["toolCall"])
        elif part["kind"] == "inputRequest" and "response" not in part:
            asked: Any = part["request"]
            one = {"id": f"{chat['resource']}#input/{asked['id']}", "kind": "chatInput", "request": asked}
        if one is not None:
            request: Any = {**one, "chat": chat["resource"]}
            found[one["id"]] = request
    return found


def _waiting_call(chat: URI, turn_id: str, call: Any) -> Any:
    status = call["status"]
    # The status is part of the id: approving a call and approving its result are two requests.
    base = {"id": f"{chat}#call/{call['toolCallId']}/{status}", "turnId": turn_id, "toolCall": call}
    if status in WAITING:
        return {**base, "kind": "toolConfirmation"}
    contributor = call.get("contributor", {})
    if status == "running" and contributor.get("kind") == "client":
        return {**base, "kind": "toolClientExecution", "clientId": contributor["clientId"]}
    return None
