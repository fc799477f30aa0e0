"""Connections to other nodes, over WebSocket: with TLS, except on this machine or where it is allowed."""

import ssl
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from agenthost.host.cluster.channels import MAX_FRAME, ChannelClosed
from agenthost.host.store_address import is_near

__all__ = ["PEER_PATH", "Dialer", "PeerOptions"]

PEER_PATH = "/peer"

CONNECT_SECONDS = 3.0
PING_SECONDS = 2.0
PONG_SECONDS = 5.0
"""How long a node may be silent before it counts as not reachable."""


@dataclass(frozen=True, slots=True)
class PeerOptions:
    """How this node and others reach each other.

    Attributes:
        url: where others reach this one; None if they cannot.
        ca: a file with the certificates of authorities to trust, instead of those of the system.
        is_plain_allowed: whether other machines are talked to without TLS.
    """

    url: str | None = None
    ca: Path | None = None
    is_plain_allowed: bool = False


class Dialer:
    """Connects to nodes by their URLs."""

    def __init__(self, options: PeerOptions) -> None:
        """Read the file of authorities, if there is one.

        Raises:
            OSError: it cannot be read, or has no certificates.
        """
        self._is_plain_allowed = options.is_plain_allowed
        self._context: ssl.SSLContext | None = None
        if options.ca is not None:
            self._context = ssl.create_default_context(cafile=options.ca)

    async def __call__(self, url: str) -> "ClientChannel":
        """Connect to a node.

        Raises:
            ChannelClosed: it cannot be reached, or only without TLS.
        """
        parts = urlsplit(url)
        is_secure = parts.scheme == "https"
        if not is_secure and not self._is_plain_allowed and not is_near(parts.hostname or "?"):
            raise ChannelClosed(f"{url} has no TLS (see the settings node_url and peer_plain)")
        if is_secure and self._context is None:
            self._context = ssl.create_default_context()
        place = f"{'wss' if is_secure else 'ws'}://{parts.netloc}{parts.path.rstrip('/')}{PEER_PATH}"
        try:
            connection = await connect(
                place,
                ssl=self._context if is_secure else None,
                compression=None,
                max_size=MAX_FRAME,
                open_timeout=CONNECT_SECONDS,
                ping_interval=PING_SECONDS,
                ping_timeout=PONG_SECONDS,
                close_timeout=1,
                proxy=None,
            )
        except InvalidStatus as error:
            raise ChannelClosed(f"{url} answers with status {error.response.status_code}") from None
        except (OSError, WebSocketException) as error:
            raise ChannelClosed(f"{url}: {str(error) or 'no answer'}") from None
        return ClientChannel(connection)


class ClientChannel:
    """The calling side of a WebSocket as a channel."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    async def receive(self) -> bytes:
        """Return the next message; see `Channel`."""
        try:
            return await self._connection.recv(decode=False)
        except ConnectionClosed as error:
            raise ChannelClosed(_explain(error)) from None

    async def send(self, message: bytes) -> None:
        """Send a message; see `Channel`."""
        try:
            await self._connection.send(message)
        except ConnectionClosed as error:
            raise ChannelClosed(_explain(error)) from None

    async def close(self, code: int, reason: str) -> None:
        """Close the connection."""
        with suppress(OSError, WebSocketException):
            await self._connection.close(code, reason)

    def trust(self) -> None:
        """Do nothing: we chose whom to call."""


def _explain(error: ConnectionClosed) -> str:
    if error.rcvd is None:
        return "the connection was lost"
    return f"it closed the connection: {error.rcvd.reason or error.rcvd.code}"
