"""Heavy output: nothing is lost, nobody stalls, and the program waits when those who watch cannot follow."""

import asyncio
from pathlib import Path

import pytest

from agenthost.agents.demo import demo
from agenthost.errors import SlowConsumer
from agenthost.host.limits import Limits
from hosting import run
from shelling import URI, Watch, claim_of, until_so
from talking import Talk, talking
from turning import pass_time

LINES = 300_000


def test_all_of_a_long_output_reaches_those_who_watch_and_only_its_end_those_who_come_late(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        async with talking(tmp_path, limits=Limits(scrollback_characters=10_000)) as host:
            watch = await Watch.start(host, f"seq {LINES}")
            await watch.until_exit()
            assert watch.text == "".join(f"{number}\r\n" for number in range(1, LINES + 1))
            assert watch.kinds.count("data") < LINES / 100
            late = await Watch.join(host, client_id="late")
            assert 1_000 < len(late.text) <= 10_000
            assert watch.text.endswith("\n" + late.text)

    run(story)


def test_sessions_go_on_while_a_terminal_prints_without_end(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            watch = await Watch.start(host, ["yes"])
            await watch.until_text("y")
            watching = asyncio.create_task(watch.until_exit())
            talk = await Talk.begin(host)
            for number in range(10):
                assert (await talk.say(f"hello {number}")).text == f"You said: hello {number}"
            await host.terminals.get(URI).end()
            await watching

    run(story)


def test_a_program_waits_for_one_who_is_behind_and_goes_on_when_that_one_has_caught_up(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            terminal = await host.terminals.create(URI, claim_of("me"), command=["yes"])
            slow = await Watch.join(host)
            await until_so(lambda: slow.feed.subscriber.is_behind)
            await host.engine.journal.wait()
            await pass_time(0.1)  # what was read by then is shown by now
            before = terminal.resource.shown
            await pass_time(0.2)
            assert terminal.resource.shown is before
            assert not slow.feed.subscriber.is_cut_off
            for _ in range(5):
                await slow.hear()
            assert terminal.resource.shown is not before

    run(story)


def test_one_who_takes_nothing_is_cut_off_in_the_end_and_harms_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agenthost.host.terminals.flow.PATIENCE_SECONDS", 0.1)

    async def story() -> None:
        async with talking(tmp_path, limits=Limits(subscriber_bytes=1_000_000)) as host:
            quick = await Watch.start(host, f"seq {LINES}")
            stuck = await Watch.join(host, client_id="stuck")
            assert await quick.until_exit() == 0
            assert quick.text.endswith(f"\r\n{LINES}\r\n")
            assert stuck.feed.subscriber.is_cut_off
            with pytest.raises(SlowConsumer):
                await stuck.hear()
            resumed = await stuck.resume()
            assert resumed.replay is None
            assert stuck.text.endswith(f"\r\n{LINES}\r\n")

    run(story)


def test_when_nothing_can_be_written_nothing_is_shown_and_the_program_waits(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            watch = await Watch.start(host, ["yes"])
            await watch.until_text("y")
            terminal = host.terminals.get(URI)
            gate = asyncio.Event()
            stuck = asyncio.create_task(host.engine.journal.in_turn(_wait, gate, asyncio.get_running_loop()))
            await pass_time(0.1)
            before = (host.engine.journal.shown_seq, terminal.resource.live)
            await pass_time(0.2)
            assert (host.engine.journal.shown_seq, terminal.resource.live) == before
            gate.set()
            await stuck
            await until_so(lambda: host.engine.journal.shown_seq > before[0])

    run(story)


def _wait(gate: asyncio.Event, loop: asyncio.AbstractEventLoop) -> None:
    """Hold up the thread that writes."""
    asyncio.run_coroutine_threadsafe(gate.wait(), loop).result()
