"""Turns over AAP: a request becomes actions, and what follows is answered until the turn stops.

A request is refused before anything changes (X1). After that the turn goes on, whether the application stays
connected or not (Z1).
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from agenthost.core import actions
from agenthost.core.queries import ENDED_CALL_STATUSES, open_questions
from agenthost.core.reducers import Live, reduce_chat
from agenthost.core.transcript import public
from agenthost.edges.aap.checks import check_messages, check_overrides, check_stream
from agenthost.edges.aap.projection import TURN_START, AnnouncedCalls, Projection
from agenthost.edges.aap.turn_request import TurnRequest
from agenthost.errors import InvalidValue, SlowConsumer
from agenthost.host.access.identity import Identity
from agenthost.host.authoring.agent import Agent
from agenthost.host.client import HostClient
from agenthost.host.host import Host
from agenthost.host.log.line import Mark
from agenthost.host.log.subscriptions import LogItem, Subscriber
from agenthost.host.log.text_runs import TextRun, run_of, unpack
from agenthost.host.sessions.action_source import ClientAction
from agenthost.host.state.pages import Pages
from agenthost.host.state.session import Session, TranscriptEntry
from agenthost.host.storage import Entry
from agenthost.wire.aap.v3 import (
    AgentMessage,
    Content,
    PostSessionTurnRequest,
    PostSessionTurnResponse,
    StopReason,
    StreamMode,
)
from agenthost.wire.ahp.actions.text import ACTION, TEXTS, as_text
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.json import decode_json
from agenthost.wire.sse import encode_comment

__all__ = ["Exchange", "begin_turn"]

HEARTBEAT_SECONDS = 15.0
"""After how long without an event a stream sends a comment (Z2)."""

HEARTBEAT = encode_comment("still here")

MAX_WAITING_ITEMS = 10_000
MAX_WAITING_BYTES = 2 * 1024 * 1024
"""How much is queued for an application that reads slowly. It gets the rest from the log later (Z3)."""

PLAIN = {"role": "", "content": ""}.keys()
"""The keys of a plain user message; results and permissions have others."""

_TOLD: WeakKeyDictionary[Session, tuple[str, AnnouncedCalls]] = WeakKeyDictionary()
"""The turn that stopped for its application, and the calls that the application has been sent.

