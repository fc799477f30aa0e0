"""Means: what of this machine an agent may use for a session, as far as the session's owner may.

For agents that do their work outside of the host's tools: they touch files and run commands through here, so
that the jail holds and people can watch.
"""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agenthost.errors import ResourceNotFound
from agenthost.host.files.files import Files
from agenthost.host.files.grants import Owner
from agenthost.host.terminals.registry import Terminals
from agenthost.host.terminals.terminal import Terminal

__all__ = ["Means"]


@dataclass(frozen=True, slots=True)
class Means:
    """Files and terminals, for one session."""

    files: Files
    terminals: Terminals
    session: str
    owner: str

    @property
    def _reader(self) -> Owner:
        return self.owner or None

    async def read(self, path: Path) -> str:
        """Read a file of text.

        Raises:
            ResourceError: it is not there, or may not be read.
            InvalidValue, TooLarge: it is no file, or too large.
        """
        found = await self.files.read(self._reader, {"uri": path.as_uri(), "encoding": "utf-8"})
        if found["encoding"] != "utf-8":
            raise ResourceNotFound(path.as_uri())
        return found["data"]

    async def write(self, path: Path, text: str) -> str | None:
        """Write a file of text, all at once; gives what it held before, if it was there.

        Raises:
            ResourceError: it may not be written, or its folder is not there.
            InvalidValue, TooLarge: it is no file, or too large.
        """
        try:
            before: str | None = await self.read(path)
        except ResourceNotFound:
            before = None
        await self.files.write(self._reader, {"uri": path.as_uri(), "data": text, "encoding": "utf-8"})
        return before

    async def run(
        self,
        command: str | Sequence[str],
        *,
        turn_id: str,
        folder: Path,
        env: Mapping[str, str],
        heard: Callable[[str], None],
    ) -> Terminal:
        """Start a command in a terminal that the session holds; `heard` is told of its output.

        Raises:
            HostError: the folder may not be used, or there is no terminal to be had.
        """
        return await self.terminals.create(
            f"agenthost-terminal:/{secrets.token_hex(16)}",
            {"kind": "session", "session": self.session, "turnId": turn_id},
            command=command,
            cwd=folder.as_uri(),
            env=env,
            owner=self.owner,
            heard=heard,
        )
