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


def test_a_long_output_reaches_subscribers_completely_and_late_ones_get_its_end(
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


def test_sessions_continue_while_a_terminal_prints_endlessly(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            watch = await Watch.start(host, ["yes"])
            await watch.until_text("y")
            watching = asyncio.create_task(watch.until_exit())
            talk = await Talk.begin(host)
            for number in range(10):
                assert (await talk.say(f"hello {number}")).text == f"You said: hello {number}"
            await host.parts.terminals.get(URI).end()
            await watching

    run(story)


def test_a_program_waits_for_a_slow_subscriber_until_it_has_caught_up(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            terminal = await host.parts.terminals.create(URI, claim_of("me"), command=["yes"])
            slow = await Watch.join(host)
            await until_so(lambda: slow.feed.subscriber.is_behind)
            await host.parts.engine.journal.wait()
            await pass_time(0.1)  # what was read by then is shown by now
            before = terminal.resource.shown
            await pass_time(0.2)
            assert terminal.resource.shown is before
            assert slow.feed.subscriber.backlog > 0  # one that is cut off has nothing waiting
            for _ in range(5):
                await slow.hear()
            assert terminal.resource.shown is not before

    run(story)


def test_a_subscriber_that_takes_nothing_is_cut_off_and_harms_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agenthost.host.terminals.flow_control.MAX_STALL_SECONDS", 0.1)

    async def story() -> None:
        async with talking(tmp_path, limits=Limits(subscriber_bytes=1_000_000)) as host:
            quick = await Watch.start(host, f"seq {LINES}")
            stuck = await Watch.join(host, client_id="stuck")
            assert await quick.until_exit() == 0
            assert quick.text.endswith(f"\r\n{LINES}\r\n")
            assert stuck.feed.subscriber.backlog == 0
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
            terminal = host.parts.terminals.get(URI)
            gate = asyncio.Event()
            stuck = asyncio.create_task(
                host.parts.engine.journal.in_turn(_wait, gate, asyncio.get_running_loop())
            )
            await pass_time(0.1)
            before = (host.parts.engine.line.shown_seq, terminal.resource.live)
            await pass_time(0.2)
            assert (host.parts.engine.line.shown_seq, terminal.resource.live) == before
            gate.set()
            await stuck
            await until_so(lambda: host.parts.engine.line.shown_seq > before[0])

    run(story)


def _wait(gate: asyncio.Event, loop: asyncio.AbstractEventLoop) -> None:
    """Hold up the thread that writes."""
    asyncio.run_coroutine_threadsafe(gate.wait(), loop).result()
