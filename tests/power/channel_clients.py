"""Clients of AHP 1.0 that stay over power cuts: they fold each channel, and go on where they were."""

import itertools
import json
import time
from typing import Any

from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from agenthost.core.reducers import REDUCERS, Live
from agenthost.core.times import iso_time
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.errors import ErrorCode
from power.book import NEW, Book, demand, further_chat_of
from power.clients import TURNS_PER_SESSION, Line, SessionLost


class ChannelWatcher:
    """A client with one session at a time, in whose two chats it has turns; it watches the root too.

    What it folded of each channel is compared with what a new client is shown, and it is all of it: the times
    are in the actions. An action whose echo was lost with the connection is sent again.
    """

    def __init__(self, name: str, book: Book) -> None:
        self._book = book
        self._names = itertools.count(1)
        self._name = name
        self.replays = self.snapshots = self.probes = 0
        self._begin_anew()

    def _begin_anew(self) -> None:
        self.uri = f"teller:/{self._name}-{next(self._names)}"
        self._chats: list[str] = []
        self._bases: dict[str, tuple[Any, int]] = {}
        self._heard: dict[str, list[Any]] = {}
        self._lives: dict[str, Live[Any]] = {}
        self._last_seen = 0
        self._is_made, self._turns = False, 0
        self._asked: Any = None  # the last action, until its echo has come
        self._probed: list[Any] = []

    async def live(self, url: str) -> None:
        """Come back, and have turns until the connection breaks."""
        self._probed = []
        if self._turns >= TURNS_PER_SESSION or not self._is_made:
            self._begin_anew()  # one that was being made may be there, and nobody told
        address = f"{url.replace('http', 'ws', 1)}/ahp"
        try:
            async with connect(address, max_size=None) as socket:
                line = Line(socket)
                await (self._come_back(line) if self._is_made else self._come(line))
                async with connect(address, max_size=None) as other:
                    await self._probe(Line(other))
                await self._talk(line)
        except SessionLost:
            await self.live(url)
        except (OSError, WebSocketException, EOFError):
            return

    async def _come(self, line: Line) -> None:
        welcome = await line.request("initialize", **self._hello(self._name, [ROOT_URI]))
        self._load(welcome["snapshots"])
        await line.request("createSession", channel=self.uri, provider="teller")
        self._book.made.setdefault(self.uri, time.monotonic())
        await self._follow(line, self.uri)
        while self._lives[self.uri].state["lifecycle"] == "creating":
            line.came = await line.wait_actions()
            self._take(line)
        default, further = self._lives[self.uri].state["defaultChat"], further_chat_of(self.uri)
        await line.request("createChat", channel=self.uri, chat=further)
        self._book.made.setdefault(further, time.monotonic())
        self._chats = [default, further]
        for chat in self._chats:
            await self._follow(line, chat)
        self._is_made = True

    async def _follow(self, line: Line, channel: str) -> None:
        subscribed = await line.request("subscribe", channel=channel)
        self._take(line)  # it came before
        self._load([subscribed["snapshot"]])

    def _hello(self, name: str, channels: list[str]) -> Any:
        wanted = {"protocolVersions": [NEW], "clientId": name, "initialSubscriptions": channels}
        return {"channel": ROOT_URI, **wanted}

    @property
    def _channels(self) -> list[str]:
        return [ROOT_URI, self.uri, *self._chats]

    async def _come_back(self, line: Line) -> None:
        is_lost = self._last_seen not in self._known()
        seen = {"lastSeenServerSeq": self._last_seen, "subscriptions": self._channels}
        answer = await line.ask("reconnect", channel=ROOT_URI, clientId=self._name, **seen)
        if "error" in answer:
            # Who it is was written before its session was. So both are lost.
            is_known = answer["error"]["code"] != ErrorCode.NOT_FOUND or self.uri in self._book.made
            demand(not is_known, self._name, "is not taken back:", answer)
            self._begin_anew()
            raise SessionLost
        result = answer["result"]
        if result["type"] == "replay":
            self.replays += 1
            demand(not is_lost, self._name, "saw", self._last_seen, "which is lost, and got a replay")
            for envelope in result["actions"]:
                self._hear(envelope)
            gone = result["missing"]
        else:
            self.snapshots += 1
            there = {one["resource"] for one in result["snapshots"]}
            gone = [uri for uri in self._channels if uri not in there]
            self._load(result["snapshots"])
        if gone:
            kept = [uri for uri in gone if uri in self._book.made]
            demand(not kept, kept, "are there, and the client is told they are not")
            self._begin_anew()
            raise SessionLost
        if self._asked is not None:
            await line.dispatch(self._asked)

    def _known(self) -> set[int]:
        """Return the numbers from which a replay is right: those that are still there, and where it began."""
        known = {seq for (version, _), shown in self._book.shown.items() if version == NEW for seq in shown}
        return known | self._book.begun

    def _load(self, snapshots: list[Any]) -> None:
        for snapshot in snapshots:
            uri, seq = snapshot["resource"], snapshot["fromSeq"]
            self._bases[uri] = (snapshot["state"], seq)
            self._lives[uri] = Live(snapshot["state"])
            self._heard[uri] = []
            self._last_seen = max(self._last_seen, seq)
            self._book.begun.add(seq)
            turns = [*snapshot["state"].get("turns", []), snapshot["state"].get("activeTurn", {"id": ""})]
            if self._asked is not None and self._asked["action"]["turnId"] in [turn["id"] for turn in turns]:
                self._asked = None

    def _hear(self, envelope: Any) -> None:
        uri, seq = envelope["channel"], envelope["serverSeq"]
        demand(uri in self._bases, self._name, "does not follow", uri)
        demand(seq > self._last_seen, self._name, "is shown", seq, "after", self._last_seen)
        demand("rejectionReason" not in envelope or "turn" in envelope["rejectionReason"], envelope)
        self._last_seen = seq
        self._book.take(uri, envelope, NEW)
        self._heard[uri].append(envelope)
        self._lives[uri] = _reduced(self._lives[uri], uri, envelope)
        if envelope.get("origin", {}).get("clientId") == self._name:
            self._asked = None

    def _take(self, line: Line) -> None:
        came, line.came = line.came, []
        for envelope in came:
            self._hear(envelope)
        self._compare()

    async def _probe(self, other: Line) -> None:
        """Ask what a new client is shown, to compare it with what this one has."""
        hello = self._hello(f"{self._name}-probe", self._channels)
        self._probed = (await other.request("initialize", **hello))["snapshots"]
        demand(len(self._probed) == len(self._channels), self._name, "sees more than a new client")

    def _compare(self) -> None:
        """Compare with the probe once all that it holds has come: it comes in the order of the numbers."""
        due = [probe for probe in self._probed if probe["fromSeq"] <= self._last_seen]
        self._probed = [probe for probe in self._probed if probe not in due]
        for snapshot in due:
            mine, theirs = self._at(snapshot["resource"], snapshot["fromSeq"]), snapshot["state"]
            demand(mine == theirs, self._name, "has", json.dumps(mine), "and not", json.dumps(theirs))
            self.probes += 1

    def _at(self, uri: str, seq: int) -> Any:
        """Return what a channel was at this number, by the snapshot and the actions that came."""
        state, base = self._bases[uri]
        live: Live[Any] = Live(state)
        for envelope in self._heard[uri]:
            if base < envelope["serverSeq"] <= seq:
                live = _reduced(live, uri, envelope)
        return live.state

    async def _talk(self, line: Line) -> None:
        while True:
            chat = self._chats[self._turns % len(self._chats)]
            if self._asked is None and "activeTurn" not in self._lives[chat].state:
                await self._ask(line, chat)
            line.came = await line.wait_actions()
            self._take(line)

    async def _ask(self, line: Line, chat: str) -> None:
        self._turns += 1
        name = f"{self.uri.partition(':/')[2]}t{self._turns}-{time.monotonic_ns()}"
        message = {"text": name, "origin": {"kind": "user"}}
        started = {"startedAt": iso_time(time.time_ns() // 1_000_000), "message": message}
        action = {"type": "chat/turnStarted", "turnId": name, **started}
        self._asked = {"channel": chat, "clientSeq": self._turns, "action": action}
        await line.dispatch(self._asked)


def _reduced(live: Live[Any], uri: str, envelope: Any) -> Live[Any]:
    if "rejectionReason" in envelope:
        return live
    kind = envelope["action"]["type"].partition("/")[0]
    demand((kind == "root") == (uri == ROOT_URI), uri, "is shown", envelope)
    return REDUCERS[kind](live, envelope["action"])
