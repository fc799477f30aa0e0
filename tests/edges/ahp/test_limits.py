"""Those who do not read, say too much, may not stay, or are too many; and the end of the server."""

import asyncio
import json
import signal
import socket
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.uri import parse_uri

from agenthost.host.access.keys import KeyFile
from agenthost.host.limits import Limits
from agenthost.wire.ahp.legacy import ROOT_URI
from ahp_sites import Place, on_a_host, served
from ahp_speaking import Client, new_uri
from hosting import run
from rules import rule
from serving import serving


class Sloth:
    """A client on a bare socket, which reads only when it is told to, and answers no pings before."""

    def __init__(self, url: str) -> None:
        address = url.removeprefix("http://")
        self._protocol = ClientProtocol(parse_uri(f"ws://{address}/ahp"), max_size=None)
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        host, _, port = address.partition(":")
        self._socket.connect((host, int(port)))
        self._protocol.send_request(self._protocol.connect())
        self._flush()
        while not any(isinstance(event, Response) for event in self._events()):
            pass

    def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            if data:
                self._socket.sendall(data)

    def _events(self) -> list[Any]:
        data = self._socket.recv(65536)
        if data:
            self._protocol.receive_data(data)
        else:
            self._protocol.receive_eof()
        return self._protocol.events_received()

    def say(self, message_id: int, method: str, **params: Any) -> None:
        message = {"jsonrpc": "2.0", "id": message_id, "method": method, "params": params}
        self._protocol.send_text(json.dumps(message).encode())
        self._flush()

    def read(self, until: Any) -> list[Frame]:
        """Read frames until one is there that is meant."""
        frames: list[Frame] = []
        while not any(until(frame) for frame in frames):
            frames += [event for event in self._events() if isinstance(event, Frame)]
        return frames

    def close(self) -> None:
        self._socket.close()


@rule("HR-R07", "HR-T01")
@on_a_host(limits=Limits(subscriber_items=6_000))
async def test_a_client_that_does_not_read_is_cut_off_with_a_reason_and_nobody_else_notices(
    place: Place,
) -> None:
    async with place.client("author") as author:
        uri = await author.begun()
        sloth = await asyncio.to_thread(Sloth, place.url)
        open_: Any = {"protocolVersions": ["0.1.0"], "clientId": "sloth", "initialSubscriptions": [uri]}
        await asyncio.to_thread(sloth.say, 1, "initialize", **open_)
        await asyncio.to_thread(sloth.read, lambda frame: frame.opcode == Opcode.TEXT)
        while len(place.peers) == 2:
            turn = await author.say(uri, "/stream 1000")
            assert turn["state"] == "complete"
        frames = await asyncio.to_thread(sloth.read, lambda frame: frame.opcode == Opcode.CLOSE)
        code, reason = int.from_bytes(frames[-1].data[:2]), bytes(frames[-1].data[2:]).decode()
        assert code == 4008
        assert "fell behind" in reason
        messages = [json.loads(bytes(frame.data)) for frame in frames if frame.opcode == Opcode.TEXT]
        numbers = [one["params"]["serverSeq"] for one in messages if one["method"] == "action"]
        assert numbers == sorted(numbers)
        await asyncio.to_thread(sloth.close)
        async with place.stranger("sloth") as back:
            assert (await back.reopen(numbers[-1], uri))["type"] in ("replay", "snapshot")


@rule("HR-R07")
@on_a_host(limits=Limits(subscriber_items=2_000))
async def test_a_client_that_asks_without_reading_is_not_answered_endlessly(place: Place) -> None:
    (place.workspace / "large").write_text("x" * 1_000_000)
    sloth = await asyncio.to_thread(Sloth, place.url)
    open_: Any = {"protocolVersions": ["0.1.0"], "clientId": "sloth"}
    await asyncio.to_thread(sloth.say, 1, "initialize", **open_)
    await asyncio.to_thread(sloth.read, lambda frame: frame.opcode == Opcode.TEXT)
    for number in range(100):
        await asyncio.to_thread(sloth.say, number + 2, "resourceRead", uri=place.uri("large"))
    async with place.client() as me:
        assert await me.request("ping") is None
    answered: set[int] = set()
    while len(answered) < 100:
        for frame in await asyncio.to_thread(sloth.read, lambda frame: frame.opcode == Opcode.TEXT):
            if frame.opcode == Opcode.TEXT and b'"id":' in bytes(frame.data[:40]):
                answered.add(int(bytes(frame.data[:60]).partition(b'"id":')[2].partition(b",")[0]))
    assert answered == set(range(2, 102))
    await asyncio.to_thread(sloth.close)


