"""Requests about files and their answers, as the edges pass them on. Other keys are ignored.

They have the names of AHP, but belong to no version of it: each edge checks what its peer sent first.
"""

from typing import Literal, NotRequired, TypeAlias, TypedDict

__all__ = [
    "AccessParams",
    "ChangeType",
    "DeleteParams",
    "Encoding",
    "FileParams",
    "FolderEntry",
    "ListResult",
    "ReadParams",
    "ReadResult",
    "ResolveParams",
    "ResolveResult",
    "ResourceChange",
    "TransferParams",
    "WriteMode",
    "WriteParams",
]

Encoding: TypeAlias = Literal["base64", "utf-8"]
WriteMode: TypeAlias = Literal["truncate", "append", "insert"]
ChangeType: TypeAlias = Literal["added", "updated", "deleted"]


class FileParams(TypedDict):
    """A request that only names a file or folder."""

    uri: str


class ReadParams(FileParams):
    """A request to read; without an encoding the host chooses."""

    encoding: NotRequired[Encoding]


class ReadResult(TypedDict):
    """The result of a read."""

    data: str
    encoding: Encoding
    contentType: NotRequired[str]


class WriteParams(FileParams):
    """A request to write.

    `position` is in bytes. With `truncate`, what is behind it is cut off first; with `insert`, the data goes
    there; with `append`, it is counted back from the end.
    """

    data: str
    encoding: Encoding
    createOnly: NotRequired[bool]
    mode: NotRequired[WriteMode]  # default: truncate
    position: NotRequired[float]  # default: 0
    ifMatch: NotRequired[str]


class FolderEntry(TypedDict):
    """A file or folder in a folder."""

    type: Literal["file", "directory"]
    name: str


class ListResult(TypedDict):
    """The entries of a folder."""

    entries: list[FolderEntry]


class TransferParams(TypedDict):
    """A request to copy or move."""

    source: str
    destination: str
    failIfExists: NotRequired[bool]


class DeleteParams(FileParams):
    """A request to delete."""

    recursive: NotRequired[bool]


class ResolveParams(FileParams):
    """A request for what a URI leads to."""

    followSymlinks: NotRequired[bool]  # default: true


class ResolveResult(TypedDict):
    """The target of a URI. Times are ISO 8601, in UTC, with milliseconds."""

    uri: str
    type: Literal["file", "directory", "symlink"]
    size: NotRequired[int]
    mtime: NotRequired[str]
    ctime: NotRequired[str]
    contentType: NotRequired[str]
    etag: NotRequired[str]


class AccessParams(FileParams):
    """A request for access. Neither flag means reading."""

    read: NotRequired[bool]
    write: NotRequired[bool]


class ResourceChange(TypedDict):
    """A change that a watch reports."""

    uri: str
    type: ChangeType
