"""Clients that stay over power cuts: they come back, and go on where they were."""

import itertools
import json
import time
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from agenthost.client import AapClient
from agenthost.core.legacy.reducers import REDUCERS, Live
from agenthost.errors import HostError
from agenthost.wire.ahp.legacy import ROOT_URI
from agenthost.wire.ahp.legacy.actions import action_resource
from legacy_replica import Replica
from power.book import OLD, Book, demand

TURNS_PER_SESSION = 25


class SessionLost(Exception):
    """A cut took the session; the client makes another."""


class Line:
    """A connection of AHP: requests, and whatever else comes."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._ids = itertools.count(1)
        self.came: list[Any] = []
        """Actions that came while an answer was waited for."""

    async def request(self, method: str, **params: Any) -> Any:
        """Ask, and wait for the answer."""
        message = await self.ask(method, **params)
        demand("error" not in message, method, "was refused:", message)
        return message.get("result")

    async def ask(self, method: str, **params: Any) -> Any:
        """Ask, and wait for what comes back, which may be an error."""
        message_id = next(self._ids)
        await self._send({"id": message_id, "method": method, "params": params})
        while True:
            message = json.loads(await self._socket.recv())
            if message.get("id") == message_id:
                return message
            self._keep(message)

    async def dispatch(self, params: Any) -> None:
        """Send an action."""
        await self._send({"method": "dispatchAction", "params": params})

    async def wait_actions(self) -> list[Any]:
        """Wait for actions, and return all that have come."""
        while not self.came:
            self._keep(json.loads(await self._socket.recv()))
        came, self.came = self.came, []
        return came

    def _keep(self, message: Any) -> None:
        if message.get("method") == "action":
            self.came.append(message["params"])

    async def _send(self, message: Any) -> None:
        await self._socket.send(json.dumps({"jsonrpc": "2.0", **message}))


class Watcher:
    """A client of AHP 0.1 with one session at a time, in which it has turns; it watches the root too."""

    def __init__(self, name: str, book: Book) -> None:
        self._book = book
        self._names = itertools.count(1)
        self._name = name
        self._turns = 0
        self._bases: dict[str, tuple[Any, int]] = {}
        self._heard: dict[str, list[Any]] = {}
        self._begin_anew()
        self.replays = self.snapshots = self.probes = 0

    def _begin_anew(self) -> None:
        self.replica = Replica(self._name)
        self.uri = f"teller:/{self._name}-{next(self._names)}"
        self._bases, self._heard = {}, {}
        self._is_made, self._turns = False, 0
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
        params = {"protocolVersions": ["0.1.0"], "clientId": self._name, "initialSubscriptions": [ROOT_URI]}
        welcome = await line.request("initialize", **params)
        self._load(welcome["snapshots"])
        await line.request("createSession", session=self.uri, provider="teller")
        self._book.made.setdefault(self.uri, time.monotonic())
        subscribed = await line.request("subscribe", resource=self.uri)
        self._take(line)  # it came before
        self._load([subscribed["snapshot"]])
        self._is_made = True

    async def _come_back(self, line: Line) -> None:
        last_seen = self.replica.last_seen
        is_lost = last_seen not in self._known()
        result = await line.request("reconnect", **self.replica.reconnect_params())
        if result["type"] == "replay":
            self.replays += 1
            demand(not is_lost, self._name, "saw", last_seen, "which is lost, and got a replay from there")
            for envelope in result["actions"]:
                self._hear(envelope)
            gone = result["missing"]
        else:
            self.snapshots += 1
            there = {one["resource"] for one in result["snapshots"]}
            gone = [uri for uri in (ROOT_URI, self.uri) if uri not in there]
        self.replica.apply_reconnect(result, 0)
        if result["type"] != "replay":
            self._load(result["snapshots"])
        if gone:
            demand(self.uri not in self._book.made, self.uri, "is there, and the client is told it is not")
            self._begin_anew()
            raise SessionLost

    def _known(self) -> set[int]:
        """Return the numbers from which a replay is right: those that are still there, and where it began."""
        known = {seq for (version, _), shown in self._book.shown.items() if version == OLD for seq in shown}
        return known | self._book.begun

    def _load(self, snapshots: list[Any]) -> None:
        for snapshot in snapshots:
            uri = snapshot["resource"]
            self.replica.load(snapshot)
            self._bases[uri] = (snapshot["state"], snapshot["fromSeq"])
            self._heard[uri] = []
            self._book.begun.add(snapshot["fromSeq"])

    def _hear(self, envelope: Any) -> None:
        uri = action_resource(envelope["action"]) or ""
        self._book.take(uri, envelope)
        self._heard.setdefault(uri, []).append(envelope)

    def _take(self, line: Line) -> None:
        came, line.came = line.came, []
        for envelope in came:
            self._hear(envelope)
            self.replica.apply(envelope, 0)
        self._compare()

    async def _probe(self, other: Line) -> None:
        """Ask what a new client is shown, to compare it with what this one has."""
        params = {"protocolVersions": ["0.1.0"], "clientId": f"{self._name}-probe"}
        welcome = await other.request("initialize", **params, initialSubscriptions=[ROOT_URI, self.uri])
        self._probed = welcome["snapshots"]

    def _compare(self) -> None:
        """Compare with the probe once all that it holds has come: it comes in the order of the numbers."""
        due = [probe for probe in self._probed if probe["fromSeq"] <= self.replica.last_seen]
        self._probed = [probe for probe in self._probed if probe not in due]
        for snapshot in due:
            uri, seq = snapshot["resource"], snapshot["fromSeq"]
            mine, theirs = _timeless(self._at(uri, seq)), _timeless(snapshot["state"])
            demand(mine == theirs, self._name, "has", json.dumps(mine), "and not", json.dumps(theirs))
            self.probes += 1

    def _at(self, uri: str, seq: int) -> Any:
        """Return what a resource was at this number, by the snapshot and the actions that came."""
        state, base = self._bases[uri]
        live: Live[Any] = Live(state)
        for envelope in self._heard[uri]:
            if base < envelope["serverSeq"] <= seq and "rejectionReason" not in envelope:
                live = REDUCERS["root" if uri == ROOT_URI else "session"](live, envelope["action"], 0)
        return live.state

    async def _talk(self, line: Line) -> None:
        while True:
            if "activeTurn" not in self.replica.confirmed(self.uri) and not self.replica.pending(self.uri):
                await self._ask(line)
            line.came = await line.wait_actions()
            self._take(line)

    async def _ask(self, line: Line) -> None:
        self._turns += 1
        name = f"{self.uri.partition(':/')[2]}t{self._turns}-{time.monotonic_ns()}"
        action: Any = {"type": "session/turnStarted", "session": self.uri, "turnId": name}
        action["userMessage"] = {"text": name}
        await line.dispatch(self.replica.dispatch(action, 0))


def _timeless(state: Any) -> Any:
    """Leave out when it was changed: whoever applies an action has a clock of its own."""
    if "summary" not in state:
        return state
    return {**state, "summary": {**state["summary"], "modifiedAt": 0}}


class Talker:
    """A client of AAP with one session at a time, in which it has turns."""

    def __init__(self, name: str, book: Book) -> None:
        self._name = name
        self._book = book
        self._session: str | None = None
        self._asked = 0

    async def live(self, url: str) -> None:
        """Go on, until the connection breaks."""
        try:
            async with AapClient(f"{url}/aap", retries=0) as client:
                while True:
                    await self._ask(client)
        except (HostError, OSError):
            if self._session is not None and (self._session, "") not in self._book.said:
                self._session = None  # lost with its session

    async def _ask(self, client: AapClient) -> None:
        if self._session is None or self._asked % TURNS_PER_SESSION == 0:
            self._session = (await client.create("teller")).id
            self._book.tell(self._session, "", "")
        self._asked += 1
        question, text = f"{self._name}-{self._asked}", ""
        async for event in client.session(self._session).send(question):
            if event["event"] == "text_delta":
                text += event["delta"]
                self._book.tell(self._session, question, text)