An agent that runs its own tools may go on while one of them waits for permission. What ended meanwhile is
sent first when the turn continues (P14).
"""


async def begin_turn(
    host: Host, client: HostClient, session: Session, body: PostSessionTurnRequest
) -> "Exchange":
    """Start a turn, or continue one with what it waited for. Return the exchange that answers.

    Raises:
        HostError, Problem: it is refused, and nothing has changed.
    """
    agent = host.agent_of(session)
    mode = body.get("stream", "none")
    if mode not in (agent.stream or ("none",)):
        check_stream(agent, mode)
    messages: Any = body["messages"]
    # Most turns start with one plain text message, which needs no check.
    if len(messages) != 1 or messages[0].keys() != PLAIN or type(messages[0]["content"]) is not str:
        check_messages(agent, messages)
    if overrides := body.get("agent"):
        await _check_overrides(client, agent, overrides)
    # C2: one request may create the session and start its turn, so this waits instead of refusing.
    if session.state["lifecycle"] == "creating":
        await client.wait_ready(session)
    # No await from here on: the request is applied to the state that it was decided on.
    request = TurnRequest(client, agent, session, body)
    if session.is_foreign:
        return await _begin_elsewhere(host, client, session, request, mode)
    request.submit()
    return Exchange(host, client, session, request, mode)


async def _begin_elsewhere(
    host: Host, client: HostClient, session: Session, request: TurnRequest, mode: StreamMode
) -> "Exchange":
    """Have a request carried out by the node that writes the session. What follows is followed here."""
    wanted, choices = request.prepare()
    subscriber = _subscriber(host, request.app_id)
    client.follow_session(subscriber, session)  # first, so that nothing is missed
    try:
        begun = await client.act_elsewhere(session, wanted, **choices)
    except BaseException:
        client.unfollow(subscriber)
        raise
    return Exchange(host, client, session, request, mode, Begun(subscriber, **begun))


@dataclass(frozen=True, slots=True)
class Begun:
    """A turn that another node runs: `turn` with its open calls, after the action with the number `seq`.

    `position` is the length of the transcript then. `subscriber` hears what follows.
    """

    subscriber: Subscriber
    turn: Any
    position: int
    seq: int

    def chat(self, shown: ChatState) -> Any:
        """Return the chat as it was then, without its earlier turns."""
        return {**shown, "turns": [], "activeTurn": self.turn}


async def _check_overrides(client: HostClient, agent: Agent, overrides: Any) -> None:
    if "name" in overrides:
        raise InvalidValue("$.agent.name", "no name, as the agent of a session never changes", "one")
    await client.wait_tools(agent, [tool["name"] for tool in overrides.get("tools", [])])
    check_overrides(agent, overrides)


class Exchange:
    """The answer to one request: what follows from it, until the turn stops for this request.

    Created in the same tick in which the request is applied, so that it misses nothing.
    """

    def __init__(
        self,
        host: Host,
        client: HostClient,
        session: Session,
        asked: TurnRequest,
        mode: StreamMode,
        begun: Begun | None = None,
    ) -> None:
        self._host = host
        self._client = client
        self._session = session
        self._app_id = asked.app_id
        self._mode: StreamMode = mode
        if begun is None:
            self._subscriber = _subscriber(host, asked.app_id)
            # The answer begins after the actions of the request itself.
            self._seen = client.follow_session(self._subscriber, session)
            state = session.chat
            # T1: the body has the messages from here on.
            self._position = len(session.messages)
        else:
            self._subscriber, self._seen = begun.subscriber, Mark(begun.seq)
            state, self._position = begun.chat(session.shown_chat.state), begun.position
        self._turn_id = turn_id = state["activeTurn"]["id"]
        self._after = state if asked.is_new_turn else _open_part(state)
        told = AnnouncedCalls() if asked.is_new_turn else _told(session, turn_id, state)
        self._projection = Projection(
            turn_id,
            asked.app_id,
            mode,
            partial(_content_of, session),
            partial(_stop_of, session, turn_id),
            told,
        )
        # P14: an agent may have ended calls of its own while no request was open.
        self._missed = b"" if asked.is_new_turn else self._projection.tell_missed(state)
        self._behind: Pages | None = None  # what has still to be read from the log
        self._has_reader = True

    def lose_reader(self) -> None:
        """Stop making events, as the application has left. The agent's questions are still declined (Z6)."""
        self._has_reader = False

    async def events(self) -> AsyncIterator[bytes]:
        """Yield the events as they arrive, several at a time; the last is `turn_stop`."""
        yield TURN_START
        if self._missed:
            await self._client.wait_durable()  # nobody is shown anything that a crash could undo
            yield self._missed
        try:
            while self._projection.stop_reason is None:
                if chunk := await self._next():
                    yield chunk
        finally:
            self._client.unfollow(self._subscriber)

    async def answer(self) -> PostSessionTurnResponse:
        """Wait for the turn to stop, and return all of it."""
        try:
            while self._projection.stop_reason is None:
                await self._next()
        finally:
            self._client.unfollow(self._subscriber)
        messages = [said.message for said in self._session.messages[self._position :] if self._is_told(said)]
        told: list[AgentMessage] = public(messages)  # type: ignore[assignment] # only of assistant and tools
        return {"stopReason": self._projection.stop_reason or "error", "messages": told}

    def _is_told(self, said: TranscriptEntry) -> bool:
        return said.turn == self._turn_id and said.message["role"] != "user"

    async def _next(self) -> bytes:
        if self._behind is not None:
            return await self._read_on(self._behind) if self._has_reader else self._skip()
        subscriber = self._subscriber
        try:
            if not subscriber.items and (self._is_asked() or self._mode != "none"):
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    items = await subscriber.wait_next()
            else:
                items = await subscriber.wait_next()
        except TimeoutError:
            return HEARTBEAT
        except SlowConsumer:
            return await self._catch_up() if self._has_reader else self._skip()
        return b"".join([self._take(item) for item in items])

    def _take(self, item: LogItem) -> bytes:
        seen = self._seen.seq
        # Up to `seen` are the actions of the request itself, and what was sent already.
        if seen is None or item.seq <= seen or self._projection.stop_reason is not None:
            return b""
        self._seen.seq = item.seq
        if item.run is not None:
            return self._projection.stream(item.run) if self._has_reader else b""
        if item.after is None or item.action is None:
            return b""
        kind = item.action["type"]
        if kind == "chat/responsePart" or not kind.startswith("chat/"):
            return b""  # its text still streams, or it is not about the turn
        after = item.after.state
        if kind.startswith("chat/toolCall"):
            # Kept for a replay: the log has actions, and the events need the calls that they change.
            self._after = _open_part(after)
        events = self._projection.take(item.action, after)
        if self._projection.stop_reason == "tool_use":
            _TOLD[self._session] = (self._turn_id, self._projection.told)
        return events

    async def _catch_up(self) -> bytes:
        """Continue from the log: the application reads more slowly than the agent writes (Z3)."""
        self._client.unfollow(self._subscriber)
        self._subscriber = _subscriber(self._host, self._app_id)
        feed = self._client.follow(self._subscriber)
        seen = self._seen.seq
        # If even the request was not shown yet, nothing was missed.
        self._behind = feed.follow(self._session, self._client.shown_seq if seen is None else seen)
        return await self._read_on(self._behind)

    async def _read_on(self, behind: Pages) -> bytes:
        """Return a part of what was missed: a slow reader must not get all of it at once."""
        page = None if behind.is_over else await behind.read_next()
        if not self._has_reader:
            return b""
        if behind.is_over:
            self._behind = None
        elif page is None:
            return self._projection.break_off()  # the log no longer has all of it
        return b"".join(map(self._replay, page or ()))

    def _skip(self) -> bytes:
        """Continue with what happens now: the application has left, so nothing needs to be replayed."""
        self._client.unfollow(self._subscriber)
        self._behind = None
        self._subscriber = _subscriber(self._host, self._app_id)
        self._client.follow_session(self._subscriber, self._session)
        # The turn may have stopped in what was skipped.
        self._projection.look_for_stop(self._session.shown_chat.state)
        return b""

    def _replay(self, entry: Entry) -> bytes:
        run = run_of(entry)
        if run is None:
            return b"".join(map(self._replay_one, unpack([entry])))
        # A run may have been sent in part.
        missed = run.after(self._seen.seq or 0, entry.seq)
        return self._take(LogItem(entry.seq, entry.resource, b"", run=missed))

    def _replay_one(self, entry: Entry) -> bytes:
        envelope = decode_json(entry.envelope)
        if "rejectionReason" in envelope:
            return b""
        action: Any = ACTION.take(envelope["action"])
        if action["type"] in TEXTS:
            return self._take(
                LogItem(entry.seq, entry.resource, b"", run=TextRun.of(envelope["channel"], as_text(action)))
            )
        if not action["type"].startswith("chat/"):
            return b""
        after = reduce_chat(Live(self._after), action)
        return self._take(LogItem(entry.seq, entry.resource, b"", action=action, after=after))

    def _is_asked(self) -> bool:
        """Return whether the agent asks the user. AAP cannot: it is declined if nobody can answer (Z6)."""
        # Read without folding: streamed text never changes the requests.
        asked = open_questions(self._session.shown_chat.base)
        if not asked:
            return False
        # One follower is this exchange itself.
        if self._client.count_followers(self._session) <= 1:
            # `asked` is what was shown; somebody may have answered since.
            still = [request["id"] for request in open_questions(self._session.chat)]
            if self._session.is_foreign:
                self._client.decline_elsewhere(self._session, still)
                return True
            for request in (one for one in asked if one["id"] in still):
                declined = actions.input_completed(request["id"], "decline")
                self._client.act(self._session, [ClientAction(declined)])
        return True


