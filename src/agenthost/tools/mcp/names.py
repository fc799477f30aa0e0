"""Names: what a server calls its tools, as names that every provider of models takes, no two alike."""

import re
from collections.abc import Iterable
from hashlib import blake2s

LONGEST = 64
_OTHERS = re.compile(r"[^A-Za-z0-9_-]")


def our_names(prefix: str, theirs: Iterable[str]) -> dict[str, str]:
    """Give our name for each of theirs. A name depends on no other, unless two would be the same."""
    ours: dict[str, str] = {}
    taken: set[str] = set()
    for name in dict.fromkeys(theirs):
        plain = _OTHERS.sub("_", prefix + name)
        if len(plain) > LONGEST or plain in taken:
            mark = blake2s(name.encode(errors="replace"), digest_size=4).hexdigest()
            plain = f"{plain[: LONGEST - len(mark) - 1]}_{mark}"
        taken.add(plain)
        ours[name] = plain
    return ours
