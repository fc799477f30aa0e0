"""Resolves URIs: the real place of the target, its kind, its size, its times and its etag."""

import os
import stat
from datetime import UTC, datetime

from agenthost.host.files.etags import settled_etag
from agenthost.host.files.jail import Place
from agenthost.host.files.params import ResolveResult
from agenthost.host.files.reader import guess_content_type
from agenthost.host.files.uris import uri_of

__all__ = ["describe"]


def describe(place: Place) -> ResolveResult:
    """Describe what is at a place. A link there is described as a link.

    Raises:
        ResourceNotFound: nothing is there.
    """
    status = place.require_status()
    # A URI without links stays as the peer wrote it.
    uri = place.target.uri if place.path == place.target.path else uri_of(place.path)
    found: ResolveResult = {"uri": uri, "type": "file"}
    _add_times(found, status)
    if stat.S_ISLNK(status.st_mode):
        found["type"] = "symlink"
    elif stat.S_ISDIR(status.st_mode):
        found["type"] = "directory"
    else:
        found["size"] = status.st_size
        if (kind := guess_content_type(place.name)) is not None:
            found["contentType"] = kind
    if stat.S_ISREG(status.st_mode) and (etag := settled_etag(place)) is not None:
        found["etag"] = etag
    return found


def _add_times(found: ResolveResult, status: os.stat_result) -> None:
    """Add when it was changed, and when it was made.

    Not every system says when a file was made. Without that, it is the earliest time that is known.
    """
    born = getattr(status, "st_birthtime", None)
    made_ns = min(status.st_ctime_ns, status.st_mtime_ns) if born is None else int(born * 1_000_000_000)
    if (mtime := _iso(status.st_mtime_ns)) is not None:
        found["mtime"] = mtime
    if (ctime := _iso(made_ns)) is not None:
        found["ctime"] = ctime


def _iso(nanoseconds: int) -> str | None:
    """Return a time as ISO 8601; `None` if it is out of range: anybody can set it."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    try:
        time = datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest // 1_000)
    except (OverflowError, ValueError, OSError):
        return None
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
