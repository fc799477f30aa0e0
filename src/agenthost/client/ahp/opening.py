"""Opening: the first messages of a connection, until the host has said what there is."""

from dataclasses import dataclass

from agenthost.client.ahp.calls import checked_result
from agenthost.client.ahp.errors import NotAhp, refusal_of
from agenthost.client.ahp.link import Link
from agenthost.client.ahp.mirrors import Mirrors
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.commands.connection import InitializeParams, InitializeResult
from agenthost.wire.ahp.common import URI
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

__all__ = ["Opening", "open_anew", "resume"]

RESUME_ID, OPEN_ID = 1, 2
"""Numbers that no other request has, so that nothing can be taken for the answer to another one."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What a connection is opened with."""

    url: str
    headers: dict[str, str]
    versions: tuple[str, ...]
    locale: str | None


async def resume(link: Link, mirrors: Mirrors) -> Json:
    """Come back with `reconnect`; gives the answer.

    Raises:
        AhpError: the host refuses, or the connection is lost.
    """
    return await _ask(link, Request(RESUME_ID, "reconnect", dict(mirrors.reconnect_params())))


async def open_anew(link: Link, opening: Opening, mirrors: Mirrors) -> tuple[InitializeResult, list[URI]]:
    """Open a connection with `initialize`, and take the states; gives the resources that are gone too.

    Raises:
        AhpError: the host refuses, breaks the rules, or the connection is lost.
    """
    wanted = list(dict.fromkeys([ROOT_URI, *mirrors.subscriptions]))
    params: InitializeParams = {
        "protocolVersions": list(opening.versions),
        "clientId": mirrors.client_id,
        "initialSubscriptions": wanted,
    }
    if opening.locale is not None:
        params["locale"] = opening.locale
    answer = await _ask(link, Request(OPEN_ID, "initialize", dict(params)))
    welcome: InitializeResult = checked_result("initialize", answer)
    if welcome["protocolVersion"] not in opening.versions:
        raise NotAhp(f"the host chose version {welcome['protocolVersion']!r}, which was not offered")
    gone = mirrors.welcome({"type": "snapshot", "snapshots": welcome["snapshots"]})
    if not welcome["snapshots"]:
        mirrors.last_seen = welcome["serverSeq"]
    return welcome, gone


async def _ask(link: Link, request: Request) -> Json:
    """Ask, and read until the answer. What else comes before it is for nobody: there is no state yet."""
    await link.send(encode_message(request))
    while True:
        message = _message(await link.receive())
        if isinstance(message, Request):
            await link.send(encode_message(Failure(message.id, RpcCode.METHOD_NOT_FOUND, "not yet")))
        elif isinstance(message, Success | Failure) and message.id in (request.id, None):
            if isinstance(message, Success):
                return message.result
            raise refusal_of(message.code, message.message, message.data)


def _message(data: bytes) -> Message | None:
    try:
        return decode_message(data)
    except BadFrame as bad:
        raise NotAhp(f"the host sends what is no message: {bad}") from bad
