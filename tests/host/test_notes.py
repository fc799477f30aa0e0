"""What agents keep privately with what they say: where it is, how long, and that nobody is shown it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from agenthost.host.authoring.steps import Call, Note, Text, Thought, Usage
from agenthost.host.authoring.turn import Turn
from hosting import run
from talking import Talk, talking
from turning import crash, exact_transcript, made, parts, tell, transcript


def wait() -> str:
    """Wait for permission."""
    return "waited"


async def notes_and_calls(turn: Turn) -> AsyncIterator[Any]:
    step = sum(message["role"] == "assistant" for message in turn.messages)
    yield Note({"me": {"step": step}})
    yield Note({"you": step})
    yield f"Step {step}."
    if step == 0:
        yield Call("wait")


def test_notes_are_kept_with_the_message_of_their_step_and_no_other(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        await talk.send("Go")
        await talk.approve(await talk.hear_one("toolCallReady"))
        await talk.finish()
        first, second = [one for one in exact_transcript(talk.session) if one["role"] == "assistant"]
        assert first["_private"] == {"me": {"step": 0}, "you": 0, "host": {"parts": 2}}
        assert second["_private"] == {"me": {"step": 1}, "you": 1, "host": {"parts": 3}}
        assert "step" not in str([transcript(talk.session), talk.state])

    tell(tmp_path, notes_and_calls, story, tools=[wait])


def test_notes_are_there_after_a_restart(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()

    async def story() -> None:
        async with talking(before, made(notes_and_calls, tools=[wait])) as host:
            talk = await Talk.begin(host)
            await talk.send("Go")
            await talk.hear_one("toolCallReady")
            crash(before, after)
        async with talking(after, made(notes_and_calls, tools=[wait])) as host:
            session = (await Talk.join(host, talk.uri)).session
            assert session.messages[1].message["_private"]["me"] == {"step": 0}

    run(story)


async def two_thoughts(_turn: Turn) -> AsyncIterator[Any]:
    yield Thought("One")
    yield Thought(".", private={"me": 1})
    yield Thought("Two.")
    yield Thought("", private={"me": 2})
    yield Text("So")
    yield Text(".", private={"me": 3})
    yield " And so on."


def test_what_has_a_private_note_is_a_part_of_its_own(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        await talk.say("Go")
        shown = [
            ("reasoning", "One."),
            ("reasoning", "Two."),
            ("markdown", "So."),
            ("markdown", " And so on."),
        ]
        assert parts(talk.state["turns"][-1]) == shown
        blocks = exact_transcript(talk.session)[-1]["content"]
        assert [block.get("_private") for block in blocks] == [{"me": 1}, {"me": 2}, {"me": 3}, None]

    tell(tmp_path, two_thoughts, story)


def test_a_turn_knows_what_it_cost_so_far(tmp_path: Path) -> None:
    seen = []

    async def spends(turn: Turn) -> None:
        seen.append(turn.usage)
        await turn.use(Usage(5, 1))
        seen.append(turn.usage)

    async def story(talk: Talk) -> None:
        await talk.say("Go")

    tell(tmp_path, spends, story)
    assert seen == [{}, {"inputTokens": 5, "outputTokens": 1}]


def test_what_an_agent_says_that_it_does_ends_with_the_turn(tmp_path: Path) -> None:
    async def reads(turn: Turn) -> None:
        await turn.activity("Reading")
        if turn.text == "Break":
            raise OSError("the book is closed")

    async def story(talk: Talk) -> None:
        for text in ("Go", "Break"):
            await talk.say(text)
            await talk.hear_one("activityChanged")
            assert "activity" not in talk.state["summary"]

    tell(tmp_path, reads, story)
