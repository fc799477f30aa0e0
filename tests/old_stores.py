"""Stores that earlier versions of agenthost made, and what their clients saw (see `host/storage/stores`)."""

import json
import lzma
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from agenthost.host.storage.sqlite import FILE

__all__ = ["AGENTS", "VERSIONS", "select", "unpack"]

VERSIONS = range(1, 7)
"""Which versions of the tables there is a store of, and in which sessions have no chats yet."""

_STORES = Path(__file__).parent / "host" / "storage" / "stores"

AGENTS = _STORES / "agents.py"
"""The agents that their sessions belong to."""


def unpack(version: int, folder: Path) -> Any:
    """Put such a store into a folder. Return what its clients saw: `root`, `list` and `sessions` by URI."""
    (folder / FILE).write_bytes(lzma.decompress((_STORES / f"{version}.db.xz").read_bytes()))
    seen = json.loads(lzma.decompress((_STORES / f"{version}.json.xz").read_bytes()))
    if seen["key"] is not None:
        (folder / "secret.key").write_text(seen["key"])
        (folder / "secret.key").chmod(0o600)
    return seen


def select(folder: Path, sql: str) -> list[Any]:
    """Read from the tables of a store that is closed."""
    with closing(sqlite3.connect(folder / FILE)) as store:
        return store.execute(sql).fetchall()
