"""Threads for blocking calls: used again while they are idle, and never waited for by another call."""

import asyncio
import contextvars
import threading

import pytest

from agenthost.threads import run_in_thread
from hosting import run

PLACE: contextvars.ContextVar[str] = contextvars.ContextVar("PLACE", default="nowhere")


async def idle_thread() -> int:
    """Return the thread that runs the next call, once it waits for one again."""
    found = await run_in_thread(threading.get_ident, "first")
    await asyncio.sleep(0.05)
    return found


def test_calls_after_each_other_use_one_thread() -> None:
    async def story() -> None:
        first = await idle_thread()
        assert await run_in_thread(threading.get_ident, "second") == first

    run(story)


def test_a_call_that_never_ends_blocks_no_other() -> None:
    async def story() -> None:
        end = threading.Event()
        stuck = asyncio.create_task(run_in_thread(end.wait, "stuck"))
        await asyncio.sleep(0.05)
        async with asyncio.timeout(5):
            others = [run_in_thread(threading.get_ident, "other") for _ in range(3)]
            assert len(await asyncio.gather(*others)) == 3
        assert not stuck.done()
        end.set()
        assert await stuck

    run(story)


def test_calls_at_the_same_time_have_threads_of_their_own() -> None:
    async def story() -> None:
        meeting = threading.Barrier(4, timeout=5)
        places = await asyncio.gather(*(run_in_thread(meeting.wait, "met") for _ in range(4)))
        assert sorted(places) == [0, 1, 2, 3]

    run(story)


def test_each_call_has_the_context_and_the_name_of_its_caller() -> None:
    async def story() -> None:
        await idle_thread()
        PLACE.set("here")
        assert await run_in_thread(PLACE.get, "look") == "here"
        name = await run_in_thread(lambda: threading.current_thread().name, "look")
        assert name == "look"
        context = contextvars.Context()
        elsewhere = asyncio.get_running_loop().create_task(run_in_thread(PLACE.get, "look"), context=context)
        assert await elsewhere == "nowhere"

    run(story)


def test_an_error_is_raised_where_the_call_is_awaited_and_the_thread_goes_on() -> None:
    async def story() -> None:
        def fail() -> None:
            raise LookupError("not there")

        first = await idle_thread()
        with pytest.raises(LookupError, match="not there"):
            await run_in_thread(fail, "failing")
        await asyncio.sleep(0.05)
        assert await run_in_thread(threading.get_ident, "next") == first

    run(story)


def test_an_error_after_a_call_was_cancelled_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        end = threading.Event()

        def fail() -> None:
            end.wait(5)
            raise LookupError("too late")

        call = asyncio.create_task(run_in_thread(fail, "late"))
        await asyncio.sleep(0.05)
        call.cancel()
        await asyncio.wait([call])
        end.set()
        await asyncio.sleep(0.2)
        assert "late failed after its call was cancelled" in caplog.text

    run(story)
