"""Calls between nodes: real servers on loopback."""

import asyncio
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from agenthost import errors
from agenthost.errors import (
    AuthRequired,
    HostError,
    PeerFailed,
    PeerGone,
    PeerRefused,
    SessionNotFound,
    TooLarge,
)
from agenthost.host.access.vault import Vault
from agenthost.host.cluster import peers as peers_module
from agenthost.host.cluster.carried_errors import pack_error, unpack_error
from agenthost.host.cluster.channels import MAX_FRAME, MAX_GREETING
from agenthost.host.cluster.handshake import CALLED, Parties, introduce, new_nonce, prove
from agenthost.host.cluster.peers import Peers
from agenthost.wire.json import decode_json, encode_json
from hosting import run
from peer_nodes import OTHER_SECRET, SECRET, Nodes, nodes

KEYS = Vault(SECRET, "a test").derive("peer")


async def echo(sender: int, params: dict[str, Any]) -> dict[str, Any]:
    return {"from": sender, **params}


async def two(found: Nodes) -> tuple[Peers, Peers]:
    one, other = await found.start(1), await found.start(2)
    other.on("echo", echo)
    return one, other


async def refusal(awaitable: Any) -> HostError:
    """Return what another node refused a call with."""
    with pytest.raises(PeerRefused) as refused:
        await awaitable
    return refused.value.error


def test_a_call_returns_what_the_other_node_returns() -> None:
    async def main() -> None:
        async with nodes() as found:
            one, other = await two(found)
            one.on("echo", echo)
            assert await one.call(2, "echo", {"word": "grüße\0"}) == {"from": 1, "word": "grüße\0"}
            assert await other.call(1, "echo", {"n": 2**53}) == {"from": 2, "n": 2**53}

    run(main)


def test_calls_and_messages_begin_in_the_order_in_which_they_were_made() -> None:
    async def main() -> None:
        async with nodes() as found:
            one, other = await two(found)
            begun: list[int] = []

            async def note(_sender: int, params: dict[str, Any]) -> int:
                begun.append(params["n"])
                await asyncio.sleep(0.001 * (params["n"] % 3))
                return int(params["n"])

            other.on("note", note)
            calls = []
            for n in range(0, 600, 2):
                calls.append(asyncio.create_task(one.call(2, "note", {"n": n})))
                await asyncio.sleep(0)
                one.tell(2, "note", {"n": n + 1})
            assert await asyncio.gather(*calls) == list(range(0, 600, 2))
            await one.call(2, "echo", {})
            assert begun == list(range(600))

    run(main)


def test_a_slow_call_holds_up_no_other() -> None:
    async def main() -> None:
        async with nodes() as found:
            one, other = await two(found)
            done = asyncio.Event()

            async def wait(_sender: int, _params: dict[str, Any]) -> str:
                await done.wait()
                return "done"

            other.on("wait", wait)
            slow = asyncio.create_task(one.call(2, "wait", {}))
            assert await one.call(2, "echo", {}) == {"from": 1}
            done.set()
            assert await slow == "done"

    run(main)


def test_an_error_of_the_host_is_the_same_error_here() -> None:
    async def main() -> None:
        async with nodes() as found:
            one, other = await two(found)

            async def fail(_sender: int, params: dict[str, Any]) -> None:
                raise SessionNotFound(params["session"])

            other.on("fail", fail)
            error = await refusal(one.call(2, "fail", {"session": "demo:/1"}))
            assert type(error) is SessionNotFound
            assert str(error) == str(SessionNotFound("demo:/1"))
            assert error.session == "demo:/1"

    run(main)


SAMPLES = [
    errors.NotJson("not JSON"),
    errors.InvalidValue("$.a", "a text", "2"),
    TooLarge("a body", 5),
    errors.StorageError("/var/lib is full", "the disk is full"),
    AuthRequired([{"resource": "https://api.example", "resource_name": "Api"}]),
    errors.GrantMissing("a shell", "terminals"),
    errors.ResourceDenied("no", uri="file:///etc", read=True),
    errors.ChangesetNotFound("x:/1"),
    errors.Damaged("session 'a'"),
    PeerGone(3, "why", was_sent=True),
]


@pytest.mark.parametrize("error", SAMPLES, ids=lambda error: type(error).__name__)
def test_an_error_keeps_its_class_its_words_and_its_attributes(error: HostError) -> None:
    there = unpack_error(decode_json(encode_json(pack_error(error))))
    assert type(there) is type(error)
    assert str(there) == str(error)
    assert vars(there) == vars(error)


