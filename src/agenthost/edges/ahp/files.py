"""The commands for files and contents that all versions of AHP have."""

from collections.abc import Awaitable, Callable
from typing import Any

from agenthost.edges.ahp.peer_context import PeerContext
from agenthost.wire.json import Json

__all__ = ["REQUESTS"]


async def resource_read(client: PeerContext, params: Any) -> Json:
    """`resourceRead`: read a file, or a content of a session."""
    return await client.host.files.read(params)


async def resource_write(client: PeerContext, params: Any) -> Json:
    """`resourceWrite`: write a file."""
    await client.host.files.write(params)
    return {}


async def resource_list(client: PeerContext, params: Any) -> Json:
    """`resourceList`: list a folder."""
    return await client.host.files.list(params)


async def resource_copy(client: PeerContext, params: Any) -> Json:
    """`resourceCopy`: copy a file or folder."""
    await client.host.files.copy(params)
    return {}


async def resource_move(client: PeerContext, params: Any) -> Json:
    """`resourceMove`: move a file or folder."""
    await client.host.files.move(params)
    return {}


async def resource_delete(client: PeerContext, params: Any) -> Json:
    """`resourceDelete`: delete a file or folder."""
    await client.host.files.delete(params)
    return {}


async def resource_request(client: PeerContext, params: Any) -> Json:
    """`resourceRequest`: request access outside of the workspace."""
    await client.host.files.request(params)
    return {}


REQUESTS: dict[str, Callable[[PeerContext, Any], Awaitable[Json]]] = {
    "resourceRead": resource_read,
    "resourceWrite": resource_write,
    "resourceList": resource_list,
    "resourceCopy": resource_copy,
    "resourceMove": resource_move,
    "resourceDelete": resource_delete,
    "resourceRequest": resource_request,
}
