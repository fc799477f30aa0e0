"""The machine: the files and terminals that an agent may use for a session, as far as the owner may.

For agents that do not work through the host's tools. They use files and run commands through here, so that
the jail holds and people can watch.
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

__all__ = ["Machine"]


@dataclass(frozen=True, slots=True)
class Machine:
    """Files and terminals, for one session."""

    files: Files
    terminals: Terminals
    session: str
    chat: str
    owner: str

    @property
    def _reader(self) -> Owner:
        return self.owner or None

    async def read(self, path: Path) -> str:
        """Read a text file.

        Raises:
            ResourceError: it does not exist, or may not be read.
            InvalidValue, TooLarge: it is not a file, or is too large.
        """
        found = await self.files.read(self._reader, {"uri": path.as_uri(), "encoding": "utf-8"})
        if found["encoding"] != "utf-8":
            raise ResourceNotFound(path.as_uri())
        return found["data"]

    async def write(self, path: Path, text: str) -> str | None:
        """Write a text file atomically. Return its former content, None if it is new.

        Raises:
            ResourceError: it may not be written, or its folder does not exist.
            InvalidValue, TooLarge: it is not a file, or is too large.
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
        """Start a command in a terminal that the session holds; `heard` is called with its output.

        Raises:
            HostError: the folder may not be used, or no terminal can be started.
        """
        return await self.terminals.create(
            f"agenthost-terminal:/{secrets.token_hex(16)}",
            {"kind": "session", "session": self.session, "chat": self.chat, "turnId": turn_id},
            command=command,
            cwd=folder.as_uri(),
            env=env,
            owner=self.owner,
            on_output=heard,
        )
