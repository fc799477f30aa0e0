"""Decisions: whether what a client dispatches may be applied. Pure; no host behaviour.

`decide` looks at an action just as the client sent it, and gives the one to reduce and to pass on, or a
reason. Rules are sorted by noun, as the reducers are; the table here names the function.
"""

from agenthost.core.decisions import config, pending, session, terminals, toolcalls, turns
from agenthost.core.decisions.pending import final_answers
from agenthost.core.decisions.refusal import Context, Dispatch, Refused, Rule, let_pass, message_name
from agenthost.core.decisions.session import is_deferred
from agenthost.core.decisions.shapes import cleaned
from agenthost.errors import GrantMissing, InvalidValue, NotJson, SwitchedOff
from agenthost.wire.ahp.actions import StateAction
from agenthost.wire.ahp.snapshot import State
from agenthost.wire.json import Json, check_depth
from agenthost.wire.mismatch import quote
from agenthost.wire.names import check_names

__all__ = [
    "RULES",
    "Context",
    "cleaned",
    "decide",
    "final_answers",
    "is_deferred",
    "message_name",
    "refuse",
]

RULES: dict[str, Rule] = {
    "session/turnStarted": turns.turn_started,
    "session/turnCancelled": turns.turn_cancelled,
    "session/truncated": turns.truncated,
    "session/toolCallConfirmed": toolcalls.tool_call_confirmed,
    "session/toolCallComplete": toolcalls.tool_call_complete,
    "session/toolCallResultConfirmed": toolcalls.tool_call_result_confirmed,
    "session/toolCallContentChanged": toolcalls.tool_call_content_changed,
    "session/inputAnswerChanged": pending.input_answer_changed,
    "session/inputCompleted": pending.input_completed,
    "session/pendingMessageSet": pending.pending_message_set,
    "session/pendingMessageRemoved": pending.pending_message_removed,
    "session/queuedMessagesReordered": let_pass,
    "session/titleChanged": let_pass,
    "session/isReadChanged": let_pass,
    "session/isArchivedChanged": let_pass,
    "session/modelChanged": session.model_changed,
    "session/activeClientChanged": session.active_client_changed,
    "session/activeClientToolsChanged": session.active_client_tools_changed,
    "session/customizationToggled": session.customization_toggled,
    "session/configChanged": config.session_config_changed,
    "root/configChanged": config.root_config_changed,
    "terminal/input": terminals.typed,
    "terminal/resized": terminals.resized,
    "terminal/claimed": terminals.claimed,
    "terminal/titleChanged": let_pass,
    "terminal/cleared": let_pass,
}
"""What decides about each action that a client may dispatch. All others are the host's alone."""

NOTHING_MORE = Context()


def refuse(state: State, action: Json, client_id: str, *, context: Context = NOTHING_MORE) -> str | None:
    """Say why a client's action may not be applied, in a sentence for people; `None` if it may.

    `state` is that of the resource which the action names: whoever routes has found it. Neither it nor
    the action is changed. Never raises, whatever the client sent.
    """
    decided = decide(state, action, client_id, context=context)
    return decided if isinstance(decided, str) else None


def decide(
    state: State, action: Json, client_id: str, *, context: Context = NOTHING_MORE
) -> StateAction | str:
    """Give a client's action as it is to be applied, or say why it may not be; see `refuse` and `cleaned`."""
    kind = action.get("type") if type(action) is dict else None
    rule = RULES.get(kind) if type(kind) is str else None
    if rule is None:
        return f"{quote(kind)} is not an action that a client may dispatch"
    try:
        check_depth(action)
        check_names(action)
        context.rights.check(str(kind))
        clean = cleaned(action)
        rule(state, clean, Dispatch(client_id, context))
    except (InvalidValue, NotJson, Refused, GrantMissing, SwitchedOff) as reason:
        return str(reason)
    return clean
