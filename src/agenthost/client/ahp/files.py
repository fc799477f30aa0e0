"""Files of the host, and contents that a session refers to: read, written, moved."""

from base64 import b64decode, b64encode
from binascii import Error as NotBase64

from agenthost.client.ahp.errors import NotAhp
from agenthost.client.ahp.line import Line
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
    """What can be done with files. What changes something is asked for once, and not again by itself."""

    def __init__(self, line: Line) -> None:
        self._line = line

    async def read(self, uri: URI) -> bytes:
        """Read a file, or a content of a session.

        Raises:
            AhpError: such as `NotFound` and `Denied`.
        """
        return _bytes(await self._read({"uri": uri, "encoding": "base64"}))

    async def read_text(self, uri: URI) -> str:
        """Read a text.

        Raises:
            AhpError: such as `NotFound` and `Denied`.
            UnicodeDecodeError: it is none in UTF-8.
        """
        found = await self._read({"uri": uri, "encoding": "utf-8"})
        return found["data"] if found["encoding"] == "utf-8" else _bytes(found).decode()

    async def _read(self, params: ResourceReadParams) -> ResourceReadResult:
        found: ResourceReadResult = await self._line.request("resourceRead", params, is_safe=True)
        return found

    async def write(self, uri: URI, data: bytes | str, *, create_only: bool = False) -> None:
        """Write a file, whole; `create_only` refuses to replace one.

        Raises:
            AhpError: such as `Denied` and `Conflict`.
        """
        is_text = isinstance(data, str)
        written = data if isinstance(data, str) else b64encode(data).decode()
        params: ResourceWriteParams = {
            "uri": uri,
            "data": written,
            "encoding": "utf-8" if is_text else "base64",
        }
        if create_only:
            params["createOnly"] = True
        await self._line.request("resourceWrite", params)

    async def list(self, uri: URI) -> list[DirectoryEntry]:
        """Give what is in a folder.

        Raises:
            AhpError: such as `NotFound` and `Denied`.
        """
        found = await self._line.request("resourceList", {"uri": uri}, is_safe=True)
        return found["entries"]  # type: ignore[no-any-return] # checked

    async def copy(self, source: URI, destination: URI, *, replace: bool = True) -> None:
        """Copy a file or folder.

        Raises:
            AhpError: such as `NotFound`, `Denied` and `Conflict`.
        """
        params: ResourceCopyParams = {"source": source, "destination": destination}
        if not replace:
            params["failIfExists"] = True
        await self._line.request("resourceCopy", params)

    async def move(self, source: URI, destination: URI, *, replace: bool = True) -> None:
        """Move a file or folder.

        Raises:
            AhpError: such as `NotFound`, `Denied` and `Conflict`.
        """
        params: ResourceMoveParams = {"source": source, "destination": destination}
        if not replace:
            params["failIfExists"] = True
        await self._line.request("resourceMove", params)

    async def delete(self, uri: URI, *, recursive: bool = False) -> None:
        """Delete a file, or a folder; `recursive` with all that is in it.

        Raises:
            AhpError: such as `NotFound` and `Denied`.
        """
        more = {"recursive": True} if recursive else {}
        await self._line.request("resourceDelete", {"uri": uri, **more})

    async def request(self, uri: URI, *, read: bool = True, write: bool = False) -> None:
        """Ask to be let in somewhere, as `Denied.request` says.

        Raises:
            AhpError: such as `Denied`.
        """
        params: ResourceRequestParams = {"uri": uri, "read": read, "write": write}
        await self._line.request("resourceRequest", params, is_safe=True)


def _bytes(found: ResourceReadResult) -> bytes:
    if found["encoding"] == "utf-8":
        return found["data"].encode()
    try:
        return b64decode(found["data"], validate=True)
    except NotBase64 as error:
        raise NotAhp("the host's answer is not the base64 that it says it is") from error
