"""How the client copes with other hosts, and with those that misbehave."""

from typing import Any

import pytest

from agenthost.client.ahp import (
    AhpClient,
    AuthRequired,
    Backoff,
    NotAhp,
    NotFound,
    Refused,
    Rejected,
    TimedOut,
    Timeouts,
    Unreachable,
    VersionMismatch,
)
from client.ahp.hosts import URI, Peer, odd_host
from hosting import run

QUICK = Backoff(initial=0.001, maximum=0.01)
TITLE = "session/titleChanged"


def client_of(url: str, **how: Any) -> AhpClient:
    return AhpClient(url, backoff=QUICK, **how)


# Opening


def test_a_version_mismatch_is_raised_at_once() -> None:
    async def part(peer: Peer) -> None:
        request = await peer.hear("initialize")
        assert request["params"]["protocolVersions"] == ["0.1.0", "0.1.7"]
        await peer.refuse(request, -32005, "none", {"supportedVersions": ["^2.0.0"]})

    async def story() -> None:
        async with odd_host(part) as host:
            with pytest.raises(VersionMismatch) as caught:
                await client_of(host.url, versions=["0.1.0", "0.1.7"]).connect()
            assert (caught.value.code, caught.value.supported) == (-32005, ["^2.0.0"])
            assert host.connections == 1

    run(story)


@pytest.mark.parametrize(
    "result", [{}, {"protocolVersion": "9.9.9", "serverSeq": 0, "snapshots": []}, 5, {"protocolVersion": 1}]
)
def test_an_answer_that_violates_ahp_is_an_error(result: Any) -> None:
    async def part(peer: Peer) -> None:
        await peer.answer(await peer.hear("initialize"), result)
        await peer.stay()

    async def story() -> None:
        async with odd_host(part) as host:
            with pytest.raises(NotAhp):
                await client_of(host.url).connect()

    run(story)


def test_a_host_that_never_answers_times_out() -> None:
    async def story() -> None:
        async with odd_host(Peer.stay) as host:
            with pytest.raises(TimedOut):
                await client_of(host.url, timeouts=Timeouts(answer=0.05)).connect()

    run(story)


def test_a_host_that_is_not_there_is_unreachable_at_once() -> None:
    async def story() -> None:
        async with odd_host(Peer.stay) as host:
            url = host.url
        with pytest.raises(Unreachable):
            await client_of(url).connect()

    run(story)


@pytest.mark.parametrize("url", ["ftp://x", "nothing", "ws://user:secret@x/", "ws://x/#y"])
def test_an_unusable_address_is_refused(url: str) -> None:
    async def story() -> None:
        with pytest.raises(ValueError, match=r"URL|#"):
            AhpClient(url)

    run(story)


# Unknown and malformed


def test_unknown_messages_and_fields_are_ignored_or_kept() -> None:
    async def part(peer: Peer) -> None:
        await peer.open(novelty=1)
        await peer.show(seq=5, novelty={"a": 1})
        await peer.act(6, {"type": "session/fromTheFuture", "x": 1})
        await peer.send(
            {"method": "action", "params": {"serverSeq": 7, "action": {"type": "garden/watered"}}}
        )
        await peer.notify(type="notify/weather", sky="blue")
        await peer.send({"method": "unheardOf", "params": {}})
        await peer.send({"id": 77, "result": "to nothing"})
        await peer.socket.send("[1, 2")
        await peer.socket.send('{"jsonrpc": "2.0"}')
        await peer.act(8, {"type": TITLE, "title": "New", "since": "noon"}, origin=None, mood=3)
        await peer.stay()

    async def story() -> None:
        async with odd_host(part) as host, client_of(host.url) as client:
            session = await client.session(URI)
            state: Any = await session.until(lambda state: state.session["title"] == "New")
            assert state.session["novelty"] == {"a": 1}
            assert client.welcome["novelty"] == 1  # type: ignore[typeddict-item]

    run(story)


def test_an_envelope_may_be_wrapped_and_come_in_a_binary_frame() -> None:
    async def part(peer: Peer) -> None:
        await peer.open()
        await peer.show()
        action = {"type": TITLE, "session": URI, "title": "Wrapped"}
        await peer.send({"method": "action", "params": {"envelope": {"action": action, "serverSeq": 1}}})
        await peer.hear("unsubscribe")
        await peer.stay()

    async def story() -> None:
        async with odd_host(part) as host, client_of(host.url) as client:
            session = await client.session(URI)
            await session.until(lambda state: state.session["title"] == "Wrapped")
            session.close()

    run(story)


