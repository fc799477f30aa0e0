"""The URIs of files, and the paths that they mean. Pure: nothing here looks at a disk."""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote_from_bytes, unquote_to_bytes

from agenthost.errors import InvalidValue, ResourceNotFound
from agenthost.wire.ahp.common import URI
from agenthost.wire.mismatch import quote

__all__ = ["Parts", "Target", "belongs_to_git", "is_beneath", "parts_of", "path_of", "target_of", "uri_of"]

GIT = ".git"

Parts: TypeAlias = tuple[str, ...]
"""The names that an absolute path is made of, from the top; none means the top itself."""

DEEPEST = 200
"""How many names a path may have: each is a descriptor while the path is walked."""

# What RFC 3986 lets stand in a segment of a path as it is.
_SAFE = "!$&'()*+,;=:@"

# With no machine or this one; two slashes always begin the name of a machine.
_FILE = re.compile(r"file:(?://(?:localhost)?(?=/)|(?!//))(/[^?#]*)", re.IGNORECASE)
_NO_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class Target:
    """A file or folder that a peer named.

    Attributes:
        uri: how the peer named it.
        path: where that is, if no link leads elsewhere.
        at: the path of the URI in the peer's message, for errors.
    """

    uri: URI
    path: Parts
    at: str = "$.uri"


def target_of(uri: URI, at: str = "$.uri") -> Target:
    """Read the URI of a file.

    Dot segments are taken out as RFC 3986 says, escaped ones too, before anything is looked up. A name may
    have bytes that are no UTF-8: they travel escaped, and become what Python makes of such names.

    Raises:
        InvalidValue: it is a `file:` URI, but a broken one.
        ResourceNotFound: it has another scheme.
    """
    if not uri[:5].lower() == "file:":
        raise ResourceNotFound(uri)
    match = _FILE.fullmatch(uri)
    if match is None or _NO_ESCAPE.search(uri):
        raise InvalidValue(at, "a URI like file:///folder/name, of this machine", quote(uri))
    names = [_name(segment, uri, at) for segment in match[1].split("/")]
    path = parts_of(names)
    if len(path) > DEEPEST:
        raise InvalidValue(at, f"a path of at most {DEEPEST} names", f"one of {len(path)}")
    return Target(uri, path, at)


def _name(segment: str, uri: URI, at: str) -> str:
    try:
        name = unquote_to_bytes(segment)
    except UnicodeEncodeError:
        raise InvalidValue(at, "a URI of whole characters", quote(uri)) from None
    if b"/" in name or b"\0" in name:
        raise InvalidValue(at, "names without a slash or a null byte in them", quote(uri))
    return os.fsdecode(name)


def parts_of(names: Iterable[str]) -> Parts:
    """Give the path without empty names and dots; above the top there is nothing."""
    parts: list[str] = []
    for name in names:
        if name == "..":
            del parts[-1:]
        elif name not in ("", "."):
            parts.append(name)
    return tuple(parts)


def path_of(parts: Sequence[str]) -> Path:
    """Give the path as other parts of the host use it."""
    return Path("/", *parts)


def uri_of(path: Sequence[str] | Path) -> URI:
    """Give the URI of a file or folder."""
    names = path.parts[1:] if isinstance(path, Path) else path
    return "file:///" + "/".join(quote_from_bytes(os.fsencode(name), _SAFE) for name in names)


def is_beneath(path: Parts, top: Parts) -> bool:
    """Tell whether a path is this folder, or in it."""
    return path[: len(top)] == top


def belongs_to_git(path: Parts) -> bool:
    """Tell whether this is a folder of git's own, or in one; in any case, as some file systems see it."""
    return any(name.lower() == GIT for name in path)
