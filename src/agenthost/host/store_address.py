"""The address of a store: a URL of PostgreSQL, read once, with its password kept apart. Needs no driver.

The driver reads the standard variables and files itself: `PGPASSWORD`, `PGPASSFILE`, `PGSSLMODE` and others.
"""

import os
import re
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from agenthost.errors import WrongAddress
from agenthost.logs import MASK, hide

__all__ = ["DEFAULT_SCHEMA", "EXPECTED", "StoreAddress", "is_near", "masked_url", "parse_address"]

DEFAULT_SCHEMA = "agenthost"

EXPECTED = "a URL such as postgresql://agenthost@db.example/agents"

_SCHEMES = ("postgresql", "postgres")
_SCHEMA = re.compile(r"(?!pg_)[a-z_][a-z0-9_]{0,62}")
_PASSWORD = re.compile(r"(?i)((?:^|[?&])(?:password|passfile|sslpassword)=)[^&#\s]*")


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """Where a store is.

    Attributes:
        shown: the URL for people, without a password.
        dsn: the URL for the driver, without a password and a schema.
        schema: the schema with the tables.
        password: the password if it is in the URL, where others may see it; else the driver looks for it.
        is_near: whether the server is on this machine, so that TLS is not required.
    """

    shown: str
    dsn: str = field(repr=False)
    schema: str
    password: str | None = field(repr=False)
    is_near: bool


def masked_url(text: str) -> str:
    """Return a URL, or what was meant to be one, without the password in it."""
    scheme, found, rest = text.partition("://") if "://" in text else ("", "", text)
    netloc, at, tail = rest.rpartition("@")
    if at:
        user, colon, _ = netloc.partition(":")
        rest = f"{user}{colon}{MASK if colon else ''}@{tail}"
    return _PASSWORD.sub(rf"\1{MASK}", f"{scheme}{found}{rest}")


def parse_address(text: str) -> StoreAddress:
    """Read the URL of a store.

    Raises:
        WrongAddress: it is none; the sentence does not repeat the password.
    """
    try:
        parts = urlsplit(text)
        port = parts.port  # raises for what is no number
        options = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        raise _refused(text, "it cannot be read") from None
    if parts.scheme not in _SCHEMES:
        raise _refused(text, "it does not begin with postgresql://")
    if not parts.path.strip("/") and not any(name in ("dbname", "database") for name, _ in options):
        raise _refused(text, "it names no database")
    given = dict(options)
    schema = given.pop("schema", DEFAULT_SCHEMA)
    if not _SCHEMA.fullmatch(schema):
        raise _refused(text, f"{schema!r:.80} is no name of a schema: small letters, digits and _")
    password = given.pop("password", None) or (None if parts.password is None else unquote(parts.password))
    if password:
        hide(password)
    return StoreAddress(
        shown=masked_url(text),
        dsn=_without_password(parts, port, given),
        schema=schema,
        password=password or None,
        is_near=is_near(parts.hostname or given.get("host") or os.environ.get("PGHOST") or ""),
    )


def _refused(text: str, why: str) -> WrongAddress:
    return WrongAddress(f"expected {EXPECTED}, found {masked_url(text)!r:.200}; {why}")


def _without_password(parts: SplitResult, port: int | None, options: dict[str, str]) -> str:
    host = parts.hostname or ""
    place = f"[{host}]" if ":" in host else host
    user = f"{parts.username}@" if parts.username else ""
    netloc = f"{user}{place}" + (f":{port}" if port else "")
    return urlunsplit(("postgresql", netloc, parts.path or "/", urlencode(options, quote_via=quote), ""))


def is_near(host: str) -> bool:
    """Return whether a host is this machine: a socket, or the loopback interface."""
    if not host or host.startswith(("/", "@")) or host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
