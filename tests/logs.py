"""Random states and logs of actions that meet: ids come from a small pool, so actions find targets."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from agenthost.core.legacy.reducers import ResourceKind
from agenthost.wire.ahp.legacy.actions import RootAction, SessionAction, TerminalAction
from agenthost.wire.ahp.legacy.root import RootState
from agenthost.wire.ahp.legacy.session import SessionState
from agenthost.wire.ahp.legacy.terminal import TerminalState
from strategies import values_of

IDS = {
    "id",
    "turnId",
    "partId",
    "toolCallId",
    "requestId",
    "questionId",
    "queuedMessageId",
    "commandId",
    "uri",
}
IDS |= {"selectedOptionId", "resource", "chat", "defaultChat", "clientId", "directory", "replacement"}
IDS |= {"fileId", "operationId", "annotationId", "entryId", "session", "primarySession"}
POOL = ("a", "b", "c")

STATES: dict[ResourceKind, Any] = {"root": RootState, "session": SessionState, "terminal": TerminalState}
ACTIONS: dict[ResourceKind, Any] = {"root": RootAction, "session": SessionAction, "terminal": TerminalAction}


def states(kind: ResourceKind, *, partial: bool = False) -> SearchStrategy[Any]:
    """Draw well-typed states; `partial` leaves required keys out at times."""
    return values_of(STATES[kind], unknown_keys=True, partial=partial).map(with_pooled_ids)


def actions(kind: ResourceKind, *, partial: bool = False) -> SearchStrategy[Any]:
    """Draw well-typed actions, now and then of a type that nobody knows."""
    unknown = st.just({"type": f"{kind}/notYetInvented", kind: "x:/1", "turnId": "a"})
    known = values_of(ACTIONS[kind], unknown_keys=True, partial=partial).filter(
        lambda action: "type" in action
    )
    return (known | unknown).map(with_pooled_ids)


def with_pooled_ids(value: Any) -> Any:
    """Return the value with every id replaced by one of the pool."""
    if type(value) is list:
        return [with_pooled_ids(entry) for entry in value]
    if type(value) is not dict:
        return value
    return {
        key: POOL[len(entry) % 3] if key in IDS and type(entry) is str else with_pooled_ids(entry)
        for key, entry in value.items()
    }
