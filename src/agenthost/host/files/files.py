"""The door to files: one method for each command, and every one of them goes through the jail.

What blocks runs in a few threads of our own, so that a slow disk holds up neither the event loop nor what
else uses threads. Knows no connection: errors are of `agenthost.errors`, for the edges to translate.
"""

import asyncio
from base64 import b64decode
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec, TypeVar

from agenthost.core.forking import split_content_uri
from agenthost.errors import ContentNotFound, InvalidValue, ResourceDenied, TooLarge
from agenthost.host.files.grants import Grants, Owner
from agenthost.host.files.jail import BOTH, READ, WRITE, Jail, Place
from agenthost.host.files.moving import Budget, copy, delete, move
from agenthost.host.files.reading import answer_with, content_type_of, list_folder, read_file
from agenthost.host.files.uris import Target, belongs_to_git, target_of
from agenthost.host.files.workspace import Workspace
from agenthost.host.files.writing import write_file
from agenthost.host.storage import StoredContent
from agenthost.wire.ahp.commands.resource import (
    ResourceCopyParams,
    ResourceDeleteParams,
    ResourceListParams,
    ResourceListResult,
    ResourceMoveParams,
    ResourceReadParams,
    ResourceReadResult,
    ResourceRequestParams,
    ResourceWriteParams,
)
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.enums import ContentEncoding

__all__ = ["FileLimits", "Files", "ReadContent"]

P = ParamSpec("P")
R = TypeVar("R")

ReadContent = Callable[[URI, Owner], Awaitable[StoredContent]]
"""Reads a content of a session, if that is the owner's."""


@dataclass(frozen=True, slots=True)
class FileLimits:
    """How much may be done at once.

    Attributes:
        file_bytes: how large a file may be that is read or written whole.
        folder_entries: how many entries a folder may have that is listed.
        copy_entries: how many files and folders one copy may be.
        copy_bytes: how large these may be together.
        at_once: how many operations may run at the same time.
    """

    file_bytes: int = 16 * 1024 * 1024
    folder_entries: int = 100_000
    copy_entries: int = 100_000
    copy_bytes: int = 1024 * 1024 * 1024
    at_once: int = 8


async def _no_content(uri: URI, _owner: Owner) -> StoredContent:
    raise ContentNotFound(uri)


