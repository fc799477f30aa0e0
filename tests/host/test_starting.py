"""How sessions start: with options, models and tools, as forks of others, under names and titles."""

from pathlib import Path
from typing import Any

import pytest

from agenthost.errors import (
    AgentNotFound,
    InvalidValue,
    SessionExists,
    TurnInProgress,
    TurnNotFound,
    UriReserved,
)
from agenthost.host.authoring.agent import Model
from agenthost.host.authoring.options import Option
from agenthost.host.authoring.tool import tool
from agenthost.host.authoring.turn import Turn
from agenthost.host.sessions.new_session import NewSession, name_of, title_from
from agenthost.wire.ahp import ROOT_URI
from hosting import run
from talking import Talk, talking
from turning import made, tell, transcript


async def echoes(turn: Turn) -> None:
    await turn.say(
        f"{turn.text} {dict(turn.options)} {turn.model and turn.model.id} {dict(turn.model_config)}"
    )


def test_a_session_has_the_options_model_and_tools_it_was_asked_to_have(tmp_path: Path) -> None:
    @tool
    def one() -> None: ...

    @tool
    def two() -> None: ...

    start = {
        "options": {"tone": "dry"},
        "model": {"id": "large", "config": {"effort": "low"}},
        "tools": {"two": True},
    }
    declared: Any = {
        "options": [Option.select("tone", ["kind", "dry"]), Option.text("name", "Bob"), Option.secret("key")],
        "models": [Model("small"), Model("large", context_tokens=10)],
        "tools": [one, two],
    }

    async def story(talk: Talk) -> None:
        assert talk.state["config"]["values"] == {"tone": "dry", "name": "Bob"}
        assert "key" not in talk.state["config"]["schema"]["properties"]
        assert [one["name"] for one in talk.state["serverTools"]] == ["two"]
        await talk.say("Hi")
        assert talk.answer == "Hi {'tone': 'dry', 'name': 'Bob', 'key': ''} large {'effort': 'low'}"

    tell(tmp_path, echoes, story, start=start, **declared)


@pytest.mark.parametrize(
    ("start", "error"),
    [
        (NewSession(agent="nobody"), "there is no agent 'nobody'"),
        (NewSession(agent="demo", options={"tone": "loud"}), r"\$\.config\.tone: expected one of"),
        (NewSession(agent="demo", options={"size": "1"}), r"\$\.config\.size: expected one of"),
        (NewSession(agent="demo", model={"id": "huge"}), r"\$\.model\.id: expected one of"),
        (NewSession(agent="demo", uri="demo:/taken"), "already"),
        (NewSession(agent="demo", uri=ROOT_URI), "cannot be used"),
    ],
)
def test_a_session_that_cannot_be_is_refused_and_leaves_nothing(
    tmp_path: Path, start: NewSession, error: str
) -> None:
    async def story() -> None:
        agent = made(echoes, options=[Option.select("tone", ["kind", "dry"])], models=[Model("small")])
        async with talking(tmp_path, agent) as host:
            await host.parts.lifecycle.create(NewSession(agent="demo", uri="demo:/taken"))
            with pytest.raises((AgentNotFound, InvalidValue, SessionExists, UriReserved), match=error):
                await host.parts.lifecycle.create(start)
            assert host.parts.engine.session_counts.total == 1

    run(story)


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("demo:/abc-1.2~x", "abc-1.2~x"),
        ("demo:/a b", None),
        ("demo:/a/b", None),
        ("demo:/", None),
        ("demo:/uri-x", None),
        ("https://example.org/s", None),
        ("demo:/" + "x" * 201, None),
        ("demo:/é\ud800", None),
        ("other:/taken", None),
    ],
)
def test_the_name_of_a_session_is_safe_in_a_url_and_its_own(
    tmp_path: Path, uri: str, name: str | None
) -> None:
    async def story() -> None:
        async with talking(tmp_path, made(echoes)) as host:
            await host.parts.lifecycle.create(NewSession(agent="demo", uri="demo:/taken"))
            found = await name_of(host.parts.engine.sessions, uri)
            assert found == name or (name is None and found.startswith("uri-"))
            assert all(letter.isascii() and (letter.isalnum() or letter in "._~-") for letter in found)

    run(story)


def test_a_fork_has_the_turns_and_the_transcript_up_to_one_turn_and_goes_its_own_way(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        first = await talk.send("One")
        await talk.finish()
        await talk.say("Two")
        forked = await talk.host.parts.lifecycle.fork(talk.uri, first, "demo:/fork")
        fork = await Talk.join(talk.host, forked.row.uri)
        await fork.say("Three")
        assert [turn["userMessage"]["text"] for turn in fork.state["turns"]] == ["One", "Three"]
        assert [one["content"].split()[0] for one in transcript(forked)] == ["One", "One", "Three", "Three"]
        assert len(talk.state["turns"]) == 2
        with pytest.raises(TurnNotFound):
            await talk.host.parts.lifecycle.fork(talk.uri, "nothing", "demo:/other")
        with pytest.raises(SessionExists):
            await talk.host.parts.lifecycle.fork(talk.uri, first, "demo:/fork")

    tell(tmp_path, echoes, story)


def test_what_waits_in_a_running_turn_does_not_come_along_with_a_fork(tmp_path: Path) -> None:
    async def asks_twice(turn: Turn) -> None:
        if turn.text != "One":
            await turn.ask("Well?")
            await turn.ask("Really?")

    async def story(talk: Talk) -> None:
        first = await talk.send("One")
        await talk.finish()
        await talk.send("Two")
        await talk.act("modelChanged", model={"id": "large"})
        await talk.reply(await talk.hear_one("inputRequested"))
        await talk.hear_one("inputRequested")
        fork = await Talk.join(
            talk.host, (await talk.host.parts.lifecycle.fork(talk.uri, first, "demo:/f")).row.uri
        )
        assert {"asked", "deferred"} <= talk.session.private.keys()
        assert not {"asked", "deferred"} & fork.session.private.keys()
        await fork.say("One")
        assert "model" not in fork.state["summary"]

    tell(tmp_path, asks_twice, story, models=[Model("small"), Model("large")])


def test_a_turn_that_runs_cannot_be_forked(tmp_path: Path) -> None:
    async def waits(turn: Turn) -> None:
        await turn.ask("Well?")

    async def story(talk: Talk) -> None:
        turn_id = await talk.send("Hi")
        with pytest.raises(TurnInProgress):
            await talk.host.parts.lifecycle.fork(talk.uri, turn_id, "demo:/fork")

    tell(tmp_path, waits, story)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("  What\ttime  is it? \nTell me.", "What time is it?"),
        ("", ""),
        ("word " * 20, "word word word word word word word word word word word word…"),
        ("x" * 100, "x" * 60 + "…"),
    ],
)
def test_a_title_is_the_beginning_of_what_was_said(text: str, title: str) -> None:
    assert title_from(text) == title
