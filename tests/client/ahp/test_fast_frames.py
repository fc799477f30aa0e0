"""The filter for plain frames: whatever the frames are and however they come, their order stays."""

import asyncio
from typing import Any

import pytest

from agenthost.client.ahp import AhpClient, Backoff, NotAhp
from agenthost.client.ahp.fast_frames import FrameFilter
from agenthost.wire.json import encode_json
from client.ahp.hosts import URI, Peer, odd_host
from client.ahp.proxies import proxied
from hosting import run


def title_frame(seq: int, size: int = 0) -> str:
    action = {"type": "session/titleChanged", "session": URI, "title": f"{seq}" + "x" * size}
    params = {"action": action, "serverSeq": seq}
    return encode_json({"jsonrpc": "2.0", "method": "action", "params": params}).decode()


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 1000])
def test_a_stream_may_come_in_pieces_of_any_size(server: str, piece: int) -> None:
    async def story() -> None:
        async with proxied(server) as proxy:
            proxy.piece = piece
            async with AhpClient(f"{proxy.url}/ahp") as client:
                session = await client.create("demo")
                assert await session.ask("/stream 20") == "hello world " * 20

    run(story)


@pytest.mark.parametrize("size", [0, 200, 70_000, 3_000_000])
def test_frames_of_any_kind_and_size_keep_their_order(size: int) -> None:
    async def part(peer: Peer) -> None:
        await peer.open()
        await peer.show()
        await peer.hear("dispatchAction")  # now somebody listens
        send = peer.socket.send
        await send(title_frame(1, size))
        await (await peer.socket.ping())
        await send(title_frame(2, size))
        frame = title_frame(3, size)
        await send([frame[:10], frame[10:50], frame[50:]])
        await send(title_frame(4))
        await send(title_frame(5, size).encode())
        await send(title_frame(6))
        await peer.stay()

    async def story() -> None:
        async with odd_host(part) as host, AhpClient(host.url) as client:
            session = await client.session(URI)
            titles: list[str] = []

            def heard(change: Any) -> None:
                if change.kind == "confirmed":
                    titles.append(change.after.session["title"].rstrip("x"))

            session.listen(heard)
            session.mark_read()
            await session.until(lambda state: state.session["title"] == "6")
            assert titles == ["1", "2", "3", "4", "5", "6"]

    run(story)


def test_a_frame_that_is_too_large_ends_the_connection() -> None:
    async def part(peer: Peer) -> None:
        await peer.hear("initialize")
        peer.socket.transport.write(bytes([0x81, 127]) + (2**40).to_bytes(8, "big") + b"x" * 100)
        await peer.stay()

    async def story() -> None:
        async with odd_host(part) as host:
            with pytest.raises(NotAhp, match="larger than"):
                await AhpClient(host.url, backoff=Backoff(initial=0.001)).connect()

    run(story)


SWITCH = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"
HELLO = b"\x81\x05hello"
PING = b"\x89\x02hi"


class Library(asyncio.Protocol):
    """Keeps what the filter hands on."""

    def __init__(self) -> None:
        self.data = b""

    def data_received(self, data: bytes) -> None:
        self.data += data


@pytest.mark.parametrize("cut", [1, 20, len(SWITCH) - 1, len(SWITCH)])
def test_after_the_handshake_text_frames_are_taken_out_and_control_frames_are_not(cut: int) -> None:
    library = Library()
    frames = FrameFilter(library)
    for piece in (SWITCH[:cut], SWITCH[cut:], HELLO + PING, HELLO[:3], HELLO[3:]):
        if piece:
            frames.data_received(piece)
    assert list(frames.messages) == [b"hello", b"hello"]
    assert library.data == SWITCH + PING


@pytest.mark.parametrize(
    "head",
    [
        SWITCH + HELLO[:1],  # part of a frame came with the handshake
        SWITCH + b"\x89\x04\r\n\r\n",
        b"HTTP/1.1 401 Unauthorized\r\n\r\n",
    ],
)
def test_the_filter_stays_out_unless_the_handshake_ends_at_a_frame(head: bytes) -> None:
    library = Library()
    frames = FrameFilter(library)
    for piece in (head, HELLO):
        frames.data_received(piece)
    assert not frames.is_active
    assert not frames.messages
    assert library.data == head + HELLO


def test_after_an_unusual_frame_the_library_reads_everything() -> None:
    library = Library()
    frames = FrameFilter(library)
    frames.data_received(SWITCH)
    frames.data_received(HELLO + b"\x82\x01x" + HELLO)
    frames.data_received(HELLO)
    assert list(frames.messages) == [b"hello"]
    assert library.data == SWITCH + b"\x82\x01x" + HELLO + HELLO


def test_a_message_that_cannot_be_handled_does_not_stop_the_stream(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[bytes] = []

    def sink(message: bytes) -> None:
        seen.append(message)
        raise ValueError("no")

    frames = FrameFilter(Library())
    frames.data_received(SWITCH)
    frames.sink = sink
    frames.data_received(HELLO + HELLO)
    assert seen == [b"hello", b"hello"]
    assert caplog.text.count("could not be handled") == 2
