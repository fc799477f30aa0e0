"""Whether a session may have another chat, and which working directories a chat may have."""

from collections.abc import Sequence
from typing import Any

from agenthost.core.chats import is_task
from agenthost.core.conversation import Conversation
from agenthost.core.decisions.refusal import Dispatch, Refused
from agenthost.errors import HostError, InvalidValue, SessionNotReady, TooManyChats, TurnInProgress
from agenthost.wire.ahp.chat import ChatSource, ChatState
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.error_messages import quote

__all__ = [
    "check_destination",
    "check_disposable",
    "check_move",
    "check_new_chat",
    "working_directory_removed",
    "working_directory_set",
]


def check_new_chat(
    session: SessionState,
    folders: Sequence[URI],
    *,
    takes_chats: bool,
    limit: int,
    lacks: HostError | None = None,
    source: ChatSource | None = None,
) -> None:
    """Refuse another chat of a session. `lacks` is why whoever asks may not use its agent.

    Raises:
        HostError: why not.
    """
    if lacks is not None:
        raise lacks
    # O1: such an agent does not advertise `multipleChats`.
    if not takes_chats:
        raise InvalidValue("$.channel", "a session that may have several chats", quote(session["provider"]))
    if session["lifecycle"] != "ready":
        raise SessionNotReady(session["lifecycle"])
    # Subagents have limits of their own, and their chats are continued by their own agents.
    chats = [chat["resource"] for chat in session["chats"] if not is_task(chat)]
    if session.get("defaultChat") not in chats:
        raise InvalidValue("$.channel", "a session that is not a subagent's", quote(session["provider"]))
    if len(chats) >= limit:
        raise TooManyChats(limit)
    if source is not None and source["chat"] not in chats:
        raise InvalidValue("$.source.chat", "a chat of the session, not of a subagent", quote(source["chat"]))
    known = session.get("workingDirectories", [])
    for place, folder in enumerate(folders):
        if folder not in known:
            path = f"$.workingDirectories[{place}]"
            raise InvalidValue(path, "a working directory of the session", quote(folder))


def check_disposable(session: SessionState, chat: URI, what: str) -> None:
    """Refuse to remove or move the default chat of a session: it stays as long as the session does.

    Raises:
        InvalidValue: it is the default chat; `what` is what was to happen to it.
    """
    if session.get("defaultChat") == chat:
        raise InvalidValue("$.channel", f"a chat that can be {what}, not the default chat", quote(chat))


def check_move(session: SessionState, chat: ChatState, moved: Sequence[ChatState]) -> None:
    """Refuse to move a chat of a session; `moved` are that chat and those of its subagents, which go with it.

    Raises:
        HostError: why not.
    """
    uri = chat["resource"]
    check_disposable(session, uri, "moved")
    if is_task(chat):
        raise InvalidValue("$.channel", "a chat that can be moved, not a subagent's", quote(uri))
    for one in moved:
        if "activeTurn" in one:
            raise TurnInProgress(one["activeTurn"]["id"])


def check_destination(
    session: SessionState,
    chat: ChatState,
    after: URI | None,
    *,
    provider: str,
    is_of_owner: bool,
    limit: int,
) -> None:
    """Refuse a session that a chat moves to, and the chat that it shall stand after.

    `provider` is the agent of the session that it is in. `is_of_owner`: both sessions have the same owner.

    Raises:
        HostError: why not.
    """
    there = [one["resource"] for one in session["chats"]]
    own = [one["resource"] for one in session["chats"] if not is_task(one)]
    if not is_of_owner or session["provider"] != provider or session.get("defaultChat") not in own:
        found = quote(session["provider"])
        raise InvalidValue("$.destination.session", f"a session of its owner and of {quote(provider)}", found)
    if session["lifecycle"] != "ready":
        raise SessionNotReady(session["lifecycle"])
    if after is not None and after not in there:
        raise InvalidValue("$.destination.after", "a chat of that session", quote(after))
    if after == chat["resource"]:
        raise InvalidValue("$.destination.after", "another chat", quote(after))
    # Within its own session, a move only changes the order.
    if chat["resource"] not in there and len(own) >= limit:
        raise TooManyChats(limit)
    known = session.get("workingDirectories", [])
    for folder in chat.get("workingDirectories", []):
        if folder not in known:
            expected = "a session with the working directories of the chat"
            raise InvalidValue("$.destination.session", expected, f"one without {quote(folder)}")


def working_directory_set(conversation: Conversation, action: Any, _by: Dispatch) -> None:
    """D2: a chat works in directories of its session."""
    if action["directory"] not in conversation.session.get("workingDirectories", []):
        raise Refused(f"{quote(action['directory'])} is not a working directory of the session")


def working_directory_removed(conversation: Conversation, action: Any, _by: Dispatch) -> None:
    """Refuse a directory that the chat does not have."""
    if action["directory"] not in conversation.chat.get("workingDirectories", []):
        raise Refused(f"{quote(action['directory'])} is not a working directory of the chat")
