"""The canvas reducer: a page that an extension shows (CV1)."""

from collections.abc import Callable
from typing import Any

from agenthost.core.reducers.handlers import handle
from agenthost.core.reducers.live import Live
from agenthost.wire.ahp.actions import CanvasAction
from agenthost.wire.ahp.actions.canvas import CanvasStateChangedAction
from agenthost.wire.ahp.canvas import CanvasState


def reduce_canvas(live: Live[CanvasState], action: CanvasAction) -> Live[CanvasState]:
    """Apply one action. An action that does not apply leaves the state as it was."""
    return handle(HANDLERS, live, action)


def _state_changed(state: CanvasState, action: CanvasStateChangedAction) -> CanvasState:
    """CV1: the new state replaces the old one as a whole."""
    return action.get("canvas", state)


HANDLERS: dict[str, Callable[[CanvasState, Any], CanvasState]] = {"canvas/stateChanged": _state_changed}