class Files:
    """The files of this machine, as far as each owner may touch them, and the contents of sessions."""

    def __init__(
        self, grants: Grants, limits: FileLimits | None = None, read_content: ReadContent = _no_content
    ) -> None:
        self.grants = grants
        self.limits = limits or FileLimits()
        self._read_content = read_content
        self._pool = ThreadPoolExecutor(self.limits.at_once, "agenthost-files")

    def close(self) -> None:
        """Begin nothing more; what runs comes to its end by itself."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def read(self, owner: Owner, params: ResourceReadParams) -> ResourceReadResult:
        """Read a file, or a content of a session.

        Raises:
            ContentNotFound: there is no such content, or not for this owner.
            InvalidValue: it is not the URI of a file.
            ResourceError: the file is not there, or may not be read.
            TooLarge: it has too many bytes.
        """
        uri, wish = params["uri"], params.get("encoding")
        limit = self.limits.file_bytes
        if uri[:5].lower() != "file:" and split_content_uri(uri) is not None:
            content = await self._read_content(uri, owner)
            if len(content.data) > limit:
                raise TooLarge("the content", limit)
            return await self._run(answer_with, content.data, wish, content.content_type)
        return await self._run(_read, self.grants.jail(owner), target_of(uri), wish, limit)

    async def write(self, owner: Owner, params: ResourceWriteParams) -> None:
        """Write a file, all at once or not at all.

        Raises:
            InvalidValue: the data is not what its encoding says, or it is not a file.
            ResourceError: its folder is not there, it may not be written, or is there and was to be new.
            TooLarge: it would have too many bytes.
        """
        await self._run(
            _write, self.grants.jail(owner), target_of(params["uri"]), params, self.limits.file_bytes
        )

    async def list(self, owner: Owner, params: ResourceListParams) -> ResourceListResult:
        """Tell what is in a folder.

        Raises:
            InvalidValue: it is not the URI of a file.
            ResourceError: it is no folder, or may not be read.
            TooMany: it has too many entries.
        """
        return await self._run(
            _list, self.grants.jail(owner), target_of(params["uri"]), self.limits.folder_entries
        )

    async def copy(self, owner: Owner, params: ResourceCopyParams) -> None:
        """Copy a file or a folder.

        Raises:
            InvalidValue: it cannot go there.
            ResourceError: one of them is not there, may not be touched, or must not be replaced.
            TooLarge: it has too many bytes.
            TooMany: it has too many entries.
        """
        await self._run(_copy, self.grants.jail(owner), *_pair(params), self._budget(), _is_new(params))

    async def move(self, owner: Owner, params: ResourceMoveParams) -> None:
        """Move a file or a folder.

        Raises:
            InvalidValue: it cannot go there.
            ResourceError: one of them is not there, may not be touched, or must not be replaced.
        """
        await self._run(_move, self.grants.jail(owner), *_pair(params), self._budget(), _is_new(params))

    async def delete(self, owner: Owner, params: ResourceDeleteParams) -> None:
        """Delete a file or a folder.

        Raises:
            InvalidValue: a folder with something in it, and that was not to go.
            ResourceError: it is not there, or may not be deleted.
        """
        target = target_of(params["uri"])
        await self._run(_delete, self.grants.jail(owner), target, params.get("recursive", False))

    async def request(self, owner: Owner, params: ResourceRequestParams) -> None:
        """Ask for access; see `Grants.request`."""
        await self.grants.request(owner, params)

    async def folder(self, owner: Owner, uri: URI, at: str = "$.workingDirectory") -> Path:
        """Give the folder that a URI names, to work in: of a session, of a terminal.

        Raises:
            InvalidValue: it is no folder.
            ResourceError: it is not there, or may not be read.
        """
        found = await self._run(Workspace.of, target_of(uri, at), self.grants.jail(owner))
        return found.folder

    async def _run(self, work: Callable[P, R], *args: P.args, **named: P.kwargs) -> R:
        return await asyncio.get_running_loop().run_in_executor(self._pool, lambda: work(*args, **named))

    def _budget(self) -> Budget:
        return Budget.of(self.limits.copy_entries, self.limits.copy_bytes)


def _pair(params: ResourceCopyParams | ResourceMoveParams) -> tuple[Target, Target]:
    return target_of(params["source"], "$.source"), target_of(params["destination"], "$.destination")


def _is_new(params: ResourceCopyParams | ResourceMoveParams) -> bool:
    return params.get("failIfExists", False)


# What runs in the threads


def _read(jail: Jail, target: Target, wish: ContentEncoding | None, limit: int) -> ResourceReadResult:
    with jail.place(target, READ, follow=True) as place:
        data = read_file(place, limit)
        return answer_with(data, wish, content_type_of(place.name))


def _write(jail: Jail, target: Target, params: ResourceWriteParams, limit: int) -> None:
    data = _decoded(params["data"], params["encoding"], limit)
    with jail.place(target, WRITE) as place:
        _check_git(place)
        write_file(place, data, create_only=params.get("createOnly", False))


def _check_git(place: Place) -> None:
    """Keep out of what git runs and reads by itself: a hook is a program, and so is much of its config.

    Raises:
        ResourceDenied: it is in such a folder, or is one.
    """
    if belongs_to_git(place.path):
        raise ResourceDenied(f"{place.target.uri!r:.200} belongs to git; its files are not written by hand")


def _decoded(text: str, encoding: str, limit: int) -> bytes:
    """Give the bytes that a peer sent, before anything is touched."""
    try:
        data = text.encode() if encoding == "utf-8" else b64decode(text, validate=True)
    except ValueError:  # half of a character too: that is a kind of it
        what = "whole characters" if encoding == "utf-8" else "base64"
        raise InvalidValue("$.data", what, "something else") from None
    if len(data) > limit:
        raise TooLarge("the data", limit)
    return data


def _list(jail: Jail, target: Target, limit: int) -> ResourceListResult:
    with jail.place(target, READ, follow=True) as place:
        return {"entries": list_folder(jail, place, limit)}


def _copy(jail: Jail, source: Target, destination: Target, budget: Budget, is_new: bool) -> None:  # noqa: FBT001
    with (
        jail.place(source, READ, follow=True) as old,
        jail.place(destination, WRITE) as new,
    ):
        jail.check_tree(old, leaves=False)
        _check_git(new)
        copy(old, new, budget, fail_if_exists=is_new)


def _move(jail: Jail, source: Target, destination: Target, budget: Budget, is_new: bool) -> None:  # noqa: FBT001
    # What is moved can be read where it arrives: so it has to be readable where it was.
    with jail.place(source, BOTH) as old, jail.place(destination, WRITE) as new:
        jail.check_tree(old, leaves=True)
        _check_git(old)
        _check_git(new)
        move(old, new, budget, fail_if_exists=is_new)


def _delete(jail: Jail, target: Target, recursive: bool) -> None:  # noqa: FBT001
    with jail.place(target, WRITE) as place:
        jail.check_tree(place, leaves=True)
        _check_git(place)
        delete(place, recursive=recursive)
