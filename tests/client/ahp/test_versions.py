"""One client for hosts of every version: whatever the host takes, the application sees the same."""

from typing import Any

import pytest

from agenthost.client.ahp import AhpClient, Backoff, Refused, Rejected, Session, answer_text
from agenthost.core.session_meta import model_of
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.shape import STRICT, Shape
from ahp_speaking import Client
from client.ahp.hosts import ROOT, Peer, odd_host
from client.ahp.proxies import proxied
from hosting import run

VERSIONS = ["1.0.0", "0.9.0", "0.1.0"]


def speaking(server: str, version: str, **how: Any) -> AhpClient:
    return AhpClient(f"{server}/ahp", versions=[version], **how)


async def until_asked(session: Session) -> Any:
    await session.until(lambda _: session.open_calls)
    return session.open_calls[0]


def test_all_versions_are_offered_and_the_newest_is_spoken(server: str) -> None:
    async def story() -> None:
        async with AhpClient(f"{server}/ahp") as client:
            assert client.version == "1.0.0"

    run(story)


def test_a_host_that_only_knows_the_oldest_is_talked_to_in_it() -> None:
    async def part(peer: Peer) -> None:
        params = await peer.open()
        assert params["protocolVersions"] == VERSIONS
        request = await peer.hear()
        assert (request["method"], request["params"]) == ("listSessions", {})
        await peer.answer(request, {"items": []})
        request = await peer.hear()
        assert request["params"] == {"resource": "agenthost:/root"}
        await peer.answer(request, {"snapshot": ROOT})
        await peer.stay()

    async def story() -> None:
        async with odd_host(part) as host, AhpClient(host.url) as client:
            assert (client.version, client.root) == ("0.1.0", {"agents": []})
            assert await client.sessions.load() == []
            with pytest.raises(Refused, match="another kind"):
                await client.session("ahp-root://")

    run(story)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_conversation_goes_alike_in_every_version(server: str, version: str) -> None:
    async def story() -> None:
        async with speaking(server, version, name="Test") as client:
            assert client.version == version
            session = await client.create("demo", model="swift", config={"style": "plain"})
            Shape[SessionState](SessionState, STRICT).take(dict(session.confirmed.session))
            saying = session.say("Hello there")
            assert [piece async for piece in saying] == ["You ", "said: ", "Hello ", "there"]
            assert model_of(session.confirmed.session) == {"id": "swift"}
            await session.rename("Ours")
            assert (session.title, session.agent, session.status & 31) == ("Ours", "demo", 1)

            saying = session.say("/edit one.txt first")
            await session.approve(await until_asked(session))
            assert (await saying.text()).endswith("Wrote 5 characters to one.txt.")
            saying = session.say("/edit two.txt second")
            await session.deny(await until_asked(session), "no")
            assert "no" in await saying.text()

            saying = session.say("/wait 60")
            await session.until(lambda state: state.chat.get("activeTurn", {}).get("responseParts"))
            await session.queue("later", message_id="q1")
            await session.cancel()
            assert (await saying.turn())["state"] == "cancelled"
            assert [one["id"] for one in session.confirmed.chat.get("queuedMessages", [])] == ["q1"]
            await session.unqueue("q1")
            with pytest.raises(Rejected):
                await session.unqueue("q1")

            assert len([turn async for turn in session.history()]) == 4
            fork = await client.fork(session, session.turns[0]["id"])
            assert [turn["message"]["text"] for turn in fork.turns] == ["Hello there"]
            listed = {one["resource"]: one for one in await client.sessions.load()}
            assert listed[session.uri]["title"] == "Ours"
            assert listed[session.uri]["createdAt"].endswith("Z")
            await fork.dispose()

    run(story)


