"""Conversations: a session together with the chat that a turn of it is in."""

from typing import NamedTuple, TypeAlias

from agenthost.wire.ahp.actions import ChatAction, SessionAction
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.session import SessionState

__all__ = ["Conversation", "ConversationAction"]


class Conversation(NamedTuple):
    """The two states that a decision or a turn looks at."""

    session: SessionState
    chat: ChatState


ConversationAction: TypeAlias = SessionAction | ChatAction
"""An action of a session or of one of its chats."""
