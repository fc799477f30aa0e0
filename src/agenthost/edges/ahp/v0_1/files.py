"""The commands of AHP 0.1 on files and contents."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from agenthost.wire.json import Json

if TYPE_CHECKING:
    from agenthost.edges.ahp.v0_1.connection import Connection

__all__ = ["REQUESTS"]


async def resource_read(connection: "Connection", params: Any) -> Json:
    """`resourceRead`: a file, or a content of a session."""
    return await connection.host.files.read(connection.owner, params)


async def resource_write(connection: "Connection", params: Any) -> Json:
    """`resourceWrite`: a file, whole."""
    await connection.host.files.write(connection.owner, params)
    return {}


async def resource_list(connection: "Connection", params: Any) -> Json:
    """`resourceList`: what is in a folder."""
    return await connection.host.files.list(connection.owner, params)


async def resource_copy(connection: "Connection", params: Any) -> Json:
    """`resourceCopy`: a file or folder."""
    await connection.host.files.copy(connection.owner, params)
    return {}


async def resource_move(connection: "Connection", params: Any) -> Json:
    """`resourceMove`: a file or folder."""
    await connection.host.files.move(connection.owner, params)
    return {}


async def resource_delete(connection: "Connection", params: Any) -> Json:
    """`resourceDelete`: a file or folder."""
    await connection.host.files.delete(connection.owner, params)
    return {}


async def resource_request(connection: "Connection", params: Any) -> Json:
    """`resourceRequest`: leave to touch something outside of the workspace."""
    await connection.host.files.request(connection.owner, params)
    return {}


REQUESTS: dict[str, Callable[["Connection", Any], Awaitable[Json]]] = {
    "resourceRead": resource_read,
    "resourceWrite": resource_write,
    "resourceList": resource_list,
    "resourceCopy": resource_copy,
    "resourceMove": resource_move,
    "resourceDelete": resource_delete,
    "resourceRequest": resource_request,
}