def test_of_an_unexpected_error_nothing_is_told() -> None:
    async def main() -> None:
        async with nodes() as found:
            one, other = await two(found)

            async def fail(_sender: int, _params: dict[str, Any]) -> None:
                raise KeyError("a secret")

            other.on("fail", fail)
            error = await refusal(one.call(2, "fail", {}))
            assert isinstance(error, PeerFailed)
            assert "secret" not in str(error)
            assert await one.call(2, "echo", {}) == {"from": 1}

    run(main)


def test_an_error_that_this_version_does_not_know_is_an_error_of_the_host() -> None:
    error = unpack_error({"kind": "NewerError", "message": "something new", "fields": {"a": 1}})
    assert isinstance(error, HostError)
    assert str(error) == "something new"


def test_an_unknown_method_is_refused() -> None:
    async def main() -> None:
        async with nodes() as found:
            one, _ = await two(found)
            assert "does not know 'nothing'" in str(await refusal(one.call(2, "nothing", {})))

    run(main)


# Who may call


def test_a_node_with_another_secret_is_refused() -> None:
    async def main() -> None:
        async with nodes() as found:
            await two(found)
            stranger = await found.start(3, OTHER_SECRET)
            with pytest.raises(PeerGone, match="not a node of this host"):
                await stranger.call(2, "echo", {})

    run(main)


def test_a_node_is_told_by_its_secret_too() -> None:
    """Somebody who only listens at the address of a node gets no calls."""

    async def main() -> None:
        async with nodes() as found:
            one, _ = await two(found)
            found.urls[4] = found.urls[2]  # another node took over the address of node 4
            with pytest.raises(PeerGone, match="not a node of this host"):
                await one.call(4, "echo", {})

    run(main)


def test_while_the_secret_is_changed_nodes_with_the_old_and_the_new_one_talk() -> None:
    async def main() -> None:
        async with nodes() as found:
            old = await found.start(1, OTHER_SECRET)
            both = await found.start(2, SECRET + b"," + OTHER_SECRET)
            new = await found.start(3, SECRET)
            for one in (old, both, new):
                one.on("echo", echo)
            assert await old.call(2, "echo", {}) == {"from": 1}
            assert await both.call(1, "echo", {}) == {"from": 2}
            assert await new.call(2, "echo", {}) == {"from": 3}
            assert await both.call(3, "echo", {}) == {"from": 2}

    run(main)


async def overhear(found: Nodes) -> bytes:
    """Introduce ourselves to node 2 as node 1, and return what was said."""
    async with found.connect(2) as connection:
        greeting = decode_json(await connection.recv())
        said = encode_json(introduce(KEYS, Parties(1, 2, new_nonce(), greeting["nonce"])))
        await connection.send(said)
        assert "proof" in decode_json(await connection.recv())
        return said


def test_a_proof_is_good_for_one_connection_only() -> None:
    async def main() -> None:
        async with nodes() as found:
            await two(found)
            said = await overhear(found)
            async with found.connect(2) as connection:
                await connection.recv()
                await connection.send(said)
                with pytest.raises(ConnectionClosed) as closed:
                    await connection.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1008

    run(main)


def test_a_proof_cannot_be_sent_back_to_its_maker() -> None:
    parties = Parties(1, 1, "0" * 64, "0" * 64)
    assert introduce(KEYS, parties)["proofs"] != [prove(key, CALLED, parties) for key in KEYS]


STRANGE = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'{"from":1,"to":2,"nonce":"short","proofs":[]}',
    encode_json({"from": 1, "to": 2, "nonce": "0" * 64, "proofs": ["é"]}),
    encode_json({"from": 1, "to": 2, "nonce": "0" * 64, "proofs": [1]}),
    encode_json({"from": 1, "to": 2, "nonce": "0" * 64, "proofs": ["0" * 64] * 9}),
    encode_json({"from": True, "to": 2, "nonce": "0" * 64, "proofs": []}),
]


@pytest.mark.parametrize("message", STRANGE)
def test_a_stranger_is_refused_whatever_it_says(message: bytes) -> None:
    async def main() -> None:
        async with nodes() as found:
            await two(found)
            async with found.connect(2) as connection:
                await connection.recv()
                await connection.send(message)
                with pytest.raises(ConnectionClosed):
                    await connection.recv()

    run(main)


def test_a_stranger_that_says_nothing_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers_module, "GREETING_SECONDS", 0.1)

    async def main() -> None:
        async with nodes() as found:
            await two(found)
            async with found.connect(2) as connection:
                await connection.recv()
                with pytest.raises(ConnectionClosed):
                    await connection.recv()

    run(main)


# Sizes


