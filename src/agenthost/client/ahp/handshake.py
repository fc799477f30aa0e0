"""The handshake: the first messages of a connection, until the host has sent its states."""

from dataclasses import dataclass

from agenthost.client.ahp.errors import NotAhp, error_from_code
from agenthost.client.ahp.link import Link
from agenthost.client.ahp.observable_replica import ObservableReplica
from agenthost.client.ahp.requests import checked_result
from agenthost.wire.ahp.legacy import ROOT_URI
from agenthost.wire.ahp.legacy.commands.connection import InitializeParams, InitializeResult, ReconnectResult
from agenthost.wire.ahp.legacy.common import URI
from agenthost.wire.json import Json
from agenthost.wire.jsonrpc import (
    BadFrame,
    Failure,
    Message,
    Request,
    RpcCode,
    Success,
    decode_message,
    encode_message,
)

__all__ = ["HandshakeSettings", "initialize", "reconnect"]

RECONNECT_ID, INITIALIZE_ID = 1, 2
"""Ids that no later request has, so that no answer can be mistaken for that of another request (HR-R01)."""


@dataclass(frozen=True, slots=True)
class HandshakeSettings:
    """The data that a client presents to the host."""

    url: str
    headers: dict[str, str]
    versions: tuple[str, ...]
    locale: str | None


async def reconnect(link: Link, replica: ObservableReplica) -> ReconnectResult:
    """Send `reconnect` and return the result.

    Raises:
        AhpError: the host refuses or breaks the protocol, or the connection is lost.
    """
    answer = await _ask(link, Request(RECONNECT_ID, "reconnect", dict(replica.reconnect_params())))
    result: ReconnectResult = checked_result("reconnect", answer)
    return result


async def initialize(
    link: Link, settings: HandshakeSettings, replica: ObservableReplica
) -> tuple[InitializeResult, list[URI]]:
    """Send `initialize`, load the states, and return the result and the resources that are gone.

    Raises:
        AhpError: the host refuses or breaks the protocol, or the connection is lost.
    """
    wanted = list(dict.fromkeys([ROOT_URI, *replica.subscriptions]))
    params: InitializeParams = {
        "protocolVersions": list(settings.versions),
        "clientId": replica.client_id,
        "initialSubscriptions": wanted,
    }
    if settings.locale is not None:
        params["locale"] = settings.locale
    answer = await _ask(link, Request(INITIALIZE_ID, "initialize", dict(params)))
    welcome: InitializeResult = checked_result("initialize", answer)
    if welcome["protocolVersion"] not in settings.versions:  # HR-I03
        raise NotAhp(f"the host chose version {welcome['protocolVersion']!r}, which was not offered")
    # A resource without a snapshot does not exist (HR-I10).
    gone = replica.resume({"type": "snapshot", "snapshots": welcome["snapshots"]})
    if not welcome["snapshots"]:
        replica.last_seen = welcome["serverSeq"]
    return welcome, gone


async def _ask(link: Link, request: Request) -> Json:
    """Send a request and read until its answer. Everything before that is ignored: there is no state yet."""
    await link.send(encode_message(request))
    while True:
        message = _decode(await link.receive())
        if isinstance(message, Request):
            await link.send(encode_message(Failure(message.id, RpcCode.METHOD_NOT_FOUND, "not yet")))
        elif isinstance(message, Success | Failure) and message.id in (request.id, None):
            if isinstance(message, Success):
                return message.result
            raise error_from_code(message.code, message.message, message.data)


def _decode(data: bytes) -> Message | None:
    try:
        return decode_message(data)
    except BadFrame as bad:
        raise NotAhp(f"the host sent something that is not a message: {bad}") from bad
