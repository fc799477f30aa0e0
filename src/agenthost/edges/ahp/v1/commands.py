"""The commands of AHP 1.0: each takes checked params, makes one call to the host, and returns the result."""

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeAlias, TypedDict

from agenthost.edges.ahp.v1 import changesets, chats, files, session_list
from agenthost.edges.ahp.v1.answers import ANSWERING, fit_numbers
from agenthost.edges.ahp.v1.client import ClientContext
from agenthost.errors import HostError, InvalidValue, SessionNotFound
from agenthost.host.sessions.dispatch import public_reason
from agenthost.host.sessions.new_session import NewSession
from agenthost.host.state.session import Session
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.error_messages import describe, quote
from agenthost.wire.integers import as_integer
from agenthost.wire.json import Json
from agenthost.wire.jsonrpc import Notification
from agenthost.wire.shape import Shape

log = logging.getLogger("agenthost.ahp")

__all__ = ["CONCURRENT", "NOTIFICATIONS", "REQUESTS"]

Handler: TypeAlias = Callable[[ClientContext, Any], Awaitable[Json]]


class Fork(TypedDict):
    """What a new session begins with: the turns of another one, up to and including this turn."""

    session: str
    turnId: str


FORK: Shape[Fork] = Shape(Fork)

NO_NUMBER = -1
"""The `clientSeq` in the refusal of an action that had no valid one."""


async def ping(_client: ClientContext, _params: Any) -> Json:
    """`ping`: answer."""
    return None


async def subscribe(client: ClientContext, params: Any) -> Json:
    """`subscribe`: return a snapshot of a channel; its actions follow."""
    uri = params["channel"]
    if uri in client.watches:
        state = client.watches.subscribe(uri, client.deliver)
        return {"snapshot": {"resource": uri, "state": state, "fromSeq": client.host.shown_seq}}
    await client.check_subscribable(uri)
    return {"snapshot": client.to_snapshot(await client.subscriptions.subscribe(uri, params))}


async def unsubscribe(client: ClientContext, params: Any) -> None:
    """`unsubscribe`: stop following a channel."""
    uri = params.get("channel")
    if isinstance(uri, str) and uri in client.watches:
        client.watches.unsubscribe(uri)
    elif isinstance(uri, str):
        await client.subscriptions.unsubscribe(uri)


async def dispatch_action(client: ClientContext, params: Any) -> None:
    """`dispatchAction`: apply an action. The answer is its echo, or a refusal for this client (D1)."""
    channel, action = params.get("channel"), params.get("action")
    seq = as_integer(params.get("clientSeq"))
    number = NO_NUMBER if seq is None else seq
    try:
        await _check_dispatch(client, params)
    # D1: on a channel that is not there, nothing happens.
    except SessionNotFound:
        return
    except Exception as error:
        if not isinstance(error, HostError):
            log.exception("an action of client %s failed", client.host.identity)
        where = channel if type(channel) is str else ROOT_URI
        client.host.refuse(number, where, action, public_reason(error), client.deliver)
        return
    # D7: before the action is decided, which takes numbers only.
    if action["type"] in ANSWERING:
        with suppress(SessionNotFound):  # a channel without questions: the host refuses the action
            action = fit_numbers((await client.host.get_conversation(channel)).chat, action)
    await client.host.dispatch(number, channel, action, client.deliver, sender=client.sender)


async def _check_dispatch(client: ClientContext, params: Any) -> None:
    """Refuse what is not an action, or is about a channel that this client may not see."""
    channel, action = params.get("channel"), params.get("action")
    if type(channel) is not str:
        raise InvalidValue("$.channel", "a string", describe(channel))
    if as_integer(params.get("clientSeq")) is None:
        found = describe(params.get("clientSeq"))
        raise InvalidValue("$.clientSeq", "a whole number of at most 64 bits", found)
    if type(action) is not dict:
        raise InvalidValue("$.action", "an object", describe(action))
    if type(action.get("type")) is not str:
        raise InvalidValue("$.action.type", "a string", describe(action.get("type")))
    await client.host.check_visible(channel)


