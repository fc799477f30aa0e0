"""The driver of one session: it does what the plan says, and answers what the agent asks for.

Started again on the same store it goes on where it was: what it has done is in the log, under the numbers
that its actions have in the plan.
"""

import asyncio
import os
import sys
import traceback
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

from agenthost.core import actions
from agenthost.core.queries import TURN_ENDINGS, open_questions
from agenthost.errors import SessionExists, SessionNotFound, StorageError
from agenthost.host.access.identity import Identity
from agenthost.host.chats import NewChat
from agenthost.host.host import Host
from agenthost.host.log.subscriptions import LogItem
from agenthost.host.log.text_runs import unpack
from agenthost.host.state.feed import Feed
from agenthost.host.state.session import Session
from agenthost.wire.json import decode_json
from crash.driver_actions import answer, cut, message, response, start
from crash.plan import Exchange, SessionPlan
from crash.script import GATE, answer_to, steering_of
from legacy_view import dispatch

STEPS = 100
"""How many numbers an exchange has for the actions of the driver: the first for its beginning."""

OPEN_GATE = 20
AFTERWARDS = 30

FOLLOWING = 1_000_000
"""Numbers for actions that answer what the agent asks for: the state says whether they are still needed."""


def report(*words: str | int, envelope: bytes = b"") -> None:
    """Tell the parent, in one write."""
    line = " ".join(map(str, words)).encode() + (b" " + envelope if envelope else b"") + b"\n"
    while line:
        line = line[os.write(1, line) :]


def give_up(uri: str) -> NoReturn:
    """End the process with the first thing that went wrong; what follows from it is of no use."""
    print("in", uri, file=sys.stderr)
    traceback.print_exc()
    sys.stderr.flush()
    os._exit(3)


