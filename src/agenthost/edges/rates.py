"""Rates: how often somebody may ask. A bucket of tokens for each, which fills at the rate that is set.

Whoever was quiet may ask so often at once as the rate says for one unit of time. A bucket that is full again
is the same as none, so only those of the recently active are held, and no more than some thousands.
"""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address

__all__ = ["Rates", "source_of"]

MOST_BUCKETS = 10_000
"""With more than so many at the same time, whoever was quiet for longest begins with a full bucket again."""

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


class Rates:
    """Counts what each asks for."""

    def __init__(
        self, rate: str, *, clock: Callable[[], float] = time.monotonic, most: int = MOST_BUCKETS
    ) -> None:
        """Allow so much: `100/s`, `6000/m`, `1000/h`, or `off`."""
        count, _, unit = rate.partition("/")
        self._size = 0.0 if rate == "off" else float(count)
        self._per_second = 0.0 if rate == "off" else self._size / _UNITS[unit]
        self._clock = clock
        self._most = most
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    @property
    def is_on(self) -> bool:
        """Whether there is any limit."""
        return self._size > 0

    def take(self, who: str) -> int:
        """Take a token of somebody's bucket: 0, or in how many seconds there is one again."""
        if not self.is_on:
            return 0
        now = self._clock()
        tokens, since = self._buckets.pop(who, (self._size, now))
        tokens = min(self._size, tokens + (now - since) * self._per_second)
        is_allowed = tokens >= 1
        self._buckets[who] = (tokens - 1 if is_allowed else tokens), now  # at the end: used most recently
        if len(self._buckets) > self._most:
            self._buckets.popitem(last=False)
        return 0 if is_allowed else max(1, math.ceil((1 - tokens) / self._per_second))


def source_of(address: str) -> str:
    """Name who is behind an address. With IPv6 one network has more of them than could be counted."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:  # such as a Unix socket's
        return address
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return f"{IPv6Address(int(found) >> 64 << 64)}/64"
    return str(found)
