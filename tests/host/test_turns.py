"""Turns as people see them: text that streams, its parts, titles, the queue, and what goes on beside it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agenthost.host.authoring.agent import Answer, Model
from agenthost.host.authoring.steps import Text, Thought, Usage
from agenthost.host.authoring.turn import Turn
from hosting import run
from talking import Talk, talking
from turning import assistant, made, parts, send_pending, tell, transcript, until, user


async def talks(turn: Turn) -> None:
    await turn.think("Hm")
    await turn.think(".")
    await turn.say("Hel")
    await turn.say("lo")
    await turn.use(Usage(3, 2, "small"))
    await turn.think("Done?")
    await turn.say("!")


async def steps(_turn: Turn) -> AsyncIterator[Any]:
    yield Thought("Hm")
    yield Thought(".")
    yield "Hel"
    yield Text("lo")
    yield Usage(3, 2, "small")
    yield Thought("Done?")
    yield "!"


BOTH = pytest.mark.parametrize("answer", [talks, steps])


async def echoes(turn: Turn) -> None:
    await turn.say(turn.text)


@BOTH
def test_text_and_thoughts_stream_into_parts_that_begin_before_them(tmp_path: Path, answer: Answer) -> None:
    async def story(talk: Talk) -> None:
        heard = await talk.say("Hi")
        (turn,) = talk.state["turns"]
        thought = [("reasoning", "Hm."), ("markdown", "Hello"), ("reasoning", "Done?"), ("markdown", "!")]
        assert parts(turn) == thought
        assert (turn["state"], turn["usage"]) == (
            "complete",
            {"inputTokens": 3, "outputTokens": 2, "model": "small"},
        )
        assert (heard.deltas, heard.thoughts) == (["Hel", "lo", "!"], "Hm.Done?")
        begun: set[str] = set()
        for action in heard.actions:
            if action["type"] == "session/responsePart":
                assert action["part"]["content"] == ""
                begun.add(action["part"]["id"])
            assert action.get("partId", "p1") in begun | {"p1"}
        assert begun == {"p1", "p2", "p3", "p4"}

    tell(tmp_path, answer, story)


@BOTH
def test_each_turn_gets_its_own_parts_and_all_are_in_the_transcript(tmp_path: Path, answer: Answer) -> None:
    async def story(talk: Talk) -> None:
        for text in ("One", "Two"):
            await talk.say(text)
        blocks = [
            {"type": "thinking", "thinking": "Hm."},
            "Hello",
            {"type": "thinking", "thinking": "Done?"},
            "!",
        ]
        both = [user("One"), assistant(*blocks), user("Two"), assistant(*blocks)]
        assert transcript(talk.session) == both
        assert [turn["userMessage"]["text"] for turn in talk.state["turns"]] == ["One", "Two"]

    tell(tmp_path, answer, story)


def test_empty_text_adds_nothing(tmp_path: Path) -> None:
    async def silent(turn: Turn) -> None:
        await turn.say("")
        await turn.think("")

    async def story(talk: Talk) -> None:
        assert (await talk.say("Hi")).of("responsePart") == []
        assert transcript(talk.session) == [user("Hi")]

    tell(tmp_path, silent, story)


def test_half_a_character_is_replaced_and_the_rest_is_kept(tmp_path: Path) -> None:
    async def cuts(turn: Turn) -> None:
        await turn.say("a\ud83d")
        await turn.say("z")

    async def story(talk: Talk) -> None:
        await talk.say("Hi")
        assert talk.answer == "a?z"

    tell(tmp_path, cuts, story)


def test_a_session_is_titled_by_its_first_message_once(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        await talk.say("  What   time\nis it?")
        await talk.say("And now?")
        assert talk.state["summary"]["title"] == "What time"

    tell(tmp_path, echoes, story)


def test_a_name_that_somebody_gave_stays(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        await talk.act("titleChanged", title="Mine")
        await talk.say("Hello")
        assert talk.state["summary"]["title"] == "Mine"

    tell(tmp_path, echoes, story)


def test_an_agent_gives_titles_and_says_what_goes_on(tmp_path: Path) -> None:
    async def busy(turn: Turn) -> None:
        await turn.activity("Reading")
        await turn.title("About reading")
        await turn.activity(None)

    async def story(talk: Talk) -> None:
        heard = await talk.say("Hi")
        assert [action.get("activity") for action in heard.of("activityChanged")] == ["Reading", None]
        assert talk.state["summary"]["title"] == "About reading"
        assert "activity" not in talk.state["summary"]

    tell(tmp_path, busy, story)


def test_a_notice_is_a_separate_part(tmp_path: Path) -> None:
    async def notes(turn: Turn) -> None:
        await turn.say("a")
        await turn.notify("The index is old.")
        await turn.say("b")

    async def story(talk: Talk) -> None:
        await talk.say("Hi")
        said = [("markdown", "a"), ("systemNotification", "The index is old."), ("markdown", "b")]
        assert parts(talk.state["turns"][0]) == said

    tell(tmp_path, notes, story)


def test_large_content_is_kept_beside_the_state_and_goes_along_with_a_fork(tmp_path: Path) -> None:
    async def shows(turn: Turn) -> None:
        await turn.show(b"\x00\x01", "image/png")
        await turn.show("words")

    async def story(talk: Talk) -> None:
        turn_id = await talk.send("Hi")
        await talk.finish()
        contents = talk.host.parts.engine.contents
        image, text = talk.state["turns"][0]["responseParts"]
        assert (image["sizeHint"], image["contentType"]) == (2, "image/png")
        assert (await contents.read(image["uri"])).data == b"\x00\x01"
        fork = await talk.host.parts.lifecycle.fork(talk.uri, turn_id, "demo:/fork")
        await talk.host.parts.lifecycle.dispose(talk.uri)
        copy: Any = fork.chat["turns"][0]["responseParts"][1]
        assert copy["uri"] != text["uri"]
        assert (await contents.read(copy["uri"])).data == b"words"

    tell(tmp_path, shows, story)


def test_an_agent_gets_what_was_attached_as_words_and_images(tmp_path: Path) -> None:
    data = "iVBORw0KGgo="
    attached = [
        {"type": "simple", "label": "selection", "modelRepresentation": "lines 3 to 5"},
        {"type": "embeddedResource", "label": "pixel", "data": data, "contentType": "image/png"},
    ]

    async def looks(turn: Turn) -> None:
        await turn.say(f"{len(turn.message.get('attachments', []))} {turn.images}")

    async def story(talk: Talk) -> None:
        image = {"type": "image", "url": f"data:image/png;base64,{data}"}
        await talk.say("See", attached)
        assert talk.answer == f"2 {[image]}"
        words = [{"type": "text", "text": "See"}, {"type": "text", "text": "lines 3 to 5"}]
        assert transcript(talk.session)[0] == user([*words, image])
        await talk.say("And now?")
        assert talk.answer == "0 []"

    tell(tmp_path, looks, story)


def test_a_second_turn_at_a_time_is_refused(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        await talk.send("Hi")
        refusal = await talk.act("turnStarted", turnId="other", userMessage={"text": "Me too"})
        assert refusal is not None
        assert "still running" in str(refusal.reason)
        await talk.cancel()

    tell(tmp_path, waits_for_ever, story)


async def waits_for_ever(turn: Turn) -> None:
    await turn.say("Wait")
    await asyncio.Event().wait()


def test_what_waits_in_the_queue_follows_a_turn_that_is_complete_one_by_one(tmp_path: Path) -> None:
    ready = asyncio.Event()

    async def slow(turn: Turn) -> None:
        await ready.wait()
        await turn.say(turn.text)

    async def story(talk: Talk) -> None:
        await talk.send("first")
        await send_pending(talk, "second")
        await send_pending(talk, "third")
        ready.set()
        await until(talk, lambda state: len(state["turns"]) == 3)
        assert [turn["userMessage"]["text"] for turn in talk.state["turns"]] == ["first", "second", "third"]
        said = [message for text in ("first", "second", "third") for message in (user(text), assistant(text))]
        assert transcript(talk.session) == said

    tell(tmp_path, slow, story)


@pytest.mark.parametrize("ending", ["cancel", "error"])
def test_the_queue_stays_after_a_turn_that_was_cancelled_or_failed(tmp_path: Path, ending: str) -> None:
    ready = asyncio.Event()

    async def breaks(turn: Turn) -> None:
        if turn.text == "first":
            await ready.wait()
            raise ValueError("no")

    async def story(talk: Talk) -> None:
        await talk.send("first")
        await send_pending(talk, "second")
        if ending == "cancel":
            await talk.cancel()
        else:
            ready.set()
        await talk.finish()
        assert [one["id"] for one in talk.state["queuedMessages"]] == ["second"]
        await talk.say("third")
        await until(talk, lambda state: len(state["turns"]) == 3)
        assert [turn["userMessage"]["text"] for turn in talk.state["turns"]] == ["first", "third", "second"]

    tell(tmp_path, breaks, story)


def test_a_model_that_is_chosen_while_a_turn_runs_counts_from_the_next_turn_on_also_after_a_restart(
    tmp_path: Path,
) -> None:
    async def names_model(turn: Turn) -> None:
        await turn.ask("Go on?")
        await turn.say(turn.model.id if turn.model else "none")

    agent = made(names_model, models=[Model("small"), Model("large")])

    async def story() -> None:
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host)
            await talk.send("first")
            await talk.hear_one("inputRequested")
            await talk.act("modelChanged", model={"id": "large"})
            await send_pending(talk, "second")
        async with talking(tmp_path, agent) as host:
            again = await Talk.join(host, talk.uri)
            for done in range(2):
                (request,) = await until(again, lambda state: state.get("inputRequests"))
                assert ("model" in again.state["summary"]) == (done == 1)
                await again.reply({"request": request})
                await until(again, lambda state: len(state["turns"]) > done)  # noqa: B023 - used at once
            said = [parts(turn) for turn in again.state["turns"]]
            assert said == [[("markdown", "small")], [("markdown", "large")]]

    run(story)
