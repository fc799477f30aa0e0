"""Random things that happen in a session and its chats, as a host makes them happen."""

from copy import deepcopy
from typing import Any

from agenthost.core import actions
from agenthost.core.conversation import Conversation
from agenthost.errors import InvalidValue
from agenthost.host.state.session import Session
from agenthost.wire.ahp.actions.text import ACTION
from drawn_chat_actions import chat_action
from drawn_session_actions import client_action, customization_action, meta_action, state_action
from drawn_values import Draw, pick

__all__ = ["drawn_action", "stream"]


def drawn_action(draw: Draw, states: Conversation) -> Any:
    """Draw an action that a host could make."""
    while True:
        action = _drawn_action(draw, states)
        try:
            return ACTION.take(deepcopy(action))
        except InvalidValue:
            continue


def _drawn_action(draw: Draw, states: Conversation) -> Any:
    session, chat = states
    if session["lifecycle"] == "creating":
        return actions.session_ready()
    if pick(draw, 0, 1, 1, 1):
        return chat_action(draw, chat)
    return pick(draw, client_action, customization_action, meta_action, state_action)(draw, session)


def stream(draw: Draw, session: Session) -> None:
    """Let text stream to a part of the running turn, if there is one."""
    turn: Any = session.chat.get("activeTurn", {"id": "none", "responseParts": []})
    parts = [part for part in turn["responseParts"] if part["kind"] in ("markdown", "reasoning")]
    part = pick(draw, *parts, {"kind": "markdown", "id": "none"})
    kind: Any = "chat/reasoning" if part["kind"] == "reasoning" else "chat/delta"
    for word in ("one ", "two "):
        session.stream(kind, turn["id"], part["id"], word)
