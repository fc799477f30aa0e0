"""Commands on files and content. Both sides may call them."""

from typing import Literal, NotRequired, TypedDict

from agenthost.wire.ahp.commands.params import RootParams
from agenthost.wire.ahp.common import URI, Timestamp
from agenthost.wire.ahp.enums import ContentEncoding, ResourceType, ResourceWriteMode
from agenthost.wire.ahp.resource import GlobPatterns


class ResourceReadParams(RootParams):
    """`resourceRead`: which file or content."""

    uri: URI
    encoding: NotRequired[ContentEncoding]  # default: the server chooses


class ResourceReadResult(TypedDict):
    """`resourceRead`: its data."""

    data: str
    encoding: ContentEncoding
    contentType: NotRequired[str]


class ResourceWriteParams(RootParams):
    """`resourceWrite`: a file, its new data, and how to write it."""

    uri: URI
    data: str
    encoding: ContentEncoding
    contentType: NotRequired[str]
    createOnly: NotRequired[bool]  # true: fail with -32010 if the file exists
    mode: NotRequired[ResourceWriteMode]  # default: truncate
    position: NotRequired[int]
    ifMatch: NotRequired[str]  # an etag; fail with -32011 if the file has another


class ResourceWriteResult(TypedDict):
    """`resourceWrite`: done."""


class ResourceListParams(RootParams):
    """`resourceList`: which folder."""

    uri: URI


class DirectoryEntry(TypedDict):
    """A file or folder in a folder."""

    name: str
    type: Literal["file", "directory"]


class ResourceListResult(TypedDict):
    """`resourceList`: what is in it."""

    entries: list[DirectoryEntry]


class ResourceCopyParams(RootParams):
    """`resourceCopy`: from where to where."""

    source: URI
    destination: URI
    failIfExists: NotRequired[bool]  # true: fail with -32010 if the destination exists; default overwrite


class ResourceCopyResult(TypedDict):
    """`resourceCopy`: done."""


class ResourceMoveParams(RootParams):
    """`resourceMove`: from where to where."""

    source: URI
    destination: URI
    failIfExists: NotRequired[bool]  # true: fail with -32010 if the destination exists; default overwrite


class ResourceMoveResult(TypedDict):
    """`resourceMove`: done."""


class ResourceDeleteParams(RootParams):
    """`resourceDelete`: what to delete."""

    uri: URI
    recursive: NotRequired[bool]  # default false: a non-empty directory must fail


class ResourceDeleteResult(TypedDict):
    """`resourceDelete`: done."""


class ResourceResolveParams(RootParams):
    """`resourceResolve`: what to look at."""

    uri: URI
    followSymlinks: NotRequired[bool]  # default true


class ResourceResolveResult(TypedDict):
    """`resourceResolve`: what it is."""

    uri: URI  # with links resolved
    type: ResourceType
    size: NotRequired[int]  # bytes
    mtime: NotRequired[Timestamp]
    ctime: NotRequired[Timestamp]
    contentType: NotRequired[str]
    etag: NotRequired[str]  # for `ifMatch`


class ResourceMkdirParams(RootParams):
    """`resourceMkdir`: which folder to create, with its parents."""

    uri: URI


class ResourceMkdirResult(TypedDict):
    """`resourceMkdir`: done, or it exists."""


class ResourceRequestParams(RootParams):
    """`resourceRequest`: asks for permission to read or write a resource of the other side."""

    uri: URI
    read: NotRequired[bool]  # neither flag set means read
    write: NotRequired[bool]


class ResourceRequestResult(TypedDict):
    """`resourceRequest`: granted."""


class CreateResourceWatchParams(RootParams):
    """`createResourceWatch`: what to watch."""

    uri: URI
    recursive: NotRequired[bool]
    includes: NotRequired[GlobPatterns]
    excludes: NotRequired[GlobPatterns]


class CreateResourceWatchResult(TypedDict):
    """`createResourceWatch`: the channel to subscribe to."""

    channel: URI
