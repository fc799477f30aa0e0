"""Snapshots: the state of any channel at one moment."""

from typing import Annotated, TypeAlias, TypedDict

from agenthost.wire.ahp.annotation import AnnotationsState
from agenthost.wire.ahp.automation import AutomationRunState, AutomationState
from agenthost.wire.ahp.canvas import CanvasState
from agenthost.wire.ahp.changeset import ChangesetState
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.resource import ResourceWatchState
from agenthost.wire.ahp.root import RootState
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.ahp.terminal import TerminalState
from agenthost.wire.annotations import ByKey

State: TypeAlias = Annotated[
    RootState
    | SessionState
    | ChatState
    | TerminalState
    | ChangesetState
    | ResourceWatchState
    | AnnotationsState
    | CanvasState
    | AutomationState
    | AutomationRunState,
    ByKey(
        (
            ("agents", RootState),
            ("chats", SessionState),
            ("turns", ChatState),
            ("content", TerminalState),
            ("files", ChangesetState),
            ("recursive", ResourceWatchState),
            ("annotations", AnnotationsState),  # a session may have the key as well, but it has `chats`
            ("canvasId", CanvasState),
            ("entries", AutomationState),
            ("automation", AutomationRunState),
        )
    ),
]
"""The state of any channel. Each has a key that it cannot lack, and that tells it from those after it."""


class Snapshot(TypedDict):
    """A channel's whole state, and the sequence number at which it was read."""

    resource: URI
    state: State
    fromSeq: int  # later actions have serverSeq greater than this
