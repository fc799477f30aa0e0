"""The output of running tools in their terminals."""

import asyncio
from typing import Any

from agenthost.cli.chat.render.calls import content_blocks
from agenthost.cli.chat.terminal.text import clean
from agenthost.client.ahp import AhpClient, AhpError, Terminal
from agenthost.core.ansi import strip_escapes

__all__ = ["TerminalOutputs"]

MAX_CHARACTERS = 4_000
"""How much of the end of an output is looked at."""


class TerminalOutputs:
    """Watches terminals from the time they appear in calls."""

    def __init__(self, client: AhpClient) -> None:
        self._client = client
        self._terminals: dict[str, Terminal | None] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def lines(self, call: Any) -> list[str]:
        """Return the last lines that the terminals of a call have printed."""
        found = []
        for uri in (block["resource"] for block in content_blocks(call, "terminal")):
            if uri not in self._terminals:
                self._watch(uri)
            terminal = self._terminals[uri]
            if terminal is not None and not terminal.is_gone:
                text = clean(strip_escapes(terminal.text[-MAX_CHARACTERS:]))
                found += [line.rstrip() for line in text.split("\n") if line.strip()]
        return found

    def forget(self, call: Any) -> None:
        """Stop watching the terminals of a call."""
        for block in content_blocks(call, "terminal"):
            terminal = self._terminals.pop(block["resource"], None)
            if terminal is not None:
                terminal.close()

    async def close(self) -> None:
        """Stop opening terminals."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _watch(self, uri: str) -> None:
        self._terminals[uri] = None
        task = asyncio.create_task(self._open(uri))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _open(self, uri: str) -> None:
        try:
            terminal = await self._client.terminal(uri)
        except AhpError:
            return  # already gone: the call's result has what it printed
        if uri in self._terminals:
            self._terminals[uri] = terminal
        else:
            terminal.close()
