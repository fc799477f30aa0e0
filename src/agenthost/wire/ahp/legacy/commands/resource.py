"""Commands on files and content."""

from typing import Literal, NotRequired, TypedDict

from agenthost.wire.ahp.legacy.common import URI
from agenthost.wire.ahp.legacy.enums import ContentEncoding


class ResourceReadParams(TypedDict):
    """`resourceRead`: which file or content."""

    uri: str
    encoding: NotRequired[ContentEncoding]  # default: server's choice


class ResourceReadResult(TypedDict):
    """`resourceRead`: its data."""

    data: str
    encoding: ContentEncoding
    contentType: NotRequired[str]


class ResourceWriteParams(TypedDict):
    """`resourceWrite`: a file and its new data."""

    uri: URI
    data: str
    encoding: ContentEncoding
    contentType: NotRequired[str]
    createOnly: NotRequired[bool]  # true: fail with -32010 if the file exists


class ResourceWriteResult(TypedDict):
    """`resourceWrite`: done."""


class ResourceListParams(TypedDict):
    """`resourceList`: which folder."""

    uri: URI


class DirectoryEntry(TypedDict):
    """A file or folder in a folder."""

    type: Literal["file", "directory"]
    name: str


class ResourceListResult(TypedDict):
    """`resourceList`: what is in it."""

    entries: list[DirectoryEntry]


class ResourceCopyParams(TypedDict):
    """`resourceCopy`: from where to where."""

    source: URI
    destination: URI
    failIfExists: NotRequired[bool]  # true: fail with -32010 if the destination exists; default overwrite


class ResourceCopyResult(TypedDict):
    """`resourceCopy`: done."""


class ResourceDeleteParams(TypedDict):
    """`resourceDelete`: what to delete."""

    uri: URI
    recursive: NotRequired[bool]  # default false: a non-empty directory must fail


class ResourceDeleteResult(TypedDict):
    """`resourceDelete`: done."""


class ResourceMoveParams(TypedDict):
    """`resourceMove`: from where to where."""

    source: URI
    destination: URI
    failIfExists: NotRequired[bool]  # true: fail with -32010 if the destination exists; default overwrite


class ResourceMoveResult(TypedDict):
    """`resourceMove`: done."""


class ResourceRequestParams(TypedDict):
    """`resourceRequest`: asks for permission to read or write a resource of the other side."""

    uri: URI
    read: NotRequired[bool]  # neither flag set means read
    write: NotRequired[bool]


class ResourceRequestResult(TypedDict):
    """`resourceRequest`: granted."""
