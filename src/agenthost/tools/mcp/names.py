"""Unique names for the tools of a server that all model providers accept."""

import re
from collections.abc import Iterable
from hashlib import blake2s

MAX_LENGTH = 64
_INVALID = re.compile(r"[^A-Za-z0-9_-]")


def tool_names(prefix: str, theirs: Iterable[str]) -> dict[str, str]:
    """Return our name for each of theirs. It depends on other names only if two would clash."""
    ours: dict[str, str] = {}
    taken: set[str] = set()
    for name in dict.fromkeys(theirs):
        plain = _INVALID.sub("_", prefix + name)
        if len(plain) > MAX_LENGTH or plain in taken:
            mark = blake2s(name.encode(errors="replace"), digest_size=4).hexdigest()
            plain = f"{plain[: MAX_LENGTH - len(mark) - 1]}_{mark}"
        taken.add(plain)
        ours[name] = plain
    return ours
