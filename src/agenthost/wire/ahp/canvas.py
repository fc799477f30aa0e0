"""Canvases: pages that an extension shows next to a chat."""

from typing import NotRequired, TypedDict

from agenthost.wire.ahp.common import URI


class CanvasReference(TypedDict):
    """A canvas of a chat, by its channel."""

    resource: URI


class CanvasState(TypedDict):
    """The full state of a canvas, as its subscribers see it."""

    instanceId: str
    extensionId: str
    extensionName: NotRequired[str]
    canvasId: str
    title: NotRequired[str]
    status: NotRequired[str]
    url: NotRequired[URI]
