"""Actions on input requests and on messages that wait."""

from typing import Literal, NotRequired, TypedDict

from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.enums import PendingMessageKind, SessionInputResponseKind
from agenthost.wire.ahp.input import SessionInputAnswer, SessionInputRequest
from agenthost.wire.ahp.message import UserMessage


class SessionInputRequestedAction(TypedDict):
    """The agent has questions."""

    type: Literal["session/inputRequested"]
    session: URI
    request: SessionInputRequest


class SessionInputAnswerChangedAction(TypedDict):
    """An answer was drafted, given or taken back."""

    type: Literal["session/inputAnswerChanged"]
    session: URI
    requestId: str
    questionId: str
    answer: NotRequired[SessionInputAnswer]  # absent = remove that answer


class SessionInputCompletedAction(TypedDict):
    """The questions are settled."""

    type: Literal["session/inputCompleted"]
    session: URI
    requestId: str
    response: SessionInputResponseKind
    answers: NotRequired[dict[str, SessionInputAnswer]]


class SessionPendingMessageSetAction(TypedDict):
    """A message waits, or its text changed."""

    type: Literal["session/pendingMessageSet"]
    session: URI
    kind: PendingMessageKind
    id: str
    userMessage: UserMessage


class SessionPendingMessageRemovedAction(TypedDict):
    """A message waits no longer."""

    type: Literal["session/pendingMessageRemoved"]
    session: URI
    kind: PendingMessageKind
    id: str


class SessionQueuedMessagesReorderedAction(TypedDict):
    """The queue has a new order."""

    type: Literal["session/queuedMessagesReordered"]
    session: URI
    order: list[str]
