"""Actions on the running turn and on the turns before it."""

from typing import Literal, NotRequired, TypedDict

from agenthost.wire.ahp.common import URI, ErrorInfo, UsageInfo
from agenthost.wire.ahp.message import UserMessage
from agenthost.wire.ahp.turn import ResponsePart


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
    """The answer goes on."""

    type: Literal["session/delta"]
    session: URI
    turnId: str
    partId: str
    content: str


class SessionReasoningAction(TypedDict):
    """The thinking goes on."""

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
    """The turn ended well."""

    type: Literal["session/turnComplete"]
    session: URI
    turnId: str


class SessionTurnCancelledAction(TypedDict):
    """The turn was stopped."""

    type: Literal["session/turnCancelled"]
    session: URI
    turnId: str


class SessionErrorAction(TypedDict):
    """The turn broke."""

    type: Literal["session/error"]
    session: URI
    turnId: str
    error: ErrorInfo


class SessionTruncatedAction(TypedDict):
    """The turns after this one are gone."""

    type: Literal["session/truncated"]
    session: URI
    turnId: NotRequired[str]  # absent = drop every turn
