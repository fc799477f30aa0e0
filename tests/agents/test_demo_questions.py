"""What the demo agent waits for: answers to its questions, time that passes, a host that comes back."""

from pathlib import Path

import pytest

from agenthost.agents.demo import demo
from hosting import run
from talking import Talk, talking

ANSWERS = {
    "name": {"kind": "text", "value": "Ann"},
    "price": {"kind": "number", "value": 2.5},
    "count": {"kind": "number", "value": 3},
    "gift": {"kind": "boolean", "value": True},
    "colour": {"kind": "selected", "value": "red"},
    "extras": {"kind": "selected-many", "value": ["card", "box"]},
}


def test_ask_has_one_question_of_each_kind_and_says_the_answers(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            talk = await Talk.begin(host)
            await talk.send("/ask")
            asked = await talk.hear_one("inputRequested")
            questions = asked["request"]["questions"]
            assert [question["kind"] for question in questions] == [
                "text",
                "number",
                "integer",
                "boolean",
                "single-select",
                "multi-select",
            ]
            assert [question["id"] for question in questions if question.get("required")] == ["name"]
            assert await talk.reply(asked, ANSWERS) is None
            heard = await talk.finish()
            assert heard.text == (
                "You answered:\n\n- name: Ann\n- price: 2.5\n- count: 3\n- gift: yes\n- colour: red\n"
                "- extras: card, box"
            )

    run(story)


def test_skipped_questions_have_no_answer(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            talk = await Talk.begin(host)
            await talk.send("/ask")
            asked = await talk.hear_one("inputRequested")
            assert await talk.reply(asked) is not None  # the name is required
            assert await talk.reply(asked, {"name": ANSWERS["name"]}) is None
            heard = await talk.finish()
            assert "- name: Ann\n- price: nothing\n" in heard.text

    run(story)


@pytest.mark.parametrize(("response", "words"), [("decline", "declined"), ("cancel", "cancelled")])
def test_ask_says_that_it_got_no_answers(tmp_path: Path, response: str, words: str) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            talk = await Talk.begin(host)
            await talk.send("/ask")
            await talk.reply(await talk.hear_one("inputRequested"), response=response)
            assert (await talk.finish()).text == f"The questions were {words}."

    run(story)


def test_questions_still_wait_after_a_restart(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            talk = await Talk.begin(host)
            await talk.send("/ask")
            asked = await talk.hear_one("inputRequested")
        async with talking(tmp_path, demo) as host:
            talk = await Talk.join(host, asked["session"])
            assert await talk.reply(asked, {"name": ANSWERS["name"]}) is None
            assert "- name: Ann\n" in (await talk.finish()).text

    run(story)


def test_wait_says_a_dot_for_every_50_ms(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            talk = await Talk.begin(host)
            assert (await talk.say("/wait 0.2")).deltas == ["."] * 4
            assert (await talk.say("/wait 0")).deltas == []

    run(story)


def test_wait_that_is_cancelled_stops_at_once(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            talk = await Talk.begin(host)
            await talk.send("/wait 3600")
            await talk.hear_one("delta")
            await talk.cancel()
            heard = await talk.finish()
            assert heard.ending["type"] == "session/turnCancelled"
            assert len(heard.deltas) < 100
            assert host.parts.turns.count == 0
            # Nothing follows the end of the turn: the next action belongs to the next turn.
            after = await talk.say("hello")
            assert after.actions[0]["type"] == "session/turnStarted"
            assert after.text == "You said: hello"

    run(story)


@pytest.mark.parametrize("options", [{}, {"greeting": "Ahoy!", "style": "loud"}])
def test_wait_goes_on_after_a_restart_with_no_dot_twice_and_none_missing(
    tmp_path: Path, options: dict[str, str]
) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            talk = await Talk.begin(host, options=options)
            await talk.send("/wait 1")
            heard = await talk.hear(lambda action: action.get("content") == ".")
            heard.actions.extend((await talk.hear(lambda action: action.get("content") == ".")).actions)
            assert heard.text.endswith("..")
            uri = talk.uri
        async with talking(tmp_path, demo) as host:
            talk = await Talk.join(host, uri)
            later = await talk.finish()
            assert later.text
            assert set(later.text) == {"."}
            assert talk.answer == ("AHOY! " if options else "") + "." * 20
            kinds = [part["kind"] for part in talk.state["turns"][-1]["responseParts"]]
            assert kinds == ["markdown"]

    run(story)


@pytest.mark.parametrize(
    "text", ["one two three four", "/think one two three", "/help", "/title A b c d", "/refuse", "/error"]
)
def test_an_answer_that_a_restart_interrupts_is_the_same_in_the_end(tmp_path: Path, text: str) -> None:
    async def story() -> None:
        steady = {"id": "steady", "config": {"pause": "short"}}
        async with talking(tmp_path, demo) as host:
            whole = await Talk.begin(host, model=steady)
            await whole.say(text)
            talk = await Talk.begin(host, model=steady)
            await talk.send(text)
            await talk.hear_one("delta")
            uris = whole.uri, talk.uri
        async with talking(tmp_path, demo) as host:
            whole, talk = [await Talk.join(host, uri) for uri in uris]
            await talk.finish()
            for key in ("responseParts", "state"):
                assert talk.state["turns"][0][key] == whole.state["turns"][0][key]
            assert talk.state["summary"]["title"] == whole.state["summary"]["title"]

    run(story)
