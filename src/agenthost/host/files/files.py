"""Access to files: one method per command, and every one goes through the jail.

Blocking work runs in a small thread pool of its own, so that a slow disk delays neither the event loop nor
other users of threads. Knows no connections: it raises `agenthost.errors`, which the edges translate.
"""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec, TypeVar

from agenthost.core.fork import split_content_uri
from agenthost.errors import ContentNotFound, TooLarge
from agenthost.host.files import operations
from agenthost.host.files.folders import make_folder
from agenthost.host.files.grants import Grants, Owner
from agenthost.host.files.params import (
    AccessParams,
    DeleteParams,
    FileParams,
    ListResult,
    ReadParams,
    ReadResult,
    ResolveParams,
    ResolveResult,
    TransferParams,
    WriteParams,
)
from agenthost.host.files.reader import encode_content
from agenthost.host.files.transfer import Budget
from agenthost.host.files.uris import Target, parse_uri
from agenthost.host.files.watches.registry import Watches
from agenthost.host.files.workspace import Workspace
from agenthost.host.limits import Limits
from agenthost.host.storage import StoredContent
from agenthost.wire.ahp.common import URI

__all__ = ["FileLimits", "Files", "ReadContent"]

P = ParamSpec("P")
R = TypeVar("R")

ReadContent = Callable[[URI, Owner], Awaitable[StoredContent]]
"""Reads a content of a session, if the session belongs to the owner."""


@dataclass(frozen=True, slots=True)
class FileLimits:
    """Limits of single operations.

    Attributes:
        file_bytes: the largest file that can be read or written.
        folder_entries: the most entries that a listed folder may have.
        copy_entries: the most files and folders that one copy may include.
        copy_bytes: the most bytes that one copy may include.
        concurrency: how many operations may run at the same time.
    """

    file_bytes: int = 16 * 1024 * 1024
    folder_entries: int = 100_000
    copy_entries: int = 100_000
    copy_bytes: int = 1024 * 1024 * 1024
    concurrency: int = 8


async def _no_content(uri: URI, _owner: Owner) -> StoredContent:
    raise ContentNotFound(uri)


