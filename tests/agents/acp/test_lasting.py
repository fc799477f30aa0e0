"""What outlives what: turns that are cancelled, programs that die, hosts that do."""

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from acp_acting import Served, acting
from agenthost.agents.acp import conversation
from agenthost.host.host import Host
from hosting import run
from talking import Talk, talking
from turning import calls_in, crash, parts, pass_time, transcript, until, until_call


def last(talk: Talk) -> Any:
    return talk.state["turns"][-1]


async def memory(talk: Talk) -> Any:
    """Ask the program what it was told before."""
    return json.loads((await talk.say("memory")).text)


def test_a_turn_that_is_cancelled_ends_and_the_next_one_begins_when_the_program_has_stopped(
    served: Served,
) -> None:
    async def story() -> None:
        talk = await served.talk()
        await talk.send("hang")
        await until_call(talk, "running")
        await talk.cancel()
        await talk.finish()
        assert last(talk)["state"] == "cancelled"
        # What the program said too late belongs to no turn.
        assert (await talk.say("say hello")).text == "hello "
        assert await memory(talk) == ["hang", "say hello"]

    served.run(story())


def test_who_cancels_while_somebody_is_asked_answers_it_too(served: Served) -> None:
    async def story() -> None:
        talk = await served.talk()
        await talk.send("edit cancelled.txt")
        await until_call(talk, "pending-confirmation")
        await talk.cancel()
        await talk.finish()
        (call,) = calls_in(last(talk))
        assert (call["status"], call["reason"]) == ("cancelled", "skipped")
        assert (await talk.say("say hello")).text == "hello "
        assert not (served.workspace / "cancelled.txt").exists()

    served.run(story())


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


async def until_gone(pid: int) -> None:
    while is_alive(pid):
        await pass_time(0.02)


def words_in(file: Path) -> str:
    return file.read_text().strip() if file.exists() else ""


async def pid_in(file: Path) -> int:
    while not (words := words_in(file)):
        await pass_time(0.02)
    return int(words)


def test_a_program_that_does_not_stop_is_ended_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation, "CANCEL_SECONDS", 0.3)

    async def story() -> None:
        async with talking(tmp_path, acting(tmp_path / "home", "--stubborn")) as host:
            other = await Talk.begin(host, "acting")
            await other.send("edit other.txt")
            call = await until_call(other, "pending-confirmation")
            talk = await Talk.begin(host, "acting")
            await talk.send(f"hang {tmp_path / 'pid'}")
            pid = await pid_in(tmp_path / "pid")
            await talk.cancel()
            await talk.finish()
            # It goes on with another process, which takes the session up; who is in a turn keeps the old.
            assert await memory(talk) == [f"hang {tmp_path / 'pid'}"]
            assert is_alive(pid)
            await other.approve(call)
            assert (await other.finish()).text == "You chose y1."
            await until_gone(pid)
            assert await memory(other) == ["edit other.txt"]

    run(story)


def test_a_program_that_dies_fails_its_turn_and_is_started_again(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, acting(tmp_path / "home")) as host:
            talk = await Talk.begin(host, "acting")
            await talk.say("say hello")
            heard = await talk.say("die")
            assert heard.text == "Farewell."
            error = heard.ending["error"]
            assert error["errorType"] == "agentUnavailable"
            assert error["message"].startswith("acting ended with exit code 3; the next message starts it")
            assert error["message"].endswith("out of paper")
            (call,) = calls_in(last(talk))
            assert call["error"]["message"] == "Acting broke off; whether it did this is unknown"
            assert await memory(talk) == ["say hello", "die"]
            assert len(transcript(talk.session)) == 8

    run(story)


@pytest.mark.parametrize("how", ["--load", "--resume"])
def test_a_session_is_taken_up_by_the_next_host(tmp_path: Path, how: str) -> None:
    async def story() -> None:
        async with talking(tmp_path, acting(tmp_path / "home", how)) as host:
            talk = await Talk.begin(host, "acting")
            await talk.say("say hello")
            uri = talk.uri
        async with talking(tmp_path, acting(tmp_path / "home", how)) as host:
            talk = await Talk.join(host, uri)
            # It is not shown again what was said, and the program is not told again.
            heard = await talk.say("blocks")
            assert json.loads(heard.text) == [{"type": "text", "text": "blocks"}]
            assert await memory(talk) == ["say hello", "blocks"]

    run(story)


def context(heard: Any) -> str:
    """Give what the program was told before the message itself."""
    first, *rest = json.loads(heard.text)
    assert rest == [{"type": "text", "text": "blocks"}]
    return str(first["text"])


def test_a_program_that_cannot_take_up_its_session_is_told_what_was_said(tmp_path: Path) -> None:
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


def test_a_session_that_the_program_has_lost_is_told_too(tmp_path: Path) -> None:
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
                "Acting could not take up its session, and was given this conversation to read instead.",
            )

    run(story)


