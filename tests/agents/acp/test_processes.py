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


def test_a_program_that_nobody_uses_leaves_and_comes_back(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, acting(tmp_path / "home", idle_seconds=0.2)) as host:
            talk = await Talk.begin(host, "acting")
            await talk.say("say hello")
            peers = relay_of(host)._peers
            await asyncio.wait_for(peers._current.wait(), 10)
            assert await memory(talk) == ["say hello"]

    run(story)


def test_a_program_holds_only_so_many_sessions_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "MOST_HELD", 1)

    async def story() -> None:
        async with talking(tmp_path, acting(tmp_path / "home")) as host:
            talks = [await Talk.begin(host, "acting") for _ in range(3)]
            for talk in talks:
                await talk.say("say hello")
            assert list(relay_of(host)._conversations) == [talks[-1].uri]
            assert await memory(talks[0]) == ["say hello"]

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
    """Give the process that is the program: the child of its keeper, which is two."""
    return child_of(child_of(relay_of(host)._peers._current._program._keeper.pid))


def child_of(pid: int) -> int:
    (child,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[:1]
    return int(child)
