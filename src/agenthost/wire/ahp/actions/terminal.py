"""Actions on terminals."""

from typing import Literal, NotRequired, TypedDict

from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.terminal import TerminalClaim


class TerminalDataAction(TypedDict):
    """Output."""

    type: Literal["terminal/data"]
    data: str


class TerminalInputAction(TypedDict):
    """Input for the process."""

    type: Literal["terminal/input"]
    data: str


class TerminalResizedAction(TypedDict):
    """The terminal has a new size."""

    type: Literal["terminal/resized"]
    cols: int
    rows: int


class TerminalClaimedAction(TypedDict):
    """The terminal has a new holder."""

    type: Literal["terminal/claimed"]
    claim: TerminalClaim


class TerminalTitleChangedAction(TypedDict):
    """The terminal has a new title."""

    type: Literal["terminal/titleChanged"]
    title: str


class TerminalCwdChangedAction(TypedDict):
    """The shell is in another folder."""

    type: Literal["terminal/cwdChanged"]
    cwd: URI


class TerminalExitedAction(TypedDict):
    """The process ended."""

    type: Literal["terminal/exited"]
    exitCode: NotRequired[int]


class TerminalClearedAction(TypedDict):
    """The screen and the scrollback were cleared."""

    type: Literal["terminal/cleared"]


class TerminalCommandDetectionAvailableAction(TypedDict):
    """The shell reports where commands start and end."""

    type: Literal["terminal/commandDetectionAvailable"]


class TerminalCommandExecutedAction(TypedDict):
    """A command began."""

    type: Literal["terminal/commandExecuted"]
    commandId: str
    commandLine: str
    timestamp: float  # Unix ms, clock of the host


class TerminalCommandFinishedAction(TypedDict):
    """A command ended."""

    type: Literal["terminal/commandFinished"]
    commandId: str
    exitCode: NotRequired[int]
    durationMs: NotRequired[float]
