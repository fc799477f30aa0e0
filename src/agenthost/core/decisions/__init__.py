"""Decisions: whether an action that a client dispatches may be applied. Pure; no host behaviour.

`decide` takes an action just as the client sent it, and returns the action to reduce and to pass on, or the
reason why it is refused. The modules are nouns, as those of the reducers are; the table here names the
function for each type of action.

Rule ids like `HR-A04` are those of docs/ahp.md; those like `S3` and `H9` are of docs/reducers.md.
"""

from typing import TypeAlias

from agenthost.core.conversation import Conversation
from agenthost.core.decisions import chats, clients, config, pending, session, terminals, toolcalls, turns
from agenthost.core.decisions.grants import ALL_RIGHTS
from agenthost.core.decisions.pending import final_answers
from agenthost.core.decisions.refusal import Context, Dispatch, Refused, Rule, let_pass, message_name
from agenthost.core.decisions.session import is_deferred
from agenthost.core.decisions.shapes import cleaned
from agenthost.errors import GrantMissing, InvalidValue, NotJson, SwitchedOff
from agenthost.wire.ahp.actions import StateAction
from agenthost.wire.ahp.root import RootState
from agenthost.wire.ahp.terminal import TerminalState
from agenthost.wire.error_messages import quote
from agenthost.wire.json import Json
from agenthost.wire.name_limits import check_names

__all__ = [
    "RULES",
    "Context",
    "check",
    "cleaned",
    "decide",
    "final_answers",
    "is_deferred",
    "message_name",
    "refuse",
]

RULES: dict[str, Rule] = {
    "chat/turnStarted": turns.turn_started,
    "chat/turnCancelled": turns.turn_cancelled,
    "chat/turnResume": turns.turn_resume,
    "chat/truncated": turns.truncated,
    "chat/toolCallConfirmed": toolcalls.tool_call_confirmed,
    "chat/toolCallComplete": toolcalls.tool_call_complete,
    "chat/toolCallResultConfirmed": toolcalls.tool_call_result_confirmed,
    "chat/toolCallContentChanged": toolcalls.tool_call_content_changed,
    "chat/inputAnswerChanged": pending.input_answer_changed,
    "chat/inputCompleted": pending.input_completed,
    "chat/pendingMessageSet": pending.pending_message_set,
    "chat/pendingMessageRemoved": pending.pending_message_removed,
    "chat/queuedMessagesReordered": let_pass,
    "chat/draftChanged": pending.draft_changed,
    "chat/isReadChanged": let_pass,
    "chat/isArchivedChanged": let_pass,
    "chat/workingDirectorySet": chats.working_directory_set,
    "chat/workingDirectoryRemoved": chats.working_directory_removed,
    "session/titleChanged": let_pass,
    "session/isReadChanged": let_pass,
    "session/isArchivedChanged": let_pass,
    "session/metaChanged": session.meta_changed,
    "session/activeClientSet": clients.active_client_set,
    "session/activeClientRemoved": clients.active_client_removed,
    "session/customizationToggled": session.customization_toggled,
    "session/configChanged": config.session_config_changed,
    "session/workingDirectorySet": session.working_directories_changed,
    "session/workingDirectoryRemoved": session.working_directories_changed,
    "session/workingDirectoryReplaced": session.working_directories_changed,
    "root/configChanged": config.root_config_changed,
    "terminal/input": terminals.typed,
    "terminal/resized": terminals.resized,
    "terminal/claimed": terminals.claimed,
    "terminal/titleChanged": let_pass,
    "terminal/cleared": let_pass,
}
"""The rule for each action that a client may dispatch. All others are for the host only, or not served."""

TRANSLATED = frozenset({"session/metaChanged"})
"""Actions that no client dispatches itself, but that actions of older clients are translated to."""

Decided: TypeAlias = Conversation | RootState | TerminalState
"""The states that actions are decided on: for sessions and chats, both together."""

NOTHING_MORE = Context()


def refuse(state: Decided, action: Json, client_id: str, *, context: Context = NOTHING_MORE) -> str | None:
    """Return why a client's action may not be applied, in a sentence for people; `None` if it may.

    `state` is that of the channel that the action was sent to: the caller routes (G4). Neither it nor the
    action is changed (G2). Never raises, whatever the client sent.
    """
    decided = decide(state, action, client_id, context=context)
    return decided if isinstance(decided, str) else None


def check(state: Decided, action: StateAction, client_id: str, context: Context) -> None:
    """Refuse an action that an edge made for its client, if it may not be applied.

    For actions that a client sent itself, use `decide`: it also checks their shape.

    Raises:
        HostError: why not.
    """
    kind = action["type"]
    # Most clients have all rights, and need no look into the table of grants.
    if context.rights is not ALL_RIGHTS:
        context.rights.check(kind)
    try:
        RULES[kind](state, action, Dispatch(client_id, context))
    except Refused as refused:
        raise refused.error from None


def decide(
    state: Decided, action: Json, client_id: str, *, context: Context = NOTHING_MORE
) -> StateAction | str:
    """Return a client's action as it should be applied, or the reason why it is refused.

    A change of a session's model is rebuilt: the metadata around it may have changed since it was sent.
    """
    kind = action.get("type") if type(action) is dict else None
    rule = RULES.get(kind) if type(kind) is str else None
    # HR-A03: actions for the host only, and unknown ones, are refused.
    if rule is None or (kind in TRANSLATED and not context.is_translated):
        return f"{quote(kind)} is not an action that a client may dispatch"
    try:
        # Cheap checks first: what fails here was never worth copying.
        check_names(action)
        if context.rights is not ALL_RIGHTS:
            context.rights.check(str(kind))
        clean = cleaned(action)
        rule(state, clean, Dispatch(client_id, context))
    except (InvalidValue, NotJson, Refused, GrantMissing, SwitchedOff) as reason:
        return str(reason)
    return session.made_anew(state, clean) if clean["type"] == "session/metaChanged" else clean
