"""Actions on input requests and on pending messages."""

from typing import Literal, NotRequired, TypedDict

from agenthost.wire.ahp.legacy.common import URI
from agenthost.wire.ahp.legacy.enums import PendingMessageKind, SessionInputResponseKind
from agenthost.wire.ahp.legacy.input import SessionInputAnswer, SessionInputRequest
from agenthost.wire.ahp.legacy.message import UserMessage


class SessionInputRequestedAction(TypedDict):
    """The agent has questions."""

    type: Literal["session/inputRequested"]
    session: URI
    request: SessionInputRequest


class SessionInputAnswerChangedAction(TypedDict):
    """An answer was drafted, submitted, skipped or removed."""

    type: Literal["session/inputAnswerChanged"]
    session: URI
    requestId: str
    questionId: str
    answer: NotRequired[SessionInputAnswer]  # absent = remove that answer


class SessionInputCompletedAction(TypedDict):
    """The input request is closed."""

    type: Literal["session/inputCompleted"]
    session: URI
    requestId: str
    response: SessionInputResponseKind
    answers: NotRequired[dict[str, SessionInputAnswer]]


class SessionPendingMessageSetAction(TypedDict):
    """A message is pending, or has changed."""

    type: Literal["session/pendingMessageSet"]
    session: URI
    kind: PendingMessageKind
    id: str
    userMessage: UserMessage


class SessionPendingMessageRemovedAction(TypedDict):
    """A message is no longer pending."""

    type: Literal["session/pendingMessageRemoved"]
    session: URI
    kind: PendingMessageKind
    id: str


class SessionQueuedMessagesReorderedAction(TypedDict):
    """The queue has a new order."""

    type: Literal["session/queuedMessagesReordered"]
    session: URI
    order: list[str]
