"""A client that speaks AHP 1.0 or 0.9 by hand. Every frame is checked, and each channel is folded as it says.

The fold of what came is compared with a fresh snapshot by `check_folds`: the two are the same, always.
"""

import itertools
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from agenthost.core.reducers import REDUCERS, Live
from agenthost.core.times import iso_time
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.methods import METHODS
from agenthost.wire.shape import STRICT, Shape
from ahp_frames import Refused, shape_error, without_unknown
from ahp_sites import Place
from ahp_speaking import Client, new_uri

RESULTS = {name: Shape[Any](one.result.kind, STRICT) for name, one in METHODS.items() if one.result}
PUSHED = {name: Shape[Any](one.params.kind, STRICT) for name, one in METHODS.items() if one.caller == "host"}

USER: Any = {"kind": "user"}
NOW = "2026-01-01T00:00:00.000Z"

_names = itertools.count(1)


class ChannelClient(Client):
    """A connection of AHP 1.0, or of another version that `open` is given."""

    def take(self, message: Any) -> None:
        assert message["jsonrpc"] == "2.0", message
        if "method" in message:
            assert "id" not in message, f"a host asks for nothing: {message}"
            params = without_unknown(message["params"])
            if "rejectionReason" in params:  # the words of the client itself, whatever they are
                params["action"] = {"type": "session/ready"}
            PUSHED[message["method"]].take(params)
            if message["method"] == "action":
                self._happen(message["params"])
            else:
                self.notices.append({"method": message["method"], **message["params"]})
            return
        assert ("result" in message) != ("error" in message), message
        if "error" in message:
            shape_error(message)
        known = self._asked.pop(message["id"], None) if message["id"] is not None else None
        if known is None:
            self.strays.append(message)
            return
        method, params, future = known
        if "error" in message:
            future.set_exception(Refused(message["error"]))
            return
        RESULTS[method].take(without_unknown(message["result"]))
        self._learn(method, params, message["result"])
        future.set_result(message["result"])

    def _happen(self, envelope: Any) -> None:
        seq, uri = envelope["serverSeq"], envelope["channel"]
        assert seq > self.last_seq, f"{seq} after {self.last_seq}"
        self.last_seq = seq
        self.envelopes.append(envelope)
        if "rejectionReason" in envelope:
            assert envelope["origin"]["clientId"] == self.client_id, f"another client's refusal: {envelope}"
            return
        assert uri in self._floors, f"not subscribed: {envelope}"
        assert uri not in self._left, f"not subscribed any more: {envelope}"
        assert seq > self._floors[uri], f"in the snapshot already: {envelope}"
        if uri in self.states:
            kind: Any = envelope["action"]["type"].partition("/")[0]
            self.states[uri] = REDUCERS[kind](self.states[uri], envelope["action"])

    # Opening

    async def open(self, *subscriptions: str, **more: Any) -> Any:
        return await super().open(
            *subscriptions, **{"channel": ROOT_URI, "protocolVersions": ["1.0.0", "0.9.0"], **more}
        )

    async def subscribe(self, uri: str, **options: Any) -> Any:
        return (await self.request("subscribe", channel=uri, **options))["snapshot"]["state"]

    async def unsubscribe(self, uri: str) -> None:
        await self.tell("unsubscribe", channel=uri)
        await self.request("ping", channel=ROOT_URI)
        self._left.add(uri)

    # Acting

    async def act(self, uri: str, kind: str, /, seq: int | None = None, **fields: Any) -> int:
        seq = next(self._seqs) if seq is None else seq
        await self.tell("dispatchAction", channel=uri, clientSeq=seq, action={"type": kind, **fields})
        return seq

    async def begun(self, uri: str | None = None, **more: Any) -> str:
        """Make a session, subscribe to it and to its chat, and wait until it is ready."""
        uri = new_uri() if uri is None else uri
        await self.request("createSession", channel=uri, **more)
        await self.follow(uri)
        await self.until(lambda: self.state(uri)["lifecycle"] != "creating")
        return uri

    async def follow(self, uri: str) -> str:
        """Subscribe to a session and its default chat; returns the chat."""
        chat: str = (await self.subscribe(uri))["defaultChat"]
        await self.subscribe(chat)
        return chat

    def chat_of(self, uri: str) -> str:
        chat: str = self.state(uri)["defaultChat"]
        return chat

    def chat(self, uri: str) -> Any:
        """Return the state of a session's default chat."""
        return self.state(self.chat_of(uri))

    async def send(self, uri: str, text: str, turn: str | None = None, **more: Any) -> str:
        turn = turn or f"c{next(_names)}"
        message = {"text": text, "origin": USER, **more}
        now = iso_time(time.time_ns() // 1_000_000)
        started = {"turnId": turn, "startedAt": now, "message": message}
        envelope = await self.decide(self.chat_of(uri), "chat/turnStarted", **started)
        assert "rejectionReason" not in envelope, envelope
        return turn

    async def finish(self, uri: str, turn: str) -> Any:
        await self.until(lambda: [one for one in self.chat(uri)["turns"] if one["id"] == turn])
        return next(one for one in self.chat(uri)["turns"] if one["id"] == turn)

    async def call(self, uri: str, status: str) -> Any:
        """Wait for a tool call of this status in the running turn, and return it."""

        def look() -> Any:
            parts = self.chat(uri).get("activeTurn", {}).get("responseParts", [])
            calls = [part["toolCall"] for part in parts if part["kind"] == "toolCall"]
            return next((call for call in calls if call["status"] == status), None)

        return await self.until(look)

    async def check_view(self, chat: str, other: "ChannelClient") -> None:
        """Compare what was folded of a chat with what another client is shown: all from some turn on."""
        full: Any = await other.subscribe(chat)
        await self.request("ping", channel=ROOT_URI)
        seen = self.state(chat)
        hidden = len(full["turns"]) - len(seen["turns"])
        assert hidden >= 0
        assert ("turnsNextCursor" in seen) == (hidden > 0)
        kept = {key: value for key, value in seen.items() if key != "turnsNextCursor"}
        assert kept == {**full, "turns": full["turns"][hidden:]}

    async def check_folds(self) -> None:
        """Compare what was folded of each channel with a fresh snapshot of it (Q1)."""
        await self.request("ping", channel=ROOT_URI)  # so that all that follows from an echo has come
        for uri in [uri for uri in self.states if uri not in self._left]:
            folded = self.state(uri)
            assert folded == await self.subscribe(uri), uri
            self.states[uri] = Live(folded)


@asynccontextmanager
async def channel_client(
    place: Place, client_id: str = "me", key: str | None = None, **more: Any
) -> AsyncIterator[ChannelClient]:
    """Return a client of AHP 1.0 that has opened its connection."""
    async with ChannelClient.connected(place.url, client_id, key) as client:
        await client.open(**more)
        yield client
