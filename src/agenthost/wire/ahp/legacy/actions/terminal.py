"""Actions on terminals."""

from typing import Literal, NotRequired, TypedDict

from agenthost.wire.ahp.legacy.common import URI
from agenthost.wire.ahp.legacy.terminal import TerminalClaim


class TerminalDataAction(TypedDict):
    """Output."""

    type: Literal["terminal/data"]
    terminal: URI
    data: str


class TerminalInputAction(TypedDict):
    """Input for the process."""

    type: Literal["terminal/input"]
    terminal: URI
    data: str


class TerminalResizedAction(TypedDict):
    """The terminal has a new size."""

    type: Literal["terminal/resized"]
    terminal: URI
    cols: int
    rows: int


class TerminalClaimedAction(TypedDict):
    """The terminal has a new holder."""

    type: Literal["terminal/claimed"]
    terminal: URI
    claim: TerminalClaim


class TerminalTitleChangedAction(TypedDict):
    """The terminal has a new title."""

    type: Literal["terminal/titleChanged"]
    terminal: URI
    title: str


class TerminalCwdChangedAction(TypedDict):
    """The shell is in another folder."""

    type: Literal["terminal/cwdChanged"]
    terminal: URI
    cwd: URI


class TerminalExitedAction(TypedDict):
    """The process ended."""

    type: Literal["terminal/exited"]
    terminal: URI
    exitCode: NotRequired[int]


class TerminalClearedAction(TypedDict):
    """The screen and the scrollback were cleared."""

    type: Literal["terminal/cleared"]
    terminal: URI


class TerminalCommandDetectionAvailableAction(TypedDict):
    """The shell reports where commands start and end."""

    type: Literal["terminal/commandDetectionAvailable"]
    terminal: URI


class TerminalCommandExecutedAction(TypedDict):
    """A command began."""

    type: Literal["terminal/commandExecuted"]
    terminal: URI
    commandId: str
    commandLine: str
    timestamp: float


class TerminalCommandFinishedAction(TypedDict):
    """A command ended."""

    type: Literal["terminal/commandFinished"]
    terminal: URI
    commandId: str
    exitCode: NotRequired[int]
    durationMs: NotRequired[float]
