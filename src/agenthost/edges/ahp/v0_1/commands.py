"""The commands of AHP 0.1: each takes checked params, makes one call to the host, and gives the result."""

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from agenthost.edges.ahp.v0_1 import files
from agenthost.errors import HostError, InvalidValue, SessionExists, SessionNotFound, UriReserved
from agenthost.host.agent import Agent
from agenthost.host.clients import note_guest
from agenthost.host.dispatch import reason_of
from agenthost.host.host import Host
from agenthost.host.setup import check_option_grants, check_options
from agenthost.host.starting import Start
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.actions import resource_of
from agenthost.wire.json import Json, JsonObject, decode_json
from agenthost.wire.mismatch import describe, quote
from agenthost.wire.wholes import whole_of

if TYPE_CHECKING:
    from agenthost.edges.ahp.v0_1.connection import Connection

log = logging.getLogger("agenthost.ahp")

__all__ = ["BESIDE", "NOTIFICATIONS", "REQUESTS"]

Handler: TypeAlias = Callable[["Connection", Any], Awaitable[Json]]

TURNS_PER_PAGE = 50
MOST_TURNS = 100
LISTED_AT_ONCE = 1_000

NO_NUMBER = -1
"""The `clientSeq` in the answer to an action that came without a usable one."""


async def ping(_connection: "Connection", _params: Any) -> Json:
    """`ping`: still here."""
    return None


async def subscribe(connection: "Connection", params: Any) -> Json:
    """`subscribe`: what a resource is now; what happens to it follows."""
    await connection.check_subscribable(params["resource"])
    view = await connection.feed.subscribe(params["resource"])
    return {"snapshot": connection.snapshot_of(view)}


async def unsubscribe(connection: "Connection", params: Any) -> None:
    """`unsubscribe`: nothing more of it."""
    uri = params.get("resource")
    if isinstance(uri, str):
        await connection.feed.unsubscribe(uri)


async def dispatch_action(connection: "Connection", params: Any) -> None:
    """`dispatchAction`: let something happen. The answer is its echo, or a refusal for this client alone."""
    action, seq = params.get("action"), whole_of(params.get("clientSeq"))
    number = NO_NUMBER if seq is None else seq
    try:
        await _check_dispatch(connection, params)
    except SessionNotFound:
        return  # as the protocol wants it
    except Exception as error:
        if not isinstance(error, HostError):
            log.exception("an action of client %s failed", connection.identity)
        connection.host.refuse(connection.identity, number, action, reason_of(error), connection.tell)
        return
    await connection.host.dispatch(
        connection.identity,
        number,
        action,
        connection.tell,
        sender=connection.sender,
        rights=connection.rights,
    )


async def _check_dispatch(connection: "Connection", params: Any) -> None:
    """Refuse what is no action at all, and what is about a resource that this client may not see."""
    action = params.get("action")
    if whole_of(params.get("clientSeq")) is None:
        found = describe(params.get("clientSeq"))
        raise InvalidValue("$.clientSeq", "a whole number of at most 64 bits", found)
    if type(action) is not dict:
        raise InvalidValue("$.action", "an object", describe(action))
    if type(action.get("type")) is not str:
        raise InvalidValue("$.action.type", "a string", describe(action.get("type")))
    uri = resource_of(action)
    if uri is not None and uri != ROOT_URI:
        await connection.check_visible(uri)


