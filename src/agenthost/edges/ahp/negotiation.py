"""Negotiation: the first messages of a connection, until client and host agree on a version.

Each version has its own package, which takes over the connection with the message that opened it. So a later
version is added next to the others without changing them.
"""

import asyncio
import contextlib
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agenthost.edges.ahp.connection import Connection
from agenthost.edges.ahp.errors import to_failure
from agenthost.edges.ahp.peers import Admission, Peers
from agenthost.edges.ahp.subscription_options import SubscriptionOptions
from agenthost.edges.ahp.transport import ConnectionHandle, Transport
from agenthost.edges.ahp.v0_1.connection import Connection as OldConnection
from agenthost.edges.ahp.v1.connection import Connection as NewConnection
from agenthost.errors import ClientUnknown, HostError, InvalidValue, UnsupportedVersion
from agenthost.host.access.caller import ANYBODY, Caller
from agenthost.host.access.identity import Identity
from agenthost.host.host import Host
from agenthost.wire.ahp.errors import ErrorCode
from agenthost.wire.ahp.legacy import ROOT_URI as LEGACY_ROOT_URI
from agenthost.wire.ahp.legacy.methods import METHODS
from agenthost.wire.error_messages import quote
from agenthost.wire.json import JsonObject
from agenthost.wire.jsonrpc import BadFrame, Failure, Request, Success, decode_message, encode_message
from agenthost.wire.name_limits import check_names

__all__ = ["choose_version", "serve"]

log = logging.getLogger("agenthost.ahp")

# Without pre-release labels: such versions promise nothing.
_SEMVER = re.compile(r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})")

CLOSE_FAILED = 1011
CLOSE_FULL = 1013
CLOSE_REFUSED = 1002
CLOSE_TAKEN_OVER = 4001
CLOSE_SECONDS = 2.0
"""How long sending the close frame may take."""


@dataclass(frozen=True, slots=True)
class _Supported:
    """A range of versions: from `least` up to, but not including, `below`."""

    name: str
    least: tuple[int, int, int]
    below: tuple[int, int, int]
    kind: type[Connection[Any]]


SUPPORTED = (
    _Supported("^1.0.0", (1, 0, 0), (2, 0, 0), NewConnection),
    _Supported("^0.9.0", (0, 9, 0), (0, 10, 0), NewConnection),
    _Supported("^0.1.0", (0, 1, 0), (0, 2, 0), OldConnection),
)
"""The supported versions, and the connection of each."""

OLDEST = "0.1.0"
"""The version of a returning client that we do not remember, if it follows nothing that is newer."""

NEWER = "ahp-"
"""How the schemes of all channels begin that 0.1 does not have: the root, chats, and what clients name so."""


def choose_version(offered: Sequence[str]) -> tuple[str, type[Connection[Any]]]:
    """Return the highest version that a client offers and we support (V1, HR-I03, HR-I04).

    Raises:
        InvalidValue: one of them is not a version. Clients that offer nothing but 0.1 may name anything else.
        UnsupportedVersion: there is none (HR-I05).
    """
    fitting = [
        (number, version, one)
        for version in offered
        if (number := _number(version)) and (one := _find(number))
    ]
    kinds = {one.kind for *_, one in fitting}
    for place, version in enumerate(offered):
        if _number(version) is None and kinds != {OldConnection}:
            raise InvalidValue(f"$.protocolVersions[{place}]", "a version such as 1.0.0", quote(version))
    if not fitting:
        raise _unsupported()
    _, version, one = max(fitting, key=lambda found: found[0])
    return version, one.kind


def _number(version: str) -> tuple[int, int, int] | None:
    match = _SEMVER.fullmatch(version)
    return None if match is None else (int(match[1]), int(match[2]), int(match[3]))


def _find(number: tuple[int, int, int]) -> _Supported | None:
    return next((one for one in SUPPORTED if one.least <= number < one.below), None)


def _unsupported() -> UnsupportedVersion:
    return UnsupportedVersion([one.name for one in SUPPORTED])


async def serve(
    host: Host,
    peers: Peers,
    transport: Transport,
    caller: Caller = ANYBODY,
    admission: Admission | None = None,
) -> None:
    """Serve a connection from its first message to its end, as long as its admission is valid."""
    handle = ConnectionHandle()
    closing: tuple[int, str] = (CLOSE_FULL, "too many connections")
    try:
        if peers.admit(handle, admission):
            closing = await _serve_until_closed(host, peers, transport, caller, handle)
    except asyncio.CancelledError:
        # Cancelled by the server, and not by one of our handles.
        if not handle.is_ended():
            raise
    except Exception:
        log.exception("a connection failed")
        closing = (CLOSE_FAILED, "internal error")
    finally:
        peers.leave(handle)
    # A peer that does not read must not block us, and a closed connection needs no close frame.
    with contextlib.suppress(TimeoutError, OSError):
        async with asyncio.timeout(CLOSE_SECONDS):
            await transport.close(*(handle.closing or closing))


