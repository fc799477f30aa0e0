"""Actions on the running turn and on the turns before it."""

from typing import Literal, NotRequired, TypedDict

from agenthost.wire.ahp.common import Meta, Timestamp, UsageInfo
from agenthost.wire.ahp.message import Message
from agenthost.wire.ahp.turn import ErrorResponsePart, ResponsePart, Turn


class ChatTurnStartedAction(TypedDict):
    """A turn begins with a message."""

    type: Literal["chat/turnStarted"]
    turnId: str
    startedAt: Timestamp
    message: Message
    queuedMessageId: NotRequired[str]  # set when started from a pending message
    _meta: NotRequired[Meta]


class ChatResponsePartAction(TypedDict):
    """A new part of the answer."""

    type: Literal["chat/responsePart"]
    turnId: str
    part: ResponsePart
    _meta: NotRequired[Meta]


class ChatDeltaAction(TypedDict):
    """More of the answer."""

    type: Literal["chat/delta"]
    turnId: str
    partId: str
    content: str
    _meta: NotRequired[Meta]


class ChatReasoningAction(TypedDict):
    """More of the reasoning."""

    type: Literal["chat/reasoning"]
    turnId: str
    partId: str
    content: str
    _meta: NotRequired[Meta]


class ChatUsageAction(TypedDict):
    """What the turn has cost so far."""

    type: Literal["chat/usage"]
    turnId: str
    usage: UsageInfo
    _meta: NotRequired[Meta]


class ChatTurnCompleteAction(TypedDict):
    """The turn is complete."""

    type: Literal["chat/turnComplete"]
    turnId: str
    duration: float  # ms
    _meta: NotRequired[Meta]


class ChatTurnCancelledAction(TypedDict):
    """The turn was cancelled."""

    type: Literal["chat/turnCancelled"]
    turnId: str
    duration: float  # ms
    _meta: NotRequired[Meta]


class ChatErrorAction(TypedDict):
    """The turn failed."""

    type: Literal["chat/error"]
    turnId: str
    duration: float  # ms
    part: ErrorResponsePart
    _meta: NotRequired[Meta]


class ChatTurnResumeAction(TypedDict):
    """The last turn, which failed, goes on."""

    type: Literal["chat/turnResume"]
    turnId: str


class ChatTruncatedAction(TypedDict):
    """The turns after this one are removed."""

    type: Literal["chat/truncated"]
    turnId: NotRequired[str]  # absent = drop every turn


class ChatTurnsLoadedAction(TypedDict):
    """Older turns, which the state did not have."""

    type: Literal["chat/turnsLoaded"]
    turns: list[Turn]
    turnsNextCursor: NotRequired[str]  # absent = these are the oldest
