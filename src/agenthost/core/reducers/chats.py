"""The chats of a session, as its catalogue lists them (S3 to S6)."""

from typing import Any

from agenthost.core.reducers.records import put, upserted, without_none
from agenthost.wire.ahp.actions.session import (
    SessionChatAddedAction,
    SessionChatRemovedAction,
    SessionChatsReorderedAction,
    SessionChatUpdatedAction,
)
from agenthost.wire.ahp.session import SessionState


def chat_added(state: SessionState, action: SessionChatAddedAction) -> SessionState:
    """S3: a chat that is known stays in its place."""
    summary: Any = action.get("summary")
    return (
        state if summary is None else put(state, chats=upserted(state.get("chats", []), summary, "resource"))
    )


def chat_removed(state: SessionState, action: SessionChatRemovedAction) -> SessionState:
    """S4: the default chat is no longer the default if it goes."""
    chats = state.get("chats", [])
    left = [chat for chat in chats if chat.get("resource") != action.get("chat")]
    if len(left) == len(chats):
        return state
    if state.get("defaultChat") == action.get("chat"):
        state = put(state, defaultChat=None)
    return put(state, chats=left)


def chat_updated(state: SessionState, action: SessionChatUpdatedAction) -> SessionState:
    """S5: merge the changes; the URI of a chat never changes."""
    uri = action.get("chat")
    chats: list[Any] = state.get("chats", [])
    # Written out: every turn comes here twice.
    for place, chat in enumerate(chats):
        if chat.get("resource") == uri:
            changes: Any = action.get("changes", {})
            updated: Any = {**chat, **changes}
            if "resource" in changes or None in updated.values():
                # G1: a null is no change either. Only `session/chatAdded` can remove a field.
                changes = {key: value for key, value in without_none(changes).items() if key != "resource"}
                updated = {**chat, **changes}
            return {**state, "chats": [*chats[:place], updated, *chats[place + 1 :]]}
    return state


def chats_reordered(state: SessionState, action: SessionChatsReorderedAction) -> SessionState:
    """S6: the list has to name each chat once; otherwise the two sides know different chats."""
    chats = {chat.get("resource", ""): chat for chat in state.get("chats", [])}
    order = action.get("chats", [])
    if sorted(order) != sorted(chat.get("resource", "") for chat in state.get("chats", [])):
        return state
    return put(state, chats=[chats[resource] for resource in order])
