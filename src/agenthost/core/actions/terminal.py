"""Actions of a terminal."""

from agenthost.wire.ahp.actions.terminal import (
    TerminalClaimedAction,
    TerminalClearedAction,
    TerminalCommandDetectionAvailableAction,
    TerminalCommandExecutedAction,
    TerminalCommandFinishedAction,
    TerminalCwdChangedAction,
    TerminalExitedAction,
    TerminalInputAction,
    TerminalResizedAction,
    TerminalTitleChangedAction,
)
from agenthost.wire.ahp.terminal import TerminalClaim

__all__ = [
    "command_detection_available",
    "command_executed",
    "command_finished",
    "terminal_claimed",
    "terminal_cleared",
    "terminal_cwd_changed",
    "terminal_exited",
    "terminal_input",
    "terminal_resized",
    "terminal_title_changed",
]


def terminal_input(data: str) -> TerminalInputAction:
    """A client types into the terminal."""
    return {"type": "terminal/input", "data": data}


def terminal_resized(cols: int, rows: int) -> TerminalResizedAction:
    """The terminal has a new size."""
    return {"type": "terminal/resized", "cols": cols, "rows": rows}


def terminal_claimed(claim: TerminalClaim) -> TerminalClaimedAction:
    """The terminal has another holder."""
    return {"type": "terminal/claimed", "claim": claim}


def terminal_title_changed(title: str) -> TerminalTitleChangedAction:
    """The terminal has a new title."""
    return {"type": "terminal/titleChanged", "title": title}


def terminal_cwd_changed(cwd: str) -> TerminalCwdChangedAction:
    """The shell is in another folder."""
    return {"type": "terminal/cwdChanged", "cwd": cwd}


def terminal_cleared() -> TerminalClearedAction:
    """The screen and the scrollback are gone."""
    return {"type": "terminal/cleared"}


def terminal_exited(exit_code: int | None) -> TerminalExitedAction:
    """The program of the terminal has ended."""
    action: TerminalExitedAction = {"type": "terminal/exited"}
    if exit_code is not None:
        action["exitCode"] = exit_code
    return action


def command_detection_available() -> TerminalCommandDetectionAvailableAction:
    """The shell marks where commands begin and end."""
    return {"type": "terminal/commandDetectionAvailable"}


def command_executed(command_id: str, command_line: str, timestamp: float) -> TerminalCommandExecutedAction:
    """A command began."""
    return {
        "type": "terminal/commandExecuted",
        "commandId": command_id,
        "commandLine": command_line,
        "timestamp": timestamp,
    }


def command_finished(
    command_id: str, *, exit_code: int | None = None, duration_ms: float | None = None
) -> TerminalCommandFinishedAction:
    """A command ended."""
    action: TerminalCommandFinishedAction = {
        "type": "terminal/commandFinished",
        "commandId": command_id,
    }
    if exit_code is not None:
        action["exitCode"] = exit_code
    if duration_ms is not None:
        action["durationMs"] = duration_ms
    return action
