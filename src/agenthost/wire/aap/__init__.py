"""The Agent Application Protocol: its types by noun, and each version as a whole.

`agent`, `tool`, `message`, `session` and `event` hold version 3, which the rest of agenthost speaks.
`v3` gathers it; `v1` and `v2` hold what differs in theirs, and turn it into version 3 and back.
Knows no HTTP: paths, headers and status codes belong to the edge.
"""

from typing import TypedDict

from agenthost.wire.shape import Shape

__all__ = ["VERSIONED", "Versioned"]


class Versioned(TypedDict):
    """What the description of a server has in every version: enough to choose how to read the rest."""

    version: float


VERSIONED = Shape[Versioned](Versioned)
"""Reads `GET /meta` of a server whose version is not known yet."""
