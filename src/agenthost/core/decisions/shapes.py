"""The shape of what clients dispatch: what an action must look like before anybody asks whether it may be.

Unknown keys, and variants that only travel through (attachments, blocks of a tool's result), are left to
newer peers. What decides what happens next must be known, and a null must not mean more than it says.
"""

from typing import Annotated, Any, Literal, TypedDict, cast

from agenthost.core.reducers.records import chosen
from agenthost.core.reducers.toolcalls import RESULT
from agenthost.wire.ahp.actions import StateAction
from agenthost.wire.ahp.actions.input import (
    SessionInputAnswerChangedAction,
    SessionInputCompletedAction,
    SessionPendingMessageRemovedAction,
)
from agenthost.wire.ahp.actions.terminal import TerminalClaimedAction
from agenthost.wire.ahp.actions.turn import SessionTruncatedAction
from agenthost.wire.ahp.enums import PendingMessageKind, ToolCallConfirmationReason
from agenthost.wire.annotations import Tag
from agenthost.wire.json import Json, JsonObject
from agenthost.wire.shape import STRICT, Reading, Shape

CLOSED = Reading(unknown=False)
"""For what decides: only variants and enumeration values that we know; null is still absent."""


class Waiting(TypedDict):
    """What decides in a message that waits."""

    kind: PendingMessageKind


class Approval(TypedDict):
    """What decides in a yes."""

    approved: Literal[True]
    confirmed: ToolCallConfirmationReason


class Denial(TypedDict):
    """What decides in a no."""

    approved: Literal[False]
    reason: Literal["denied", "skipped"]


ACTION: Shape[StateAction] = Shape(StateAction)

DECIDING: dict[str, Shape[Any]] = {
    "session/pendingMessageSet": Shape(Waiting, CLOSED),
    "session/pendingMessageRemoved": Shape(SessionPendingMessageRemovedAction, CLOSED),
    "session/toolCallConfirmed": Shape(Annotated[Approval | Denial, Tag("approved")], CLOSED),
    "session/inputAnswerChanged": Shape(SessionInputAnswerChangedAction, CLOSED),
    "session/inputCompleted": Shape(SessionInputCompletedAction, CLOSED),
    # Without an id all turns go: a null there would erase what somebody wanted to keep.
    "session/truncated": Shape(SessionTruncatedAction, STRICT),
    "terminal/claimed": Shape(TerminalClaimedAction, CLOSED),
}
"""The parts of actions that decide what happens, read more strictly than the rest."""


def cleaned(action: JsonObject) -> StateAction:
    """Give a client's action as it is to be reduced and passed on: the one handed in stays as it is.

    Nulls that mean "absent" are gone. So is all of a tool's result but the fields that a result has:
    peers that spread the result over the call would have its status overwritten.

    Raises:
        InvalidValue: not the shape of such an action.
    """
    copy = _copied(action)
    deciding = DECIDING.get(str(copy.get("type")))
    if deciding is not None:
        deciding.take(copy)
    # All of it is looked at again: most of `DECIDING` sees a part only.
    taken: Any = ACTION.take(copy)
    if taken["type"] == "session/toolCallComplete":
        taken["result"] = chosen(taken["result"], *RESULT)
    return cast("StateAction", taken)


def _copied(value: Json) -> Json:
    """Copy a JSON value. Ten times as fast as `deepcopy`, which has to expect anything."""
    if type(value) is dict:
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if type(value) is list else value
