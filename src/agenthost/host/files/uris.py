"""URIs of files, and the paths they stand for. Pure: does not access the disk."""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote_from_bytes, unquote_to_bytes

from agenthost.errors import InvalidValue, ResourceNotFound
from agenthost.wire.ahp.common import URI
from agenthost.wire.error_messages import quote

__all__ = [
    "Parts",
    "Target",
    "belongs_to_git",
    "is_beneath",
    "normalize",
    "parse_uri",
    "to_path",
    "uri_below",
    "uri_of",
]

GIT = ".git"

Parts: TypeAlias = tuple[str, ...]
"""The names of an absolute path, from the top. An empty tuple is the top itself."""

MAX_DEPTH = 200
"""How many names a path may have. Each is an open descriptor while the path is walked."""

# The characters that RFC 3986 allows unescaped in a path segment.
_SAFE = "!$&'()*+,;=:@"

# The authority is empty or this machine. Two slashes always start an authority.
_FILE = re.compile(r"file:(?://(?:localhost)?(?=/)|(?!//))(/[^?#]*)", re.IGNORECASE)
_NO_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class Target:
    """A file or folder that a peer named.

    Attributes:
        uri: the URI as the peer wrote it.
        path: its path, before links are resolved.
        at: where the URI is in the peer's message, for errors.
    """

    uri: URI
    path: Parts
    at: str = "$.uri"


def parse_uri(uri: URI, at: str = "$.uri") -> Target:
    """Parse the URI of a file.

    Dot segments are removed as in RFC 3986, escaped ones too, before anything is looked up. A name may have
    bytes that are not valid UTF-8: they are percent-encoded, and decoded with `os.fsdecode`.

    Raises:
        InvalidValue: it is a broken `file:` URI.
        ResourceNotFound: it has another scheme.
    """
    if not uri[:5].lower() == "file:":
        raise ResourceNotFound(uri)
    match = _FILE.fullmatch(uri)
    if match is None or _NO_ESCAPE.search(uri):
        raise InvalidValue(at, "a URI like file:///folder/name, of this machine", quote(uri))
    names = [_name(segment, uri, at) for segment in match[1].split("/")]
    path = normalize(names)
    if len(path) > MAX_DEPTH:
        raise InvalidValue(at, f"a path of at most {MAX_DEPTH} names", f"one of {len(path)}")
    return Target(uri, path, at)


def _name(segment: str, uri: URI, at: str) -> str:
    try:
        name = unquote_to_bytes(segment)
    except UnicodeEncodeError:
        raise InvalidValue(at, "a URI of whole characters", quote(uri)) from None
    if b"/" in name or b"\0" in name:
        raise InvalidValue(at, "names without a slash or a null byte in them", quote(uri))
    return os.fsdecode(name)


def normalize(names: Iterable[str]) -> Parts:
    """Return a path without empty names and dots. `..` at the top stays at the top."""
    parts: list[str] = []
    for name in names:
        if name == "..":
            del parts[-1:]
        elif name not in ("", "."):
            parts.append(name)
    return tuple(parts)


def to_path(parts: Sequence[str]) -> Path:
    """Return the path as a `Path`."""
    return Path("/", *parts)


def uri_of(path: Sequence[str] | Path) -> URI:
    """Return the URI of a file or folder."""
    names = path.parts[1:] if isinstance(path, Path) else path
    return "file:///" + "/".join(quote_from_bytes(os.fsencode(name), _SAFE) for name in names)


def uri_below(folder: URI, path: str) -> URI:
    """Return the URI of a path below the folder with this URI; that of the folder itself if it is empty."""
    if not path:
        return folder
    return f"{folder.removesuffix('/')}/{quote_from_bytes(os.fsencode(path), _SAFE + '/')}"


def is_beneath(path: Parts, top: Parts) -> bool:
    """Return whether a path is this folder or inside it."""
    return path[: len(top)] == top


def belongs_to_git(path: Parts) -> bool:
    """Return whether a path is a `.git` folder or inside one. Case is ignored, as in some file systems."""
    return any(name.lower() == GIT for name in path)
