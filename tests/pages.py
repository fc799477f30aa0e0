"""Where in a SQLite file what is: each byte that means something, by the kind of its page and its table."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

__all__ = ["byte_kinds"]

_INTERIOR = {0x02: True, 0x05: True, 0x0A: False, 0x0D: False}
_FILE_HEADER = 100
_POINTERS_EVERY = 5
"""How many bytes of a pointer map each page has."""


def byte_kinds(path: Path) -> dict[str, list[int]]:
    """Return the places of all bytes in use behind the header of a file, by what they belong to.

    A kind is the name of a table or an index, and a part of its pages: `header`, `pointers`, `cells` or
    `overflow`. The write-ahead log has to be empty.
    """
    with closing(sqlite3.connect(path)) as connection:
        size = int(connection.execute("PRAGMA page_size").fetchone()[0])
        sql = "SELECT name, rootpage FROM sqlite_master WHERE rootpage > 0"
        roots = [("sqlite_master", 1), *connection.execute(sql).fetchall()]
    data = path.read_bytes()
    kinds: dict[str, list[int]] = {}
    seen: set[int] = set()
    for name, root in roots:
        for part, start, end in _tree(data, size, root, seen):
            kinds.setdefault(f"{name} {part}", []).extend(range(start, end))
    others = [page for page in range(1, len(data) // size + 1) if page not in seen]
    for page in others:  # of a file that can shrink, the second page says who points to whom
        part, length = (
            ("pointer map", _POINTERS_EVERY * len(data) // size) if page == 2 else ("overflow", size)
        )
        start = (page - 1) * size
        kinds.setdefault(part, []).extend(range(start, start + length))
    return kinds


def _tree(data: bytes, size: int, page: int, seen: set[int]) -> Iterator[tuple[str, int, int]]:
    """Yield the parts of a page and of all below it: what they are, and from where to where."""
    seen.add(page)
    start = (page - 1) * size
    begin = start + (_FILE_HEADER if page == 1 else 0)
    is_interior = _INTERIOR[data[begin]]
    length = 12 if is_interior else 8
    count = int.from_bytes(data[begin + 3 : begin + 5])
    content = int.from_bytes(data[begin + 5 : begin + 7]) or 65_536
    pointers = begin + length
    yield "header", begin, pointers
    yield "pointers", pointers, pointers + 2 * count
    yield "cells", start + content, start + size
    if not is_interior:
        return
    places = [int.from_bytes(data[place : place + 2]) for place in range(pointers, pointers + 2 * count, 2)]
    for place in [*(start + one for one in places), begin + 8]:
        yield from _tree(data, size, int.from_bytes(data[place : place + 4]), seen)
