"""The commands of AHP 1.0 for chats."""

from collections.abc import Awaitable, Callable
from typing import Any

from agenthost.edges.ahp.v1.client import ClientContext
from agenthost.wire.json import Json

__all__ = ["REQUESTS"]


async def fetch_turns(client: ClientContext, params: Any) -> Json:
    """`fetchTurns`: load older turns for this client. They are sent before the answer (C9)."""
    await client.subscriptions.fetch_turns(params["channel"], params.get("cursor"))
    return {}


async def completions(client: ClientContext, params: Any) -> Json:
    """`completions`: what could come next in a message."""
    return await client.host.complete(params["channel"], params)


REQUESTS: dict[str, Callable[[ClientContext, Any], Awaitable[Json]]] = {
    "fetchTurns": fetch_turns,
    "completions": completions,
}
