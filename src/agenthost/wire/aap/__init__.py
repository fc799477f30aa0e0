"""The Agent Application Protocol: its types by noun, and each version as a whole.

`agent`, `tool`, `message`, `session` and `event` define version 3, which the rest of agenthost uses, and `v3`
collects it. `v1` and `v2` define what differs there, and convert to version 3 and back; `legacy` has what
those two share. Paths, headers and status codes belong to the edge.
"""

from typing import TypedDict

from agenthost.wire.shape import Shape

__all__ = ["VERSIONED", "Versioned"]


class Versioned(TypedDict):
    """The part of a server's description that every version has: enough to choose how to read the rest."""

    version: float


VERSIONED = Shape[Versioned](Versioned)
"""Reads `GET /meta` of a server whose version is not known yet."""
