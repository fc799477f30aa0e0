"""Callers: who uses the host, whatever the protocol. Knows no keys."""

import msgspec

from agenthost.core.decisions.grants import ALL_RIGHTS, Rights

__all__ = ["ANYBODY", "Caller"]


class Caller(msgspec.Struct, frozen=True, gc=False):
    """Who uses the host.

    Attributes:
        owner: whose sessions the caller sees; `None` sees all.
        rights: what the caller may do.
    """

    owner: str | None = None
    rights: Rights = ALL_RIGHTS


ANYBODY = Caller()
"""The caller if no authentication is needed."""
