"""Random values of any wire annotation, fast: for logs by the thousand, where nothing has to be shrunk.

Ids come from a small pool, so that actions find what they are about. `strategies` is for properties.
"""

from functools import cache
from random import Random
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

from agenthost.wire.annotations import ByKey, is_record, is_union, record_fields
from logs import IDS as NAMED

__all__ = ["Chance"]

IDS = NAMED | {"order"}
TIMES = ("startedAt", "modifiedAt")
MOMENTS = ("2026-01-01T00:00:00.000Z", "2026-12-31T23:59:59.999Z", "soon")
POOL = ("a", "b")
WORDS = ("", "one", "zwei", "três\n", "…🙂")


_fields = cache(record_fields)


class Chance:
    """Draws values; the same number gives the same ones."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)  # noqa: S311 - chance, not a secret

    def value(self, kind: Any, depth: int = 4) -> Any:
        """Draw a value of an annotation."""
        origin = get_origin(kind)
        if origin is Annotated:
            union, mark = get_args(kind)
            return self.value(mark.members[-1][1] if isinstance(mark, ByKey) else union, depth)
        if is_union(kind):
            return self.value(self.random.choice(get_args(kind)), depth)
        if origin is Literal:
            return self.random.choice(get_args(kind))
        if origin is list:
            return [self.value(get_args(kind)[0], depth - 1) for _ in range(self._size(depth))]
        if origin is dict:
            pairs = range(self._size(depth))
            return {self.random.choice(POOL): self.value(get_args(kind)[1], depth - 1) for _ in pairs}
        return self._record(kind, depth) if is_record(kind) else self._plain(kind)

    def _size(self, depth: int) -> int:
        return self.random.randrange(4) if depth > 0 else 0

    def _record(self, kind: Any, depth: int) -> dict[str, Any]:
        made = {}
        for key, (hint, is_needed) in _fields(kind).items():
            if is_needed or (depth > 0 and self.random.random() < 0.6):
                made[key] = self._field(key, hint, depth - 1)
        if self.random.random() < 0.1:
            made["x-unknown"] = self.random.choice(WORDS)
        return {key: value for key, value in made.items() if value is not None}

    def _field(self, key: str, hint: Any, depth: int) -> Any:
        if key in TIMES and hint is str:
            return self.random.choice(MOMENTS)
        if key in IDS and hint is str:
            return self.random.choice(POOL)
        if key in IDS and hint == list[str]:
            return self.random.choices((*POOL, "unknown"), k=self.random.randrange(4))
        return self.value(hint, depth)

    def _plain(self, kind: Any) -> Any:
        if kind is bool:
            return self.random.random() < 0.5
        if kind in (int, float):
            return self.random.randrange(128)
        return None if kind is NoneType else self.random.choice(WORDS)
