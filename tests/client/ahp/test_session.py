"""Sessions over AHP, against the real server."""

import asyncio
from typing import Any

import pytest

from agenthost.client.ahp import (
    AhpClient,
    Gone,
    NotFound,
    Refused,
    Rejected,
    Session,
    TurnFailed,
    answer_text,
)
from agenthost.core.session_meta import model_of
from client.ahp.cutting import comparable
from hosting import run


def client_of(server: str, **how: Any) -> AhpClient:
    return AhpClient(f"{server}/ahp", **how)


def title_of(client: AhpClient, session: Session) -> str:
    """Return the title of a session in a client's list."""
    summary = client.sessions.get(session.uri)
    return "" if summary is None else summary["title"]


async def until_asked(session: Session) -> Any:
    await session.until(lambda _: session.open_calls)
    return session.open_calls[0]


def test_the_pieces_of_an_answer_come_one_by_one(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as client:
            session = await client.create("demo")
            saying = session.say("Hello there")
            assert [piece async for piece in saying] == ["You ", "said: ", "Hello ", "there"]
            turn = await saying.turn()
            assert (turn["id"], turn["state"]) == (saying.turn_id, "complete")
            assert await session.ask("again") == "You said: again"
            assert [answer_text(turn) for turn in session.turns] == [
                "You said: Hello there",
                "You said: again",
            ]

    run(story)


def test_two_clients_see_the_same(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as one, client_of(server) as two:
            mine = await one.create("demo")
            theirs = await two.session(mine.uri)
            assert await two.session(mine.uri) is theirs
            await mine.ask("/think of nothing")
            await theirs.rename("Ours")
            await mine.until(lambda state: state.session["title"] == "Ours")
            await theirs.until(lambda state: len(state.chat["turns"]) == 1)
            assert comparable(mine.confirmed) == comparable(theirs.confirmed)

    run(story)


def test_actions_show_at_once_and_the_host_has_the_last_word(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as client:
            session = await client.create("demo")
            echo = session.rename("Mine")
            assert session.state.session["title"] == "Mine"
            assert session.confirmed.session["title"] != "Mine"
            await echo
            assert session.confirmed.session["title"] == "Mine"
            saying = session.say("/wait 60")
            await saying.dispatched
            second = session.say("too early")
            with pytest.raises(Rejected):
                await second.turn()
            assert session.state.chat.get("activeTurn", {})["id"] == saying.turn_id
            await session.cancel()
            assert (await saying.turn())["state"] == "cancelled"

    run(story)


def test_a_failed_turn_raises_its_error(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as client:
            session = await client.create("demo")
            saying = session.say("/error")
            assert await anext(saying) == "Something "
            with pytest.raises(TurnFailed, match="the error that you asked for") as caught:
                await saying.turn()
            assert caught.value.error is not None
            assert answer_text(session.turns[0]) == "Something is about to go wrong. "

    run(story)


def test_waiting_for_a_turn_ends_when_it_is_truncated_away(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as client:
            session = await client.create("demo")
            await session.ask("first")
            first = session.turns[0]["id"]
            saying = session.say("/wait 60")
            await saying.dispatched
            await session.truncate(first)
            with pytest.raises(TurnFailed, match="removed from the session"):
                await saying.turn()
            await session.truncate()
            assert session.turns == []

    run(story)


def test_calls_are_approved_edited_and_denied(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as client:
            session = await client.create("demo")
            saying = session.say("/edit one.txt first")
            call = await until_asked(session)
            assert call["toolName"] == "write_file"
            await session.approve(call, edited_input={"path": "two.txt", "text": "other"})
            assert (await saying.text()).endswith("Wrote 5 characters to two.txt.")
            saying = session.say("/edit one.txt first")
            call = await until_asked(session)
            option = next(one for one in call["options"] if one["kind"] == "approve")
            await session.approve(call["toolCallId"], option=option["id"])
            assert await saying.text() == "Wrote 5 characters to one.txt."
            saying = session.say("/edit three.txt first")
            call = await until_asked(session)
            await session.deny(call, "not today")
            assert "not today" in await saying.text()
            with pytest.raises(ValueError, match="no turn is running"):
                session.approve(call)

    run(story)


def test_questions_are_answered_with_plain_values(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as client, client_of(server) as other:
            session = await client.create("demo")
            theirs = await other.session(session.uri)
            saying = session.say("/ask")
            await session.until(lambda _: session.requests)
            request = session.requests[0]
            await session.draft(request, "name", "A")
            await theirs.until(lambda _: any("answers" in one for one in theirs.requests))
            await session.draft(request["id"], "name", None)
            with pytest.raises(ValueError, match="is not an answer"):
                session.answer(request, {"name": 5})
            with pytest.raises(ValueError, match="there is no question"):
                session.answer(request, {"nome": "Ann"})
            values = {"name": "Ann", "price": 2.5, "count": 3, "gift": True, "colour": "red"}
            await session.answer(request, {**values, "extras": ["card", "box"]})
            assert await saying.text() == (
                "You answered:\n\n- name: Ann\n- price: 2.5\n- count: 3\n- gift: yes\n- colour: red\n"
                "- extras: card, box"
            )
            saying = session.say("/ask")
            await session.until(lambda _: session.requests)
            with pytest.raises(Rejected):  # the first question has to be answered
                await session.answer(session.requests[0]["id"], {"name": None})
            await session.decline(session.requests[0])
            assert await saying.text() == "The questions were declined."

    run(story)


def test_messages_are_queued_or_steer_the_turn(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as client:
            session = await client.create("demo")
            saying = session.say("/wait 60")
            await saying.dispatched
            await session.queue("one", message_id="a")
            await session.queue("two", message_id="b")
            await session.queue("not this", message_id="c")
            await session.unqueue("c")
            await session.reorder(["b", "a"])
            await session.queue("ONE", message_id="a")
            waiting = session.confirmed.chat["queuedMessages"]
            assert [one["message"]["text"] for one in waiting] == ["two", "ONE"]
            await session.steer("hurry up")
            await session.cancel()
            await session.ask("go on")
            state = await session.until(lambda state: len(state.chat["turns"]) == 4)
            texts = [turn["message"]["text"] for turn in state.chat["turns"]]
            assert texts == ["/wait 60", "go on", "two", "ONE"]

    run(story)


def test_every_setting_of_a_session_can_be_changed(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as client:
            form = await client.resolve_config("demo", config={"style": "loud"})
            assert form["values"]["style"] == "loud"
            session = await client.create(config=form["values"], model="swift")
            assert await session.ask("hello") == "YOU SAID: HELLO"
            assert session.model == model_of(session.confirmed.session) == {"id": "swift"}
            session.set_model("steady", {"pause": "short"})
            chosen = {"id": "steady", "config": {"pause": "short"}}
            assert session.model == chosen
            await session.set_config({"style": "plain"})
            assert await session.ask("hello") == "You said: hello"
            assert model_of(session.confirmed.session) == chosen
            await session.archive()
            await session.mark_read()
            assert session.status == 1 | 32 | 64
            await session.archive(is_archived=False)
            await session.mark_read(is_read=False)
            assert session.status == 1
            with pytest.raises(ValueError, match="there are"):
                session.set_model("unheard-of")
            with pytest.raises(ValueError, match="there are"):
                await client.create("demo", model="unheard-of")

    run(story)


def test_the_history_comes_newest_first_and_can_be_forked(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as client:
            session = await client.create("demo")
            for number in range(5):
                await session.ask(f"{number}")
            past = [turn["message"]["text"] async for turn in session.history()]
            assert past == ["4", "3", "2", "1", "0"]
            fork = await client.fork(session, session.turns[1]["id"])
            assert [turn["message"]["text"] for turn in fork.turns] == ["0", "1"]
            assert await fork.ask("other") == "You said: other"
            assert len(session.turns) == 5

    run(story)


def test_the_list_of_sessions_stays_up_to_date(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as one, client_of(server) as two:
            await one.sessions.load()
            changed = asyncio.Event()
            one.sessions.listen(changed.set)

            async def until(is_so: Any) -> None:
                while not is_so():
                    changed.clear()
                    await changed.wait()

            session = await two.create("demo")
            await until(lambda: session.uri in one.sessions)
            await session.rename("Fresh")
            await until(lambda: title_of(one, session) == "Fresh")
            count = len(one.sessions)
            assert count == len(list(one.sessions))
            await session.dispose()
            await until(lambda: session.uri not in one.sessions)

    run(story)


def test_a_session_that_is_disposed_of_is_gone_for_everybody(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as one, client_of(server) as two:
            session = await one.create("demo")
            theirs = await two.session(session.uri)
            changes = theirs.changes()
            await session.dispose()
            with pytest.raises(Gone):
                async for _ in changes:
                    pass
            for gone in (session, theirs):
                assert gone.is_gone
                with pytest.raises(Gone):
                    await gone.ask("anybody?")
            with pytest.raises(NotFound):
                await two.session(session.uri)

    run(story)


def test_a_closed_session_can_be_opened_again(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as client:
            session = await client.create("demo")
            changes = session.changes()
            session.close()
            assert [change async for change in changes] == []
            again = await client.session(session.uri)
            assert again is not session
            assert await again.ask("hello") == "You said: hello"

    run(story)


def test_invalid_requests_are_refused(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as client:
            with pytest.raises(NotFound):
                await client.create("nobody")
            with pytest.raises(Refused):
                await client.session("agenthost:/root")
            with pytest.raises(Refused):
                await client.authenticate("https://nobody.example", "token")

    run(story)


def test_changes_that_are_not_read_in_time_are_merged(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as client:
            session = await client.create("demo")
            changes = session.changes()
            changes._max_waiting = 10
            await session.ask("/stream 100")
            found = []
            while changes.has_more:
                found.append(await anext(changes))
            assert len(found) <= 10
            assert found[-1].after == session.confirmed
            assert found[0].before.chat["turns"] == []

    run(story)


def test_completions_count_characters_as_python_does(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as client:
            session = await client.create("demo")
            await client.files.write(f"{client.welcome['defaultDirectory']}/apple.txt", "x")
            items = await session.completions("😀 @app")
            assert any("apple.txt" in item["insertText"] for item in items)

    run(story)
