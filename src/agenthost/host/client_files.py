"""The files of the host, for one client."""

from collections.abc import Sequence
from typing import Any

from agenthost.host.files.files import Files
from agenthost.host.files.grants import Owner
from agenthost.host.files.watches.watch import ResourceWatch
from agenthost.wire.json import Json

__all__ = ["ClientFiles"]


class ClientFiles:
    """File access for one client, with the rights of its owner. Methods raise like those of `Files`."""

    __slots__ = ("_client", "_files", "_owner")

    def __init__(self, files: Files, owner: Owner, client: str) -> None:
        """Use the files with the rights of an owner; `client` identifies the client, for its limits."""
        self._files = files
        self._owner = owner
        self._client = client

    async def read(self, params: Any) -> Json:
        """Read a file, or stored content of a session."""
        return await self._files.read(self._owner, params)

    async def list(self, params: Any) -> Json:
        """List a folder."""
        return await self._files.list(self._owner, params)

    async def write(self, params: Any) -> None:
        """Write a file: all of it, or into what it has."""
        await self._files.write(self._owner, params)

    async def copy(self, params: Any) -> None:
        """Copy a file or folder."""
        await self._files.copy(self._owner, params)

    async def move(self, params: Any) -> None:
        """Move a file or folder."""
        await self._files.move(self._owner, params)

    async def delete(self, params: Any) -> None:
        """Delete a file or folder."""
        await self._files.delete(self._owner, params)

    async def resolve(self, params: Any) -> Json:
        """Describe what a URI leads to."""
        return await self._files.resolve(self._owner, params)

    async def mkdir(self, params: Any) -> None:
        """Make a folder, with the folders above it that are missing."""
        await self._files.mkdir(self._owner, params)

    async def create_watch(
        self,
        uri: str,
        *,
        recursive: bool = False,
        includes: Sequence[str] | None = None,
        excludes: Sequence[str] = (),
        must_exist: bool = False,
    ) -> ResourceWatch:
        """Watch a file or folder, from now on. Raises like `Watches.create`."""
        return await self._files.watches.create(
            self._owner,
            self._client,
            uri,
            recursive=recursive,
            includes=includes,
            excludes=excludes,
            must_exist=must_exist,
        )

    async def request(self, params: Any) -> None:
        """Request access to something outside of the workspace (HR-F07)."""
        await self._files.request(self._owner, params)
