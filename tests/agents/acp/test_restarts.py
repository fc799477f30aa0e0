"""What outlives what: sessions of a program that speaks ACP, when it or its host is started again."""

import json
from pathlib import Path
from typing import Any

import pytest

from acp_acting import Served, acting, last, memory, relay_of
from hosting import run
from talking import Talk, talking
from turning import calls_in, crash, parts, transcript, until, until_call


@pytest.mark.parametrize("how", ["--load", "--resume"])
def test_a_session_is_resumed_after_a_restart_of_the_host(tmp_path: Path, how: str) -> None:
    async def story() -> None:
        async with talking(tmp_path, acting(tmp_path / "home", how)) as host:
            talk = await Talk.begin(host, "acting")
            await talk.say("say hello")
            uri = talk.uri
        async with talking(tmp_path, acting(tmp_path / "home", how)) as host:
            talk = await Talk.join(host, uri)
            # Nothing is shown again, and the program is not given the conversation again.
            heard = await talk.say("blocks")
            assert json.loads(heard.text) == [{"type": "text", "text": "blocks"}]
            assert await memory(talk) == ["say hello", "blocks"]

    run(story)


def context(heard: Any) -> str:
    """Return what the program was given before the message itself."""
    first, *rest = json.loads(heard.text)
    assert rest == [{"type": "text", "text": "blocks"}]
    return str(first["text"])


def test_a_program_that_cannot_resume_is_given_the_conversation(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, acting(tmp_path / "home", "--no-load")) as host:
            talk = await Talk.begin(host, "acting")
            await talk.say("read notes.txt")
            uri = talk.uri
        async with talking(tmp_path, acting(tmp_path / "home", "--no-load")) as host:
            talk = await Talk.join(host, uri)
            told = context(await talk.say("blocks"))
            assert "User: read notes.txt" in told
            assert "[Result: all of it]" in told
            assert "Assistant: There it is." in told
            assert await memory(talk) == ["blocks"]

    run(story)


def test_a_program_that_lost_its_session_is_given_the_conversation(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, acting(tmp_path / "home")) as host:
            talk = await Talk.begin(host, "acting")
            await talk.say("say hello")
            uri = talk.uri
        for file in (tmp_path / "home").iterdir():
            file.unlink()
        async with talking(tmp_path, acting(tmp_path / "home")) as host:
            talk = await Talk.join(host, uri)
            heard = await talk.say("blocks")
            assert "User: say hello" in context(heard)
            notice = parts(last(talk))[0]
            assert notice == (
                "systemNotification",
                "Acting could not resume its session, so it was given this conversation to read.",
            )

    run(story)


@pytest.mark.parametrize("word", ["hang", "edit x.txt"], ids=["that ran", "that asked"])
@pytest.mark.parametrize("how", ["--load", "--no-load"])
def test_a_turn_ends_with_an_error_after_the_host_was_killed(tmp_path: Path, how: str, word: str) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()

    async def story() -> None:
        async with talking(one, acting(tmp_path / "home", how)) as host:
            talk = await Talk.begin(host, "acting")
            await talk.say("say hello")
            await talk.send(word)
            await until_call(talk, "running" if word == "hang" else "pending-confirmation")
            crash(one, two)
            uri = talk.uri
        async with talking(two, acting(tmp_path / "home", how)) as host:
            talk = await Talk.join(host, uri)
            await until(talk, lambda state: "activeTurn" not in state)
            error = last(talk)["error"]
            assert error["errorType"] == "agentUnavailable"
            next_step = "send another message to go on" if how == "--load" else "is given this conversation"
            # The title is "Acting" once the program has said so; before that, the name stands for it.
            assert "this host was restarted while acting was at work" in error["message"].lower()
            assert next_step in error["message"]
            (call,) = calls_in(last(talk))
            assert call["error"]["message"] == "acting was interrupted; whether it did this is unknown"
            assert len(transcript(talk.session)) > 4
            known = await memory(talk)
            assert known == (["say hello", word] if how == "--load" else [])

    run(story)


def test_a_turn_that_never_reached_the_program_is_run_again(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()

    async def story() -> None:
        async with talking(one, acting(tmp_path / "home", "--slow")) as host:
            talk = await Talk.begin(host, "acting", uri="acting:/early")
            await relay_of(host)._pool._current.leave()
            await talk.send("say hello")
            await host.parts.engine.journal.wait()
            crash(one, two)
            await talk.finish()
        async with talking(two, acting(tmp_path / "home", "--slow")) as host:
            talk = await Talk.join(host, "acting:/early")
            await until(talk, lambda state: "activeTurn" not in state)
            assert talk.answer == "hello "

    run(story)


def test_forked_and_truncated_sessions_begin_a_new_conversation(served: Served) -> None:
    async def story() -> None:
        talk = await served.talk()
        await talk.say("say one")
        await talk.say("say two")
        first = talk.state["turns"][0]["id"]
        fork = await talk.host.parts.lifecycle.fork(talk.uri, first, f"{talk.uri}-fork")
        other = await Talk.join(talk.host, fork.row.uri)
        told = context(await other.say("blocks"))
        assert ("say one" in told, "say two" in told) == (True, False)
        # The session itself continues unchanged until it is truncated.
        assert await memory(talk) == ["say one", "say two"]
        assert await talk.act("truncated", turnId=first) is None
        told = context(await talk.say("blocks"))
        assert ("say one" in told, "say two" in told) == (True, False)

    served.run(story())


def test_the_next_turn_tells_the_program_of_one_that_never_reached_it(tmp_path: Path) -> None:
    async def story() -> None:
        agent = acting(tmp_path / "home")
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host, "acting")
            await talk.say("say hello")
            good = agent.program.command
            agent.relay._pool._command = acting(tmp_path / "home", env={"A": "$NOT_SET"}).program.command
            await talk.say("die")
            heard = await talk.say("say lost")
            assert "NOT_SET" in heard.ending["error"]["message"]
            agent.relay._pool._command = good
            told = context(await talk.say("blocks"))
            assert ("say lost" in told, "say hello" in told) == (True, False)
            assert await memory(talk) == ["say hello", "die", "blocks"]

    run(story)
