"""Changesets as resources: the files that a session or a turn has changed, computed while somebody follows.

Everything is computed from the chat that was shown, so nothing of it is stored. Comparing contents takes
time, so a change is told a moment after its cause, under a number of its own. Recent actions are kept for
returning clients, as those of terminals are; otherwise they get a snapshot.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote

from agenthost.core.changed_files import Comparison, all_edits, changed_files, has_turn, turn_edits
from agenthost.core.changesets import (
    ChangesetName,
    changeset_actions,
    changeset_state,
    has_edits,
    split_changeset_uri,
)
from agenthost.core.fork import CONTENT
from agenthost.core.line_counts import count_lines
from agenthost.core.reducers import Live
from agenthost.core.reducers.changeset import reduce_changeset
from agenthost.errors import ChangesetNotFound, SessionNotFound, StorageError
from agenthost.host.log.entries import encode_entry
from agenthost.host.log.journal import Journal
from agenthost.host.log.subscriptions import Hub, LogItem
from agenthost.host.state.blobs import Blobs
from agenthost.host.state.registry import SessionRegistry
from agenthost.host.state.session import Session
from agenthost.host.state.terminal import ReplayBuffer
from agenthost.host.storage import Entry
from agenthost.wire.ahp.changeset import ChangesetState
from agenthost.wire.ahp.tool import FileEdit, FileEditSide

__all__ = ["ChangesetResource", "Changesets"]

log = logging.getLogger("agenthost.changesets")

KEPT_SECONDS = 60.0
"""How long a changeset that nobody follows is kept, at least: a client may come back to it."""

FIRST_NUMBER = -(1 << 40)
"""Numbers in the hub go down from here, and those of terminals go down from 0: both are never a session's."""

MAX_COMPARISONS = 10_000
"""How many comparisons of contents a changeset remembers."""

CHANGING = frozenset({"chat/toolCallResultConfirmed", "chat/truncated", "chat/turnStarted"})
"""Actions, beside results of tools, after which a chat may have other edits than before."""

EMPTY: ChangesetState = {"status": "computing", "files": []}


class ChangesetResource:
    """What subscribers see of a changeset. Changed only by the host, on its event loop.

    Attributes:
        uri: its channel.
        number: its number in the hub.
        session: whose files it lists.
        shown: the state that was shown.
        replay: what was shown recently.
        is_idle: nobody has followed it for a while.
    """

    def __init__(
        self,
        uri: str,
        number: int,
        session: Session,
        turns: Sequence[str],
        *,
        contents: Blobs,
        journal: Journal,
        hub: Hub,
    ) -> None:
        """Make a changeset of the turn with one of these ids, or of the whole session without any."""
        self.uri = uri
        self.number = number
        self.session = session
        self.shown = self._live = Live(EMPTY)
        self.replay = ReplayBuffer(journal.mark())
        self.is_idle = False
        self._turns = turns
        self._contents = contents
        self._journal = journal
        self._hub = hub
        self._is_computed = self._is_closed = False
        self._edits: list[FileEdit] = []
        self._compared: dict[tuple[str, str], Comparison] = {}
        self._update: asyncio.Task[None] | None = None

    async def wait_current(self) -> None:
        """Wait until it has everything that was shown of the chat when this was called."""
        if not self._is_computed:
            self.refresh()
        if self._update is not None:
            # Others may wait for it too.
            await asyncio.shield(self._update)

    def refresh(self) -> None:
        """Compute it again, if the chat has other edits than before."""
        if self._update is None:
            self._update = asyncio.create_task(self._compute_until_current())

    async def _compute_until_current(self) -> None:
        try:
            while not self._is_closed:
                # Again until nothing is new: a refresh while this runs starts no second task.
                edits = self._find_edits()
                if self._is_computed and edits == self._edits:
                    return
                state = await asyncio.to_thread(self._compute, edits)
                self._edits = edits
                if self._is_computed:
                    self._tell(state)
                else:
                    self._begin(state)
        except Exception:
            log.exception("the changeset %s could not be computed", self.uri)
            if not self._is_computed:
                raise  # to whoever wants to follow it
        finally:
            self._update = None

    def _begin(self, state: ChangesetState) -> None:
        """Take the first state, which nobody has followed so far."""
        self._is_computed = True
        self.shown = self._live = Live(state)
        # Nobody may resume from before it: what led to this state has no actions.
        self.replay = ReplayBuffer(self._journal.mark())

    def _find_edits(self) -> list[FileEdit]:
        # Without folding text that streams: edits are in the results of calls.
        chat = self.session.shown_chat.base
        if not self._turns:
            return list(all_edits(chat))
        return [edit for turn in self._turns for edit in turn_edits(chat, turn)]

    def _compute(self, edits: Sequence[FileEdit]) -> ChangesetState:
        return changeset_state(changed_files(edits, self._compare))

    def _compare(self, before: FileEditSide | None, after: FileEditSide | None) -> Comparison:
        """Compare two contents of the session. Others cannot be read, and may change at any time."""
        key = (before["content"]["uri"] if before else "", after["content"]["uri"] if after else "")
        # Contents never change, so a comparison holds for good.
        if key not in self._compared:
            if len(self._compared) >= MAX_COMPARISONS:
                self._compared.clear()
            old, new = (b"" if side is None else self._read(side) for side in (before, after))
            if old is None or new is None:
                return Comparison(is_same=False, counts=None)
            counts = count_lines(old.decode(errors="replace"), new.decode(errors="replace"))
            self._compared[key] = Comparison(old == new, counts)
        return self._compared[key]

    def _read(self, side: FileEditSide) -> bytes | None:
        uri = side["content"]["uri"]
        if not uri.startswith(f"{self.session.uri}{CONTENT}"):
            return None
        try:
            found = self._contents.find(uri)
        except StorageError as error:  # damage to one content must not affect the others
            log.warning("%s of a changeset cannot be read: %s", uri, error)
            return None
        return None if found is None else found.data

    def _tell(self, state: ChangesetState) -> None:
        if self._is_closed:
            return
        for action in changeset_actions(self._live.state, state):
            after = reduce_changeset(self._live, action)
            envelope = encode_entry(self.uri, action)
            self._live = after
            item = LogItem(
                0, self.number, envelope, None, 1, self.uri, self.uri, action, after, None, self._show
            )
            self._journal.announce(item)

    def _show(self, item: LogItem) -> None:
        self.shown = item.after
        self.replay.add(Entry(item.seq, item.resource, item.envelope, None))
        self._hub.publish(item)

    def close(self) -> None:
        """Tell nothing more."""
        self._is_closed = True
        self._hub.drop(self.number)

    async def wait_closed(self) -> None:
        """Wait until nothing is computed any more."""
        if self._update is not None:
            await asyncio.wait([self._update])


