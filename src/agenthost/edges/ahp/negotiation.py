"""Negotiation: the first messages of a connection, until client and host agree on a version.

Only here do versions meet. Each has a package of its own, which gets the connection with the message that
opened it; so a later version is added beside the others without touching them.
"""

import asyncio
import contextlib
import logging
import re
from typing import Any

from agenthost.edges.ahp.peers import Admission, Peers
from agenthost.edges.ahp.refusals import failure_of
from agenthost.edges.ahp.transport import Line, Transport
from agenthost.edges.ahp.v0_1.connection import Connection
from agenthost.errors import HostError, InvalidValue, UnsupportedVersion
from agenthost.host.callers import ANYBODY, Caller
from agenthost.host.host import Host
from agenthost.host.identity import Identity
from agenthost.wire.ahp.errors import ErrorCode
from agenthost.wire.ahp.methods import METHODS
from agenthost.wire.json import JsonObject
from agenthost.wire.jsonrpc import BadFrame, Failure, Request, Success, decode_message, encode_message
from agenthost.wire.names import check_names

__all__ = ["agreed", "serve"]

log = logging.getLogger("agenthost.ahp")

# Without the labels of versions that are not out yet: those promise nothing.
_SEMVER = re.compile(r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})")

CLOSE_FAILED = 1011
CLOSE_FULL = 1013
CLOSE_REFUSED = 1002
CLOSE_TAKEN_OVER = 4001
CLOSE_SECONDS = 2.0
"""How long a peer may take to be told that it is over."""

VERSIONS: dict[tuple[int, int], tuple[str, type[Connection]]] = {(0, 1): ("^0.1.0", Connection)}
"""What is spoken: by major and minor number, the range as it is told, and who speaks it."""

OLDEST = "0.1.0"
"""What a client that comes back spoke, unless we know better."""


def agreed(offered: list[str]) -> tuple[str, type[Connection]]:
    """Give the first of the versions that a client offers which is spoken here.

    Raises:
        UnsupportedVersion: there is none.
    """
    for version in offered:
        match = _SEMVER.fullmatch(version)
        if match is not None and (int(match[1]), int(match[2])) in VERSIONS:
            return version, VERSIONS[int(match[1]), int(match[2])][1]
    raise _unsupported()


def _unsupported() -> UnsupportedVersion:
    return UnsupportedVersion([told for told, _ in VERSIONS.values()])


async def serve(
    host: Host,
    peers: Peers,
    transport: Transport,
    caller: Caller = ANYBODY,
    admission: Admission | None = None,
) -> None:
    """Serve a connection from its first message to its end, as long as its admission holds."""
    line = Line()
    closing: tuple[int, str] = (CLOSE_FULL, "too many connections")
    try:
        if peers.admit(line, admission):
            closing = await _served(host, peers, transport, caller, line)
    except asyncio.CancelledError:
        if not line.is_ended():
            raise
    except Exception:
        log.exception("a connection failed")
        closing = (CLOSE_FAILED, "internal error")
    finally:
        peers.leave(line)
    # A peer that does not read must not keep us, and one that is gone needs no word.
    with contextlib.suppress(TimeoutError, OSError):
        async with asyncio.timeout(CLOSE_SECONDS):
            await transport.close(*(line.closing or closing))


async def _served(
    host: Host, peers: Peers, transport: Transport, caller: Caller, line: Line
) -> tuple[int, str]:
    """Serve a connection until its client is gone, or refused; gives how to close it."""
    try:
        opened = await _shake_hands(host, peers, transport, caller, line)
    except UnsupportedVersion:
        return CLOSE_REFUSED, "no common protocol version"
    if opened is not None:
        await opened.run()
    return 1000, ""


async def _shake_hands(
    host: Host, peers: Peers, transport: Transport, caller: Caller, line: Line
) -> Connection | None:
    """Answer until the client has opened the connection; gives nothing if it is gone.

    Raises:
        UnsupportedVersion: it speaks no version that we speak. It knows already.
    """
    while (data := await transport.receive()) is not None:
        request = _first(data)
        if isinstance(request, Request):
            try:
                return await _open(host, peers, transport, caller, line, request)
            except Exception as error:
                if not isinstance(error, HostError):
                    log.exception("%s failed", request.method)
                await transport.send(encode_message(failure_of(error, request.id)).decode())
                if isinstance(error, UnsupportedVersion):
                    raise
        elif request is not None:
            await transport.send(encode_message(request).decode())
    return None


def _first(data: str | bytes) -> Request | Success | Failure | None:
    """Read a message before the handshake: what opens the connection, an answer to it, or nothing."""
    try:
        message = decode_message(data, is_trusted=False)
    except BadFrame as bad:
        return bad.reply
    if not isinstance(message, Request):
        return None
    if message.method == "ping":
        return Success(message.id, None)
    if message.method in ("initialize", "reconnect"):
        return message
    sentence = "a connection begins with `initialize` or `reconnect`"
    return Failure(message.id, ErrorCode.INVALID_REQUEST, sentence)


def _is_before_versions(params: JsonObject) -> bool:
    """Return whether a client names its one version, as all did before 0.1.0, and offers no others."""
    return "protocolVersion" in params and "protocolVersions" not in params


async def _open(
    host: Host, peers: Peers, transport: Transport, caller: Caller, line: Line, request: Request
) -> Connection:
    if request.method == "initialize" and _is_before_versions(request.params):
        raise _unsupported()
    params: Any = METHODS[request.method].params.take(request.params)
    check_names(params)
    client_id = params["clientId"]
    if not client_id:
        raise InvalidValue("$.clientId", "an id of the client's own", "an empty text")
    identity = Identity.of(caller.owner, client_id)
    if request.method == "initialize":
        version, kind = agreed(params["protocolVersions"])
    else:
        version, kind = agreed([peers.versions.get(identity, OLDEST)])
    connection = kind(host, transport, caller, client_id, version, line)
    await connection.open(request, params)
    for gone in peers.remember(identity, version):
        host.tokens.forget(gone)
    older = peers.take_over(identity, line)
    if older is not None:
        older.end(CLOSE_TAKEN_OVER, "the client has connected anew")
    return connection
