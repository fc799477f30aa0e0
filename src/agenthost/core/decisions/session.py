"""Whether the model, the customizations and the working directories of a session may change.

Those of a chat are in `chats`.
"""

from collections.abc import Sequence
from typing import Any

from agenthost.core import session_meta
from agenthost.core.conversation import Conversation, ConversationAction
from agenthost.core.decisions.refusal import Dispatch, Refused, check_model
from agenthost.core.decisions.turns import held_turn
from agenthost.wire.ahp.actions.customization import SessionCustomizationToggledAction
from agenthost.wire.ahp.actions.session import SessionMetaChangedAction
from agenthost.wire.ahp.root import ModelSelection
from agenthost.wire.error_messages import quote
from agenthost.wire.shape import Shape

MODEL: Shape[ModelSelection] = Shape(ModelSelection)

BEHIND_TURNS = frozenset({"chat/turnCancelled", "chat/truncated", "session/metaChanged"})
"""Actions that must not overtake a turn that was started earlier and is deferred."""


def meta_changed(_conversation: Conversation, action: SessionMetaChangedAction, by: Dispatch) -> None:
    """Refuse a model that is not on offer. During a turn the change is deferred: see `is_deferred`."""
    check_model(_model_in(action), by)


def made_anew(conversation: Any, action: Any) -> SessionMetaChangedAction:
    """Return the change of the model as it should be applied now. Nothing else of the metadata changes."""
    return session_meta.model_changed(conversation.session, _model_in(action))


def _model_in(action: SessionMetaChangedAction) -> ModelSelection:
    return MODEL.take(action.get("_meta", {}).get(session_meta.MODEL), "$.model")


def is_deferred(conversation: Conversation, action: ConversationAction, waiting: Sequence[Any] = ()) -> bool:
    """Return whether an action that was not refused has to wait.

    A change of model waits for the end of the running turn. A turn waits until the session is ready, and
    other actions on turns wait behind it.
    """
    kind = action.get("type")
    # HR-A06: the running turn keeps its model.
    if conversation.chat.get("activeTurn") is not None:
        return kind == "session/metaChanged"
    if conversation.session.get("lifecycle") != "creating":
        return False
    # HR-L11: the turn waits for its session.
    return kind == "chat/turnStarted" or (kind in BEHIND_TURNS and held_turn(waiting) is not None)


def customization_toggled(
    conversation: Conversation, action: SessionCustomizationToggledAction, _by: Dispatch
) -> None:
    """Refuse a customization that the session does not have; any client may toggle the others."""
    entries: list[Any] = conversation.session.get("customizations", [])
    # S22: the reducer finds those at the top, and those in a plugin or a directory.
    containers = [entry for entry in entries if entry.get("type") != "mcpServer"]
    children = [child for entry in containers for child in entry.get("children", [])]
    if action["id"] not in [entry.get("id") for entry in (*entries, *children)]:
        raise Refused(f"the session has no customization {quote(action['id'])}")


def working_directories_changed(_conversation: Conversation, _action: Any, _by: Dispatch) -> None:
    """Refuse all changes: the files that a session may use are settled when it is created."""
    raise Refused("the working directories of a session cannot be changed")