# Module functions: a bound method of the exchange would make a reference cycle.


def _subscriber(host: Host, app_id: str) -> Subscriber:
    limits = host.limits
    items, size = limits.subscriber_items, limits.subscriber_bytes
    # Nothing is sent to this subscriber alone, so its owner does not matter.
    return Subscriber(Identity(app_id), min(items, MAX_WAITING_ITEMS), min(size, MAX_WAITING_BYTES))


def _open_part(state: ChatState) -> ChatState:
    """Return a state with only the open calls of its turn.

    The open calls are all that is needed to project the log from here. The rest may be large, and a slow
    application would keep it in memory long after the session has moved on.
    """
    turn = state.get("activeTurn")
    if turn is None:
        return state
    parts: list[Any] = [
        part
        for part in turn["responseParts"]
        if part["kind"] == "toolCall" and part["toolCall"]["status"] not in ENDED_CALL_STATUSES
    ]
    return {**state, "activeTurn": {**turn, "responseParts": parts}}


def _told(session: Session, turn_id: str, chat: ChatState) -> AnnouncedCalls:
    """Return the calls that were sent before; all of them, if that is not known."""
    of_turn, told = _TOLD.pop(session, ("", AnnouncedCalls()))
    return told if of_turn == turn_id else AnnouncedCalls.all_in(chat)


def _content_of(session: Session, call_id: str) -> Content:
    for said in reversed(session.messages):
        if said.message["role"] == "tool" and said.message["toolCallId"] == call_id:
            return public([said.message])[0]["content"]  # type: ignore[return-value]
    return ""


def _stop_of(session: Session, turn_id: str) -> StopReason | None:
    reason: Any = session.private.get("stops", {}).get(turn_id)
    return reason  # type: ignore[no-any-return]
