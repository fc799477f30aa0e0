"""Callers: who asks something of the host, as every protocol tells it. Knows no keys."""

import msgspec

from agenthost.core.decisions.grants import ALL_RIGHTS, Rights

__all__ = ["ANYBODY", "Caller"]


class Caller(msgspec.Struct, frozen=True, gc=False):
    """Who asks.

    Attributes:
        owner: whose sessions they see; `None` sees all.
        rights: what they may do.
    """

    owner: str | None = None
    rights: Rights = ALL_RIGHTS


ANYBODY = Caller()
"""Where nobody is asked who they are."""
