"""The commands of AHP 1.0 for files and contents: those of all versions, and its own."""

from collections.abc import Awaitable, Callable
from typing import Any

from agenthost.edges.ahp import files
from agenthost.edges.ahp.v1.client import ClientContext
from agenthost.wire.json import Json

__all__ = ["REQUESTS"]


async def resource_resolve(client: ClientContext, params: Any) -> Json:
    """`resourceResolve`: describe what a URI leads to."""
    return await client.host.files.resolve(params)


async def resource_mkdir(client: ClientContext, params: Any) -> Json:
    """`resourceMkdir`: make a folder, with those above it (X2)."""
    await client.host.files.mkdir(params)
    return {}


async def create_resource_watch(client: ClientContext, params: Any) -> Json:
    """`createResourceWatch`: watch a file or folder; its channel is then subscribed to."""
    return await client.watches.create(params)


REQUESTS: dict[str, Callable[[ClientContext, Any], Awaitable[Json]]] = {
    **files.REQUESTS,
    "resourceResolve": resource_resolve,
    "resourceMkdir": resource_mkdir,
    "createResourceWatch": create_resource_watch,
}
