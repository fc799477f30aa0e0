"""Addresses: how people name a server, and where each protocol is on it. Knows no protocol.

A server is named by `HOST:PORT` or by a URL of either protocol, with or without its path. Who names none
means the one of `AGENTHOST_URL`, or else the one that `agenthost serve` starts on this machine.
"""

import os
import re
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from agenthost.whereabouts import find_token

__all__ = ["DEFAULT_SERVER", "VARIABLE", "Address", "read_address"]

VARIABLE = "AGENTHOST_URL"

DEFAULT_SERVER = "http://127.0.0.1:8642"
"""Where `agenthost serve` listens, unless it is told otherwise."""

EXPECTED = f"expected HOST:PORT, or a URL such as {DEFAULT_SERVER} or ws://127.0.0.1:8642/ahp"

_SCHEMES = {"http": "http", "ws": "http", "https": "https", "wss": "https"}
_HOST_AND_PORT = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/?#@\[\]]+):[0-9]+(/|\Z)")
_PROTOCOL = re.compile(r"/(aap(/v[0-9]+)?|ahp)\Z")
"""What a path ends with that agenthost serves a protocol at."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is.

    Attributes:
        origin: its scheme (`http` or `https`), host and port.
        path: what follows, without a `/` at its end; empty if only the server is named.
        query: what stands behind the `?`, such as a token.
    """

    origin: str
    path: str = ""
    query: str = ""

    def __str__(self) -> str:
        return self.origin + self.path + (self.query and f"?{self.query}")

    @property
    def aap(self) -> str:
        """The base URL of AAP. Of a server alone it is not known: it may be its root, or `/aap`.

        Raises:
            ValueError: there is a query, which a base URL cannot have.
        """
        if self.query:
            raise ValueError(f"{self.origin + self.path!r} has to be the base URL alone, without ?")
        is_ahp = self.path.endswith("/ahp")
        return self.origin + (self.path.removesuffix("/ahp") + "/aap" if is_ahp else self.path)

    @property
    def ahp(self) -> str:
        """The URL of AHP's WebSocket: `/ahp`, unless the path is that of another host."""
        is_ours = not self.path or _PROTOCOL.search(self.path)
        path = _PROTOCOL.sub("", self.path) + "/ahp" if is_ours else self.path
        return "ws" + str(Address(self.origin, path, self.query)).removeprefix("http")

    @property
    def port(self) -> int:
        """The port, whether it is written down or not."""
        parts = urlsplit(self.origin)
        return parts.port or (443 if parts.scheme == "https" else 80)

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine."""
        host = urlsplit(self.origin).hostname or ""
        return host in ("localhost", "::1") or host.startswith("127.")

    def find_token(self) -> str | None:
        """Return the token of the server of this user that listens there; None if it is no such server."""
        if not self.is_local or self.query or not self.origin.startswith("http:"):
            return None
        return find_token(urlsplit(self.origin).hostname or "", self.port)


def read_address(text: str | None = None) -> Address:
    """Return the address of a server as it was named; of none, the usual one.

    Raises:
        ValueError: it names no server; the sentence says what was expected.
    """
    if text is not None:
        return _read(text, "")
    return _read(os.environ.get(VARIABLE) or DEFAULT_SERVER, f"{VARIABLE}: ")


def _read(text: str, place: str) -> Address:
    parts = _split(text)
    if parts is None:
        raise ValueError(f"{place}{EXPECTED}, found {text!r}")
    if parts.username is not None or parts.password is not None:
        raise ValueError(f"{place}a URL must not hold a password: give the key by itself")
    if parts.fragment:
        raise ValueError(f"{place}{text!r} is no URL of a server: it must not have a #")
    return Address(f"{_SCHEMES[parts.scheme]}://{parts.netloc}", parts.path.rstrip("/"), parts.query)


def _split(text: str) -> SplitResult | None:
    """Take a URL apart; None if it is none, or one that no server has."""
    url = f"http://{text}" if _HOST_AND_PORT.match(text) else text
    try:
        parts = urlsplit(url)
        is_one = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:  # the port is no number, or a bracket is left open
        return None
    return parts if is_one and not re.search(r"[\s\x00-\x1f\x7f]", text) else None
