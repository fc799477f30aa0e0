"""Crashes: how often the host ended while a turn ran. A turn that ends it each time is not run for ever.

A process that dies cannot say which turn it died of. So before a turn is run again, the end of the last
process is counted against it, durably: unless that end was planned, or the turn had got further meanwhile, or
it only waits. At the last chance such turns run one after another, so that others are not ended with the
guilty one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from hashlib import blake2b
from itertools import takewhile
from typing import Any

from agenthost.core.recording import covered_parts
from agenthost.host.output import BEGAN_AGAIN
from agenthost.host.recorder import turn_messages
from agenthost.host.session import Session
from agenthost.host.setup import private_of
from agenthost.wire.ahp.turn import ResponsePart
from agenthost.wire.json import Json, encode_json

__all__ = ["Crashes", "is_asking"]

TRIAL_SECONDS = 2.0
"""How long a turn at its last chance runs before the next one does, if it neither ends nor gets further."""

_PENDING = ("pending-confirmation", "pending-result-confirmation")


class Crashes:
    """Counts crashes for the turns that are taken up.

    A turn has `limit` of them; `is_active` tells whether a session has a turn.
    """

    def __init__(self, limit: int, is_active: Callable[[str], Awaitable[bool]]) -> None:
        self._limit = limit
        self._is_active = is_active
        self._alone = asyncio.Lock()
        self._waiting = 0
        self._trial: _Trial | None = None

    async def admit(self, session: Session) -> bool:
        """Count the end of the last process against a turn; return whether the turn may run again.

        What was counted is durable when this returns.
        """
        if await self._is_waiting(session):
            return True
        mark = mark_of(session)
        count, is_spared = _kept(session, mark)
        count += not is_spared
        if count >= self._limit:
            return False
        if count == self._limit - 1:
            await self._take_place(session, mark)
        await session.journal.wait(_keep(session, mark, count, is_spared=False))
        return True

    async def _take_place(self, session: Session, mark: str) -> None:
        """Wait until no other turn is at its last chance; then this one is, for a while."""
        self._waiting += 1
        try:
            await self._alone.acquire()
        finally:
            self._waiting -= 1
        trial = self._trial = _Trial(session, mark)
        trial.task = asyncio.create_task(self._watch(trial))

    async def _watch(self, trial: "_Trial") -> None:
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(TRIAL_SECONDS):
                    await trial.is_over.wait()
            if self._waiting and not trial.is_over.is_set():
                # It is not what the next one may do to the host.
                await trial.session.journal.wait(self.spare(trial.session))
        finally:
            self._trial = None
            self._alone.release()

    def happened(self, session: Session) -> None:
        """Look whether the turn that is at its last chance has ended or got further."""
        trial = self._trial
        if trial is not None and trial.session is session:
            turn = session.state.get("activeTurn")
            if turn is None or mark_of(session) != trial.mark:
                trial.is_over.set()

    def spare(self, session: Session) -> int:
        """Note that the end of this process is not to be counted against a turn. Return the ticket."""
        if "activeTurn" not in session.state:
            return session.journal.ticket
        mark = mark_of(session)
        return _keep(session, mark, _kept(session, mark)[0], is_spared=True)

    def close(self, sessions: Iterable[Session]) -> None:
        """Spare all turns that run: the host stops as planned."""
        if self._trial is not None:
            self._trial.task.cancel()
        for session in sessions:
            if not is_asking(session) or any(_running_calls(session)):
                self.spare(session)

    async def _is_waiting(self, session: Session) -> bool:
        """Return whether a turn runs nothing itself: it waits for people, clients or children."""
        running = _running_calls(session)
        children, turn_id = private_of(session).get("children", {}), session.state["activeTurn"]["id"]
        for call_id in running:
            uri = children.get(f"{turn_id}/{call_id}")
            if uri is None or not await self._is_active(uri):
                return False
        return bool(running) or is_asking(session)


class _Trial:
    """A turn at its last chance, and how far it had got before."""

    task: asyncio.Task[None]

    def __init__(self, session: Session, mark: str) -> None:
        self.session = session
        self.mark = mark
        self.is_over = asyncio.Event()


def is_asking(session: Session) -> bool:
    """Return whether a turn waits for people or for clients."""
    if session.state.get("inputRequests"):
        return True
    return any(call["status"] in _PENDING or _is_clients(call) for call in _calls(session))


def _is_clients(call: Any) -> bool:
    return call["status"] == "running" and "toolClientId" in call


def _running_calls(session: Session) -> list[str]:
    """Return the ids of the calls that the host runs, but those that wait for an answer."""
    turn_id = session.state["activeTurn"]["id"]
    asked = [request["id"] for request in session.state.get("inputRequests", [])]
    running = [call["toolCallId"] for call in _calls(session) if call["status"] == "running"]
    clients = {call["toolCallId"] for call in _calls(session) if _is_clients(call)}
    return [
        call_id
        for call_id in running
        if call_id not in clients and not any(one.startswith(f"{turn_id}/ask/{call_id}/") for one in asked)
    ]


def _calls(session: Session) -> list[Any]:
    parts = session.state["activeTurn"]["responseParts"]
    return [part["toolCall"] for part in parts if part["kind"] == "toolCall"]


def mark_of(session: Session) -> str:
    """Return what changes when a turn gets further, and not when it only does again what it did before.

    What tools show while they run does not count, nor the input of calls that still streams, nor what comes
    after an agent began its answer again: all of that may be new each time and lead nowhere.
    """
    turn = session.state["activeTurn"]
    said = turn_messages(session, turn["id"])
    parts, start = turn["responseParts"], covered_parts(said)
    fresh = takewhile(lambda part: part.get("content") != BEGAN_AGAIN, parts[start:])
    private = private_of(session)
    seen: list[Json] = [
        len(said),
        [_brief(part) for part in [*parts[:start], *fresh] if not _is_streaming(part)],
        sorted(private.get("asked", {})),
        [request["id"] for request in session.state.get("inputRequests", [])],
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
    """Return what was counted against the turn as it is now, and whether the last end does not count."""
    kept = private_of(session).get("crashes")
    turn_id = session.state["activeTurn"]["id"]
    if kept is None or kept["turn"] != turn_id or kept["mark"] != mark:
        return 0, False
    return int(kept["count"]), bool(kept["spared"])


def _keep(session: Session, mark: str, count: int, *, is_spared: bool) -> int:
    turn_id = session.state["activeTurn"]["id"]
    kept: Json = {"turn": turn_id, "mark": mark, "count": count, "spared": is_spared}
    return session.keep({**session.private, "crashes": kept})
