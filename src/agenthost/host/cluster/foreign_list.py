"""Notices about the list of sessions, for what other nodes create, change and remove."""

import asyncio
import logging
from collections import OrderedDict
from typing import Any

from agenthost.errors import StorageError
from agenthost.host.sessions.list_notices import (
    MUTABLE,
    Added,
    Changed,
    ListNotices,
    Removed,
    summary_changes,
)
from agenthost.host.storage import SessionRow
from agenthost.host.storage.shared import Committed, SharedStorage
from agenthost.wire.ahp.session import SessionSummary
from agenthost.wire.json import JsonObject, decode_json

__all__ = ["ForeignList"]

log = logging.getLogger("agenthost.nodes")

PAUSE = 0.1
"""How long changes are collected, in seconds."""

MAX_KNOWN = 10_000
"""Of how many sessions the summary that was told last is remembered."""


class ForeignList:
    """Tells those who listen to the list of sessions what other nodes have done to it."""

    def __init__(self, storage: SharedStorage, notices: ListNotices) -> None:
        self._storage = storage
        self._notices = notices
        self._rows: dict[int, str] = {}
        self._known: OrderedDict[int, SessionSummary] = OrderedDict()
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def note(self, commit: Committed) -> None:
        """Note the rows that a commit has changed."""
        if commit.node == self._storage.node or not commit.rows or not self._notices.listeners:
            return
        for number, how in commit.rows.items():
            # What was added and changed since is new, whatever became of it.
            self._rows[number] = "+" if how == "~" and self._rows.get(number) == "+" else how
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PAUSE, self._begin)

    def _begin(self) -> None:
        self._timer = None
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._tell())
        else:
            self._timer = asyncio.get_running_loop().call_later(PAUSE, self._begin)

    async def _tell(self) -> None:
        rows, self._rows = self._rows, {}
        gone = [number for number, how in rows.items() if how == "-"]
        try:
            found = await asyncio.to_thread(self._storage.rows_of, [one for one in rows if one not in gone])
            removed = await asyncio.to_thread(self._storage.removed, gone) if gone else []
        except StorageError as error:
            log.warning("the list of sessions cannot be read: %s", error)
            return
        for number, uri, owner, is_task in removed:
            self._known.pop(number, None)
            self._notices.tell(Removed(owner, uri, is_task=is_task))
        for number, row in found.items():
            if not row.parent:
                self._tell_row(row, is_new=rows[number] == "+")

    def _tell_row(self, row: SessionRow, *, is_new: bool) -> None:
        summary = decode_json(row.summary)
        is_task = "chat" in decode_json(row.private).get("parent", {})
        before = self._known.get(row.number)
        self._known[row.number] = summary
        self._known.move_to_end(row.number)
        if len(self._known) > MAX_KNOWN:
            self._known.popitem(last=False)
        if is_new:
            self._notices.tell(Added(row.owner, summary, is_task=is_task))
            return
        changes = _all(summary) if before is None else summary_changes(before, summary)
        if changes:
            self._notices.tell(Changed(row.owner, row.uri, changes, is_task=is_task))

    def close(self) -> None:
        """Tell nothing more."""
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()


def _all(summary: Any) -> JsonObject:
    return {key: summary[key] for key in MUTABLE if key in summary}
