"""Several chats in a session, against the real server."""

from typing import Any

import pytest

from agenthost.client.ahp import (
    AhpClient,
    Backoff,
    Chat,
    Closed,
    Conflict,
    Gone,
    NotFound,
    Refused,
    answer_text,
)
from agenthost.edges.ahp.v1.older import strip_state
from client.ahp.cutting import comparable
from client.ahp.proxies import proxied
from hosting import run

SEVERAL = ["1.0.0", "0.9.0"]
"""The versions that have several chats."""


def client_of(server: str, version: str = "1.0.0", **how: Any) -> AhpClient:
    return AhpClient(f"{server}/ahp", versions=[version], **how)


def answers(chat: Chat) -> list[str]:
    return [answer_text(turn) for turn in chat.turns]


async def until_asked(chat: Chat) -> Any:
    await chat.until(lambda _: chat.open_calls)
    return chat.open_calls[0]


@pytest.mark.parametrize("version", SEVERAL)
def test_a_chat_is_created_talked_to_and_deleted(server: str, version: str) -> None:
    async def story() -> None:
        async with client_of(server, version) as client:
            session = await client.create("demo")
            chat = await session.new_chat("Hello there")
            await chat.until(lambda state: state.chat["turns"])
            assert (chat.title, answers(chat), session.turns) == (
                "Hello there",
                ["You said: Hello there"],
                [],
            )
            assert [one["resource"] for one in session.chats] == [session.chat_uri, chat.uri]
            assert (chat.is_default, chat.origin, chat.agent) == (False, {"kind": "user"}, "demo")
            assert await session.chat(chat.uri) is chat

            saying = chat.say("again")
            assert [piece async for piece in saying] == ["You ", "said: ", "again"]
            saying = chat.say("/edit note.txt text")
            await chat.approve(await until_asked(chat))
            assert (await saying.text()).endswith("Wrote 4 characters to note.txt.")
            saying = chat.say("/ask")
            await chat.until(lambda _: chat.requests)
            await chat.answer(chat.requests[0], {"name": "Ann"})
            assert "- name: Ann\n" in await saying.text()
            assert session.turns == []

            await chat.dispose()
            assert chat.is_gone
            await session.until(lambda state: len(state.session["chats"]) == 1)
            with pytest.raises(Gone):
                chat.say("too late")
            with pytest.raises(NotFound):
                await session.chat(chat.uri)

    run(story)