async def create_session(connection: "Connection", params: Any) -> Json:
    """`createSession`: make a session, or fork one. It can be subscribed when this is answered."""
    host, uri = connection.host, params["session"]
    if not uri:
        raise InvalidValue("$.session", "a URI", "an empty text")
    await _check_free(connection, uri)
    fork = params.get("fork")
    source = None if fork is None else await connection.session(fork["session"])
    agent = _agent_of(host, params) if source is None else host.agent_of(source.state["summary"]["provider"])
    host.tokens.check(connection.identity, agent)
    client = params.get("activeClient")
    if client is not None:
        _check_client(connection, agent, client)
    if source is not None:
        session = await host.fork_session(source.row.uri, fork["turnId"], uri)
        if client is not None:
            note_guest(session, connection.identity)
            host.dispatcher.act(
                session, {"type": "session/activeClientChanged", "session": uri, "activeClient": client}
            )
            await session.journal.wait()  # so that whoever subscribes next is shown it
        return None
    folder = params.get("workingDirectory")
    if folder is not None:
        await host.files.folder(connection.owner, folder)
    await agent.wait_known()
    check_option_grants(agent, params.get("config", {}), connection.rights)
    settings, sealed = _settings(host, agent, params.get("config", {}))
    start = Start(
        agent=agent.name,
        uri=uri,
        owner=connection.owner or "",
        options=settings,
        model=params.get("model"),
        active_client=client,
        working_directory=folder,
        more={"secrets": sealed} if sealed else {},
    )
    await host.create_session(start)
    return None


async def _check_free(connection: "Connection", uri: str) -> None:
    """Refuse a URI that is taken, before anything else of a new session: others are not told by whom."""
    if uri == ROOT_URI:
        raise UriReserved(uri)
    owner = await connection.host.engine.sessions.owner_of(uri)
    if owner is not None:
        raise SessionExists(uri) if connection.owner in (None, owner) else UriReserved(uri)


def _agent_of(host: Host, params: Any) -> Agent:
    """Give the agent that is meant: the one named, the one of the URI's scheme, or the only one."""
    if "provider" in params:
        return host.agent_of(params["provider"])
    scheme = params["session"].partition(":")[0]
    if scheme not in host.agents and len(host.agents) == 1:
        return next(iter(host.agents.values()))
    return host.agent_of(scheme)


def _settings(host: Host, agent: Agent, config: JsonObject) -> tuple[JsonObject, dict[str, str]]:
    """Part the settings that everybody sees from the secret ones, which are sealed."""
    checked = check_options(agent, config, "$.config")
    secret = {option.name for option in agent.options if option.kind == "secret"}
    shown = {name: value for name, value in checked.items() if name not in secret}
    sealed = {name: host.vault.seal(checked[name]) for name in checked if name in secret and checked[name]}
    return shown, sealed


def _check_client(connection: "Connection", agent: Agent, client: Any) -> None:
    """Refuse a client that speaks for another, and tools of one name: a model calls them by nothing else."""
    if client["clientId"] != connection.client_id:
        expected = quote(connection.client_id)
        raise InvalidValue(
            "$.activeClient.clientId", f"the client's own id, {expected}", quote(client["clientId"])
        )
    taken = {tool.name for tool in agent.toolset.exposed()}
    for place, tool in enumerate(client["tools"]):
        if tool["name"] in taken:
            at = f"$.activeClient.tools[{place}].name"
            raise InvalidValue(at, "a name that no other tool has", quote(tool["name"]))
        taken.add(tool["name"])


async def dispose_session(connection: "Connection", params: Any) -> Json:
    """`disposeSession`: remove a session for good."""
    session = await connection.session(params["session"])
    await connection.host.dispose_session(session.row.uri)
    return None


async def list_sessions(connection: "Connection", params: Any) -> Json:
    """`listSessions`: the summaries of all sessions, newest first; or of those in which something was said.

    AHP leaves open what is in `filter`. Ours is `{"agenthost": {"text": …}}`; everything else is ignored.
    """
    ours = params.get("filter", {}).get("agenthost")
    if ours is not None:
        return await _search_sessions(connection, ours)
    items: list[JsonObject] = []
    before: int | None = None
    while True:
        rows = await connection.host.engine.sessions.page(
            owner=connection.owner, before=before, limit=LISTED_AT_ONCE
        )
        items += [decode_json(row.summary) for row in rows]
        if len(rows) < LISTED_AT_ONCE:
            return {"items": items}
        before = rows[-1].number


