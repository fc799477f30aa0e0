"""The files that a session or a turn has changed: each once, from before its first edit to after its last.

Computed from the edits in the results of tool calls, so it is right after a restart, a fork, and when turns
are removed. What only the contents of files tell (are they the same again? how many lines differ?) the caller
answers.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from agenthost.core.queries import tool_calls
from agenthost.wire.ahp.changeset import ChangesetFile
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.tool import FileEdit, FileEditDiffStats, FileEditSide

__all__ = ["Compare", "Comparison", "all_edits", "changed_files", "has_turn", "turn_edits"]

CHANGED = frozenset({"completed", "pending-result-confirmation"})
"""The statuses of calls that have changed what their result says."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is known of two contents.

    Attributes:
        is_same: whether they are the same.
        counts: how many lines differ; `None` if one of them cannot be read.
    """

    is_same: bool
    counts: FileEditDiffStats | None


Compare: TypeAlias = Callable[[FileEditSide | None, FileEditSide | None], Comparison]
"""Compares a file before and after; `None` is a file that does not exist."""


def all_edits(chat: ChatState) -> Iterator[FileEdit]:
    """Return the edits of all turns of a chat, in order."""
    for turn in _turns(chat):
        yield from _edits_in(turn)


def turn_edits(chat: ChatState, turn_id: str) -> Iterator[FileEdit]:
    """Return the edits of one turn; none if there is no such turn."""
    for turn in _turns(chat):
        if turn["id"] == turn_id:
            yield from _edits_in(turn)


def has_turn(chat: ChatState, turn_id: str) -> bool:
    """Return whether a chat has this turn, ended or not."""
    return any(turn["id"] == turn_id for turn in _turns(chat))


def _turns(chat: ChatState) -> Iterator[Any]:
    yield from chat["turns"]
    if "activeTurn" in chat:
        yield chat["activeTurn"]


def _edits_in(turn: Any) -> Iterator[FileEdit]:
    for call in tool_calls(turn["responseParts"]):
        if call["status"] in CHANGED:
            content: Any = call.get("content", [])
            yield from (block for block in content if block["type"] == "fileEdit")


def changed_files(edits: Iterable[FileEdit], compare: Compare) -> list[ChangesetFile]:
    """Return what edits have changed together, in the order in which files were first touched.

    A file that is as it was is left out. A file has the URI that it has now, or had, as its id.
    """
    trail = _Trail()
    for edit in edits:
        trail.follow(edit)
    renamed = trail.renamed()
    files: list[ChangesetFile] = []
    for uri in trail.touched:
        before, after = trail.originals.get(uri), trail.current.get(uri)
        if before is None and uri in renamed:
            before = trail.originals[renamed[uri]]
        elif after is None and uri in renamed.values():
            continue  # it is listed where it is now
        entry = None if before is None and after is None else _file(before, after, trail.counts, compare)
        if entry is not None:
            files.append(entry)
    return files


class _Trail:
    """Where files came from and where they are, while edits are followed.

    Attributes:
        originals: files that existed before they were touched, as they were then.
        current: files that exist now, as they are.
        origins: of the latter, under which URI they existed before.
        touched: all of them, in order.
        counts: the lines that single edits changed, by the URIs of their contents.
    """

    def __init__(self) -> None:
        self.originals: dict[str, FileEditSide] = {}
        self.current: dict[str, FileEditSide] = {}
        self.origins: dict[str, str] = {}
        self.touched: dict[str, None] = {}
        self.counts: dict[tuple[str, str], FileEditDiffStats] = {}

    def follow(self, edit: FileEdit) -> None:
        """Take note of an edit."""
        before, after = edit.get("before"), edit.get("after")
        origin = None if before is None else self._leave(before)
        if after is not None:
            uri = after["uri"]
            self.touched.setdefault(uri)
            self.current[uri] = after
            self.origins.pop(uri, None)
            if origin is None and uri in self.originals and uri not in self.origins.values():
                origin = uri  # it was deleted, and is back
            if origin is not None:
                self.origins[uri] = origin
        contents = _contents(before, after)
        # Contents that are not kept by us may have the same URIs for several edits.
        self.counts[contents] = {} if contents in self.counts else edit.get("diff", {})

    def _leave(self, before: FileEditSide) -> str | None:
        """Take a file from where it is. Return where it was at first; `None` if it did not exist then."""
        uri = before["uri"]
        self.touched.setdefault(uri)
        if uri in self.current:
            del self.current[uri]
            return self.origins.pop(uri, None)
        self.originals.setdefault(uri, before)
        return uri

    def renamed(self) -> Mapping[str, str]:
        """Return the files that have another URI now, with the old one."""
        # A file that replaced another counts as a change of that one: each URI is listed once.
        return {
            new: old
            for new, old in self.origins.items()
            if new not in self.originals and old not in self.current
        }


def _contents(before: FileEditSide | None, after: FileEditSide | None) -> tuple[str, str]:
    return (before["content"]["uri"] if before else "", after["content"]["uri"] if after else "")


def _file(
    before: FileEditSide | None,
    after: FileEditSide | None,
    known: Mapping[tuple[str, str], FileEditDiffStats],
    compare: Compare,
) -> ChangesetFile | None:
    edit: FileEdit = {}
    if before is not None:
        edit["before"] = before
    if after is not None:
        edit["after"] = after
    counts = known.get(_contents(before, after), {})
    if not any(counts.values()):
        compared = compare(before, after)
        if compared.is_same and before is not None and after is not None and before["uri"] == after["uri"]:
            return None
        counts = compared.counts or counts
    if counts:
        edit["diff"] = counts
    shown = after or before
    return {"id": shown["uri"] if shown else "", "edit": edit}
