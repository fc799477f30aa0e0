"""Terminals: their state, their content, and who holds them."""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.ahp.legacy.common import URI
from agenthost.wire.ahp.terminal import (
    TerminalClientClaim,
    TerminalCommandPart,
    TerminalContentPart,
    TerminalUnclassifiedPart,
)
from agenthost.wire.annotations import Tag

__all__ = [
    "TerminalClaim",
    "TerminalClientClaim",
    "TerminalCommandPart",
    "TerminalContentPart",
    "TerminalInfo",
    "TerminalSessionClaim",
    "TerminalState",
    "TerminalUnclassifiedPart",
]


class TerminalSessionClaim(TypedDict):
    """A session holds the terminal, perhaps for one tool call."""

    kind: Literal["session"]
    session: URI
    turnId: NotRequired[str]
    toolCallId: NotRequired[str]


TerminalClaim: TypeAlias = Annotated[TerminalClientClaim | TerminalSessionClaim, Tag("kind")]
"""Who holds a terminal."""


class TerminalState(TypedDict):
    """The full state of a terminal, as its subscribers see it."""

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