@pytest.mark.parametrize("version", VERSIONS)
def test_questions_and_own_tools_go_alike_in_every_version(server: str, version: str) -> None:
    def double(number: int) -> int:
        """Double a number."""
        return 2 * number

    async def story() -> None:
        async with speaking(server, version) as client:
            session = await client.create("demo", tools=[double])
            assert await session.ask('/call double {"number": 21}') == "double -> 42"
            (mine,) = session.confirmed.session["activeClients"]
            assert mine["clientId"] == client.client_id
            saying = session.say("/ask")
            await session.until(lambda _: session.requests)
            (request,) = session.requests
            await session.draft(request, "name", "An")
            await session.answer(request, {"name": "Ann"})
            assert "- name: Ann\n" in await saying.text()
            assert session.requests == []
            await session.release()
            assert session.confirmed.session["activeClients"] == []

    run(story)


@pytest.mark.parametrize("version", VERSIONS)
def test_terminals_and_files_go_alike_in_every_version(server: str, version: str) -> None:
    async def story() -> None:
        async with speaking(server, version) as client:
            session = await client.create("demo")
            terminal = await client.create_terminal(cols=90, rows=20, session=session.uri)
            assert terminal.confirmed["claim"]["kind"] == "session"
            output = terminal.output()
            await terminal.claim()
            await terminal.write("echo sum $((40+2)); exit 3\r")
            assert "sum 42" in "".join([piece async for piece in output])
            assert terminal.exit_code == 3
            await terminal.dispose()
            folder: Any = client.welcome.get("defaultDirectory")
            await client.files.write(f"{folder}/{version}.txt", "text")
            assert await client.files.read_text(f"{folder}/{version}.txt") == "text"
            assert f"{version}.txt" in [one["name"] for one in await client.files.list(folder)]

    run(story)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_lost_connection_is_taken_up_again_in_every_version(server: str, version: str) -> None:
    async def story() -> None:
        quick = Backoff(initial=0.01, maximum=0.02)
        async with proxied(server) as proxy, speaking(proxy.url, version, backoff=quick) as client:
            session = await client.create("demo")
            saying = session.say("/stream 300")
            heard = []
            async for piece in saying:
                heard.append(piece)
                if len(heard) == 50:
                    proxy.cut()
            assert client.version == version
            assert "".join(heard) == answer_text(session.turns[-1])
            async with AhpClient(f"{server}/ahp") as other:
                theirs = await other.session(session.uri)
                assert [answer_text(one) for one in theirs.turns] == ["".join(heard)]

    run(story)


def test_what_the_oldest_has_not_is_refused_here(server: str) -> None:
    async def story() -> None:
        async with speaking(server, "0.1.0") as client:
            session = await client.create("demo")
            await session.ask("hello")
            with pytest.raises(Refused, match=r"it speaks AHP 0\.1"):
                session.save_draft("Well")
            with pytest.raises(Refused, match=r"it speaks AHP 0\.1"):
                session.resume()
            assert session.state == session.confirmed

    run(story)


def test_drafts_are_shared(server: str) -> None:
    async def story() -> None:
        async with speaking(server, "1.0.0") as one, speaking(server, "0.9.0") as two:
            mine = await one.create("demo")
            theirs = await two.session(mine.uri)
            await mine.save_draft("Dear all")
            await theirs.until(lambda state: state.chat.get("draft", {}).get("text") == "Dear all")
            await mine.save_draft(None)
            await theirs.until(lambda state: "draft" not in state.chat)

    run(story)


def test_clients_of_all_versions_are_in_one_session(server: str) -> None:
    async def story() -> None:
        async with (
            speaking(server, "1.0.0") as one,
            speaking(server, "0.9.0") as two,
            speaking(server, "0.1.0") as three,
            Client.connected(server, "by hand") as four,
        ):
            await four.open()
            mine = await one.create("demo")
            others = [await client.session(mine.uri) for client in (two, three)]
            await four.subscribe(mine.uri)
            await others[0].send("/wait 60")
            await others[1].until(lambda state: "activeTurn" in state.chat)
            await others[1].cancel()
            await mine.until(lambda state: state.chat["turns"])
            await others[1].rename("All of us")
            for theirs in (mine, *others):
                await theirs.until(lambda state: state.session["title"] == "All of us")
                (turn,) = theirs.turns
                assert turn["state"] == "cancelled"
            await four.until(lambda: four.state(mine.uri)["summary"]["title"] == "All of us")
            assert four.state(mine.uri)["turns"][0]["id"] == mine.turns[0]["id"]

    run(story)
