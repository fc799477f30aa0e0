"""The reducers as the tests call them: plain JSON in, plain JSON out, and never a changed input."""

from copy import deepcopy
from typing import Any

from agenthost.cli.reduce import CURRENT
from agenthost.core.reducers import REDUCERS, Live, ResourceKind


def fold_session(state: dict[str, Any], *actions: dict[str, Any]) -> dict[str, Any]:
    return fold("session", state, *actions)


def fold_chat(state: dict[str, Any], *actions: dict[str, Any]) -> dict[str, Any]:
    return fold("chat", state, *actions)


def fold_terminal(state: dict[str, Any], *actions: dict[str, Any]) -> dict[str, Any]:
    return fold("terminal", state, *actions)


def fold(kind: ResourceKind, state: dict[str, Any], *actions: dict[str, Any]) -> dict[str, Any]:
    """Reduce twice: reading the state after each action, and only at the end. Both must agree."""
    start = CURRENT.states[kind].take(deepcopy(state))
    taken = [CURRENT.actions[kind].take(deepcopy(action)) for action in actions]
    untouched = deepcopy((start, taken))
    read_often = read_once = Live(start)
    for action in taken:
        before = read_often.state
        copy = deepcopy(before)
        read_often = Live(REDUCERS[kind](Live(before), action).state)
        assert before == copy, "the reducer changed its input"
        read_once = REDUCERS[kind](read_once, action)
    assert (start, taken) == untouched, "the reducer changed its input"
    assert read_often.state == read_once.state
    result: dict[str, Any] = read_once.state
    return result


def changes_nothing(kind: ResourceKind, state: dict[str, Any], *actions: dict[str, Any]) -> bool:
    """Return whether each action returns the very version that it was given."""
    live = Live(CURRENT.states[kind].take(deepcopy(state)))
    taken = [CURRENT.actions[kind].take(deepcopy(action)) for action in actions]
    return all(REDUCERS[kind](live, action) is live for action in taken)
