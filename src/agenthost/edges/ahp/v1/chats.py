"""The commands of AHP 1.0 for chats."""

from collections.abc import Awaitable, Callable
from typing import Any

from agenthost.edges.ahp.v1.client import ClientContext
from agenthost.errors import InvalidValue
from agenthost.wire.error_messages import quote
from agenthost.wire.json import Json

__all__ = ["REQUESTS"]


async def fetch_turns(client: ClientContext, params: Any) -> Json:
    """`fetchTurns`: every subscriber has all turns, so there are none to load."""
    await client.host.get_conversation(params["channel"])
    if "cursor" in params:
        raise InvalidValue("$.cursor", "no cursor, as all turns are loaded", quote(params["cursor"]))
    return {}


async def completions(client: ClientContext, params: Any) -> Json:
    """`completions`: what could come next in a message."""
    return await client.host.complete(params["channel"], params)


REQUESTS: dict[str, Callable[[ClientContext, Any], Awaitable[Json]]] = {
    "fetchTurns": fetch_turns,
    "completions": completions,
}
