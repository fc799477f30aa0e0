"""Addresses: how people name a server, and where it serves each protocol. Knows no protocol.

A server is named by `HOST:PORT` or by a URL of either protocol, with or without its path. Without a name it
is the one in `AGENTHOST_URL`, or else the one that `agenthost serve` starts on this machine.
"""

import os
import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from agenthost.locations import find_token

__all__ = ["DEFAULT_SERVER", "VARIABLE", "Address", "read_address"]

VARIABLE = "AGENTHOST_URL"
"""The environment variable that names the server."""

DEFAULT_SERVER = "http://127.0.0.1:8642"
"""Where `agenthost serve` listens by default."""

EXPECTED = f"expected HOST:PORT, or a URL such as {DEFAULT_SERVER} or ws://127.0.0.1:8642/ahp"

_SCHEMES = {"http": "http", "ws": "http", "https": "https", "wss": "https"}
_HOST_AND_PORT = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/?#@\[\]]+):[0-9]+(/|\Z)")
_PROTOCOL = re.compile(r"/(aap(/v[0-9]+)?|ahp)\Z")
"""The end of a path at which agenthost serves a protocol."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is.

    Attributes:
        origin: scheme (`http` or `https`), host and port.
        path: what follows, without a trailing `/`; empty if only the server is named.
        query: what follows the `?`, such as a token.
    """

    origin: str
    path: str = ""
    query: str = ""

    def __str__(self) -> str:
        return self.origin + self.path + (self.query and f"?{self.query}")

    @property
    def aap(self) -> str:
        """The base URL of AAP. If only the server is named, AAP may be at its root or at `/aap`.

        Raises:
            ValueError: there is a query, which a base URL cannot have.
        """
        if self.query:
            raise ValueError(f"{self.origin + self.path!r} has to be the base URL alone, without ?")
        is_ahp = self.path.endswith("/ahp")
        return self.origin + (self.path.removesuffix("/ahp") + "/aap" if is_ahp else self.path)

    @property
    def ahp(self) -> str:
        """The URL of AHP's WebSocket: at `/ahp`, unless the path is of another kind of host."""
        is_ours = not self.path or _PROTOCOL.search(self.path)
        path = _PROTOCOL.sub("", self.path) + "/ahp" if is_ours else self.path
        return "ws" + str(Address(self.origin, path, self.query)).removeprefix("http")

    @property
    def port(self) -> int:
        """The port, explicit or the scheme's default."""
        parts = urlsplit(self.origin)
        return parts.port or (443 if parts.scheme == "https" else 80)

    @property
    def is_local(self) -> bool:
        """Whether the server is on this machine, so that no proxy leads to it."""
        host = urlsplit(self.origin).hostname or ""
        try:
            return ip_address(host).is_loopback
        except ValueError:
            return host == "localhost" or host.endswith(".localhost")

    def find_token(self) -> str | None:
        """Return the token of this user's own server at this address; None if none runs there."""
        if not self.is_local or self.query or not self.origin.startswith("http:"):
            return None
        return find_token(urlsplit(self.origin).hostname or "", self.port)


def read_address(text: str | None = None) -> Address:
    """Return the address that a name stands for; without a name, the default one.

    Raises:
        ValueError: the text names no server; the message says what was expected.
    """
    if text is not None:
        return _read(text, "")
    return _read(os.environ.get(VARIABLE) or DEFAULT_SERVER, f"{VARIABLE}: ")


def _read(text: str, source: str) -> Address:
    parts = _split(text)
    if parts is None:
        raise ValueError(f"{source}{EXPECTED}, found {text!r}")
    if parts.username is not None or parts.password is not None:
        raise ValueError(f"{source}a URL must not contain a password: pass the key separately")
    if parts.fragment:
        raise ValueError(f"{source}{text!r} is not the URL of a server: it must not have a #")
    return Address(f"{_SCHEMES[parts.scheme]}://{parts.netloc}", parts.path.rstrip("/"), parts.query)


def _split(text: str) -> SplitResult | None:
    """Split a URL; None if it is not one that a server can have."""
    url = f"http://{text}" if _HOST_AND_PORT.match(text) else text
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:  # the port is not a number, or a bracket is not closed
        return None
    return parts if is_usable and not re.search(r"[\s\x00-\x1f\x7f]", text) else None
