"""Shapes of dispatched actions: what an action must look like before its rule is asked.

Unknown keys, and unknown variants of what is only passed on (attachments, blocks of a tool's result), are
allowed: newer peers understand them. Values that decide what happens must be known, and a null must not be
mistaken for a missing key where that would do harm.
"""

from typing import Annotated, Any, Literal, TypedDict, cast

from agenthost.core.reducers.records import pick
from agenthost.core.reducers.toolcalls import RESULT
from agenthost.errors import NotJson
from agenthost.wire.ahp.actions import StateAction
from agenthost.wire.ahp.actions.chat import ChatPendingMessageRemovedAction
from agenthost.wire.ahp.actions.input import ChatInputAnswerChangedAction, ChatInputCompletedAction
from agenthost.wire.ahp.actions.terminal import TerminalClaimedAction
from agenthost.wire.ahp.actions.turn import ChatTruncatedAction
from agenthost.wire.ahp.enums import PendingMessageKind, ToolCallConfirmationReason
from agenthost.wire.annotations import Tag
from agenthost.wire.json import MAX_GIVEN_DEPTH, Json, JsonObject
from agenthost.wire.shape import STRICT, ReadMode, Shape

CLOSED = ReadMode(unknown=False)
"""For values that decide: only variants and enumeration values that we know. A null is still absent (G1)."""


class PendingMessageKey(TypedDict):
    """The part of `pendingMessageSet` that decides."""

    kind: PendingMessageKind


class Approval(TypedDict):
    """The part of `toolCallConfirmed` that decides, if it approves."""

    approved: Literal[True]
    confirmed: ToolCallConfirmationReason


class Denial(TypedDict):
    """The part of `toolCallConfirmed` that decides, if it denies."""

    approved: Literal[False]
    reason: Literal["denied", "skipped"]


ACTION: Shape[StateAction] = Shape(StateAction)

DECIDING: dict[str, Shape[Any]] = {
    "chat/pendingMessageSet": Shape(PendingMessageKey, CLOSED),
    "chat/pendingMessageRemoved": Shape(ChatPendingMessageRemovedAction, CLOSED),
    "chat/toolCallConfirmed": Shape(Annotated[Approval | Denial, Tag("approved")], CLOSED),
    "chat/inputAnswerChanged": Shape(ChatInputAnswerChangedAction, CLOSED),
    "chat/inputCompleted": Shape(ChatInputCompletedAction, CLOSED),
    # C9: without an id all turns go. A null must not count as that, so G1 does not apply here.
    "chat/truncated": Shape(ChatTruncatedAction, STRICT),
    "terminal/claimed": Shape(TerminalClaimedAction, CLOSED),
}
"""The parts of actions that decide what happens; they are read more strictly than the rest."""


def cleaned(action: JsonObject) -> StateAction:
    """Return a client's action as it should be reduced and passed on. The one passed in is not changed (G2).

    Nulls that mean "absent" are removed (G1). So are all fields of a tool's result but the five known ones
    (T6): a peer that spreads the result over the call would overwrite the call's status.

    Raises:
        InvalidValue: the action does not have its shape.
        NotJson: it is nested too deep.
    """
    copy = copied(action, MAX_GIVEN_DEPTH)
    deciding = DECIDING.get(str(copy.get("type")))
    if deciding is not None:
        deciding.take(copy)
    # Most shapes in `DECIDING` see a part of the action only, so all of it is checked again.
    taken: Any = ACTION.take(copy)
    if taken["type"] == "chat/toolCallComplete":
        taken["result"] = pick(taken["result"], *RESULT)
    return cast("StateAction", taken)


def copied(value: Json, levels: int) -> Json:
    """Copy a list or an object. Ten times as fast as `deepcopy`, which must be prepared for any object."""
    if not levels:
        raise NotJson(f"nested deeper than {MAX_GIVEN_DEPTH} levels")
    below = levels - 1
    if type(value) is dict:
        return {
            key: copied(item, below) if type(item) is dict or type(item) is list else item
            for key, item in value.items()
        }
    return [copied(item, below) if type(item) is dict or type(item) is list else item for item in value]
