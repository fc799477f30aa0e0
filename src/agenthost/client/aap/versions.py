"""Versions: the differences between AAP 1, 2 and 3, as one description each.

The rest of the client speaks version 3. Requests are converted to the server's version here, and answers
back; a body of the wrong shape raises `InvalidValue`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import quote

from agenthost.wire import sse
from agenthost.wire.aap import legacy, v1, v2, v3
from agenthost.wire.json import Json

__all__ = ["VERSIONS", "Page", "Version"]

Page: TypeAlias = tuple[list[v3.SessionInfo | str], str | None]
"""Sessions, or only their ids, and the cursor of the next page."""


@dataclass(frozen=True, slots=True)
class Version:
    """One version of the protocol, as a client uses it.

    Attributes:
        number: the version.
        session_template: the path of a session, below the base URL.
        turns_template: the path that its turns are posted to.
        opens_with_turn: whether its first turn creates a session (C2).
        has_history: whether the history has a path of its own (L5).
        meta: decodes the description of a server.
        page: decodes a page of the list of sessions.
        session: decodes a session, with its history where that is part of it.
        answer: decodes a whole turn, and the id of the session if that turn created it (C3).
        event: decodes an event.
        turn: converts the request for a turn.
    """

    number: int
    session_template: str
    turns_template: str
    opens_with_turn: bool
    has_history: bool
    meta: Callable[[Json], v3.GetMetaResponse]
    page: Callable[[Json], Page]
    session: Callable[[Json], tuple[v3.SessionInfo, v3.History]]
    answer: Callable[[Json], tuple[v3.PostSessionTurnResponse, str | None]]
    event: Callable[[sse.SseEvent], Any]
    turn: Callable[[v3.PostSessionTurnRequest], Any]

    def path(self, session_id: str) -> str:
        """Return the path of a session."""
        return self.session_template.format(id=quote(session_id, safe=""))

    def turns_path(self, session_id: str) -> str:
        """Return the path that turns of a session are posted to."""
        return self.turns_template.format(id=quote(session_id, safe=""))


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
    answer = legacy.POST_SESSION_RESPONSE.take(body)
    return legacy.answer_to_v3(answer), answer.get("sessionId")


def _answer_3(body: Json) -> tuple[v3.PostSessionTurnResponse, str | None]:
    return v3.POST_TURN_RESPONSE.take(body), None


VERSIONS: dict[int, Version] = {
    1: Version(
        number=1,
        session_template="/session/{id}",
        turns_template="/session/{id}",
        opens_with_turn=True,
        has_history=False,
        meta=lambda body: v1.meta_to_v3(v1.GET_META_RESPONSE.take(body)),
        page=_page_1,
        session=_session_1,
        answer=_answer_older,
        event=legacy.decode_event,
        turn=legacy.turn_from_v3,
    ),
    2: Version(
        number=2,
        session_template="/session/{id}",
        turns_template="/session/{id}",
        opens_with_turn=True,
        has_history=True,
        meta=lambda body: v2.meta_to_v3(v2.GET_META_RESPONSE.take(body)),
        page=_page_2,
        session=_session_2,
        answer=_answer_older,
        event=legacy.decode_event,
        turn=legacy.turn_from_v3,
    ),
    3: Version(
        number=3,
        session_template="/sessions/{id}",
        turns_template="/sessions/{id}/turns",
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
