"""Handlers: functions that make the next state, in tables by the type of the action."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from agenthost.core.reducers.live import Live

S = TypeVar("S")


def handle(handlers: Mapping[str, Callable[[S, Any], S]], live: Live[S], action: Any) -> Live[S]:
    """Return the next version; the same one if the action does not apply (G2) or is unknown (G3)."""
    handler = handlers.get(action["type"])
    if handler is None:
        return live
    before = live.base if live.growth is None else live.state
    after = handler(before, action)
    # The same object means that nothing changed: the text log of `live` can go on growing.
    return live if after is before else Live(after)
