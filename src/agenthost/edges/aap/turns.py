"""Turns over AAP: what an application sends becomes actions, and what follows is listened to until it stops.

An application is refused before anything happens; from then on the turn goes its own way, whether the
application stays to listen or not.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from agenthost.core.decisions.grants import Rights
from agenthost.core.reducers import reduce_session
from agenthost.core.transcript import public
from agenthost.edges.aap.asked import Asked
from agenthost.edges.aap.checks import check_messages, check_overrides, check_stream
from agenthost.edges.aap.projection import TURN_START, Projection, Told
from agenthost.errors import InvalidValue, SlowConsumer
from agenthost.host.agent import Agent
from agenthost.host.host import Host
from agenthost.host.identity import Identity
from agenthost.host.packing import Run
from agenthost.host.session import Said, Session
from agenthost.host.setup import private_of
from agenthost.host.storage import Entry
from agenthost.host.subscriptions import Shown, Subscriber
from agenthost.wire.aap.v3 import (
    AgentMessage,
    Content,
    PostSessionTurnRequest,
    PostSessionTurnResponse,
    StopReason,
    StreamMode,
)
from agenthost.wire.ahp.actions.text import ACTION, TEXTS, as_text
from agenthost.wire.json import decode_json
from agenthost.wire.sse import encode_comment

__all__ = ["Exchange", "begin_turn"]

HEARTBEAT_SECONDS = 15.0
"""After so long without an event a stream says that it is still there."""

HEARTBEAT = encode_comment("still here")

MAX_WAITING_ITEMS = 10_000
MAX_WAITING_BYTES = 2 * 1024 * 1024
"""How much waits for an application that reads slowly. The rest it gets from the log, once it reads on."""

CHUNK_BYTES = 256 * 1024
"""How much of the log is sent at once."""

_TOLD: WeakKeyDictionary[Session, tuple[str, Told]] = WeakKeyDictionary()
"""Which turn stopped for its application, and which of its calls that was told.

