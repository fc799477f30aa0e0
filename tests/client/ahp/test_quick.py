"""The short cut for plain frames: whatever the frames are and however they come, their order stays."""

from typing import Any

import pytest

from agenthost.client.ahp import AhpClient, NotAhp, Patience
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
                    titles.append(change.after["summary"]["title"].rstrip("x"))

            session.listen(heard)
            session.mark_read()
            await session.until(lambda state: state["summary"]["title"] == "6")
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
                await AhpClient(host.url, patience=Patience(first=0.001)).connect()

    run(story)
