"""Crashes: how often the host died while a turn ran. A turn that keeps killing it is given up.

A process that dies cannot say which turn was the cause. So before a turn is run again, the crash is counted
against it, durably, unless the host stopped as planned, the turn has made progress since the last crash, or
it only waits. On their last attempt such turns run one after another, so that the one that crashes the host
does not take others with it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from hashlib import blake2b
from itertools import takewhile
from typing import Any

from agenthost.core.queries import WAITING_CALL_STATUSES, active_calls, client_of, open_questions
from agenthost.core.turn_transcript import covered_parts
from agenthost.host.sessions.recorder import turn_messages
from agenthost.host.state.private import with_values
from agenthost.host.state.session import Session
from agenthost.host.turns.output import BEGAN_AGAIN
from agenthost.wire.ahp.turn import ResponsePart
from agenthost.wire.json import Json, encode_json

__all__ = ["CrashCounts", "is_asking"]

TRIAL_SECONDS = 2.0
"""How long a turn on its last attempt runs alone, if it neither ends nor makes progress."""


class CrashCounts:
    """Counts crashes for the turns that are resumed.

    A turn may have `limit` of them. `is_active` returns whether a session has a turn.

    Attributes:
        trial: the turn that is on its last attempt, if there is one.
    """

    def __init__(self, limit: int, is_active: Callable[[str], Awaitable[bool]]) -> None:
        self._limit = limit
        self._is_active = is_active
        self._alone = asyncio.Lock()
        self._waiting = 0
        self.trial: _Trial | None = None

    async def admit(self, session: Session) -> bool:
        """Count the end of the last process against a turn. Return whether the turn may run again.

        The count is durable when this returns.
        """
        # It ran no code of its own, so it cannot have been the cause.
        if await self._is_waiting(session):
            return True
        mark = mark_of(session)
        count, is_spared = _kept(session, mark)
        count += not is_spared
        if count >= self._limit:
            return False
        # Alone, so that the next crash can be blamed on this turn.
        if count == self._limit - 1:
            await self._take_place(session, mark)
        # Before any code of the turn runs: it may crash the host at once.
        await session.journal.wait(_keep(session, mark, count, is_spared=False))
        return True

    async def _take_place(self, session: Session, mark: str) -> None:
        """Wait until no other turn is on its last attempt, then begin this one's."""
        self._waiting += 1
        try:
            await self._alone.acquire()
        finally:
            self._waiting -= 1
        trial = self.trial = _Trial(session, mark)
        trial.task = asyncio.create_task(self._watch(trial))

    async def _watch(self, trial: "_Trial") -> None:
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(TRIAL_SECONDS):
                    await trial.is_over.wait()
            if self._waiting and not trial.is_over.is_set():
                # A crash that the next turn causes must not count against this one.
                await trial.session.journal.wait(self.spare(trial.session))
        finally:
            self.trial = None
            self._alone.release()

    def look_at(self, session: Session) -> None:
        """Check whether the turn that is on its last attempt has ended or made progress."""
        trial = self.trial
        if trial is not None and trial.session is session:
            turn = session.chat.get("activeTurn")
            if turn is None or mark_of(session) != trial.mark:
                trial.is_over.set()

    def spare(self, session: Session) -> int:
        """Record that the end of this process does not count against a turn. Return the ticket."""
        if "activeTurn" not in session.chat:
            return session.journal.ticket
        mark = mark_of(session)
        return _keep(session, mark, _kept(session, mark)[0], is_spared=True)

    def close(self, sessions: Iterable[Session]) -> None:
        """Spare all turns that run: the host stops as planned."""
        if self.trial is not None:
            self.trial.task.cancel()
        for session in sessions:
            # Turns that only wait are never counted, so there is nothing to write for them.
            if not is_asking(session) or any(_running_calls(session)):
                self.spare(session)

    async def _is_waiting(self, session: Session) -> bool:
        """Return whether a turn runs nothing itself, and only waits for people, clients or subagents."""
        running = _running_calls(session)
        children, turn_id = session.private.get("children", {}), session.chat["activeTurn"]["id"]
        for call_id in running:
            uri = children.get(f"{turn_id}/{call_id}")
            # A call whose subagent still works only waits; a crash counts against the subagent's own turn.
            if uri is None or not await self._is_active(uri):
                return False
        return bool(running) or is_asking(session)


class _Trial:
    """A turn on its last attempt, and how far it had got before."""

    task: asyncio.Task[None]

    def __init__(self, session: Session, mark: str) -> None:
        self.session = session
        self.mark = mark
        self.is_over = asyncio.Event()


def is_asking(session: Session) -> bool:
    """Return whether a turn waits for people or for clients."""
    if open_questions(session.chat):
        return True
    return any(
        call["status"] in WAITING_CALL_STATUSES or _is_clients(call) for call in active_calls(session.chat)
    )


def _is_clients(call: Any) -> bool:
    return call["status"] == "running" and client_of(call) is not None


def _running_calls(session: Session) -> list[str]:
    """Return the ids of the calls that the host runs, except those that wait for an answer."""
    turn_id = session.chat["activeTurn"]["id"]
    asked = [request["id"] for request in open_questions(session.chat)]
    running = [call["toolCallId"] for call in active_calls(session.chat) if call["status"] == "running"]
    clients = {call["toolCallId"] for call in active_calls(session.chat) if _is_clients(call)}
    return [
        call_id
        for call_id in running
        if call_id not in clients and not any(one.startswith(f"{turn_id}/ask/{call_id}/") for one in asked)
    ]


def mark_of(session: Session) -> str:
    """Return a mark that changes when a turn makes progress, and not when it repeats itself.

    The progress that tools show does not count, nor does input that still streams, nor what follows after an
    agent began its answer again: all of that may differ each time without leading anywhere.
    """
    turn = session.chat["activeTurn"]
    said = turn_messages(session, turn["id"])
    parts, start = turn["responseParts"], covered_parts(said)
    fresh = takewhile(lambda part: part.get("content") != BEGAN_AGAIN, parts[start:])
    private = session.private
    seen: list[Json] = [
        len(said),
        [_brief(part) for part in [*parts[:start], *fresh] if not _is_streaming(part)],
        sorted(private.get("asked", {})),
        [request["id"] for request in open_questions(session.chat)],
        sorted(key for key in private.get("children", {}) if key.startswith(f"{turn['id']}/")),
    ]
    return blake2b(encode_json(seen), digest_size=12).hexdigest()


def _is_streaming(part: ResponsePart) -> bool:
    return part["kind"] == "toolCall" and part["toolCall"]["status"] == "streaming"


def _brief(part: Any) -> list[Json]:
    if part["kind"] == "toolCall":
        return ["toolCall", part["toolCall"]["toolCallId"], part["toolCall"]["status"]]
    return [part["kind"], part.get("content") or part.get("uri")]


def _kept(session: Session, mark: str) -> tuple[int, bool]:
    """Return the crashes counted against the turn at this mark, and whether the last one is spared."""
    kept = session.private.get("crashes")
    turn_id = session.chat["activeTurn"]["id"]
    if kept is None or kept["turn"] != turn_id or kept["mark"] != mark:
        return 0, False
    return int(kept["count"]), bool(kept["spared"])


def _keep(session: Session, mark: str, count: int, *, is_spared: bool) -> int:
    turn_id = session.chat["activeTurn"]["id"]
    kept: Json = {"turn": turn_id, "mark": mark, "count": count, "spared": is_spared}
    return session.keep(with_values(session.private, crashes=kept) or session.private)
