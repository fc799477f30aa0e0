"""Outputs: what the terminals of running tools print, for as long as the tools run."""

import asyncio
import re
from typing import Any

from agenthost.cli.chat.calls import blocks_of
from agenthost.cli.chat.painting import clean
from agenthost.client.ahp import AhpClient, AhpError, Terminal

__all__ = ["Outputs"]

MOST_CHARACTERS = 4_000
"""How much of the end of an output is looked at."""

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")


class Outputs:
    """Watches terminals as they appear in calls."""

    def __init__(self, client: AhpClient) -> None:
        self._client = client
        self._terminals: dict[str, Terminal | None] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def lines(self, call: Any) -> list[str]:
        """Give the last lines that the terminals of a call have printed."""
        found = []
        for uri in (block["resource"] for block in blocks_of(call, "terminal")):
            if uri not in self._terminals:
                self._watch(uri)
            terminal = self._terminals[uri]
            if terminal is not None and not terminal.is_gone:
                text = clean(_ESCAPES.sub("", terminal.text[-MOST_CHARACTERS:]))
                found += [line.rstrip() for line in text.split("\n") if line.strip()]
        return found

    def forget(self, call: Any) -> None:
        """Watch the terminals of a call no more."""
        for block in blocks_of(call, "terminal"):
            terminal = self._terminals.pop(block["resource"], None)
            if terminal is not None:
                terminal.close()

    async def close(self) -> None:
        """Watch none any more."""
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
            return  # gone already: the result of the call has what it printed
        if uri in self._terminals:
            self._terminals[uri] = terminal
        else:
            terminal.close()
