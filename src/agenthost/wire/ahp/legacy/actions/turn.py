"""Actions on the running turn and on the turns before it."""

from typing import Literal, NotRequired, TypedDict

from agenthost.wire.ahp.legacy.common import URI, ErrorInfo, UsageInfo
from agenthost.wire.ahp.legacy.message import UserMessage
from agenthost.wire.ahp.legacy.turn import ResponsePart


class SessionTurnStartedAction(TypedDict):
    """A turn begins with a message."""

    type: Literal["session/turnStarted"]
    session: URI
    turnId: str
    userMessage: UserMessage
    queuedMessageId: NotRequired[str]  # set when started from a pending message


class SessionResponsePartAction(TypedDict):
    """A new part of the answer."""

    type: Literal["session/responsePart"]
    session: URI
    turnId: str
    part: ResponsePart


class SessionDeltaAction(TypedDict):
    """More of the answer."""

    type: Literal["session/delta"]
    session: URI
    turnId: str
    partId: str
    content: str


class SessionReasoningAction(TypedDict):
    """More of the reasoning."""

    type: Literal["session/reasoning"]
    session: URI
    turnId: str
    partId: str
    content: str


class SessionUsageAction(TypedDict):
    """What the turn has cost so far."""

    type: Literal["session/usage"]
    session: URI
    turnId: str
    usage: UsageInfo


class SessionTurnCompleteAction(TypedDict):
    """The turn is complete."""

    type: Literal["session/turnComplete"]
    session: URI
    turnId: str


class SessionTurnCancelledAction(TypedDict):
    """The turn was cancelled."""

    type: Literal["session/turnCancelled"]
    session: URI
    turnId: str


class SessionErrorAction(TypedDict):
    """The turn failed."""

    type: Literal["session/error"]
    session: URI
    turnId: str
    error: ErrorInfo


class SessionTruncatedAction(TypedDict):
    """The turns after this one are removed."""

    type: Literal["session/truncated"]
    session: URI
    turnId: NotRequired[str]  # absent = drop every turn
