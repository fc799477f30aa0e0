"""Actions that legacy clients dispatch, checked and translated so that they can be decided.

The rules are those of `core.decisions`. This module adds only what is special to the legacy protocol: its own
shapes, and one active client at a time.
"""

from typing import Any, NamedTuple

from agenthost.core.conversation import Conversation
from agenthost.core.legacy.clients import active_client
from agenthost.core.legacy.shapes import cleaned
from agenthost.core.legacy.terminals import ChatOf, no_chat
from agenthost.core.legacy.translation import translate_action
from agenthost.errors import ActionRefused, ClientActive, HostError
from agenthost.wire.ahp.legacy.actions import CLIENT_ACTIONS
from agenthost.wire.error_messages import quote
from agenthost.wire.json import Json, JsonObject
from agenthost.wire.name_limits import check_names

__all__ = ["Translation", "translate_dispatch"]


class Translation(NamedTuple):
    """A legacy action without fields that do not count, and the actions that it is translated to."""

    legacy: JsonObject
    actions: list[Any]


def translate_dispatch(
    action: Json,
    conversation: Conversation | None,
    client_id: str,
    now_ms: float,
    chat_of: ChatOf = no_chat,
) -> Translation:
    """Translate an action of a legacy client; `conversation` is that of its session, if it has one.

    Raises:
        HostError: it is refused: its shape is wrong, or another client is active.
    """
    kind = action.get("type") if type(action) is dict else None
    if type(kind) is not str or kind not in CLIENT_ACTIONS:  # HR-A03
        raise ActionRefused(f"{quote(kind)} is not an action that a client may dispatch")
    check_names(action)
    clean: Any = cleaned(action)
    if conversation is not None:
        _check_clients(clean, conversation, client_id)
    session, chat = (None, None) if conversation is None else conversation
    translated = translate_action(clean, session, chat, now_ms=now_ms, client_id=client_id, chat_of=chat_of)
    # HR-A01: without any action there would be neither an echo nor a refusal.
    if not translated.actions:
        raise ActionRefused("this action would change nothing")
    return Translation(clean, translated.actions)


def _check_clients(action: Any, conversation: Conversation, client_id: str) -> None:
    """Allow one active client at a time; only that client can change its tools (HR-A11)."""
    error: HostError | None = None
    active = active_client(conversation.session)
    is_other = active is not None and active["clientId"] != client_id
    if action["type"] == "session/activeClientChanged":
        new = action["activeClient"]
        if active is not None and is_other:
            error = ClientActive(active["clientId"])
        elif new is None and active is None:
            error = ActionRefused("no client is active")
        elif new is not None and new["clientId"] != client_id:
            error = ActionRefused(f"a client can only make itself active, not {quote(new['clientId'])}")
    elif action["type"] == "session/activeClientToolsChanged" and (active is None or is_other):
        error = ActionRefused("only the active client can change its tools")
    if error is not None:
        raise error
