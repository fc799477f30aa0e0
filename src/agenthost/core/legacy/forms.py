"""Forms: what legacy clients see of actions that cannot be projected without the states around them.

A form is made when its action is committed, from the states before and after it, and stored with it, so that
every replay has the same. All other actions are left to `project_action`.
"""

from collections.abc import Callable
from enum import Enum
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from agenthost.core.legacy.clients import active_client, project_client
from agenthost.core.legacy.customizations import is_enabled, is_plugin, project_customizations
from agenthost.core.legacy.meta import DIFFS, MODEL, PRIVATE, project_model, public_meta
from agenthost.core.legacy.projection import project_action
from agenthost.core.legacy.summaries import project_activity
from agenthost.core.legacy.toolcalls import project_call
from agenthost.core.legacy.turns import open_requests, project_active_turn
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.legacy.actions import SessionAction as LegacySessionAction
from agenthost.wire.ahp.legacy.enums import SessionStatus
from agenthost.wire.ahp.session import SessionState


class Default(Enum):
    """Says that an action needs no form: `project_action` projects it correctly."""

    DEFAULT = "default"


DEFAULT: Final = Default.DEFAULT

Form: TypeAlias = list[LegacySessionAction] | Literal[Default.DEFAULT]
"""The legacy actions that an action becomes. Each takes one sequence number."""


Made: TypeAlias = list[Any] | Literal[Default.DEFAULT]


class Change(NamedTuple):
    """An action, and what it changed."""

    action: Any
    session_before: Any
    session: Any
    chat_before: Any
    chat: Any
    uri: str


def legacy_form(
    action: Any,
    before_session: SessionState,
    after_session: SessionState,
    before_chat: ChatState,
    after_chat: ChatState,
    session_uri: str,
) -> Form:
    """Return what legacy clients see of an action on a session or its default chat."""
    form = FORMS.get(action["type"])
    if form is None:
        return DEFAULT
    if before_session is after_session and before_chat is after_chat:
        return []  # it came too late, which a legacy reducer might not notice
    return form(Change(action, before_session, after_session, before_chat, after_chat, session_uri))


def is_plain(action: Any, before: ChatState) -> bool:
    """Return whether the state before an action of a chat shows that it needs no form. Most need none."""
    kind: str = action["type"]
    turn = before.get("activeTurn")
    if turn is None:
        return kind == "chat/turnStarted"
    if kind not in _PLAIN_STATUSES or turn["id"] != action["turnId"]:
        return False
    part: Any
    for part in turn["responseParts"]:
        if part["kind"] == "toolCall" and part["toolCall"]["toolCallId"] == action["toolCallId"]:
            status: str = part["toolCall"]["status"]
            return status in _PLAIN_STATUSES[kind]
    return False


_PLAIN_STATUSES: Final = {
    "chat/toolCallReady": ("streaming",),
    "chat/toolCallComplete": ("running", "pending-confirmation"),
}
"""The status of a call before an action that changes it and needs no form."""


def _ready(change: Change) -> Made:
    """Repeat the flags: legacy reducers clear them when a session becomes ready."""
    # S1 would reset the status of a session that is ready already.
    if change.session_before["lifecycle"] == "ready":
        return []
    status = change.session["status"]
    flags = [
        _make(change, "session/isReadChanged", isRead=True) if status & SessionStatus.IS_READ else None,
        _make(change, "session/isArchivedChanged", isArchived=True)
        if status & SessionStatus.IS_ARCHIVED
        else None,
    ]
    again = [flag for flag in flags if flag is not None]
    return [_make(change, "session/ready"), *again] if again else DEFAULT


def _activity_changed(change: Change) -> Made:
    """Report the activity if it changed: that of the session hides that of its chat."""
    before = project_activity(change.session_before, change.chat_before)
    after = project_activity(change.session, change.chat)
    return [] if before == after else [_make(change, "session/activityChanged", activity=after)]


def _meta_changed(change: Change) -> Made:
    """Report the keys for which the legacy protocol has actions of their own with those actions."""
    before, after = change.session_before.get("_meta"), change.session.get("_meta")
    known, new = before or {}, after or {}
    if not any(key in known or key in new for key in PRIVATE):
        return DEFAULT
    made = []
    if MODEL in new and known.get(MODEL) != new[MODEL]:
        made.append(_make(change, "session/modelChanged", model=project_model(new[MODEL])))
    if DIFFS in new and known.get(DIFFS) != new[DIFFS]:
        made.append(_make(change, "session/diffsChanged", diffs=new[DIFFS]))
    if public_meta(before) != public_meta(after):
        made.append(_make(change, "session/metaChanged", _meta=public_meta(after)))
    return made


def _active_clients_changed(change: Change) -> Made:
    """Report the one client that legacy clients see, and no other."""
    before, after = active_client(change.session_before), active_client(change.session)
    if before == after:
        return []
    if after is None:
        # S29: here a null is the value, and `_make` drops nulls.
        return [{**_make(change, "session/activeClientChanged"), "activeClient": None}]
    if before is not None and {**before, "tools": []} == {**after, "tools": []}:
        return [_make(change, "session/activeClientToolsChanged", tools=after["tools"])]
    return [_make(change, "session/activeClientChanged", activeClient=project_client(after))]