class Conversation:
    """The driver of one session."""

    def __init__(self, host: Host, plan: SessionPlan, seen: dict[str, int]) -> None:
        self._host = host
        self._plan = plan
        self._seen = seen
        self._done: set[int] = set()
        self._ended: set[str] = set()
        self._turns: dict[str, str] = {}  # the turns of queued messages
        self._handled: set[str] = set()  # what was answered in this life
        self._following = FOLLOWING
        self._news = asyncio.Event()
        self._session: Session

    async def run(self) -> None:
        """Follow the plan to its end."""
        plan = self._plan
        feed = self._host.parts.engine.feed(Identity(plan.client))
        resumed = await feed.resume(self._seen.get(plan.uri, 0), [plan.uri])
        self._session = await self._host.parts.engine.sessions.get(plan.uri)
        for entry in resumed.replay or []:
            self._take(entry.seq, entry.envelope)
        storage = self._host.parts.engine.storage
        for entry in unpack(storage.replay(0, [self._session.number], plan.client)):
            self._learn(decode_json(entry.envelope))
        listener = asyncio.create_task(self._listen(feed))
        await self._follow()
        listener.cancel()
        feed.close()
        report("finished", plan.uri)

    # What happens

    async def _listen(self, feed: Feed) -> None:
        try:
            await self._react()
            while True:
                await self._hear(feed)
        except Exception:
            give_up(self._plan.uri)

    async def _hear(self, feed: Feed) -> None:
        for item in await feed.subscriber.wait_next():
            for seq, envelope in enumerate(item.envelopes(), item.first_seq):
                self._take(seq, envelope)
                self._learn(decode_json(envelope))
        await self._react()
        self._news.set()

    def _take(self, seq: int, envelope: bytes) -> None:
        word = "refused" if b'"rejectionReason"' in envelope else "shown"
        report(word, self._plan.uri, seq, envelope=envelope)

    def _learn(self, envelope: Any) -> None:
        action = envelope["action"]
        if envelope.get("origin", {}).get("clientId") == self._plan.client:
            self._done.add(envelope["origin"]["clientSeq"])
        if "rejectionReason" in envelope:
            return
        if action["type"] in TURN_ENDINGS:
            self._ended.add(action["turnId"])
        if action["type"] == "chat/turnStarted" and "queuedMessageId" in action:
            self._turns[action["queuedMessageId"]] = action["turnId"]

    async def _until(self, is_so: Callable[[], bool]) -> None:
        while not is_so():
            self._news.clear()
            await self._news.wait()

    # What the driver does

    async def _follow(self) -> None:
        try:
            for place, one in enumerate(self._plan.exchanges):
                await self._exchange(one, (place + 1) * STEPS)
        except Exception:
            give_up(self._plan.uri)

    async def _exchange(self, one: Exchange, step: int) -> None:
        await self._do(step, start(one.name, one.text))
        for place, action in enumerate(self._meanwhile(one)):
            # Once the gate is open all of it was done, though what has to wait for the end is not in the log.
            if not {step + 1 + place, step + OPEN_GATE} & self._done:
                await self._until(lambda: self._gate() is not None)
                await self._do(step + 1 + place, action)
        if self._meanwhile(one) and one.kind not in ("cancel", "cut"):
            await self._open_gate(one, step + OPEN_GATE)
        if one.ending is not None:
            await self._until(lambda: one.name in self._ended)
        for message_id in one.queued:
            await self._until(lambda key=message_id: self._turns.get(key) in self._ended)  # type: ignore[misc]
        await self._afterwards(one, step + AFTERWARDS)

    def _meanwhile(self, one: Exchange) -> list[Any]:
        """Return what is done while the agent waits at its gate."""
        match one.kind:
            case "queue":
                queued = one.queued.items()
                return [actions.pending_message_set("queued", key, message(text)) for key, text in queued]
            case "steer":
                said = message(steering_of(one.name))
                return [actions.pending_message_set("steering", one.name, said)]
            case "cancel":
                return [{"type": "chat/turnCancelled", "turnId": one.name}]
            case "cut":
                return [cut(one)]
            case "refuse":
                return [start("no", "no")]
            case "model":
                # As an older client chooses it: so it waits for the end of the turn.
                return [{"type": "session/modelChanged", "session": self._plan.uri, "model": {"id": "large"}}]
        return []

    async def _afterwards(self, one: Exchange, step: int) -> None:
        if one.fork is not None and self._plan.fork is not None:
            await self._fork(one, self._plan.fork)
        if one.chat is not None and self._plan.chat is not None:
            await self._add_chat(self._plan.chat)
        if one.title is not None:
            await self._do(step, actions.title_changed(one.title))
        if one.cut_after is not None and one.kind != "cut":
            await self._do(step + 1, cut(one))

    async def _fork(self, one: Exchange, plan: SessionPlan) -> None:
        try:
            await self._host.parts.engine.sessions.get(plan.uri)
        except SessionNotFound:  # else the turn may be gone since
            await made(plan.uri, lambda: self._host.parts.lifecycle.fork(self._plan.uri, one.name, plan.uri))
        await Conversation(self._host, plan, self._seen).run()

    async def _add_chat(self, plan: SessionPlan) -> None:
        chat: Any = {"chat": self._session.chat_uri, "turnId": plan.source}
        source: Any = None if plan.source is None else {"kind": "fork", **chat}
        try:
            await self._host.parts.engine.sessions.get(plan.uri)
        except SessionNotFound:  # else the turn that it forks may be gone since
            client = self._host.client(Identity(plan.client))
            new = NewChat(uri=plan.uri, source=source)
            await made(plan.uri, lambda: client.create_chat(self._plan.uri, new))
        await Conversation(self._host, plan, self._seen).run()

    async def _do(self, step: int, action: Any) -> None:
        """Dispatch an action of the plan, unless it has happened; wait until it is durable, and say so."""
        if step in self._done:
            return
        self._done.add(step)
        refusal = await self._dispatch(step, action)
        journal = self._host.parts.engine.journal
        mark = journal.mark()
        await journal.wait()
        report("durable", mark.seq or 0)
        if refusal is not None:
            report("refused", self._plan.uri, refusal.seq, envelope=refusal.envelopes()[0])

    async def _dispatch(self, number: int, action: Any) -> LogItem | None:
        """Dispatch an action to its channel; return the refusal, if it is refused."""
        client = self._host.client(Identity(self._plan.client))
        if action["type"] == "session/modelChanged":
            return await dispatch(client, number, action)
        is_of_chat = action["type"].startswith("chat/")
        channel = self._session.chat_uri if is_of_chat else self._session.uri
        return await client.dispatch(number, channel, action)

    def _gate(self) -> str | None:
        for request in open_questions(self._session.chat):
            if request["questions"][0]["message"] == GATE:
                return str(request["id"])
        return None

    async def _open_gate(self, one: Exchange, step: int) -> None:
        await self._until(lambda: one.name in self._ended or step in self._done or self._gate() is not None)
        gate = self._gate()
        if gate is not None:
            await self._do(step, answer(gate, "open"))

    async def _react(self) -> None:
        """Answer what the agent waits for, gates excepted."""
        turn: Any = self._session.chat.get("activeTurn")
        if turn is None:
            return
        name = turn["message"]["text"].split()[1]
        for request in open_questions(self._session.chat):
            question = request["questions"][0]["message"]
            if question != GATE:
                await self._respond(request["id"], answer(request["id"], answer_to(question, name)))
        for part in turn["responseParts"]:
            if part["kind"] == "toolCall":
                call = part["toolCall"]
                action = response(call)
                if action is not None:
                    named = {"turnId": turn["id"], "toolCallId": call["toolCallId"]}
                    await self._respond(call["toolCallId"] + call["status"], {**action, **named})

    async def _respond(self, key: str, action: Any) -> None:
        if key in self._handled:
            return
        self._handled.add(key)
        self._following += 1
        refusal = await self._dispatch(self._following, action)
        if refusal is not None:
            raise AssertionError(f"{action} was refused: {refusal.reason}")


async def made(uri: str, make: Callable[[], Awaitable[Any]]) -> None:
    """Make a session, unless it is there; as often as it takes while the disk has a fault."""
    is_there = False
    while not is_there:
        try:
            await make()
        except SessionExists:
            pass
        except StorageError:
            await asyncio.sleep(0.05)
            continue
        is_there = True
    report("made", uri)
