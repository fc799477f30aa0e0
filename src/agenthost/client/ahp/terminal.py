"""Terminals: a shell on the host's machine, watched and typed into."""

from collections.abc import AsyncIterator
from typing import Any

from agenthost.client.ahp.changes import Changes, Echo
from agenthost.client.ahp.errors import NotFound
from agenthost.client.ahp.watching import Watched
from agenthost.wire.ahp.terminal import TerminalClaim, TerminalState

__all__ = ["Terminal", "text_of"]

OVERLAP = 1_024
"""By so many characters a text that came whole is fitted to the one before."""


def text_of(state: TerminalState) -> str:
    """Give all that a terminal has printed, as far as the host keeps it."""
    return "".join(_printed(part) for part in state["content"])


def _printed(part: Any) -> str:
    return str(part.get("output", "") if part.get("type") == "command" else part.get("value", ""))


class Terminal(Watched[TerminalState]):
    """One terminal."""

    @property
    def text(self) -> str:
        """All that it has printed, as far as the host keeps it."""
        return text_of(self.confirmed)

    @property
    def exit_code(self) -> int | None:
        """How its process ended, if it has and that is known."""
        return self.confirmed.get("exitCode")

    def write(self, data: str) -> Echo:
        """Type something; a line ends with a carriage return."""
        return self._act("terminal/input", data=data)

    def resize(self, cols: int, rows: int) -> Echo:
        """Give it another size."""
        return self._act("terminal/resized", cols=cols, rows=rows)

    def rename(self, title: str) -> Echo:
        """Give it another title."""
        return self._act("terminal/titleChanged", title=title)

    def clear(self) -> Echo:
        """Forget what it has printed."""
        return self._act("terminal/cleared")

    def claim(self, claim: TerminalClaim | None = None) -> Echo:
        """Hand it to somebody; without saying to whom, take it."""
        mine: TerminalClaim = {"kind": "client", "clientId": self._mirrors.client_id}
        return self._act("terminal/claimed", claim=claim or mine)

    def output(self) -> AsyncIterator[str]:
        """Give what it prints from now on, piece by piece, until its process ends.

        Raises:
            Gone: it was disposed of meanwhile.
        """
        # Heard from this moment on, not from when the first piece is asked for.
        return self._pieces(self.changes())

    async def _pieces(self, changes: Changes) -> AsyncIterator[str]:
        try:
            async for change in changes:
                action: Any = change.action
                if change.kind == "snapshot":
                    if piece := _news(text_of(change.before), text_of(change.after)):
                        yield piece
                    if "exitCode" in change.after:
                        return
                elif change.kind == "confirmed" and action["type"] == "terminal/data":
                    yield action["data"]
                elif change.kind == "confirmed" and action["type"] == "terminal/exited":
                    return
        finally:
            changes.close()

    async def dispose(self) -> None:
        """End it, and forget it.

        Raises:
            AhpError: it cannot be done.
        """
        await self._line.request("disposeTerminal", {"terminal": self.uri}, is_safe=True, done=NotFound)
        self._mirrors.forget(self.uri)


def _news(before: str, after: str) -> str:
    """Give what is new in a text that came whole; the beginning of the old one may be gone from it."""
    if after.startswith(before):
        return after[len(before) :]
    end = before[-OVERLAP:]
    place = after.find(end)
    return after if place < 0 else after[place + len(end) :]
