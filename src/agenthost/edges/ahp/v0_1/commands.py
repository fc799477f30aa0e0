"""The commands of AHP 0.1: each takes checked params, makes one call to the host, and returns the result."""

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeAlias

from agenthost.core.legacy.clients import lift_client
from agenthost.core.legacy.summaries import project_listed
from agenthost.core.legacy.turns import project_turn
from agenthost.edges.ahp import files
from agenthost.edges.ahp.v0_1.client import ClientContext
from agenthost.edges.ahp.v0_1.projection import channel_of
from agenthost.edges.ahp.v0_1.translation import translate_action
from agenthost.errors import HostError, InvalidValue, SessionNotFound
from agenthost.host.sessions.dispatch import public_reason
from agenthost.host.sessions.new_session import NewSession
from agenthost.wire.ahp.legacy import ROOT_URI
from agenthost.wire.ahp.legacy.actions import action_resource
from agenthost.wire.ahp.session import SessionActiveClient
from agenthost.wire.error_messages import describe, quote
from agenthost.wire.integers import as_integer
from agenthost.wire.json import Json, JsonObject, decode_json

log = logging.getLogger("agenthost.ahp")

__all__ = ["CONCURRENT", "NOTIFICATIONS", "REQUESTS"]

Handler: TypeAlias = Callable[[ClientContext, Any], Awaitable[Json]]

TURNS_PER_PAGE = 50
MAX_TURNS = 100
LISTED_AT_ONCE = 1_000

NO_NUMBER = -1
"""The `clientSeq` in the refusal of an action that had no valid one."""


async def ping(_client: ClientContext, _params: Any) -> Json:
    """`ping`: answer."""
    return None


async def subscribe(client: ClientContext, params: Any) -> Json:
    """`subscribe`: return a snapshot of a resource; its actions follow."""
    await client.check_subscribable(params["resource"])
    view = await client.feed.subscribe(channel_of(params["resource"]))
    return {"snapshot": client.to_snapshot(view)}


async def unsubscribe(client: ClientContext, params: Any) -> None:
    """`unsubscribe`: stop following a resource (HR-S04)."""
    uri = params.get("resource")
    if isinstance(uri, str):
        await client.feed.unsubscribe(channel_of(uri))


async def dispatch_action(client: ClientContext, params: Any) -> None:
    """`dispatchAction`: apply an action. The answer is its echo, or a refusal for this client (HR-A01)."""
    action, seq = params.get("action"), as_integer(params.get("clientSeq"))
    number = NO_NUMBER if seq is None else seq
    try:
        await _check_dispatch(client, params)
    except SessionNotFound:
        return  # HR-A02
    except Exception as error:
        if not isinstance(error, HostError):
            log.exception("an action of client %s failed", client.host.identity)
        uri = action_resource(action) if type(action) is dict else None
        channel = channel_of(uri or "")
        client.host.refuse(number, channel, action, public_reason(error), client.deliver, is_legacy=True)
        return
    channel = channel_of(action_resource(action) or ROOT_URI)
    translate = partial(translate_action, client.host)
    await client.host.dispatch(
        number, channel, action, client.deliver, sender=client.sender, translate=translate
    )


async def _check_dispatch(client: ClientContext, params: Any) -> None:
    """Refuse what is not an action, or is about a resource that this client may not see."""
    action = params.get("action")
    if as_integer(params.get("clientSeq")) is None:
        found = describe(params.get("clientSeq"))
        raise InvalidValue("$.clientSeq", "a whole number of at most 64 bits", found)
    if type(action) is not dict:
        raise InvalidValue("$.action", "an object", describe(action))
    if type(action.get("type")) is not str:
        raise InvalidValue("$.action.type", "a string", describe(action.get("type")))
    uri = action_resource(action)
    if uri is not None and uri != ROOT_URI:
        await client.host.check_visible(uri, has_chats=False)
    client.host.rights.check(action["type"])


async def create_session(client: ClientContext, params: Any) -> Json:
    """`createSession`: create a session, or fork one. It can be subscribed to when this is answered."""
    host, uri = client.host, params["session"]
    if not uri:
        raise InvalidValue("$.session", "a URI", "an empty text")
    await host.check_free(uri)  # HR-L03: before anything else
    fork = params.get("fork")
    if fork is not None:
        await host.fork_session(fork["session"], fork["turnId"], uri, _active_client(params))
        return None
    new = NewSession(
        agent=host.find_agent(params.get("provider"), uri).name,
        uri=uri,
        options=params.get("config", {}),
        model=params.get("model"),
        active_client=_active_client(params),
        working_directory=params.get("workingDirectory"),
    )
    await host.create_session(new)
    return None


def _active_client(params: Any) -> SessionActiveClient | None:
    client = params.get("activeClient")
    return None if client is None else lift_client(client)


