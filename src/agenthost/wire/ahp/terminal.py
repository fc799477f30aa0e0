"""Terminals: their state, their content, and who holds them."""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.ahp.common import URI
from agenthost.wire.annotations import Tag


class TerminalClientClaim(TypedDict):
    """A client holds the terminal."""

    kind: Literal["client"]
    clientId: str


class TerminalSessionClaim(TypedDict):
    """A chat of a session holds the terminal, perhaps for one tool call."""

    kind: Literal["session"]
    session: URI
    chat: URI
    turnId: NotRequired[str]
    toolCallId: NotRequired[str]


TerminalClaim: TypeAlias = Annotated[TerminalClientClaim | TerminalSessionClaim, Tag("kind")]
"""Who holds a terminal."""


class TerminalRunningLifecycleState(TypedDict):
    """The process runs."""

    status: Literal["running"]


class TerminalExitedLifecycleState(TypedDict):
    """The process ended."""

    status: Literal["exited"]
    exitCode: NotRequired[int]  # absent if it is not known


TerminalLifecycleState: TypeAlias = Annotated[
    TerminalRunningLifecycleState | TerminalExitedLifecycleState, Tag("status")
]
"""Whether a terminal's process runs."""


class TerminalUnclassifiedPart(TypedDict):
    """Output that belongs to no known command."""

    type: Literal["unclassified"]
    value: str


class TerminalCommandPart(TypedDict):
    """A command and its output."""

    type: Literal["command"]
    commandId: str
    commandLine: str
    output: str
    timestamp: float  # Unix ms, clock of the host
    isComplete: bool
    exitCode: NotRequired[int]
    durationMs: NotRequired[float]


TerminalContentPart: TypeAlias = Annotated[TerminalUnclassifiedPart | TerminalCommandPart, Tag("type")]
"""A part of a terminal's output."""


class TerminalState(TypedDict):
    """The full state of a terminal, as its subscribers see it."""

    title: str
    cwd: NotRequired[URI]
    cols: NotRequired[int]
    rows: NotRequired[int]
    content: list[TerminalContentPart]
    claim: TerminalClaim
    lifecycle: TerminalLifecycleState
    supportsCommandDetection: NotRequired[bool]  # gate for relying on command parts
    isPty: NotRequired[bool]


class TerminalInfo(TypedDict):
    """A terminal as the root state lists it."""

    resource: URI
    title: str
    claim: TerminalClaim
    lifecycle: TerminalLifecycleState
