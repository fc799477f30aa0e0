"""Actions on canvases."""

from typing import Literal, TypedDict

from agenthost.wire.ahp.canvas import CanvasState


class CanvasStateChangedAction(TypedDict):
    """The canvas is now this."""

    type: Literal["canvas/stateChanged"]
    canvas: CanvasState