def test_turns_of_two_chats_run_at_the_same_time(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as client:
            session = await client.create("demo")
            chat = await session.new_chat()
            long = session.say("/wait 60")
            await long.dispatched
            assert await chat.ask("quick") == "You said: quick"
            waiting = chat.say("/wait 60")
            await waiting.dispatched
            await chat.steer("left")
            await chat.queue("later", message_id="q1")
            assert "steeringMessage" not in session.confirmed.chat
            await chat.unqueue("q1")
            await chat.cancel()
            assert (await waiting.turn())["state"] == "cancelled"
            assert session.active_turn is not None
            await session.cancel()
            assert (await long.turn())["state"] == "cancelled"

    run(story)


@pytest.mark.parametrize("version", SEVERAL)
def test_a_fork_continues_a_chat_and_a_side_chat_is_about_it(server: str, version: str) -> None:
    async def story() -> None:
        async with client_of(server, version) as client:
            session = await client.create("demo")
            await session.ask("one")
            await session.ask("two")
            first = session.turns[0]["id"]
            fork = await session.fork_chat(first)
            assert answers(fork) == ["You said: one"]
            assert fork.origin == {"kind": "fork", "chat": session.chat_uri, "turnId": first}
            again = await fork.fork_chat(fork.turns[0]["id"], "three")
            await again.until(lambda state: len(state.chat["turns"]) == 2)
            assert answers(again) == ["You said: one", "You said: three"]
            side = await session.side_chat(first, "why?", selection="said")
            await side.until(lambda state: state.chat["turns"])
            assert answers(side) == ["You said: why?"]
            origin: Any = side.origin
            assert (origin["kind"], origin["selection"]) == ("sideChat", {"text": "said"})
            assert answers(session) == ["You said: one", "You said: two"]

    run(story)


def test_refusals_of_chats_say_why(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as client:
            session = await client.create("demo")
            chat = await session.new_chat(uri="ahp-chat:/taken-by-this-test")
            with pytest.raises(Conflict):
                await session.new_chat(uri=chat.uri)
            with pytest.raises(Refused, match="no turn"):
                await session.fork_chat("nothing")
            running = await session.send("/wait 60")
            with pytest.raises(Conflict):
                await session.side_chat(running)
            await session.cancel()
            default = await session.chat()
            with pytest.raises(Refused, match="default chat"):
                await default.dispose()
            assert not default.is_gone
            with pytest.raises(NotFound, match="no chat ahp-chat:/nowhere in this session"):
                await session.chat("ahp-chat:/nowhere")

    run(story)


@pytest.mark.parametrize("version", ["1.0.0", "0.9.0", "0.1.0"])
def test_the_default_chat_is_the_chat_of_the_session_in_every_version(server: str, version: str) -> None:
    async def story() -> None:
        async with client_of(server, version) as client:
            session = await client.create("demo")
            chat = await session.chat()
            assert (chat.uri, chat.is_default) == (session.chat_uri, True)
            assert [one["resource"] for one in session.chats] == [chat.uri]
            assert await chat.ask("hello") == "You said: hello"
            assert session.turns == chat.turns
            assert await session.ask("again") == "You said: again"
            assert session.confirmed == chat.confirmed
            await session.rename("Ours")
            assert (await chat.until(lambda state: state.session["title"] == "Ours")).chat["turns"]
            chat.close()
            with pytest.raises(Closed):
                chat.say("too late")
            assert await session.ask("more") == "You said: more"
            assert len((await session.chat()).turns) == 3

    run(story)


def test_a_host_of_the_oldest_version_has_no_further_chats(server: str) -> None:
    async def story() -> None:
        async with client_of(server, "0.1.0") as client:
            session = await client.create("demo")
            await session.ask("hello")
            with pytest.raises(Refused, match=r"the host has no createChat: it speaks AHP 0\.1"):
                await session.new_chat()
            with pytest.raises(Refused, match=r"it speaks AHP 0\.1"):
                await session.fork_chat(session.turns[0]["id"])
            with pytest.raises(Refused, match=r"the host has no disposeChat: it speaks AHP 0\.1"):
                await (await session.chat()).dispose()
            with pytest.raises(Refused, match=r"it speaks AHP 0\.1"):
                (await session.chat()).mark_read()

    run(story)


def test_chats_are_marked_as_read_and_archived(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as client:
            session = await client.create("demo")
            chat = await session.new_chat("hello")
            await chat.until(lambda state: state.chat["turns"])
            await chat.mark_read()
            await chat.archive()
            assert chat.status == 1 | 32 | 64
            assert session.status & 64 == 0
            await chat.archive(is_archived=False)
            assert chat.status == 1 | 32

    run(story)


def test_clients_see_the_same_chats(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as one, client_of(server, "0.9.0") as two:
            mine = await one.create("demo")
            theirs = await two.session(mine.uri)
            chat = await mine.new_chat("hello")
            await theirs.until(lambda state: len(state.session["chats"]) == 2)
            same = await theirs.chat(chat.uri)
            await chat.until(lambda state: state.chat["turns"])
            await same.until(lambda state: state.chat["turns"])

            def is_same() -> bool:
                one, two = ([strip_state(state) for state in both.confirmed] for both in (same, chat))
                return comparable(one) == comparable(two)

            # What the session says of the chat comes last, in the same commit.
            await chat.until(lambda _: is_same())
            await chat.dispose()
            with pytest.raises(Gone):
                await same.until(lambda _: False)
            last = await theirs.new_chat()
            await mine.until(lambda state: len(state.session["chats"]) == 2)
            follower = await mine.chat(last.uri)
            await theirs.dispose()
            with pytest.raises(Gone):
                await follower.until(lambda _: False)

    run(story)


def test_closing_a_session_closes_its_chats(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as client:
            session = await client.create("demo")
            chat = await session.new_chat()
            other = await session.new_chat()
            other.close()
            assert (other.is_gone, chat.is_gone) == (True, False)
            assert await chat.ask("hello") == "You said: hello"
            session.close()
            assert isinstance(chat.error, Closed)
            session = await client.session(session.uri)
            chat = await session.chat(chat.uri)
            assert answers(chat) == ["You said: hello"]

    run(story)


def test_the_tools_of_a_client_run_in_all_chats(server: str) -> None:
    def double(number: int) -> int:
        """Double a number."""
        return 2 * number

    async def story() -> None:
        async with client_of(server) as client, client_of(server) as other:
            session = await client.create("demo", tools=[double])
            chat = await session.new_chat()
            assert await chat.ask('/call double {"number": 21}') == "double -> 42"
            # Another client begins a chat that this one does not follow.
            theirs = await (await other.session(session.uri)).new_chat()
            assert await theirs.ask('/call double {"number": 4}') == "double -> 8"
            chat.close()
            assert await session.ask('/call double {"number": 1}') == "double -> 2"

    run(story)


def test_a_lost_connection_is_taken_up_again_in_a_further_chat(server: str) -> None:
    async def story() -> None:
        quick = Backoff(initial=0.01, maximum=0.02)
        async with proxied(server) as proxy, client_of(proxy.url, backoff=quick) as client:
            session = await client.create("demo")
            chat = await session.new_chat()
            gone = await session.new_chat()
            saying = chat.say("/stream 300")
            heard = []
            async for piece in saying:
                heard.append(piece)
                if len(heard) == 50:
                    proxy.cut()
            assert "".join(heard) == answers(chat)[0]
            assert session.turns == []
            async with client_of(server) as other:
                theirs = await other.session(session.uri)
                await (await theirs.chat(gone.uri)).dispose()
                with pytest.raises(Gone):
                    await gone.until(lambda _: False)
                assert answers(await theirs.chat(chat.uri)) == ["".join(heard)]

    run(story)


def test_the_newest_turns_are_loaded_first_and_the_others_on_demand(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as one, client_of(server) as two:
            mine = await one.create("demo")
            chat = await mine.new_chat()
            for words in ("a", "b", "c", "d"):
                await mine.ask(words)
                await chat.ask(words)
            theirs = await two.session(mine.uri, turns=1)
            part = await theirs.chat(chat.uri, turns=2)
            assert answers(theirs) == ["You said: d"]
            assert answers(part) == ["You said: c", "You said: d"]
            assert await part.load_turns()
            assert [answer_text(turn) async for turn in theirs.history()] == answers(mine)[::-1]
            assert [answer_text(turn) async for turn in part.history()] == answers(chat)[::-1]
            assert not await part.load_turns()

    run(story)


def test_a_chat_uses_the_model_that_was_chosen(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as client:
            session = await client.create("demo", model="swift")
            chat = await session.new_chat("hello")
            assert (await chat.until(lambda state: state.chat["turns"])).chat["turns"][0]["message"].get(
                "model"
            ) == {"id": "swift"}
            with pytest.raises(ValueError, match="there is no model 'none'"):
                chat.set_model("none")

    run(story)