async def create_session(client: ClientContext, params: Any) -> Json:
    """`createSession`: create a session. It can be subscribed to when this is answered."""
    host, uri = client.host, params["channel"]
    if not uri or uri == ROOT_URI:
        raise InvalidValue("$.channel", "a URI of its own", quote(uri))
    await host.check_free(uri)
    # AHP forks into a chat of the same session, and these have one. Ours makes another session of it.
    fork = params.get("_meta", {}).get("agenthost", {}).get("fork")
    if fork is not None:
        source = FORK.take(fork, "$._meta.agenthost.fork")
        await host.fork_session(source["session"], source["turnId"], uri, params.get("activeClient"))
        return None
    agent = host.find_agent(params.get("provider"), uri)
    # D6: real clients send settings that no schema names.
    known = {option.name for option in agent.options}
    folders = params.get("workingDirectories", [])
    new = NewSession(
        agent=agent.name,
        uri=uri,
        # D6: other keys are of schemas that we never sent.
        options={name: value for name, value in params.get("config", {}).items() if name in known},
        active_client=params.get("activeClient"),
        working_directory=folders[0] if folders else None,
    )
    session = await host.create_session(new)
    if "progressToken" in params:
        client.run(_tell_progress(client, session, params["progressToken"]))
    return None


async def _tell_progress(client: ClientContext, session: Session, token: str) -> None:
    """Say when the agent is ready for a new session. There are no steps in between."""
    params = {"channel": ROOT_URI, "progressToken": token, "total": 1}
    client.notify(Notification("root/progress", {**params, "progress": 0}))
    await client.host.wait_ready(session)
    client.notify(Notification("root/progress", {**params, "progress": 1}))


async def dispose_session(client: ClientContext, params: Any) -> Json:
    """`disposeSession`: remove a session for good, with all its chats."""
    await client.host.dispose_session(params["channel"])
    return None


async def create_terminal(client: ClientContext, params: Any) -> Json:
    """`createTerminal`: start a terminal."""
    uri, claim = params["channel"], params["claim"]
    if not uri:
        raise InvalidValue("$.channel", "a URI", "an empty text")
    if claim["kind"] == "client" and claim["clientId"] != client.host.identity.client_id:
        raise InvalidValue("$.claim.clientId", "the client's own id", quote(claim["clientId"]))
    more = {key: params[key] for key in ("name", "cwd", "cols", "rows") if key in params}
    if str(more.get("cwd", "")).startswith("/"):  # X1: some clients send a plain path
        more["cwd"] = f"file://{more['cwd']}"
    await client.host.create_terminal(uri, claim, **more)
    return None


async def dispose_terminal(client: ClientContext, params: Any) -> Json:
    """`disposeTerminal`: end a terminal and remove it."""
    await client.host.dispose_terminal(params["channel"])
    return None


async def authenticate(client: ClientContext, params: Any) -> Json:
    """`authenticate`: take a token for a resource that an agent needs, or forget it."""
    if not params["token"]:
        client.host.take_back_token(params["resource"])
        return {}
    await client.host.authenticate(params["resource"], params["token"], params.get("expiresIn"))
    return {}


async def resolve_session_config(client: ClientContext, params: Any) -> Json:
    """`resolveSessionConfig`: the complete form for the choices so far."""
    return await client.host.resolve_config(params)


async def session_config_completions(client: ClientContext, params: Any) -> Json:
    """`sessionConfigCompletions`: values for one setting."""
    return await client.host.complete_config(params)


REQUESTS: dict[str, Handler] = {
    "ping": ping,
    "subscribe": subscribe,
    "createSession": create_session,
    "disposeSession": dispose_session,
    "createTerminal": create_terminal,
    "disposeTerminal": dispose_terminal,
    "authenticate": authenticate,
    "resolveSessionConfig": resolve_session_config,
    "sessionConfigCompletions": session_config_completions,
    **session_list.REQUESTS,
    **chats.REQUESTS,
    **changesets.REQUESTS,
    **files.REQUESTS,
}

NOTIFICATIONS: dict[str, Callable[[ClientContext, Any], Awaitable[None]]] = {
    "unsubscribe": unsubscribe,
    "dispatchAction": dispatch_action,
}

CONCURRENT = frozenset(
    {"listSessions", "sessionConfigCompletions", "completions", *files.REQUESTS},
)
"""Requests that may take time, and do not depend on the order of messages."""
