"""Processes of programs that speak ACP: turns that are cancelled, programs that die or do not stop."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from acp_acting import Served, acting, is_alive, last, memory, pid_in, relay_of, until_gone
from agenthost.agents.acp import conversation, relay
from agenthost.host.host import Host
from hosting import run
from talking import Talk, talking
from turning import calls_in, pass_time, transcript, until_call


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
        # Late updates of the program belong to no turn.
        assert (await talk.say("say hello")).text == "hello "
        assert await memory(talk) == ["hang", "say hello"]

    served.run(story())


def test_cancelling_a_turn_answers_its_permission_request(served: Served) -> None:
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


def test_a_program_that_does_not_stop_is_killed_with_its_children(
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
            # A new process resumes the session; a running turn keeps the old process.
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
            assert call["error"]["message"] == "Acting stopped unexpectedly; whether it did this is unknown"
            assert await memory(talk) == ["say hello", "die"]
            assert len(transcript(talk.session)) == 8

    run(story)


def test_an_idle_program_is_stopped_and_started_again(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, acting(tmp_path / "home", idle_seconds=0.2)) as host:
            talk = await Talk.begin(host, "acting")
            await talk.say("say hello")
            peers = relay_of(host)._pool
            await asyncio.wait_for(peers._current.wait(), 10)
            assert await memory(talk) == ["say hello"]

    run(story)


def test_a_program_holds_only_so_many_sessions_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "MAX_CONVERSATIONS", 1)

    async def story() -> None:
        async with talking(tmp_path, acting(tmp_path / "home")) as host:
            talks = [await Talk.begin(host, "acting") for _ in range(3)]
            for talk in talks:
                await talk.say("say hello")
            assert list(relay_of(host)._conversations) == [talks[-1].uri]
            assert await memory(talks[0]) == ["say hello"]

    run(story)


def test_a_program_that_cannot_resume_is_not_stopped_when_idle(tmp_path: Path) -> None:
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
            keeper = relay_of(host)._pool._current._program._keeper._process
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
    """Return the process of the program: the grandchild of its keeper."""
    return child_of(child_of(relay_of(host)._pool._current._program._keeper._process.pid))


def child_of(pid: int) -> int:
    (child,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[:1]
    return int(child)
