"""Versions: the differences between AAP 1, 2 and 3. All are served by the same code (M6).

Requests of versions 1 and 2 are translated to version 3, and responses back.
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
        number: its number.
        one: the path of one session, below the base URL.
        turns: the path that turns are posted to.
        turn: the type of the body of a turn; `turn_to_v3` translates it.
        create: the type of the body that creates a session.
        opens_with_turn: whether that body also starts the first turn (C2).
        has_history: whether the history has its own path.
        schema_key: the field of a tool that has its schema (M2).
        meta, page, session: translate a response from version 3.
    """

    number: int
    one: str
    turns: str
    turn: Shape[Any]
    turn_to_v3: Callable[[Any], Any] | None
    create: Shape[Any]
    opens_with_turn: bool
    has_history: bool
    schema_key: str
    meta: Callable[[Any], Json]
    page: Callable[[Any], Json]
    session: Callable[[Any], Json]

    def told(self, error: HostError) -> HostError:
        """Return an error with the field names of this version."""
        if not isinstance(error, InvalidValue):
            return error
        # M2: the path must name the field that the application sent.
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
        turn_to_v3=None,
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
