"""A session as legacy clients see it, for the tests: checked against the legacy wire."""

from typing import Any

from agenthost.core.legacy.forms import DEFAULT, legacy_form
from agenthost.core.legacy.projected_state import project_session_state
from agenthost.core.legacy.projection import project_action
from agenthost.core.legacy.reducers import Live, reduce_session
from agenthost.wire.ahp.legacy.actions import StateAction
from agenthost.wire.ahp.legacy.session import SessionState
from agenthost.wire.shape import Shape
from session_histories import CREATED, SESSION, Step

STATE: Shape[Any] = Shape(SessionState)
ACTION: Shape[Any] = Shape(StateAction)


def seen(session: Any, chat: Any) -> Any:
    """Return the projected state, but for when it last changed: each legacy client has a clock of its own."""
    state: Any = STATE.take(project_session_state(session, chat, SESSION, CREATED))
    return {**state, "summary": {**state["summary"], "modifiedAt": 0}}


def told(step: Step) -> list[Any]:
    """Return the legacy actions that a step becomes."""
    form = legacy_form(step.action, step.session_before, step.session, step.chat_before, step.chat, SESSION)
    if form is not DEFAULT:
        return [ACTION.take(action) for action in form]
    action = project_action(step.action, SESSION)
    return [] if action is None else [ACTION.take(action)]


def followed(live: Live[Any], step: Step) -> Live[Any]:
    """Return what a legacy client has after a step."""
    for action in told(step):
        live = reduce_session(live, action, 0)
    return live