class Files:
    """The files of this machine, as far as each owner may access them, and the contents of sessions.

    Attributes:
        grants: what each owner may access.
        limits: the limits of single operations.
        watches: the watches of all clients.
    """

    def __init__(
        self,
        grants: Grants,
        limits: FileLimits | None = None,
        read_content: ReadContent = _no_content,
        *,
        host_limits: Limits | None = None,
    ) -> None:
        """Let owners use what they are granted. `host_limits` say how many watches there may be."""
        self.grants = grants
        self.watches = Watches(grants, host_limits or Limits())
        self.limits = limits or FileLimits()
        self._read_content = read_content
        self._pool = ThreadPoolExecutor(self.limits.concurrency, "agenthost-files")

    def close(self) -> None:
        """End all watches, and start no more operations. Those that run finish by themselves."""
        self.watches.close()
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def read(self, owner: Owner, params: ReadParams) -> ReadResult:
        """Read a file, or a content of a session.

        Raises:
            ContentNotFound: there is no such content, or it belongs to another owner.
            InvalidValue: it is not the URI of a file.
            ResourceError: the file does not exist, or may not be read.
            TooLarge: it has too many bytes.
        """
        uri, wish = params["uri"], params.get("encoding")
        limit = self.limits.file_bytes
        if _is_content(uri):
            content = await self._read_content(uri, owner)
            if len(content.data) > limit:
                raise TooLarge("the content", limit)
            return await self._run(encode_content, content.data, wish, content.content_type)
        return await self._run(operations.read, self.grants.jail(owner), parse_uri(uri), wish, limit)

    async def write(self, owner: Owner, params: WriteParams) -> None:
        """Write a file atomically: all of it, or into what it has.

        Raises:
            InvalidValue: the data does not match its encoding, or the URI does not name a file.
            ResourceConflict: it is not in the state that `ifMatch` names.
            ResourceError: its folder does not exist, it may not be written, or it exists and must be new.
            TooLarge: it would have too many bytes.
        """
        await self._run(
            operations.write,
            self.grants.jail(owner),
            parse_uri(params["uri"]),
            params,
            self.limits.file_bytes,
        )

    async def list(self, owner: Owner, params: FileParams) -> ListResult:
        """List a folder.

        Raises:
            InvalidValue: it is not the URI of a file.
            ResourceError: it is not a folder, or may not be read.
            TooMany: it has too many entries.
        """
        return await self._run(
            operations.list_entries,
            self.grants.jail(owner),
            parse_uri(params["uri"]),
            self.limits.folder_entries,
        )

    async def copy(self, owner: Owner, params: TransferParams) -> None:
        """Copy a file or a folder.

        Raises:
            InvalidValue: it cannot be copied there.
            ResourceError: one of them does not exist, may not be accessed, or must not be replaced.
            TooLarge: it has too many bytes.
            TooMany: it has too many entries.
        """
        await self._run(
            operations.copy,
            self.grants.jail(owner),
            *_pair(params),
            self._budget(),
            fail_if_exists=params.get("failIfExists", False),
        )

    async def move(self, owner: Owner, params: TransferParams) -> None:
        """Move a file or a folder.

        Raises:
            InvalidValue: it cannot be moved there.
            ResourceError: one of them does not exist, may not be accessed, or must not be replaced.
        """
        await self._run(
            operations.move,
            self.grants.jail(owner),
            *_pair(params),
            self._budget(),
            fail_if_exists=params.get("failIfExists", False),
        )

    async def delete(self, owner: Owner, params: DeleteParams) -> None:
        """Delete a file or a folder.

        Raises:
            InvalidValue: the folder is not empty, and `recursive` is not set.
            ResourceError: it does not exist, or may not be deleted.
        """
        target = parse_uri(params["uri"])
        await self._run(
            operations.delete, self.grants.jail(owner), target, recursive=params.get("recursive", False)
        )

    async def resolve(self, owner: Owner, params: ResolveParams) -> ResolveResult:
        """Describe what a URI leads to: a file, a folder, a link, or a content of a session.

        Raises:
            ContentNotFound: there is no such content, or it belongs to another owner.
            InvalidValue: it is not the URI of a file.
            ResourceError: it does not exist, or may not be read.
        """
        uri = params["uri"]
        if _is_content(uri):
            content = await self._read_content(uri, owner)
            return {
                "uri": uri,
                "type": "file",
                "size": len(content.data),
                "contentType": content.content_type,
            }
        follow = params.get("followSymlinks", True)
        return await self._run(operations.resolve, self.grants.jail(owner), parse_uri(uri), follow=follow)

    async def mkdir(self, owner: Owner, params: FileParams) -> None:
        """Make a folder, with the folders above it that are missing. One that exists is fine.

        Raises:
            InvalidValue: it is not the URI of a file.
            ResourceError: it may not be made, or something else has that name.
        """
        await self._run(make_folder, self.grants.jail(owner), parse_uri(params["uri"]))

    async def request(self, owner: Owner, params: AccessParams) -> None:
        """Ask for access; see `Grants.request`."""
        await self.grants.request(owner, params)

    async def folder(self, owner: Owner, uri: URI, at: str = "$.workingDirectory") -> Path:
        """Return the folder that a URI names, as the working directory of a session or terminal.

        Raises:
            InvalidValue: it is not a folder.
            ResourceError: it does not exist, or may not be read.
        """
        found = await self._run(Workspace.of, parse_uri(uri, at), self.grants.jail(owner))
        return found.folder

    async def _run(self, work: Callable[P, R], *args: P.args, **named: P.kwargs) -> R:
        return await asyncio.get_running_loop().run_in_executor(self._pool, lambda: work(*args, **named))

    def _budget(self) -> Budget:
        return Budget.of(self.limits.copy_entries, self.limits.copy_bytes)


def _is_content(uri: URI) -> bool:
    return uri[:5].lower() != "file:" and split_content_uri(uri) is not None


def _pair(params: TransferParams) -> tuple[Target, Target]:
    return parse_uri(params["source"], "$.source"), parse_uri(params["destination"], "$.destination")
