"""Random states and logs of actions of every kind of channel that meet: ids come from a small pool."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from agenthost.cli.reduce import CURRENT
from agenthost.core.reducers import ResourceKind
from logs import with_pooled_ids
from strategies import values_of

TIMES = ("2026-01-01T00:00:00.000Z", "2026-12-31T23:59:59.999Z", "soon")


def states(kind: ResourceKind, *, partial: bool = False) -> SearchStrategy[Any]:
    """Draw well-typed states; `partial` leaves required keys out at times."""
    return values_of(CURRENT.states[kind].kind, unknown_keys=True, partial=partial).map(with_meeting_values)


def actions(kind: ResourceKind, *, partial: bool = False) -> SearchStrategy[Any]:
    """Draw well-typed actions, now and then of a type that nobody knows."""
    unknown = st.just({"type": f"{kind}/notYetInvented", "turnId": "a"})
    known = values_of(CURRENT.actions[kind].kind, unknown_keys=True, partial=partial).filter(
        lambda action: "type" in action
    )
    return (known | unknown).map(with_meeting_values)


def with_meeting_values(value: Any) -> Any:
    """Return the value with ids of the pool and times that are times, mostly."""
    return _with_times(with_pooled_ids(value))


def _with_times(value: Any) -> Any:
    if type(value) is list:
        return [_with_times(entry) for entry in value]
    if type(value) is not dict:
        return value
    return {
        key: TIMES[len(entry) % 3] if key == "startedAt" and type(entry) is str else _with_times(entry)
        for key, entry in value.items()
    }
