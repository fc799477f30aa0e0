"""Forks: the first state of a session or chat that starts with the turns of another, and is then independent.

Large content is not in the turns: they refer to it by URIs that start with their session's URI. In the fork
they start with the fork's URI, where copies of the content are.
"""

from collections.abc import Sequence

from agenthost.core.changed_files import all_edits
from agenthost.core.changesets import offered_changesets
from agenthost.core.chats import is_task
from agenthost.core.conversation import Conversation
from agenthost.core.derived import chat_summary
from agenthost.core.reducers.records import put
from agenthost.core.session_meta import DIFFS
from agenthost.errors import TurnInProgress, TurnNotFound
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.common import URI, Timestamp
from agenthost.wire.ahp.enums import SessionStatus
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.ahp.turn import Turn
from agenthost.wire.json import Json, JsonObject

__all__ = ["fork_conversation", "forked_turns", "split_content_uri"]

CONTENT = "/content/"
"""The separator between the URI of a session and the id of its content."""

NOT_OF_SESSION = ("creationError", "inputNeeded", "activity", "annotations", "changesets", "origin")
NOT_OF_CHAT = (
    "activeTurn",
    "steeringMessage",
    "queuedMessages",
    "draft",
    "activity",
    "turnsNextCursor",
    "backgroundWork",
    "canvases",
    "changes",
    "changesets",
)
"""Fields that are not copied: they belong to the moment, to a client, or to another channel."""


def fork_conversation(
    conversation: Conversation, turn_id: str, uri: URI, new_uri: URI, chat_uri: URI, now_iso: Timestamp
) -> Conversation:
    """Return the session at `new_uri` and its chat, with the turns up to and including this one.

    `uri` is that of the session it comes from; the new chat is at `chat_uri`.

    Raises:
        TurnInProgress: that turn has not ended yet.
        TurnNotFound: there is no such turn.
    """
    session, chat = conversation
    own: JsonObject = {"origin": None, "title": ""} if is_task(chat) else {}  # the fork is nobody's task
    new_chat: ChatState = put(
        chat,
        resource=chat_uri,
        status=SessionStatus.IDLE,
        modifiedAt=now_iso,
        turns=forked_turns(chat, turn_id, uri, new_uri),
        **_left_out(NOT_OF_CHAT, chat),
        **own,
    )
    return Conversation(_forked_session(session, new_chat, new_uri), new_chat)


def forked_turns(chat: ChatState, turn_id: str, uri: URI, new_uri: URI) -> list[Turn]:
    """Return the turns of a chat up to and including this one, with contents at `new_uri` instead of `uri`.

    Raises:
        TurnInProgress: that turn has not ended yet.
        TurnNotFound: there is no such turn.
    """
    turns = chat["turns"]
    place = next((place for place, turn in enumerate(turns) if turn["id"] == turn_id), None)
    if place is None:
        is_running = "activeTurn" in chat and chat["activeTurn"]["id"] == turn_id
        raise TurnInProgress(turn_id) if is_running else TurnNotFound(turn_id)
    # Turns keep their ids; only references to content change.
    kept: list[Turn] = _moved(turns[: place + 1], uri + CONTENT, new_uri + CONTENT)
    return kept


def _forked_session(session: SessionState, chat: ChatState, uri: URI) -> SessionState:
    meta = {key: value for key, value in session.get("_meta", {}).items() if key != DIFFS}
    left_out = _left_out(NOT_OF_SESSION, session)
    if "_meta" in session:
        left_out["_meta"] = meta or None
    if any(True for _ in all_edits(chat)):
        left_out["changesets"] = offered_changesets(uri)
    return put(
        session,
        lifecycle="creating",
        status=SessionStatus.IDLE,
        # Clients became active in the other session, and do not know this one.
        activeClients=[],
        chats=[chat_summary(chat)],
        defaultChat=chat["resource"],
        **left_out,
    )


def _left_out(keys: Sequence[str], state: Json) -> JsonObject:
    return dict.fromkeys(key for key in keys if key in state)


def split_content_uri(uri: URI) -> tuple[URI, str] | None:
    """Split the URI of content into the session's URI and the id; `None` if it is not such a URI.

    After the session's URI comes `/content/` with the id, or with the name of a file, `?` and the id. Clients
    choose the URIs of sessions, which may contain anything: the last `/content/` counts.
    """
    session, mark, rest = uri.rpartition(CONTENT)
    content_id = rest.rpartition("?")[2]
    return (session, content_id) if mark and content_id and "/" not in rest else None


def _moved(value: Json, old: str, new: str) -> Json:
    """Return the value with every content reference moved. A value without references is not copied."""
    if isinstance(value, list):
        items = [_moved(item, old, new) for item in value]
        return items if any(after is not item for after, item in zip(items, value, strict=True)) else value
    if not isinstance(value, dict):
        return value
    changed = {key: after for key, item in value.items() if (after := _moved(item, old, new)) is not item}
    uri = value.get("uri")
    if isinstance(uri, str) and uri.startswith(old) and "/" not in uri[len(old) :]:
        changed["uri"] = new + uri[len(old) :]
    return {**value, **changed} if changed else value