async def _serve_until_closed(
    host: Host, peers: Peers, transport: Transport, caller: Caller, handle: ConnectionHandle
) -> tuple[int, str]:
    """Serve a connection until its client is gone or refused. Return the close code and reason."""
    try:
        opened = await _shake_hands(host, peers, transport, caller, handle)
    except UnsupportedVersion:
        return CLOSE_REFUSED, "no common protocol version"
    if opened is not None:
        await opened.run()
    return 1000, ""


async def _shake_hands(
    host: Host, peers: Peers, transport: Transport, caller: Caller, handle: ConnectionHandle
) -> Connection[Any] | None:
    """Answer messages until the client has opened the connection; `None` if it disconnects first.

    Raises:
        UnsupportedVersion: we have no version in common. The client got the error.
    """
    while (data := await transport.receive()) is not None:
        request = _read_first(data)
        if isinstance(request, Request):
            try:
                return await _open(host, peers, transport, caller, handle, request)
            except Exception as error:
                if not isinstance(error, HostError):
                    log.exception("%s failed", request.method)
                await transport.send(encode_message(to_failure(error, request.id)).decode())
                # HR-I05. After any other error the client may try again.
                if isinstance(error, UnsupportedVersion):
                    raise
        elif request is not None:
            await transport.send(encode_message(request).decode())
    return None


def _read_first(data: str | bytes) -> Request | Success | Failure | None:
    """Decode a message before the handshake. Return the request that opens the connection, or an answer."""
    try:
        message = decode_message(data, is_trusted=False)
    except BadFrame as bad:
        return bad.reply
    if not isinstance(message, Request):
        return None
    if message.method == "ping":  # HR-I12
        return Success(message.id, None)
    if message.method in ("initialize", "reconnect"):  # HR-I02
        return message
    sentence = "a connection begins with `initialize` or `reconnect`"
    return Failure(message.id, ErrorCode.INVALID_REQUEST, sentence)


def _is_before_versions(params: JsonObject) -> bool:
    """Return whether a client sends one version instead of a list, as all did before 0.1.0."""
    return "protocolVersion" in params and "protocolVersions" not in params


async def _open(
    host: Host, peers: Peers, transport: Transport, caller: Caller, handle: ConnectionHandle, request: Request
) -> Connection[Any]:
    # Before the shape is checked, which such a request does not have: the client should learn our versions.
    if request.method == "initialize" and _is_before_versions(request.params):
        raise _unsupported()
    params: Any = METHODS[request.method].params.take(request.params)
    check_names(params)
    client_id = params["clientId"]
    # In the host, an empty id stands for no client.
    if not client_id:
        raise InvalidValue("$.clientId", "an id of the client's own", "an empty text")
    identity = Identity.of(caller.owner, client_id)
    if request.method == "initialize":
        version, kind = choose_version(params["protocolVersions"])
        earlier = SubscriptionOptions()
    else:
        known, earlier = await _known_client(host, peers, identity, params["subscriptions"])
        version, kind = choose_version([known])
    connection = kind(host, transport, caller, client_id, version, handle)
    connection.earlier = earlier
    await connection.open(request, params)
    options = connection.client.options
    for gone in peers.remember(identity, version, options):
        host.forget_tokens(gone)
    connection.client.host.remember_version(version, is_partial=bool(options.views))
    # Only now: a handshake that fails must not end the connection that works.
    older = peers.take_over(identity, handle)
    if older is not None:  # HR-I13
        older.end(CLOSE_TAKEN_OVER, "the client has connected anew")
    return connection


async def _known_client(
    host: Host, peers: Peers, identity: Identity, uris: Sequence[str]
) -> tuple[str, SubscriptionOptions]:
    """Return the version that was agreed with a returning client, and what it asked for when it subscribed.

    Raises:
        ClientUnknown: we do not know it, and it follows nothing, or what only newer versions have.
    """
    version = peers.versions.get(identity)
    if version is not None:
        return version, peers.options[identity]
    found = await host.find_version(identity)
    if found is not None:
        return found[0], SubscriptionOptions(is_lost=found[1])
    # The root has another URI in 0.1, which decides it: clients of all versions name their terminals freely.
    if LEGACY_ROOT_URI not in uris and (not uris or any(uri.startswith(NEWER) for uri in uris)):
        raise ClientUnknown(identity.client_id)
    return OLDEST, SubscriptionOptions()