An agent that runs its own tools may go on while somebody decides about one of them: what came of others
meanwhile is told first when the turn goes on.
"""


async def begin_turn(
    host: Host, session: Session, body: PostSessionTurnRequest, rights: Rights
) -> "Exchange":
    """Let a turn begin, or go on with what it waited for, as far as whoever asks may. Gives what follows.

    Raises:
        HostError, Problem: it is refused, and nothing has changed.
    """
    agent = host.agent_of(session.state["summary"]["provider"])
    mode = body.get("stream", "none")
    check_stream(agent, mode)
    check_messages(agent, body["messages"])
    if overrides := body.get("agent"):
        await _check_overrides(host, agent, overrides, rights)
    if session.state["lifecycle"] == "creating":
        await host.lifetimes.wait_prepared(session)
    host.engine.journal.refuse_if_in_trouble()
    # No await from here on: what is checked is the state that is changed.
    asked = Asked(host, agent, session, body, rights)
    asked.check()
    asked.apply()
    return Exchange(host, session, asked, mode)


async def _check_overrides(host: Host, agent: Agent, overrides: Any, rights: Rights) -> None:
    if "name" in overrides:
        raise InvalidValue("$.agent.name", "no name, as the agent of a session never changes", "one")
    await host.sourcing.wait(agent, [tool["name"] for tool in overrides.get("tools", [])])
    check_overrides(agent, overrides, rights)


class Exchange:
    """One request and what follows from it, until the turn stops for this request.

    Made in the same moment as what the request lets happen, so that nothing of that was shown before.
    """

    def __init__(self, host: Host, session: Session, asked: Asked, mode: StreamMode) -> None:
        self._host = host
        self._session = session
        self._app_id = asked.app_id
        self._mode: StreamMode = mode
        self._subscriber = _subscriber(host, asked.app_id)
        host.engine.hub.add(self._subscriber, session.number)
        # The answer begins after what the request itself has said.
        state = session.state
        self._turn_id = turn_id = state["activeTurn"]["id"]
        self._position = len(session.messages)
        self._seen = session.journal.last_seq
        self._after = session.live
        told = Told() if asked.is_new_turn else _told(session, turn_id)
        self._projection = Projection(
            turn_id,
            asked.app_id,
            mode,
            partial(_content_of, session),
            partial(_stop_of, session, turn_id),
            told,
        )
        self._missed = b"" if asked.is_new_turn else self._projection.tell_missed(state)
        self._replaying: Iterator[Entry] | None = None
        self._has_reader = True

    def lose_reader(self) -> None:
        """Have no text made for an application that is gone; questions of the agent are still declined."""
        self._has_reader = False
        self._replaying = None

    async def events(self) -> AsyncIterator[bytes]:
        """Give the events, as they come, some at a time; the last is `turn_stop`."""
        yield TURN_START
        if self._missed:
            await self._session.journal.wait()  # nobody is shown what a crash could take back
            yield self._missed
        try:
            while self._projection.stop_reason is None:
                if chunk := await self._next():
                    yield chunk
        finally:
            self._leave()

    async def answer(self) -> PostSessionTurnResponse:
        """Wait for the turn to stop, and give all of it."""
        try:
            while self._projection.stop_reason is None:
                await self._next()
        finally:
            self._leave()
        messages = [said.message for said in self._session.messages[self._position :] if self._is_told(said)]
        told: list[AgentMessage] = public(messages)  # type: ignore[assignment] # of assistant and tools
        return {"stopReason": self._projection.stop_reason or "error", "messages": told}

    def _leave(self) -> None:
        self._host.engine.hub.leave(self._subscriber)

    def _is_told(self, said: Said) -> bool:
        return said.turn == self._turn_id and said.message["role"] != "user"

    async def _next(self) -> bytes:
        if self._replaying is not None and self._has_reader:
            return self._replay_some(self._replaying)
        subscriber = self._subscriber
        try:
            if not subscriber.backlog and (self._is_asked() or self._mode != "none"):
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    items = await subscriber.wait_next()
            else:
                items = await subscriber.wait_next()
        except TimeoutError:
            return HEARTBEAT
        except SlowConsumer:
            return await self._catch_up() if self._has_reader else self._skip()
        return b"".join(map(self._take, items))

    def _take(self, item: Shown) -> bytes:
        # What the request itself let happen is no answer to it.
        if item.seq <= self._seen or item.after is None or self._projection.stop_reason is not None:
            return b""
        self._seen, self._after = item.seq, item.after
        if item.run is not None:
            return self._projection.stream(item.run) if self._has_reader else b""
        events = self._projection.take(item.action, item.after.state)
        if self._projection.stop_reason == "tool_use":
            _TOLD[self._session] = (self._turn_id, self._projection.told)
        return events

    async def _catch_up(self) -> bytes:
        """Go on from the log: the application reads more slowly than the agent speaks."""
        self._leave()
        self._subscriber = _subscriber(self._host, self._app_id)
        feed = self._host.engine.feed_for(self._subscriber)
        resumed = await feed.resume(self._seen, [self._session.row.uri])
        if resumed.replay is None:
            return self._projection.break_off()  # more than the log holds
        self._replaying = iter(resumed.replay) if self._has_reader else None
        return b""

    def _skip(self) -> bytes:
        """Go on with what happens now: nobody is there to be told what was missed."""
        self._leave()
        self._subscriber = _subscriber(self._host, self._app_id)
        self._host.engine.hub.add(self._subscriber, self._session.number)
        self._projection.look_for_stop(self._session.shown.state)
        return b""

    def _replay_some(self, entries: Iterator[Entry]) -> bytes:
        """Give some of what was missed: who could not take it before should not get it all at once now."""
        chunks: list[bytes] = []
        size = 0
        for entry in entries:
            chunks.append(self._replay(entry))
            size += len(entry.envelope)
            if size > CHUNK_BYTES:
                break
        else:
            self._replaying = None
        return b"".join(chunks)

    def _replay(self, entry: Entry) -> bytes:
        envelope = decode_json(entry.envelope)
        if "rejectionReason" in envelope:
            return b""
        action: Any = ACTION.take(envelope["action"])
        after = reduce_session(self._after, action, 0)
        run = Run.of(as_text(action)) if action["type"] in TEXTS else None
        return self._take(Shown(entry.seq, entry.resource, entry.envelope, None, action, after, run=run))

    def _is_asked(self) -> bool:
        """Tell whether the agent asks something. AAP has no words for it: declined if nobody can answer."""
        asked = self._session.shown.state.get("inputRequests", [])
        if asked and self._host.engine.hub.count(self._session.number) <= 1:
            still = [request["id"] for request in self._session.state.get("inputRequests", [])]
            for request in (one for one in asked if one["id"] in still):
                action = {"type": "session/inputCompleted", "session": self._session.row.uri}
                self._host.dispatcher.act(
                    self._session, {**action, "requestId": request["id"], "response": "decline"}
                )
        return bool(asked)


# Of no exchange: what knows it and is known by it would stay in memory until the collector comes.


def _subscriber(host: Host, app_id: str) -> Subscriber:
    limits = host.limits
    items, size = limits.subscriber_items, limits.subscriber_bytes
    # Nothing is shown to it alone, so it does not matter whose it is.
    return Subscriber(Identity(app_id), min(items, MAX_WAITING_ITEMS), min(size, MAX_WAITING_BYTES))


def _told(session: Session, turn_id: str) -> Told:
    """Give the calls that were told before; where that is not remembered, all were."""
    of_turn, told = _TOLD.pop(session, ("", Told()))
    return told if of_turn == turn_id else Told.all_in(session.state)


def _content_of(session: Session, call_id: str) -> Content:
    for said in reversed(session.messages):
        if said.message["role"] == "tool" and said.message["toolCallId"] == call_id:
            return public([said.message])[0]["content"]  # type: ignore[return-value]
    return ""


def _stop_of(session: Session, turn_id: str) -> StopReason | None:
    reason: Any = private_of(session).get("stops", {}).get(turn_id)
    return reason  # type: ignore[no-any-return]