def test_a_stranger_cannot_send_much() -> None:
    async def main() -> None:
        async with nodes() as found:
            await two(found)
            async with found.connect(2) as connection:
                await connection.recv()
                await connection.send(b" " * (MAX_GREETING + 1))
                with pytest.raises(ConnectionClosed) as closed:
                    await connection.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1009

    run(main)


def test_a_large_call_has_a_large_answer() -> None:
    async def main() -> None:
        async with nodes() as found:
            one, _ = await two(found)
            word = "x" * (20 * 1024 * 1024)
            assert (await one.call(2, "echo", {"word": word}))["word"] == word

    run(main)


def test_a_call_that_is_too_large_is_refused_and_the_others_go_on() -> None:
    async def main() -> None:
        async with nodes() as found:
            one, other = await two(found)

            async def much(_sender: int, _params: dict[str, Any]) -> str:
                return "x" * MAX_FRAME

            other.on("much", much)
            with pytest.raises(TooLarge):
                await one.call(2, "echo", {"word": "x" * MAX_FRAME})
            assert isinstance(await refusal(one.call(2, "much", {})), TooLarge)
            assert await one.call(2, "echo", {}) == {"from": 1}

    run(main)


def test_a_node_has_a_bounded_number_of_calls_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers_module, "MAX_CALLS", 5)

    async def main() -> None:
        async with nodes() as found:
            one, other = await two(found)
            under_way, most = 0, 0

            async def count(_sender: int, _params: dict[str, Any]) -> None:
                nonlocal under_way, most
                under_way += 1
                most = max(most, under_way)
                await asyncio.sleep(0.01)
                under_way -= 1

            other.on("count", count)
            for _ in range(20):
                one.tell(2, "count", {})
            await asyncio.gather(*(one.call(2, "count", {}) for _ in range(20)))
            assert most == 5

    run(main)


# What is lost


def test_a_node_that_is_not_there_is_gone_and_was_sent_nothing() -> None:
    async def main() -> None:
        async with nodes() as found:
            one, _ = await two(found)
            with pytest.raises(PeerGone, match="it is not alive") as gone:
                await one.call(7, "echo", {})
            assert not gone.value.was_sent
            await found.stop(2)
            with pytest.raises(PeerGone) as gone:
                await one.call(2, "echo", {})
            assert not gone.value.was_sent
            one.tell(2, "echo", {})

    run(main)


def test_a_call_whose_connection_is_lost_may_have_been_carried_out() -> None:
    async def main() -> None:
        async with nodes() as found:
            one, other = await two(found)
            begun = asyncio.Event()

            async def wait(_sender: int, _params: dict[str, Any]) -> None:
                begun.set()
                await asyncio.sleep(60)

            other.on("wait", wait)
            call = asyncio.create_task(one.call(2, "wait", {}))
            await begun.wait()
            await found.stop(2)
            with pytest.raises(PeerGone) as gone:
                await call
            assert gone.value.was_sent

    run(main)


def test_a_node_that_comes_back_is_called_again() -> None:
    async def main() -> None:
        async with nodes() as found:
            one, _ = await two(found)
            assert await one.call(2, "echo", {}) == {"from": 1}
            await found.stop(2)
            with pytest.raises(PeerGone):
                await one.call(2, "echo", {})
            again = await found.start(2)
            again.on("echo", echo)
            assert await one.call(2, "echo", {}) == {"from": 1}

    run(main)


def test_a_call_that_nobody_waits_for_any_more_is_forgotten() -> None:
    async def main() -> None:
        async with nodes() as found:
            one, other = await two(found)
            done = asyncio.Event()

            async def wait(_sender: int, _params: dict[str, Any]) -> None:
                await asyncio.sleep(0.05)
                done.set()

            other.on("wait", wait)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.02):
                    await one.call(2, "wait", {})
            await done.wait()
            assert await one.call(2, "echo", {}) == {"from": 1}

    run(main)


def test_a_closed_node_calls_nobody_and_leaves_no_tasks() -> None:
    async def main() -> None:
        before = asyncio.all_tasks()
        async with nodes() as found:
            one, _ = await two(found)
            await one.call(2, "echo", {})
            await one.close()
            with pytest.raises(PeerGone, match="this node is closing"):
                await one.call(2, "echo", {})
            one.tell(2, "echo", {})
        await asyncio.sleep(0.05)
        assert asyncio.all_tasks() == before

    run(main)


# TLS


@pytest.mark.parametrize("url", ["http://node.invalid:8642", "http://192.0.2.1:1"])
def test_other_machines_are_not_called_without_tls(url: str) -> None:
    async def main() -> None:
        async with nodes() as found:
            one, _ = await two(found)
            found.urls[5] = url
            with pytest.raises(PeerGone, match="has no TLS"):
                await one.call(5, "echo", {})

    run(main)
