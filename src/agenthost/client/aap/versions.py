"""Versions: how AAP 1, 2 and 3 say the same things, as one description each.

The rest of the client speaks version 3. What goes out is put into the server's words here, and what comes
back into ours; a body that does not fit raises `InvalidValue`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import quote

from agenthost.wire import sse
from agenthost.wire.aap import older, v1, v2, v3
from agenthost.wire.json import Json

__all__ = ["VERSIONS", "Page", "Version"]

Page: TypeAlias = tuple[list[v3.SessionInfo | str], str | None]
"""Sessions, or only their ids, and what asks for the next page."""


@dataclass(frozen=True, slots=True)
class Version:
    """One version of the protocol, as a client uses it.

    Attributes:
        number: which.
        one: the path of a session, below the base URL.
        turns: where its turns are posted.
        opens_with_turn: whether a session is made by its first turn.
        has_history: whether the history has a path of its own.
        meta: reads the description of a server.
        page: reads a page of the list of sessions.
        session: reads one session, with its history where that is part of it.
        answer: reads a whole turn, and the id of the session if that turn made it.
        event: reads one event.
        turn: writes the request for a turn.
    """

    number: int
    one: str
    turns: str
    opens_with_turn: bool
    has_history: bool
    meta: Callable[[Json], v3.GetMetaResponse]
    page: Callable[[Json], Page]
    session: Callable[[Json], tuple[v3.SessionInfo, v3.History]]
    answer: Callable[[Json], tuple[v3.PostSessionTurnResponse, str | None]]
    event: Callable[[sse.SseEvent], Any]
    turn: Callable[[v3.PostSessionTurnRequest], Any]

    def path(self, session_id: str) -> str:
        """Give the path of a session."""
        return self.one.format(id=quote(session_id, safe=""))

    def turns_path(self, session_id: str) -> str:
        """Give the path that turns of a session are posted to."""
        return self.turns.format(id=quote(session_id, safe=""))


def _page_1(body: Json) -> Page:
    page = v1.GET_SESSIONS_RESPONSE.take(body)
    return [*page["sessions"]], v1.next_cursor(page)


def _page_2(body: Json) -> Page:
    return _page_3(v2.sessions_to_v3(v2.GET_SESSIONS_RESPONSE.take(body)))


def _page_3(body: Json) -> Page:
    page = v3.GET_SESSIONS_RESPONSE.take(body)
    return [*page["sessions"]], page.get("next")


def _session_1(body: Json) -> tuple[v3.SessionInfo, v3.History]:
    return v1.session_to_v3(v1.GET_SESSION_RESPONSE.take(body))


def _session_2(body: Json) -> tuple[v3.SessionInfo, v3.History]:
    return v2.session_to_v3(v2.GET_SESSION_RESPONSE.take(body)), {}


def _session_3(body: Json) -> tuple[v3.SessionInfo, v3.History]:
    return v3.GET_SESSION_RESPONSE.take(body), {}


def _answer_older(body: Json) -> tuple[v3.PostSessionTurnResponse, str | None]:
    answer = older.POST_SESSION_RESPONSE.take(body)
    return older.answer_to_v3(answer), answer.get("sessionId")


def _answer_3(body: Json) -> tuple[v3.PostSessionTurnResponse, str | None]:
    return v3.POST_TURN_RESPONSE.take(body), None


VERSIONS: dict[int, Version] = {
    1: Version(
        number=1,
        one="/session/{id}",
        turns="/session/{id}",
        opens_with_turn=True,
        has_history=False,
        meta=lambda body: v1.meta_to_v3(v1.GET_META_RESPONSE.take(body)),
        page=_page_1,
        session=_session_1,
        answer=_answer_older,
        event=older.decode_event,
        turn=older.turn_from_v3,
    ),
    2: Version(
        number=2,
        one="/session/{id}",
        turns="/session/{id}",
        opens_with_turn=True,
        has_history=True,
        meta=lambda body: v2.meta_to_v3(v2.GET_META_RESPONSE.take(body)),
        page=_page_2,
        session=_session_2,
        answer=_answer_older,
        event=older.decode_event,
        turn=older.turn_from_v3,
    ),
    3: Version(
        number=3,
        one="/sessions/{id}",
        turns="/sessions/{id}/turns",
        opens_with_turn=False,
        has_history=True,
        meta=v3.GET_META_RESPONSE.take,
        page=_page_3,
        session=_session_3,
        answer=_answer_3,
        event=v3.decode_event,
        turn=lambda body: body,
    ),
}
