"""Terminals: a shell on the host's machine."""

from collections.abc import AsyncIterator
from typing import Any

from agenthost.client.ahp.changes import Changes
from agenthost.client.ahp.dispatched_action import DispatchedAction
from agenthost.client.ahp.errors import NotFound
from agenthost.client.ahp.resource import Resource
from agenthost.core import actions
from agenthost.wire.ahp.terminal import TerminalClaim, TerminalState

__all__ = ["Terminal", "terminal_text"]

OVERLAP = 1_024
"""By how many characters the output of two snapshots is matched."""


def terminal_text(state: TerminalState) -> str:
    """Return all output of a terminal, as far as the host keeps it."""
    return "".join(_part_text(part) for part in state["content"])


def _part_text(part: Any) -> str:
    return str(part.get("output", "") if part.get("type") == "command" else part.get("value", ""))


def has_exited(state: TerminalState) -> bool:
    """Return whether the process of a terminal has ended."""
    return state["lifecycle"]["status"] == "exited"


def exit_code_of(state: TerminalState) -> int | None:
    """Return the exit code of a process that has ended; None if it runs, or if the code is unknown."""
    lifecycle: Any = state["lifecycle"]
    code: int | None = lifecycle.get("exitCode")
    return code


class Terminal(Resource[TerminalState]):
    """One terminal."""

    @property
    def text(self) -> str:
        """All output, as far as the host keeps it."""
        return terminal_text(self.confirmed)

    @property
    def exit_code(self) -> int | None:
        """The exit code of the process; None while it runs, or if it is unknown."""
        return exit_code_of(self.confirmed)

    def write(self, data: str) -> DispatchedAction:
        """Type something; a line ends with a carriage return."""
        return self._dispatch(actions.terminal_input(data))

    def resize(self, cols: int, rows: int) -> DispatchedAction:
        """Change the size."""
        return self._dispatch(actions.terminal_resized(cols, rows))

    def rename(self, title: str) -> DispatchedAction:
        """Change the title."""
        return self._dispatch(actions.terminal_title_changed(title))

    def clear(self) -> DispatchedAction:
        """Clear the output."""
        return self._dispatch(actions.terminal_cleared())

    def claim(self, claim: TerminalClaim | None = None) -> DispatchedAction:
        """Pass the terminal to another holder (HR-A13); by default, take it."""
        mine: TerminalClaim = {"kind": "client", "clientId": self._replica.client_id}
        return self._dispatch(actions.terminal_claimed(claim or mine))

    def output(self) -> AsyncIterator[str]:
        """Return an iterator of the output from now on, until the process ends.

        Raises:
            Gone: the terminal was disposed of in the meantime.
        """
        # Subscribes now, not when the first piece is requested.
        return self._pieces(self.changes())

    async def _pieces(self, changes: Changes) -> AsyncIterator[str]:
        try:
            async for change in changes:
                action: Any = change.action
                if change.kind == "snapshot":
                    if piece := _new_text(terminal_text(change.before), terminal_text(change.after)):
                        yield piece
                    if has_exited(change.after):
                        return
                elif change.kind == "confirmed" and action["type"] == "terminal/data":
                    yield action["data"]
                elif change.kind == "confirmed" and action["type"] == "terminal/exited":
                    return
        finally:
            changes.close()

    async def dispose(self) -> None:
        """End the terminal.

        Raises:
            AhpError: the host refuses, or cannot be reached.
        """
        params = {"channel": self.uri}
        await self._connection.request("disposeTerminal", params, is_repeatable=True, means_done=NotFound)
        self._replica.forget(self.uri)


def _new_text(before: str, after: str) -> str:
    """Return what is new in a snapshot, which may lack the beginning of the old text."""
    if after.startswith(before):
        return after[len(before) :]
    # HR-X04: the host drops old output, so the two texts may only overlap.
    end = before[-OVERLAP:]
    position = after.find(end)
    return after if position < 0 else after[position + len(end) :]
