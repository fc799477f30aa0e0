"""The handshake: the first messages of a connection, until the host has sent its states."""

from dataclasses import dataclass

from agenthost.client.ahp.dialect import Call, CurrentDialect, Dialect
from agenthost.client.ahp.errors import NotAhp, error_from_code
from agenthost.client.ahp.legacy_dialect import LegacyDialect
from agenthost.client.ahp.link import Link
from agenthost.client.ahp.observable_replica import ObservableReplica
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.commands.connection import InitializeParams, InitializeResult, ReconnectResult
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.legacy import ROOT_URI as LEGACY_ROOT
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

__all__ = ["VERSIONS", "HandshakeSettings", "initialize", "reconnect"]

VERSIONS = ("1.0.0", "0.9.0", "0.1.0")
"""The versions that this client speaks."""

LEGACY = "0.1."
"""How the versions begin that have a dialect of their own."""

RECONNECT_ID, INITIALIZE_ID = 1, 2
"""Ids that no later request has, so that no answer can be mistaken for that of another request (HR-R01)."""


@dataclass(frozen=True, slots=True)
class HandshakeSettings:
    """The data that a client presents to the host."""

    url: str
    headers: dict[str, str]
    versions: tuple[str, ...]
    locale: str | None


async def reconnect(link: Link, replica: ObservableReplica, dialect: Dialect) -> ReconnectResult:
    """Send `reconnect` in the version that was agreed, and return the result.

    Raises:
        AhpError: the host refuses or breaks the protocol, or the connection is lost.
    """
    asked = Call("reconnect", dict(replica.reconnect_params()))
    said = dialect.say(asked) or asked
    answer = await _ask(link, Request(RECONNECT_ID, *said))
    link.dialect = dialect
    result: ReconnectResult = dialect.read_result(asked, answer)
    return result


async def initialize(
    link: Link, settings: HandshakeSettings, replica: ObservableReplica
) -> tuple[InitializeResult, list[URI]]:
    """Send `initialize`, load the states, and return the result and the resources that are gone.

    Raises:
        AhpError: the host refuses or breaks the protocol, or the connection is lost.
    """
    # Which version the host takes is not known yet, and each ignores what only the other has.
    roots = [ROOT_URI, LEGACY_ROOT] if any(map(_is_legacy, settings.versions)) else [ROOT_URI]
    params: InitializeParams = {
        "channel": ROOT_URI,
        "protocolVersions": list(settings.versions),
        "clientId": replica.client_id,
        "initialSubscriptions": list(dict.fromkeys([*roots, *replica.subscriptions])),
    }
    if settings.locale is not None:
        params["locale"] = settings.locale
    answer = await _ask(link, Request(INITIALIZE_ID, "initialize", dict(params)))
    version = answer.get("protocolVersion") if isinstance(answer, dict) else None
    link.dialect = LegacyDialect(replica) if _is_legacy(version) else CurrentDialect()
    welcome: InitializeResult = link.dialect.read_result(Call("initialize", params), answer)
    if version not in settings.versions:  # V1
        raise NotAhp(f"the host chose version {version!r}, which was not offered")
    # A channel without a snapshot does not exist (I2).
    gone = replica.resume({"type": "snapshot", "snapshots": welcome["snapshots"]})
    if not welcome["snapshots"]:
        replica.last_seen = welcome["serverSeq"]
    return welcome, gone


def _is_legacy(version: object) -> bool:
    return isinstance(version, str) and version.startswith(LEGACY)


async def _ask(link: Link, request: Request) -> Json:
    """Send a request and read until its answer. Everything before that is ignored: there is no state yet."""
    await link.send(encode_message(request))
    while True:
        message = _decode(await link.receive())
        if isinstance(message, Request):
            await link.send(encode_message(Failure(message.id, RpcCode.METHOD_NOT_FOUND, "not yet")))
        # HR-R04: a host that could not read the request answers without an id.
        elif isinstance(message, Success | Failure) and message.id in (request.id, None):
            if isinstance(message, Success):
                return message.result
            raise error_from_code(message.code, message.message, message.data)


def _decode(data: bytes) -> Message | None:
    try:
        return decode_message(data)
    except BadFrame as bad:
        raise NotAhp(f"the host sent something that is not a message: {bad}") from bad
