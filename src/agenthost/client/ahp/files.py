"""Files of the host, and contents that sessions refer to."""

from base64 import b64decode, b64encode
from binascii import Error as NotBase64

from agenthost.client.ahp.connection import Connection
from agenthost.client.ahp.errors import NotAhp
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.commands.resource import (
    DirectoryEntry,
    ResourceCopyParams,
    ResourceMoveParams,
    ResourceReadParams,
    ResourceReadResult,
    ResourceRequestParams,
    ResourceWriteParams,
)
from agenthost.wire.ahp.common import URI

__all__ = ["Files"]


class Files:
    """Reads and writes files. A request that changes something is never repeated automatically."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def read(self, uri: URI) -> bytes:
        """Return a file, or a content of a session, as bytes.

        Raises:
            AhpError: such as `NotFound` and `PermissionDenied`.
        """
        return _bytes(await self._read({"channel": ROOT_URI, "uri": uri, "encoding": "base64"}))

    async def read_text(self, uri: URI) -> str:
        """Return a file, or a content of a session, as text.

        Raises:
            AhpError: such as `NotFound` and `PermissionDenied`.
            UnicodeDecodeError: it is not UTF-8.
        """
        found = await self._read({"channel": ROOT_URI, "uri": uri, "encoding": "utf-8"})
        return found["data"] if found["encoding"] == "utf-8" else _bytes(found).decode()

    async def _read(self, params: ResourceReadParams) -> ResourceReadResult:
        found: ResourceReadResult = await self._connection.request("resourceRead", params, is_repeatable=True)
        return found

    async def write(self, uri: URI, data: bytes | str, *, create_only: bool = False) -> None:
        """Write a whole file; with `create_only`, fail if it exists.

        Raises:
            AhpError: such as `PermissionDenied` and `Conflict`.
        """
        is_text = isinstance(data, str)
        text = data if isinstance(data, str) else b64encode(data).decode()
        params: ResourceWriteParams = {
            "channel": ROOT_URI,
            "uri": uri,
            "data": text,
            "encoding": "utf-8" if is_text else "base64",
        }
        if create_only:
            params["createOnly"] = True
        await self._connection.request("resourceWrite", params)

    async def list(self, uri: URI) -> list[DirectoryEntry]:
        """Return the entries of a folder.

        Raises:
            AhpError: such as `NotFound` and `PermissionDenied`.
        """
        params = {"channel": ROOT_URI, "uri": uri}
        found = await self._connection.request("resourceList", params, is_repeatable=True)
        return found["entries"]  # type: ignore[no-any-return] # checked

    async def copy(self, source: URI, destination: URI, *, replace: bool = True) -> None:
        """Copy a file or folder.

        Raises:
            AhpError: such as `NotFound`, `PermissionDenied` and `Conflict`.
        """
        params: ResourceCopyParams = {"channel": ROOT_URI, "source": source, "destination": destination}
        if not replace:
            params["failIfExists"] = True
        await self._connection.request("resourceCopy", params)

    async def move(self, source: URI, destination: URI, *, replace: bool = True) -> None:
        """Move a file or folder.

        Raises:
            AhpError: such as `NotFound`, `PermissionDenied` and `Conflict`.
        """
        params: ResourceMoveParams = {"channel": ROOT_URI, "source": source, "destination": destination}
        if not replace:
            params["failIfExists"] = True
        await self._connection.request("resourceMove", params)

    async def delete(self, uri: URI, *, recursive: bool = False) -> None:
        """Delete a file or a folder; with `recursive`, a folder that is not empty.

        Raises:
            AhpError: such as `NotFound` and `PermissionDenied`.
        """
        options = {"recursive": True} if recursive else {}
        await self._connection.request("resourceDelete", {"channel": ROOT_URI, "uri": uri, **options})

    async def request(self, uri: URI, *, read: bool = True, write: bool = False) -> None:
        """Request access to a file or folder, as `PermissionDenied.request` suggests.

        Raises:
            AhpError: such as `PermissionDenied`.
        """
        params: ResourceRequestParams = {"channel": ROOT_URI, "uri": uri, "read": read, "write": write}
        await self._connection.request("resourceRequest", params, is_repeatable=True)


def _bytes(found: ResourceReadResult) -> bytes:
    if found["encoding"] == "utf-8":
        return found["data"].encode()
    try:
        return b64decode(found["data"], validate=True)
    except NotBase64 as error:
        raise NotAhp("the host's answer is not valid base64") from error
