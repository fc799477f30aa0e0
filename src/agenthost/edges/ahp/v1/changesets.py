"""The commands of AHP 1.0 for changesets. Following one is `subscribe`, as for every channel."""

from collections.abc import Awaitable, Callable
from typing import Any

from agenthost.edges.ahp.v1.client import ClientContext
from agenthost.errors import InvalidValue
from agenthost.wire.error_messages import quote
from agenthost.wire.json import Json

__all__ = ["REQUESTS"]


async def invoke_changeset_operation(client: ClientContext, params: Any) -> Json:
    """`invokeChangesetOperation`: our changesets offer no operations (O1)."""
    await client.check_subscribable(params["channel"])
    raise InvalidValue("$.operationId", "an operation that is offered", quote(params["operationId"]))


REQUESTS: dict[str, Callable[[ClientContext, Any], Awaitable[Json]]] = {
    "invokeChangesetOperation": invoke_changeset_operation,
}