async def _search_sessions(connection: "Connection", sought: Any) -> Json:
    if type(sought) is not dict or type(sought.get("text")) is not str:
        raise InvalidValue("$.filter.agenthost", "an object with a text", describe(sought))
    found = await connection.host.engine.search.find(
        connection.owner, sought["text"], path="$.filter.agenthost.text"
    )
    excerpts = {match.row.uri: match.excerpt for match in found.matches}
    return {
        "items": [decode_json(match.row.summary) for match in found.matches],
        "_meta": {"agenthost": {"excerpts": excerpts, "isComplete": found.is_complete}},
    }


async def fetch_turns(connection: "Connection", params: Any) -> Json:
    """`fetchTurns`: a page of a session's past, oldest first."""
    session = await connection.session(params["session"])
    turns = session.shown.state["turns"]
    end = len(turns)
    if "before" in params:
        places = [place for place, turn in enumerate(turns) if turn["id"] == params["before"]]
        if not places:
            raise InvalidValue("$.before", "the id of a turn that has ended", quote(params["before"]))
        end = places[0]
    limit = params.get("limit", TURNS_PER_PAGE)
    if limit < 1:
        raise InvalidValue("$.limit", "a number above 0", str(limit))
    start = max(0, end - min(limit, MOST_TURNS))
    return {"turns": turns[start:end], "hasMore": start > 0}


async def create_terminal(connection: "Connection", params: Any) -> Json:
    """`createTerminal`: a shell of one's own."""
    if not params["terminal"]:
        raise InvalidValue("$.terminal", "a URI", "an empty text")
    claim = params["claim"]
    if claim["kind"] == "client" and claim["clientId"] != connection.client_id:
        raise InvalidValue("$.claim.clientId", "the client's own id", quote(claim["clientId"]))
    if claim["kind"] == "session":
        await connection.session(claim["session"])
    more = {key: params[key] for key in ("name", "cwd", "cols", "rows") if key in params}
    await connection.host.terminals.create(params["terminal"], claim, owner=connection.owner or "", **more)
    return None


async def dispose_terminal(connection: "Connection", params: Any) -> Json:
    """`disposeTerminal`: end it, and forget it."""
    connection.host.terminals.check_visible(params["terminal"], connection.owner)
    await connection.host.terminals.dispose(params["terminal"])
    return None


async def authenticate(connection: "Connection", params: Any) -> Json:
    """`authenticate`: a token for something that an agent needs."""
    await connection.host.tokens.take(connection.identity, params["resource"], params["token"])
    return {}


async def resolve_session_config(connection: "Connection", params: Any) -> Json:
    """`resolveSessionConfig`: the whole form for the choices so far."""
    return await connection.host.configuring.resolve(connection.owner, params)


async def session_config_completions(connection: "Connection", params: Any) -> Json:
    """`sessionConfigCompletions`: values for one setting."""
    return await connection.host.configuring.complete(connection.owner, params)


async def completions(connection: "Connection", params: Any) -> Json:
    """`completions`: what could come next in a message."""
    session = await connection.session(params["session"])
    agent = connection.host.agent_of(session.state["summary"]["provider"])
    folder = session.state["summary"].get("workingDirectory")
    return await connection.host.completions.complete(
        connection.owner,
        params,
        folder=folder,
        commands=agent.commands_of(session.row.uri),
        rights=connection.rights,
    )


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

NOTIFICATIONS: dict[str, Callable[["Connection", Any], Awaitable[None]]] = {
    "unsubscribe": unsubscribe,
    "dispatchAction": dispatch_action,
}

BESIDE = frozenset(
    {
        "listSessions",
        "fetchTurns",
        "sessionConfigCompletions",
        "completions",
        *files.REQUESTS,
    }
)
"""What takes time and changes no order."""