def _customization_changed(change: Change) -> Made:
    """Report all plugins, unless the one that was switched has a unique URI, which identifies it there."""
    before = project_customizations(change.session_before.get("customizations", []))
    after = project_customizations(change.session.get("customizations", []))
    if before == after and ("customizations" in change.session_before) == (
        "customizations" in change.session
    ):
        return []
    if change.action["type"] == "session/customizationToggled":
        entries = [one for one in change.session["customizations"] if is_plugin(one)]
        toggled = next(one for one in entries if one["id"] == change.action["id"])
        if [one["uri"] for one in entries].count(toggled["uri"]) == 1:
            return [
                _make(
                    change,
                    "session/customizationToggled",
                    uri=toggled["uri"],
                    enabled=is_enabled(toggled),
                )
            ]
    return [_make(change, "session/customizationsChanged", customizations=after)]


def _turn_started(change: Change) -> Made:
    """Drop a turn that is replaced, with its open questions, which a legacy client would keep."""
    if change.chat_before.get("activeTurn") is None:
        return DEFAULT
    return [_truncated(change, change.chat["turns"]), *_projected(change)]


def _turn_resumed(change: Change) -> Made:
    """Remove the turn and begin it again with the same parts: legacy turns are not resumed."""
    turn = change.chat["activeTurn"]
    seen = project_active_turn(turn)
    made = [
        _truncated(change, change.chat["turns"]),
        _make(change, "session/turnStarted", turnId=seen["id"], userMessage=seen["userMessage"]),
    ]
    made += [
        _make(change, "session/responsePart", turnId=seen["id"], part=part) for part in seen["responseParts"]
    ]
    if "usage" in seen:
        made.append(_make(change, "session/usage", turnId=seen["id"], usage=seen["usage"]))
    return made + [_make(change, "session/inputRequested", request=one) for one in open_requests(turn)]


def _call_ready(change: Change) -> Made:
    """Repeat the whole call: legacy reducers take it from the action, of a waiting call via a detour."""
    raw, _ = _raw_calls(change)
    if raw is None or raw["status"] == "streaming":
        return DEFAULT  # the action has all of it
    before, after = _calls(change)
    if before is None or after is None:
        return DEFAULT
    said: Any = _projected(change)[0]
    keys = ("toolInput", "confirmationTitle", "edits", "editable", "options")
    ready = {**said, **{key: after[key] for key in keys if key in after}}
    if before["status"] != "pending-confirmation":
        return DEFAULT if ready == said else [ready]
    if after["status"] != "running" and "toolClientId" in after:
        return []  # its client would take this for a real approval
    # S14 takes no call that waits. So it is approved first, and asks again as a running one.
    approved = _make(
        change,
        "session/toolCallConfirmed",
        **{key: said[key] for key in ("turnId", "toolCallId")},
        approved=True,
        confirmed=after.get("confirmed", "not-needed"),
    )
    return [approved, ready]


def _call_confirmed(change: Change) -> Made:
    """Leave out an edited input that has no effect: it can only replace a text."""
    edited = change.action.get("editedToolInput")
    if edited is None:
        return DEFAULT
    _, after = _calls(change)
    if after is None or after.get("toolInput") == edited:
        return DEFAULT
    return [_without(said, "editedToolInput") for said in _projected(change)]


def _call_completed(change: Change) -> Made:
    """Report a call that failed because nobody signed in, with what it had shown and without a question."""
    raw, _ = _raw_calls(change)
    if raw is None or raw["status"] != "auth-required":
        return DEFAULT
    _, after = _calls(change)
    if after is None:
        return DEFAULT
    said: Any = _without(_projected(change)[0], "requiresResultConfirmation")
    shown = {"content": after["content"]} if "content" in after else {}
    return [{**said, "result": {**said["result"], **shown}}]


def _calls(change: Change) -> tuple[Any, Any]:
    """Return the call that the action is about, before and after it, as legacy clients see it."""
    before, after = _raw_calls(change)
    return (None if before is None else project_call(before), None if after is None else project_call(after))


def _raw_calls(change: Change) -> tuple[Any, Any]:
    before, after = (
        [
            part["toolCall"]
            for part in (chat.get("activeTurn") or {"responseParts": []})["responseParts"]
            if part.get("kind") == "toolCall"
            and part["toolCall"]["toolCallId"] == change.action["toolCallId"]
        ]
        for chat in (change.chat_before, change.chat)
    )
    # Of several calls with one id, the one that the action changed.
    return next(((old, new) for old, new in zip(before, after, strict=False) if old is not new), (None, None))


def _projected(change: Change) -> list[Any]:
    action = project_action(change.action, change.uri)
    return [] if action is None else [action]


def _truncated(change: Change, turns: list[Any]) -> Any:
    """Return the action that leaves legacy clients with these turns only, which they already have."""
    return _make(change, "session/truncated", turnId=turns[-1]["id"] if turns else None)


def _make(change: Change, kind: str, **fields: Any) -> Any:
    given = {key: value for key, value in fields.items() if value is not None}
    return {"type": kind, "session": change.uri, **given}


def _without(action: Any, key: str) -> Any:
    return {name: value for name, value in action.items() if name != key}


FORMS: Final[dict[str, Callable[[Change], Made]]] = {
    "session/ready": _ready,
    "session/activityChanged": _activity_changed,
    "session/metaChanged": _meta_changed,
    "session/activeClientSet": _active_clients_changed,
    "session/activeClientRemoved": _active_clients_changed,
    "session/customizationToggled": _customization_changed,
    "session/customizationUpdated": _customization_changed,
    "session/customizationRemoved": _customization_changed,
    "chat/activityChanged": _activity_changed,
    "chat/turnStarted": _turn_started,
    "chat/turnResume": _turn_resumed,
    "chat/toolCallReady": _call_ready,
    "chat/toolCallConfirmed": _call_confirmed,
    "chat/toolCallComplete": _call_completed,
    "chat/toolCallContentChanged": lambda _change: DEFAULT,
}
"""The actions that may need a form. `chat/toolCallContentChanged` needs none unless it changes nothing."""