async def dispose_session(client: ClientContext, params: Any) -> Json:
    """`disposeSession`: remove a session for good."""
    await client.host.dispose_session(params["session"])
    return None


async def list_sessions(client: ClientContext, params: Any) -> Json:
    """`listSessions`: the summaries of all sessions, newest first, or of those with certain words.

    AHP does not define `filter`. Ours is `{"agenthost": {"text": …}}`; everything else is ignored.
    """
    ours = params.get("filter", {}).get("agenthost")
    if ours is not None:
        return await _search_sessions(client, ours)
    items: list[JsonObject] = []
    before: int | None = None
    while True:
        rows = await client.host.list_sessions(before, LISTED_AT_ONCE)
        items += [project_listed(decode_json(row.summary)) for row in rows]
        if len(rows) < LISTED_AT_ONCE:
            return {"items": items}
        before = rows[-1].number


async def _search_sessions(client: ClientContext, sought: Any) -> Json:
    if type(sought) is not dict or type(sought.get("text")) is not str:
        raise InvalidValue("$.filter.agenthost", "an object with a text", describe(sought))
    found = await client.host.search_sessions(sought["text"], "$.filter.agenthost.text")
    excerpts = {match.row.uri: match.excerpt for match in found.matches}
    return {
        "items": [project_listed(decode_json(match.row.summary)) for match in found.matches],
        "_meta": {"agenthost": {"excerpts": excerpts, "isComplete": found.is_complete}},
    }


async def fetch_turns(client: ClientContext, params: Any) -> Json:
    """`fetchTurns`: a page of a session's turns, oldest first (HR-L10)."""
    session = await client.host.get_session(params["session"])
    turns = [project_turn(turn) for turn in session.shown_chat.state["turns"]]
    end = len(turns)
    if "before" in params:
        places = [place for place, turn in enumerate(turns) if turn["id"] == params["before"]]
        if not places:
            raise InvalidValue("$.before", "the id of a turn that has ended", quote(params["before"]))
        end = places[0]
    limit = params.get("limit", TURNS_PER_PAGE)
    if limit < 1:
        raise InvalidValue("$.limit", "a number above 0", str(limit))
    # HR-L10: fewer than wanted; `hasMore` says so.
    start = max(0, end - min(limit, MAX_TURNS))
    return {"turns": turns[start:end], "hasMore": start > 0}


async def create_terminal(client: ClientContext, params: Any) -> Json:
    """`createTerminal`: start a terminal."""
    if not params["terminal"]:
        raise InvalidValue("$.terminal", "a URI", "an empty text")
    claim = params["claim"]
    if claim["kind"] == "client" and claim["clientId"] != client.host.identity.client_id:
        raise InvalidValue("$.claim.clientId", "the client's own id", quote(claim["clientId"]))
    more = {key: params[key] for key in ("name", "cwd", "cols", "rows") if key in params}
    await client.host.create_terminal(params["terminal"], claim, **more)
    return None


async def dispose_terminal(client: ClientContext, params: Any) -> Json:
    """`disposeTerminal`: end a terminal and remove it."""
    await client.host.dispose_terminal(params["terminal"])
    return None


async def authenticate(client: ClientContext, params: Any) -> Json:
    """`authenticate`: take a token for a resource that an agent needs (HR-P03)."""
    await client.host.authenticate(params["resource"], params["token"])
    return {}


async def resolve_session_config(client: ClientContext, params: Any) -> Json:
    """`resolveSessionConfig`: the complete form for the choices so far."""
    return await client.host.resolve_config(params)


async def session_config_completions(client: ClientContext, params: Any) -> Json:
    """`sessionConfigCompletions`: values for one setting."""
    return await client.host.complete_config(params)


async def completions(client: ClientContext, params: Any) -> Json:
    """`completions`: what could come next in a message."""
    return await client.host.complete(params["session"], params)


REQUESTS: dict[str, Handler] = {
    "ping": ping,
    "subscribe": subscribe,
    "createSession": create_session,
    "disposeSession": dispose_session,
    "createTerminal": create_terminal,
    "disposeTerminal": dispose_terminal,
    "listSessions": list_sessions,
    "fetchTurns": fetch_turns,
    "authenticate": authenticate,
    "resolveSessionConfig": resolve_session_config,
    "sessionConfigCompletions": session_config_completions,
    "completions": completions,
    **files.REQUESTS,
}

NOTIFICATIONS: dict[str, Callable[[ClientContext, Any], Awaitable[None]]] = {
    "unsubscribe": unsubscribe,
    "dispatchAction": dispatch_action,
}

CONCURRENT = frozenset(
    {
        "listSessions",
        "fetchTurns",
        "sessionConfigCompletions",
        "completions",
        *files.REQUESTS,
    }
)
"""Requests that may take time, and do not depend on the order of messages."""
