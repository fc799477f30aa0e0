"""Changesets: what a session offers, the states of their channels, and how one state becomes another.

The changeset of a session is at `<session>/changeset/session`, that of a turn at
`<session>/changeset/turn/<turn>`. In place of the session there may be one of its chats.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from agenthost.core import actions
from agenthost.core.session_meta import DIFFS
from agenthost.wire.ahp.actions import ChangesetAction
from agenthost.wire.ahp.changeset import Changeset, ChangesetFile, ChangesetState
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.session import SessionState

__all__ = [
    "MAX_FILES",
    "OFFERING",
    "ChangesetName",
    "changeset_actions",
    "changeset_state",
    "has_edits",
    "offered_changesets",
    "split_changeset_uri",
    "to_offer",
]

MARK = "/changeset/"
"""What separates the URI of a session or chat from the rest."""

OF_SESSION = "session"
OF_TURN = "turn/"

MAX_FILES = 1_000
"""How many files a changeset lists."""

MAX_STEPS = 32
"""More changes at once are told as one list of all files."""

OFFERING = frozenset({"chat/toolCallComplete", "chat/turnStarted"})
"""The actions with which a session may begin to offer changesets."""


class ChangesetName(NamedTuple):
    """Which changeset a URI names.

    Attributes:
        owner: the URI of the session or chat.
        turn: the id of the turn, as it is written in the URI; `None` for the whole session.
    """

    owner: URI
    turn: str | None = None


def offered_changesets(uri: URI) -> list[Changeset]:
    """Return the changesets that a session offers once files were changed in it."""
    return [
        {"label": "Session Changes", "uriTemplate": f"{uri}{MARK}{OF_SESSION}", "changeKind": "session"},
        {"label": "Turn Changes", "uriTemplate": f"{uri}{MARK}{OF_TURN}{{turnId}}", "changeKind": "turn"},
    ]


def split_changeset_uri(uri: URI) -> ChangesetName | None:
    """Return which changeset a URI names; `None` if it is not the URI of one."""
    owner, mark, rest = uri.rpartition(MARK)
    if not mark or not owner:
        return None
    if rest == OF_SESSION:
        return ChangesetName(owner)
    turn = rest.removeprefix(OF_TURN)
    if turn == rest or not turn:
        return None
    return ChangesetName(owner, turn)


def to_offer(session: SessionState, kind: str, action: Any) -> bool:
    """Return whether a session that offers no changesets yet has them with this action of a chat."""
    if kind == "chat/toolCallComplete":
        return has_edits(action["result"].get("content", ()))
    return kind == "chat/turnStarted" and bool(session.get("_meta", {}).get(DIFFS))


def has_edits(content: Sequence[Any]) -> bool:
    """Return whether the result of a tool says that files were changed."""
    return any(block["type"] == "fileEdit" for block in content)


def changeset_state(files: Sequence[ChangesetFile]) -> ChangesetState:
    """Return the state of a changeset with these files."""
    if len(files) <= MAX_FILES:
        return {"status": "ready", "files": list(files)}
    message = f"{len(files)} files were changed; the first {MAX_FILES} are listed"
    return {
        "status": "error",
        "error": {"errorType": "tooManyFiles", "message": message},
        "files": list(files[:MAX_FILES]),
    }


def changeset_actions(before: ChangesetState, after: ChangesetState) -> list[ChangesetAction]:
    """Return the actions that lead from one state to another."""
    found: list[ChangesetAction] = []
    if (before["status"], before.get("error")) != (after["status"], after.get("error")):
        found.append(actions.changeset_status_changed(after["status"], after.get("error")))
    old = {file["id"]: file for file in before["files"]}
    new = {file["id"]: file for file in after["files"]}
    gone = [name for name in old if name not in new]
    changed = [file for name, file in new.items() if file != old.get(name)]
    # What stays keeps its place, and what is new comes last: else the order would be another one.
    order = [*(name for name in old if name in new), *(name for name in new if name not in old)]
    if order != list(new) or len(gone) + len(changed) > MAX_STEPS:
        return [*found, actions.changeset_content_changed(after["files"])]
    found += map(actions.changeset_file_removed, gone)
    found += map(actions.changeset_file_set, changed)
    return found
