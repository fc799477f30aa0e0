"""Actions on input requests."""

from typing import Literal, NotRequired, TypedDict

from agenthost.wire.ahp.enums import ChatInputResponseKind
from agenthost.wire.ahp.input import ChatInputAnswer, ChatInputRequest


class ChatInputRequestedAction(TypedDict):
    """The agent has questions."""

    type: Literal["chat/inputRequested"]
    request: ChatInputRequest


class ChatInputAnswerChangedAction(TypedDict):
    """An answer was drafted, submitted, skipped or removed."""

    type: Literal["chat/inputAnswerChanged"]
    requestId: str
    questionId: str
    answer: NotRequired[ChatInputAnswer]  # absent = remove that answer


class ChatInputCompletedAction(TypedDict):
    """The input request is closed."""

    type: Literal["chat/inputCompleted"]
    requestId: str
    response: ChatInputResponseKind
    answers: NotRequired[dict[str, ChatInputAnswer]]
