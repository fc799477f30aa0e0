"""Text that streams into the running turn: the answer, the reasoning, a call's input (S4, S10, S13)."""

from typing import Any, TypeAlias

from agenthost.core.reducers.chat import reduce_chat
from agenthost.core.reducers.live import Live
from agenthost.core.reducers.text import StreamedText as ChatText
from agenthost.wire.ahp.actions.text import ChatDelta, ChatReasoning, ChatToolCallDelta
from agenthost.wire.ahp.legacy.actions.text import SessionDelta, SessionReasoning, SessionToolCallDelta
from agenthost.wire.ahp.legacy.session import SessionState

StreamedText: TypeAlias = SessionDelta | SessionReasoning | SessionToolCallDelta

_TYPES: dict[type, type[ChatText]] = {
    SessionDelta: ChatDelta,
    SessionReasoning: ChatReasoning,
    SessionToolCallDelta: ChatToolCallDelta,
}


def stream(live: Live[SessionState], action: StreamedText) -> Live[SessionState]:
    """Append the action's text to the part that it names, if that part takes such text."""
    # The running turn of a session is built like that of a chat, so its text grows in the same way.
    named: Any = action.toolCallId if isinstance(action, SessionToolCallDelta) else action.partId
    chat: Live[Any] = live
    return reduce_chat(chat, _TYPES[type(action)](action.turnId, named, action.content))  # type: ignore[return-value]
