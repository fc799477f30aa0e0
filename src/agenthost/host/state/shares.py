"""What the nodes of a host share besides sessions: the root, the counts, and what each of them has.

One node writes the root. Others tell it what they have (their agents, their terminals) in their rows, and
follow what it makes of that. When it is gone, another one takes the root.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from agenthost.errors import StorageError
from agenthost.host.log.shared_line import SharedLine
from agenthost.host.state.followed import Followed
from agenthost.host.state.root import Elsewhere, Root
from agenthost.host.state.session_counts import SessionCounts
from agenthost.host.storage.shared import Committed, NodeNotice, SharedStorage
from agenthost.wire.json import decode_json, encode_json

__all__ = ["Shares"]

log = logging.getLogger("agenthost.nodes")

PAUSE = 0.05
"""For how long changes are collected before the counts are read again, in seconds."""


class Shares:
    """Hears of other nodes, and keeps the root and the counts right. Used on the event loop.

    `on_notice` are called with what happens to nodes. `has_others` says whether others are alive.
    """

    def __init__(
        self,
        storage: SharedStorage,
        line: SharedLine,
        *,
        followed: Followed,
        root: Root,
        counts: SessionCounts,
    ) -> None:
        self._storage = storage
        self._line = line
        self._followed = followed
        self._root = root
        self._counts = counts
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._told = b""
        self.has_others = False
        self._looking = asyncio.Lock()
        self._putting = asyncio.Lock()
        self.on_notice: list[Callable[[NodeNotice], None]] = []
        self.is_closed = False

    async def start(self) -> None:
        """Begin to listen, and find out who writes the root."""
        loop = asyncio.get_running_loop()
        self._followed.noted.append(self._note)
        self._root.changed = self.tell_facts
        self._root.is_foreign = await asyncio.to_thread(self._storage.claim_root) != self._storage.node
        self._line.start(self._followed)

        def hear(notice: Committed | NodeNotice) -> None:
            with suppress(RuntimeError):  # a host that could not be closed in time has no loop any more
                loop.call_soon_threadsafe(self._hear, notice)

        await asyncio.to_thread(self._storage.listen, hear)
        await self._read_facts()

    def _hear(self, notice: Committed | NodeNotice) -> None:
        if self.is_closed:
            return
        if isinstance(notice, Committed):
            self._line.hear(notice)
            return
        if notice.kind == "missed":
            self._line.catch_up()
        if notice.kind == "facts" and notice.node == self._storage.node:
            return
        self._run(self._look_at_nodes())
        for told in self.on_notice:
            told(notice)

    def _run(self, work: Any) -> None:
        task = asyncio.create_task(self._tried(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _tried(self, work: Any) -> None:
        try:
            await work
        except StorageError as error:
            log.warning("other nodes cannot be looked at: %s", error)

    async def _look_at_nodes(self) -> None:
        async with self._looking:  # what was read later must not be replaced by what was read before
            await self._look()

    async def _look(self) -> None:
        await self._read_facts()
        if self._root.is_foreign and await asyncio.to_thread(self._storage.claim_root) == self._storage.node:
            commits = await asyncio.to_thread(self._storage.ledger_after, self._storage.place)
            await self._line.wait_for(commits[-1].last_seq if commits else 0)
            self._root.take_over(await asyncio.to_thread(self._storage.session_count))
        self._root.set_agents_of_all()
        self._root.set_terminals_of_all()
        await self._counts.refresh(self._storage)

    async def _read_facts(self) -> None:
        elsewhere = Elsewhere()
        nodes = await asyncio.to_thread(self._storage.nodes)
        self.has_others = len(nodes) > 1
        for node in nodes:
            if node.id != self._storage.node:
                facts = decode_json(node.facts)
                names = {one["provider"] for one in elsewhere.agents}
                elsewhere.agents += [one for one in facts.get("agents", []) if one["provider"] not in names]
                elsewhere.terminals += facts.get("terminals", [])
        self._root.elsewhere = elsewhere

    def tell_facts(self) -> None:
        """Tell the other nodes what this one has, if that has changed."""
        own = self._root.own
        facts = encode_json({"agents": own.agents, "terminals": own.terminals})
        if facts != self._told and not self.is_closed:
            self._told = facts
            self._run(self._put_facts())

    async def _put_facts(self) -> None:
        async with self._putting:  # one after another, and always the newest
            await asyncio.to_thread(self._storage.put_facts, self._told)

    def _note(self, commit: Committed) -> None:
        # With others, own ones too: the counts may have been read just before.
        is_alone = commit.node == self._storage.node and not self.has_others
        if not is_alone and (commit.resources is None or {"+", "-"} & set(commit.rows.values())):
            self._timer = self._timer or asyncio.get_running_loop().call_later(PAUSE, self._recount)

    def _recount(self) -> None:
        self._timer = None
        self._run(self._counts.refresh(self._storage))

    async def close(self) -> None:
        """Hear of nothing more."""
        self.is_closed = True
        self._line.close()
        if self._timer is not None:
            self._timer.cancel()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