@pytest.mark.parametrize("word", ["hang", "edit x.txt"], ids=["that ran", "that asked"])
@pytest.mark.parametrize("how", ["--load", "--no-load"])
def test_a_turn_ends_with_a_sentence_when_the_host_was_killed(tmp_path: Path, how: str, word: str) -> None:
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
            assert "This host was restarted while acting was at work" in error["message"]
            assert next_step in error["message"]
            (call,) = calls_in(last(talk))
            assert call["error"]["message"] == "acting was interrupted; whether it did this is unknown"
            assert len(transcript(talk.session)) > 4
            known = await memory(talk)
            assert known == (["say hello", word] if how == "--load" else [])

    run(story)


def test_a_turn_that_never_reached_the_program_is_begun_again(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()

    async def story() -> None:
        async with talking(one, acting(tmp_path / "home", "--slow")) as host:
            talk = await Talk.begin(host, "acting", uri="acting:/early")
            await relay_of(host)._peers._current.leave()
            await talk.send("say hello")
            await host.engine.journal.wait()
            crash(one, two)
            await talk.finish()
        async with talking(two, acting(tmp_path / "home", "--slow")) as host:
            talk = await Talk.join(host, "acting:/early")
            await until(talk, lambda state: "activeTurn" not in state)
            assert talk.answer == "hello "

    run(story)


def test_a_fork_and_a_session_that_was_cut_off_begin_anew_with_what_is_left(served: Served) -> None:
    async def story() -> None:
        talk = await served.talk()
        await talk.say("say one")
        await talk.say("say two")
        first = talk.state["turns"][0]["id"]
        fork = await talk.host.fork_session(talk.uri, first, f"{talk.uri}-fork")
        other = await Talk.join(talk.host, fork.row.uri)
        told = context(await other.say("blocks"))
        assert ("say one" in told, "say two" in told) == (True, False)
        # The session itself goes on as it was, until somebody cuts it off.
        assert await memory(talk) == ["say one", "say two"]
        assert await talk.act("truncated", turnId=first) is None
        told = context(await talk.say("blocks"))
        assert ("say one" in told, "say two" in told) == (True, False)

    served.run(story())


def test_a_turn_that_failed_before_it_reached_the_program_is_told_with_the_next(tmp_path: Path) -> None:
    async def story() -> None:
        agent = acting(tmp_path / "home")
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host, "acting")
            await talk.say("say hello")
            good, agent.command = agent.command, acting(tmp_path / "home", env={"A": "$NOT_SET"}).command
            agent.relay._peers._command = agent.command
            await talk.say("die")
            heard = await talk.say("say lost")
            assert "NOT_SET" in heard.ending["error"]["message"]
            agent.relay._peers._command = good
            told = context(await talk.say("blocks"))
            assert ("say lost" in told, "say hello" in told) == (True, False)
            assert await memory(talk) == ["say hello", "die", "blocks"]

    run(story)


def test_a_program_that_nobody_uses_leaves_and_comes_back(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, acting(tmp_path / "home", idle_seconds=0.2)) as host:
            talk = await Talk.begin(host, "acting")
            await talk.say("say hello")
            peers = relay_of(host)._peers
            await asyncio.wait_for(peers._current.wait(), 10)
            assert await memory(talk) == ["say hello"]

    run(story)


def test_one_that_could_not_come_back_does_not_leave(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, acting(tmp_path / "home", "--no-load", idle_seconds=0.05)) as host:
            talk = await Talk.begin(host, "acting")
            await talk.say("say hello")
            await pass_time(0.3)
            assert await memory(talk) == ["say hello"]

    run(story)


def test_nothing_is_left_when_the_host_closes_or_the_keeper_sees_it_killed(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, acting(tmp_path / "home")) as host:
            talk = await Talk.begin(host, "acting")
            await talk.send(f"hang {tmp_path / 'pid'}")
            pid = await pid_in(tmp_path / "pid")
            keeper = relay_of(host)._peers._current._program._keeper
            assert is_alive(pid)
        assert not is_alive(pid)
        assert keeper.returncode is not None

    run(story)


def test_the_program_may_be_killed_at_any_time(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, acting(tmp_path / "home")) as host:
            talk = await Talk.begin(host, "acting")
            await talk.send(f"hang {tmp_path / 'pid'}")
            pid = await pid_in(tmp_path / "pid")
            os.kill(program_of(host), signal.SIGKILL)
            heard = await talk.finish()
            assert "acting ended with exit code 137" in heard.ending["error"]["message"]
            await until_gone(pid)
            assert (await talk.say("say hello")).text == "hello "

    run(story)


def program_of(host: Host) -> int:
    """Give the process that is the program: the child of its keeper."""
    keeper = relay_of(host)._peers._current._program._keeper.pid
    (child,) = Path(f"/proc/{keeper}/task/{keeper}/children").read_text().split()[:1]
    return int(child)


def relay_of(host: Host) -> Any:
    agent: Any = host.agents["acting"]
    return agent.relay