class Changesets:
    """The changesets that somebody follows, by URI."""

    def __init__(
        self,
        sessions: SessionRegistry,
        contents: Blobs,
        journal: Journal,
        hub: Hub,
        kept_seconds: float = KEPT_SECONDS,
    ) -> None:
        self._sessions = sessions
        self._contents = contents
        self._journal = journal
        self._hub = hub
        self._kept_seconds = kept_seconds
        self._open: dict[str, ChangesetResource] = {}
        self._of: dict[int, set[ChangesetResource]] = {}  # by the numbers of their sessions
        self._last_number = FIRST_NUMBER
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._open)

    def peek(self, uri: str) -> ChangesetResource | None:
        """Return a changeset that somebody follows, or followed a moment ago."""
        return self._open.get(uri)

    async def find_session(self, uri: str) -> Session:
        """Return the session whose changeset has this URI.

        Raises:
            ChangesetNotFound: there is no such session, or it has no such turn.
        """
        name = split_changeset_uri(uri)
        if name is None:
            raise ChangesetNotFound(uri)
        try:
            session = await self._sessions.find(name.owner)
        except SessionNotFound:
            raise ChangesetNotFound(uri) from None
        turns = _turns(name)
        if turns and not any(has_turn(session.chat, turn) for turn in turns):
            raise ChangesetNotFound(uri)
        return session

    async def find(self, uri: str) -> ChangesetResource:
        """Return a changeset, computed. Raises like `find_session`."""
        session = await self.find_session(uri)
        found = self._open.get(uri)
        # If its session has left memory since, it may have missed changes.
        if found is None or found.session is not session:
            if found is not None:
                self._close(found)
            found = self._add(uri, session)
        found.is_idle = False
        await found.wait_current()
        return found

    def _add(self, uri: str, session: Session) -> ChangesetResource:
        name = split_changeset_uri(uri)
        self._last_number -= 1
        found = self._open[uri] = ChangesetResource(
            uri,
            self._last_number,
            session,
            _turns(name),
            contents=self._contents,
            journal=self._journal,
            hub=self._hub,
        )
        self._of.setdefault(session.number, set()).add(found)
        self._hub.watch(session.number, self._watch)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._kept_seconds, self._sweep)
        return found

    def _watch(self, item: LogItem) -> None:
        """Refresh the changesets of a session if an action that was shown may have changed files."""
        if item.action is not None and _may_change(item.action):
            for found in self._of[item.resource]:
                found.refresh()

    def _sweep(self) -> None:
        """Close what nobody has followed since the last time."""
        for found in list(self._open.values()):
            is_there = self._sessions.peek(found.session.uri) is found.session
            # Two sweeps, so that a client that lost its connection has some time to come back.
            is_idle, found.is_idle = found.is_idle, not self._hub.is_heard(found.number)
            if not is_there or (is_idle and found.is_idle):
                self._close(found)
        self._timer = None
        if self._open:
            self._timer = asyncio.get_running_loop().call_later(self._kept_seconds, self._sweep)

    def _close(self, closed: ChangesetResource) -> None:
        del self._open[closed.uri]
        closed.close()
        others = self._of[closed.session.number]
        others.discard(closed)
        if not others:
            del self._of[closed.session.number]
            self._hub.unwatch(closed.session.number)

    async def close(self) -> None:
        """Close all of them."""
        if self._timer is not None:
            self._timer.cancel()
        for found in list(self._open.values()):
            self._close(found)
            await found.wait_closed()


def _turns(name: ChangesetName | None) -> Sequence[str]:
    """Return the ids that the turn of a changeset may have: clients may expand the template either way."""
    return () if name is None or name.turn is None else tuple(dict.fromkeys((name.turn, unquote(name.turn))))


def _may_change(action: Any) -> bool:
    kind = action["type"]
    if kind == "chat/toolCallComplete":
        return has_edits(action["result"].get("content", ()))
    return kind in CHANGING
