"""Snapshots: the state of any resource at one moment."""

from typing import Annotated, TypeAlias, TypedDict

from agenthost.wire.ahp.legacy.common import URI
from agenthost.wire.ahp.legacy.root import RootState
from agenthost.wire.ahp.legacy.session import SessionState
from agenthost.wire.ahp.legacy.terminal import TerminalState
from agenthost.wire.annotations import ByKey

State: TypeAlias = Annotated[
    RootState | SessionState | TerminalState,
    ByKey((("summary", SessionState), ("content", TerminalState), ("", RootState))),
]
"""The state of any resource."""


class Snapshot(TypedDict):
    """A resource's whole state, and the sequence number at which it was read."""

    resource: URI
    state: State
    fromSeq: int  # later actions have serverSeq greater than this
