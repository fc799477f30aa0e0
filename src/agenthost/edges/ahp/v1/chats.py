"""The commands of AHP 1.0 for chats."""

from collections.abc import Awaitable, Callable
from typing import Any

from agenthost.edges.ahp.v1.client import ClientContext
from agenthost.errors import InvalidValue
from agenthost.host.chats import NewChat
from agenthost.wire.error_messages import quote
from agenthost.wire.json import Json

__all__ = ["REQUESTS"]


async def create_chat(client: ClientContext, params: Any) -> Json:
    """`createChat`: add a chat to a session. It can be subscribed to when this is answered."""
    uri = params["chat"]
    if not uri:
        raise InvalidValue("$.chat", "a URI", "an empty text")
    source = params.get("source")
    if source is not None and source["kind"] not in ("fork", "sideChat"):
        raise InvalidValue("$.source.kind", "'fork' or 'sideChat'", quote(source["kind"]))
    new = NewChat(
        uri=uri,
        message=params.get("initialMessage"),
        source=source,
        folders=params.get("workingDirectories", []),
    )
    await client.host.create_chat(params["channel"], new)
    return None


async def dispose_chat(client: ClientContext, params: Any) -> Json:
    """`disposeChat`: remove a chat for good. The default chat stays with its session."""
    await client.host.dispose_chat(params["channel"])
    return None


async def move_chat(client: ClientContext, params: Any) -> Json:
    """`moveChat`: move a chat to another session, or to a new one. The default chat stays."""
    destination = params["destination"]
    if destination["kind"] not in ("session", "newSession"):
        raise InvalidValue("$.destination.kind", "'session' or 'newSession'", quote(destination["kind"]))
    return {"session": await client.host.move_chat(params["channel"], destination)}


async def fetch_turns(client: ClientContext, params: Any) -> Json:
    """`fetchTurns`: load older turns for this client. They are sent before the answer (C9)."""
    await client.subscriptions.fetch_turns(params["channel"], params.get("cursor"))
    return {}


async def completions(client: ClientContext, params: Any) -> Json:
    """`completions`: what could come next in a message."""
    return await client.host.complete(params["channel"], params)


REQUESTS: dict[str, Callable[[ClientContext, Any], Awaitable[Json]]] = {
    "createChat": create_chat,
    "disposeChat": dispose_chat,
    "moveChat": move_chat,
    "fetchTurns": fetch_turns,
    "completions": completions,
}