def test_requests_of_the_host_are_answered_known_or_not() -> None:
    answers: list[Any] = []

    async def part(peer: Peer) -> None:
        await peer.open()
        ping = await peer.hear("ping")
        wishes = [
            ("resourceRequest", {"uri": "file:///mine", "read": True}),
            ("resourceRequest", {"uri": "file:///secret", "read": True}),
            ("resourceRequest", {"uri": "file:///broken"}),
            ("resourceRequest", {}),
            ("makeCoffee", {}),
        ]
        for number, (method, params) in enumerate(wishes):
            await peer.send({"id": number, "method": method, "params": params})
            answers.append(await peer.hear())
        await peer.answer(ping, None)
        await peer.stay()

    def grant(request: Any) -> bool:
        if request["uri"] == "file:///broken":
            raise RuntimeError("nobody is at home")
        return bool(request["uri"] == "file:///mine")

    async def story() -> None:
        async with odd_host(part) as host, client_of(host.url, on_access_request=grant) as client:
            await client.ping()

    run(story)
    assert answers[0] == {"jsonrpc": "2.0", "id": 0, "result": {}}
    assert [answer["error"]["code"] for answer in answers[1:]] == [-32009, -32009, -32602, -32601]


def test_a_state_is_fetched_again_if_an_action_cannot_be_applied() -> None:
    async def part(peer: Peer) -> None:
        await peer.open()
        await peer.show()
        await peer.act(1, {"type": TITLE, "title": 5})
        await peer.show(seq=2, novelty="fresh")
        await peer.stay()

    async def story() -> None:
        async with odd_host(part) as host, client_of(host.url) as client:
            session = await client.session(URI)
            await session.until(lambda state: "novelty" in state.session)

    run(story)


def test_errors_carry_their_code_and_data() -> None:
    async def part(peer: Peer) -> None:
        await peer.open()
        resource = {"resource": "https://api.example.org"}
        await peer.refuse(await peer.hear("createSession"), -32007, "sign in", {"resources": [resource]})
        await peer.refuse(await peer.hear("createSession"), -32007, "sign in", [resource])
        await peer.refuse(await peer.hear("createSession"), -32002, "no such agent")
        await peer.refuse(await peer.hear("createSession"), -1, "", {"x": 1})
        await peer.stay()

    async def story() -> None:
        async with odd_host(part) as host, client_of(host.url) as client:
            for _ in range(2):
                with pytest.raises(AuthRequired) as asked:
                    await client.create("odd")
                assert asked.value.resources == [{"resource": "https://api.example.org"}]
            with pytest.raises(NotFound, match="no such agent"):
                await client.create("odd")
            with pytest.raises(Refused) as caught:
                await client.create("odd")
            assert (type(caught.value), caught.value.code, caught.value.data) == (Refused, -1, {"x": 1})

    run(story)


def test_a_session_that_could_not_be_created_says_why() -> None:
    async def part(peer: Peer) -> None:
        await peer.open()
        await peer.answer(await peer.hear("createSession"), None)
        await peer.show(lifecycle="creating")
        await peer.act(
            1, {"type": "session/creationFailed", "error": {"errorType": "x", "message": "out of paper"}}
        )
        await peer.stay()

    async def story() -> None:
        async with odd_host(part) as host, client_of(host.url) as client:
            with pytest.raises(Refused, match="out of paper"):
                await client.create("odd", uri=URI)

    run(story)


# What was dispatched


def test_a_rejected_action_of_ours_is_undone_and_that_of_others_is_ignored() -> None:
    async def part(peer: Peer) -> None:
        opened = await peer.open()
        await peer.show()
        sent = (await peer.hear("dispatchAction"))["params"]
        other = {"clientId": "else", "clientSeq": sent["clientSeq"]}
        await peer.act(1, {"type": TITLE, "title": "Theirs"}, origin=other, rejectionReason="no")
        mine = {"clientId": opened["clientId"], "clientSeq": sent["clientSeq"]}
        await peer.act(2, sent["action"], origin=mine, rejectionReason="the title is locked")
        await peer.stay()

    async def story() -> None:
        async with odd_host(part) as host, client_of(host.url) as client:
            session = await client.session(URI)
            changes = session.changes()
            echo = session.rename("Ours")
            assert (session.state.session["title"], session.confirmed.session["title"]) == (
                "Ours",
                "Odd",
            )
            with pytest.raises(Rejected, match="the title is locked"):
                await echo
            assert session.state.session["title"] == "Odd"
            kinds = [(await anext(changes)).kind for _ in range(2)]
            assert kinds == ["dispatched", "rejected"]

    run(story)
