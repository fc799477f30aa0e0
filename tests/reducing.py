"""The reducers as the tests call them: plain JSON in, plain JSON out, and never a changed input."""

from copy import deepcopy
from typing import Any

from agenthost.cli.reduce import LEGACY
from agenthost.core.legacy.reducers import REDUCERS, Live, ResourceKind

NOW = 9999


def reduce_root(state: dict[str, Any], *actions: dict[str, Any]) -> dict[str, Any]:
    return reduced("root", state, *actions)


def reduce_session(state: dict[str, Any], *actions: dict[str, Any]) -> dict[str, Any]:
    return reduced("session", state, *actions)


def reduce_terminal(state: dict[str, Any], *actions: dict[str, Any]) -> dict[str, Any]:
    return reduced("terminal", state, *actions)


def reduced(kind: ResourceKind, state: dict[str, Any], *actions: dict[str, Any]) -> dict[str, Any]:
    """Reduce twice: reading the state after each action, and only at the end. Both must agree."""
    start = LEGACY.states[kind].take(deepcopy(state))
    taken = [LEGACY.actions[kind].take(deepcopy(action)) for action in actions]
    untouched = deepcopy((start, taken))
    read_often = read_once = Live(start)
    for action in taken:
        before = read_often.state
        copy = deepcopy(before)
        read_often = Live(REDUCERS[kind](Live(before), action, NOW).state)
        assert before == copy, "the reducer changed its input"
        read_once = REDUCERS[kind](read_once, action, NOW)
    assert (start, taken) == untouched, "the reducer changed its input"
    assert read_often.state == read_once.state
    result: dict[str, Any] = read_once.state
    return result
