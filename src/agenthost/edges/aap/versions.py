"""Versions: what differs between AAP 1, 2 and 3, as one description each. All are served by the same code.

Versions 1 and 2 are put into the words of 3 on the way in, and back on the way out.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agenthost.errors import HostError, InvalidValue
from agenthost.wire.aap import v1, v2, v3
from agenthost.wire.json import Json
from agenthost.wire.shape import Shape

__all__ = ["NEWEST", "VERSIONS", "Version"]


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class Version:
    """One version of the protocol.

    Attributes:
        number: which.
        one: the path of one session, below the base URL.
        turns: where turns are posted.
        turn: the shape of that body, and the way to version 3.
        create: the shape of the body that opens a session.
        opens_with_turn: whether that runs the first turn too.
        has_history: whether the history has a path of its own.
        schema_key: where a tool has its schema.
        meta, page, session: the way of an answer from version 3.
    """

    number: int
    one: str
    turns: str
    turn: Shape[Any]
    turn_to_v3: Callable[[Any], Any]
    create: Shape[Any]
    opens_with_turn: bool
    has_history: bool
    schema_key: str
    meta: Callable[[Any], Json]
    page: Callable[[Any], Json]
    session: Callable[[Any], Json]

    def told(self, error: HostError) -> HostError:
        """Give an error as this version tells it: it calls some fields by other names."""
        if not isinstance(error, InvalidValue):
            return error
        path = _SCHEMA.sub(rf"\1.{self.schema_key}", error.path)
        return InvalidValue(path, error.expected, error.found)


_SCHEMA = re.compile(r"^(\$\.tools\[\d+\])\.parameters\b")

VERSIONS = (
    Version(
        number=1,
        one="/session/{id}",
        turns="/session/{id}",
        turn=v1.POST_SESSION,
        turn_to_v3=v1.turn_to_v3,
        create=v1.PUT_SESSION,
        opens_with_turn=True,
        has_history=False,
        schema_key="inputSchema",
        meta=v1.meta_from_v3,
        page=v1.sessions_from_v3,
        session=v1.session_from_v3,
    ),
    Version(
        number=2,
        one="/session/{id}",
        turns="/session/{id}",
        turn=v2.POST_SESSION,
        turn_to_v3=v2.turn_to_v3,
        create=v2.PUT_SESSION,
        opens_with_turn=True,
        has_history=True,
        schema_key="inputSchema",
        meta=v2.meta_from_v3,
        page=v2.sessions_from_v3,
        session=v2.session_from_v3,
    ),
    Version(
        number=3,
        one="/sessions/{id}",
        turns="/sessions/{id}/turns",
        turn=v3.POST_TURN,
        turn_to_v3=_same,
        create=v3.POST_SESSIONS,
        opens_with_turn=False,
        has_history=True,
        schema_key="parameters",
        meta=_same,
        page=_same,
        session=_same,
    ),
)

NEWEST = VERSIONS[-1]
