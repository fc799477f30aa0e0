"""Terminals: their state, what is in it, and who holds them."""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.ahp.common import URI
from agenthost.wire.annotations import Tag


class TerminalClientClaim(TypedDict):
    """A client has the terminal."""

    kind: Literal["client"]
    clientId: str


class TerminalSessionClaim(TypedDict):
    """A session has the terminal, perhaps for one tool call."""

    kind: Literal["session"]
    session: URI
    turnId: NotRequired[str]
    toolCallId: NotRequired[str]


TerminalClaim: TypeAlias = Annotated[TerminalClientClaim | TerminalSessionClaim, Tag("kind")]
"""Who holds a terminal."""


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
    timestamp: float  # Unix ms, server clock
    isComplete: bool
    exitCode: NotRequired[int]
    durationMs: NotRequired[float]


TerminalContentPart: TypeAlias = Annotated[TerminalUnclassifiedPart | TerminalCommandPart, Tag("type")]
"""A stretch of a terminal's output."""


class TerminalState(TypedDict):
    """A terminal whole: what its subscribers see."""

    title: str
    cwd: NotRequired[URI]
    cols: NotRequired[int]
    rows: NotRequired[int]
    content: list[TerminalContentPart]
    exitCode: NotRequired[int]  # present once the process exited (if known)
    claim: TerminalClaim
    supportsCommandDetection: NotRequired[bool]  # gate for relying on command parts


class TerminalInfo(TypedDict):
    """A terminal as the root state lists it."""

    resource: URI
    title: str
    claim: TerminalClaim
    exitCode: NotRequired[int]
