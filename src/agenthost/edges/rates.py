"""Rate limits: a token bucket for each client, refilled at the configured rate.

A client that was idle may send as many requests at once as the rate allows in one unit of time. A full bucket
is the same as none, so only those of recently active clients are kept, within bounds.
"""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address

__all__ = ["Rates", "client_source"]

MAX_BUCKETS = 10_000
"""With more clients than this, those that were idle for longest start with a full bucket again."""

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


class Rates:
    """Limits the rate of requests."""

    def __init__(
        self, rate: str, *, clock: Callable[[], float] = time.monotonic, max_buckets: int = MAX_BUCKETS
    ) -> None:
        """Allow this rate: `100/s`, `6000/m`, `1000/h`, or `off`."""
        count, _, unit = rate.partition("/")
        self._size = 0.0 if rate == "off" else float(count)
        self._per_second = 0.0 if rate == "off" else self._size / _UNITS[unit]
        self._clock = clock
        self._max_buckets = max_buckets
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    @property
    def is_on(self) -> bool:
        """Whether there is any limit."""
        return self._size > 0

    def take(self, who: str) -> int:
        """Take a token. Return 0, or in how many seconds there will be one."""
        if not self.is_on:
            return 0
        now = self._clock()
        tokens, since = self._buckets.pop(who, (self._size, now))
        tokens = min(self._size, tokens + (now - since) * self._per_second)
        is_allowed = tokens >= 1
        self._buckets[who] = (tokens - 1 if is_allowed else tokens), now  # at the end: used most recently
        if len(self._buckets) > self._max_buckets:
            self._buckets.popitem(last=False)
        return 0 if is_allowed else max(1, math.ceil((1 - tokens) / self._per_second))


def client_source(address: str) -> str:
    """Return who is behind an address. For IPv6 it is the /64 network, which one client has all of."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:  # such as a Unix socket's
        return address
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return f"{IPv6Address(int(found) >> 64 << 64)}/64"
    return str(found)