@rule("HR-T03")
def test_pings_detect_dead_peers(tmp_path: Path) -> None:
    @on_a_host()
    async def story(place: Place) -> None:
        for protocol in (await asyncio.to_thread(Sloth, place.url),):
            for connection in list(place.server.server_state.connections):
                connection.ping_interval = 0.05  # type: ignore[union-attr] # soon, for this test
                connection.send_keepalive_ping()  # type: ignore[union-attr]
            frames = await asyncio.to_thread(protocol.read, lambda frame: frame.opcode == Opcode.PING)
            assert frames[-1].opcode == Opcode.PING
            for connection in list(place.server.server_state.connections):
                connection.keepalive_timeout()  # type: ignore[union-attr] # as if it had never answered
            frames = await asyncio.to_thread(protocol.read, lambda frame: frame.opcode == Opcode.CLOSE)
            assert int.from_bytes(frames[-1].data[:2]) == 1011
            await asyncio.to_thread(protocol.close)

    story(tmp_path)


@rule("HR-T03")
@on_a_host()
async def test_pings_of_a_client_are_answered(place: Place) -> None:
    async with place.stranger() as me:
        await (await me.socket.ping())


@rule("HR-R07")
@on_a_host()
async def test_connections_beyond_the_limit_are_refused(place: Place) -> None:
    place.peers.max_connections = 2
    async with place.client("one"), place.client("two"), place.stranger("three") as three:
        assert await three.closed() == (1013, "too many connections")
    async with place.client("four") as four:
        await four.request("ping")


@rule("HR-T04")
@on_a_host(keys=("ann", "bob"))
async def test_a_connection_ends_when_its_key_is_revoked(place: Place) -> None:
    async with (
        place.client("a", place.keys["ann"]) as ann,
        place.client("b", place.keys["bob"]) as bob,
        place.stranger("c", place.keys["ann"]) as silent,
    ):
        KeyFile(place.folder).revoke(place.keys["ann"])
        for gone in (ann, silent):
            assert await gone.closed() == (1008, "the key is no longer valid")
        assert await bob.request("ping") is None


@rule("HR-R07")
@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_stops_notifies_all_connections(tmp_path: Path, kind: int) -> None:
    with serving("--data", tmp_path) as served:
        url = served.wait_url()

        async def story() -> None:
            async with Client.connected(url, "open") as one, Client.connected(url, "silent") as two:
                await one.open(ROOT_URI)
                uri = await one.begun()
                await one.send(uri, "/wait 60")
                served.process.send_signal(kind)
                for client in (one, two):
                    assert await client.closed() == (1001, "the host is going away")

        run(story)
        assert served.process.wait(10) == 0


@rule("HR-T02")
@on_a_host(may_fail=True)
async def test_invalid_text_ends_the_connection_with_a_code(place: Place) -> None:
    async with connect(f"{place.url.replace('http', 'ws')}/ahp") as bare:
        bare.protocol.send_text(b"\xff\xfe")
        bare.transport.write(b"".join(bare.protocol.data_to_send()))
        await bare.wait_closed()
        assert bare.close_code == 1007


@rule("HR-R01")
@pytest.mark.sqlite
def test_a_full_disk_is_reported_over_both_protocols(tmp_path: Path) -> None:
    async def story() -> None:
        async with served(tmp_path) as place, place.client() as me:
            storage: Any = place.host.parts.engine.storage
            journal = place.host.parts.engine.journal
            pages = (await journal.in_turn(storage._writer.execute, "PRAGMA page_count")).fetchone()[0]
            await journal.in_turn(storage._writer.execute, f"PRAGMA max_page_count = {pages}")
            uri = new_uri()
            await me.request("createSession", session=uri)
            filler = {"text": "x" * 400_000}
            await me.act(uri, "session/turnStarted", turnId="t", userMessage=filler)
            while journal.trouble is None:  # noqa: ASYNC110 - of another part, which tells nobody
                await asyncio.sleep(0.01)
            sentence = "the store cannot be read or written at present: the disk is full; try again later"
            refused = await me.refusal("createSession", session=new_uri())
            assert refused.message == sentence
            answer = await place.ask("/aap/v3/sessions", "POST", {"agent": {"name": "demo"}})
            assert (answer.status, answer.json["error"]["message"]) == (503, sentence)
            assert str(tmp_path) not in str(refused)
            await journal.in_turn(storage._writer.execute, "PRAGMA max_page_count = 1000000000")

    run(story)


@rule("HR-R07")
@on_a_host()
async def test_a_frame_with_too_many_values_is_refused_and_delays_nobody(place: Place) -> None:
    async with place.client() as me, place.client("other") as other:
        await me.raw('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[' + "[]," * 2_500_000 + "0]}}")
        answer = await me.stray()
        assert answer["error"]["code"] == -32700
        assert "more than 50000 values" in answer["error"]["message"]
        assert await other.request("ping") is None
        assert await me.request("ping") is None


@rule("HR-R05")
@on_a_host()
async def test_names_that_are_too_long_are_refused_with_their_path(place: Place) -> None:
    async with place.client() as me:
        refused = await me.refusal("createSession", session="demo:/" + "x" * 9_000)
        assert refused.message.startswith("$.session: expected at most 8192 characters")
        uri = await me.begun()
        await me.tell(
            "dispatchAction",
            clientSeq=1,
            action={"type": "session/titleChanged", "session": uri, "title": "x" * 1_001},
        )
        refusal = await me.hear(lambda envelope: "rejectionReason" in envelope)
        assert refusal["rejectionReason"] == "$.title: expected at most 1000 characters, found 1001"
