"""A client of AHP 1.0: has turns in its own session, follows those of others, and comes back anywhere."""

import asyncio
import itertools
import time
from typing import Any

from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from agenthost.core.reducers import REDUCERS, Live
from agenthost.core.times import iso_time
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.errors import ErrorCode
from cluster.clients import ANSWER_SECONDS, KINDS, TURNS_PER_SESSION, Client
from crash.checks import demand
from crash.driver_actions import response
from power.book import NEW
from power.clients import Line

FOLLOWED = 3
"""How many channels of others a watcher follows at most."""


LATER = (ErrorCode.INTERNAL_ERROR, ErrorCode.INVALID_REQUEST)
"""What a node answers that cannot do it at present."""


class TryElsewhere(Exception):
    """The node cannot serve at present."""


class Watcher(Client):
    """Folds each channel that it follows. An action whose echo was lost with the connection is sent again."""

    kinds = (*KINDS, "denied")

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._sessions = itertools.count(1)
        self._seqs = itertools.count(1)
        self._is_known = self._has_made = False
        self.last_seen = 0
        self.lives: dict[str, Live[Any]] = {}
        self._spans: dict[str, list[Any]] = {}
        self._pending: dict[int, Any] = {}
        self._answered: set[tuple[str, str]] = set()
        self._new_session()

    def _new_session(self) -> None:
        self.uri = f"talker:/{self.name}s{next(self._sessions)}"
        self._chat: str | None = None
        self._turns = 0

    @property
    def is_done(self) -> bool:
        return self._chat is None or (not self._pending and "activeTurn" not in self.lives[self._chat].state)

    async def visit(self, url: str) -> None:
        begun = time.monotonic()
        try:
            async with connect(
                f"{url.replace('http', 'ws', 1)}/ahp",
                max_size=None,
                open_timeout=3,
                close_timeout=1,
                proxy=None,
            ) as socket:
                line = Line(socket)
                async with asyncio.timeout(ANSWER_SECONDS):
                    await self._come(line)
                await self._talk(line, url)
        except TimeoutError:
            self.check_patience(url, begun, "when it came")
        except (OSError, WebSocketException, TryElsewhere):
            return

    # Coming

    async def _come(self, line: Line) -> None:
        if self._is_known:
            await self._come_back(line)
        else:
            hello = {"protocolVersions": [NEW], "clientId": self.name, "initialSubscriptions": [ROOT_URI]}
            self._load((await self._request(line, "initialize", channel=ROOT_URI, **hello))["snapshots"])
            self._is_known = True
        self._answered.clear()
        for params in list(self._pending.values()):
            await line.dispatch(params)

    async def _come_back(self, line: Line) -> None:
        seen = {"lastSeenServerSeq": self.last_seen, "subscriptions": list(self.lives)}
        answer = await line.ask("reconnect", channel=ROOT_URI, clientId=self.name, **seen)
        if "error" in answer:
            is_unknown = answer["error"]["code"] == ErrorCode.NOT_FOUND
            # Who it is becomes durable together with its first session.
            demand(not is_unknown or not self._has_made, self.name, "is not taken back:", answer)
            if is_unknown:
                self._is_known = False
                self.lives.clear()
            raise TryElsewhere
        result = answer["result"]
        if result["type"] == "replay":
            self._book.counts["replays"] += 1
            demand(not result["missing"], self.name, "is told that these are gone:", result["missing"])
            for envelope in result["actions"]:
                self._hear(envelope)
            return
        self._book.counts["snapshots"] += 1
        there = {one["resource"] for one in result["snapshots"]}
        demand(there == set(self.lives), self.name, "is told that these are gone:", set(self.lives) - there)
        self._load(result["snapshots"])
        # What came of its actions is in the states; only a turn that is not there has to be asked for again.
        turns = self.lives[self._chat].state if self._chat is not None else {}
        known = [one["id"] for one in [*turns.get("turns", []), turns.get("activeTurn", {"id": ""})]]
        self._pending = {
            seq: one
            for seq, one in self._pending.items()
            if one["action"]["type"] == "chat/turnStarted" and one["action"]["turnId"] not in known
        }

    async def _request(self, line: Line, method: str, **params: Any) -> Any:
        answer = await line.ask(method, **params)
        if "error" in answer:
            code = answer["error"]["code"]
            is_there = params["channel"] in (ROOT_URI, *self._book.made)
            is_fine = code in LATER or (code == ErrorCode.SESSION_NOT_FOUND and not is_there)
            demand(is_fine, self.name, method, "was refused:", answer)
            raise TryElsewhere
        return answer["result"]

    async def _make(self, line: Line) -> None:
        answer = await line.ask("createSession", channel=self.uri, provider="talker")
        code = answer.get("error", {}).get("code")
        if code not in (None, ErrorCode.SESSION_ALREADY_EXISTS):
            demand(code in LATER, self.uri, "refused:", answer)
            raise TryElsewhere
        if code is None:
            self._book.made.add(self.uri)
            self._has_made = True
        await self._follow(line, self.uri)  # one that is being made by another node may not be there yet
        self._book.made.add(self.uri)
        self._has_made = True
        while self.lives[self.uri].state["lifecycle"] == "creating":
            line.came = await line.wait_actions()
            self._take(line)
        chat = self.lives[self.uri].state["defaultChat"]
        await self._follow(line, chat)
        self._chat = chat

    async def _follow(self, line: Line, channel: str) -> None:
        if channel in self.lives:
            return
        subscribed = await self._request(line, "subscribe", channel=channel)
        self._take(line)  # it came before
        self._load([subscribed["snapshot"]])

    async def _follow_another(self, line: Line) -> None:
        others = sorted(uri for uri in self._book.made if uri not in self.lives)
        if others and len(self.lives) < 3 + FOLLOWED and self._chance.random() < 0.3:
            await self._follow(line, self._chance.choice(others))

    # What is shown

    def _load(self, snapshots: list[Any]) -> None:
        for snapshot in snapshots:
            uri, seq = snapshot["resource"], snapshot["fromSeq"]
            self.lives[uri] = Live(snapshot["state"])
            self._spans[uri] = self._book.new_span(uri, seq)
            self.last_seen = max(self.last_seen, seq)

    def _hear(self, envelope: Any) -> None:
        uri, seq = envelope["channel"], envelope["serverSeq"]
        demand(uri in self.lives, self.name, "does not follow", uri)
        demand(seq > self.last_seen, self.name, "is shown", seq, "after", self.last_seen)  # I1
        self.last_seen = seq
        self._book.counts["envelopes"] += 1
        if envelope.get("origin", {}).get("clientId") == self.name:
            self._pending.pop(envelope["origin"]["clientSeq"], None)
        if "rejectionReason" in envelope:
            self._book.counts["refusals"] += 1
            return
        self._spans[uri].append(envelope)
        kind = envelope["action"]["type"].partition("/")[0]
        self.lives[uri] = REDUCERS[kind](self.lives[uri], envelope["action"])

    def _take(self, line: Line) -> None:
        came, line.came = line.came, []
        for envelope in came:
            self._hear(envelope)

    # What it does

    async def _talk(self, line: Line, url: str) -> None:
        while not self.is_ending or not self.is_done:
            begun = time.monotonic()
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    await self._act(line)
                    line.came = await line.wait_actions()
            except TimeoutError:
                self.check_patience(url, begun, *self._waits_for())
                return
            self._take(line)

    def _waits_for(self) -> list[object]:
        """Say what it waits for: for an echo, for a session, or for the end of a turn."""
        chat = None if self._chat is None else self.lives[self._chat].state
        turn = (chat or {}).get("activeTurn")
        return ["and waits for", list(self._pending.values())[:1], "in", self.uri, "with", turn]

    async def _act(self, line: Line) -> None:
        """Begin a turn, or answer what a turn waits for."""
        if self._chat is None or (self._turns >= TURNS_PER_SESSION and self.is_done and not self.is_ending):
            if self._chat is not None:
                self._new_session()
            await self._make(line)
        await self._follow_another(line)
        assert self._chat is not None
        active = self.lives[self._chat].state.get("activeTurn")
        if active is None and not self._pending and not self.is_ending:
            await self._begin(line, self._chat)
        for part in (active or {}).get("responseParts", []):
            if part["kind"] == "toolCall":
                await self._answer(line, self._chat, active["id"], part["toolCall"])

    async def _begin(self, line: Line, chat: str) -> None:
        self._turns += 1
        text = self.next_text()
        action = {"type": "chat/turnStarted", "turnId": text.split()[1], "startedAt": _now()}
        await self._dispatch(line, chat, {**action, "message": {"text": text, "origin": {"kind": "user"}}})

    async def _answer(self, line: Line, chat: str, turn_id: str, call: Any) -> None:
        answer, key = response(call), (call["toolCallId"], call["status"])
        if answer is None or key in self._answered:
            return
        self._answered.add(key)
        await self._dispatch(line, chat, {**answer, "turnId": turn_id, "toolCallId": call["toolCallId"]})

    async def _dispatch(self, line: Line, channel: str, action: Any) -> None:
        seq = next(self._seqs)
        self._pending[seq] = params = {"channel": channel, "clientSeq": seq, "action": action}
        await line.dispatch(params)


def _now() -> str:
    return str(iso_time(time.time_ns() // 1_000_000))
