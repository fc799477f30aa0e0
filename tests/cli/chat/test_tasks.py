"""Tasks that run side by side."""

import asyncio

import pytest

from agenthost.cli.chat.tasks import first_completed
from hosting import run


def test_the_first_to_complete_wins_and_the_others_are_cancelled() -> None:
    async def check() -> None:
        cancelled = []

        async def sleep() -> str:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                cancelled.append("sleep")
                raise
            return "slept"

        async def soon() -> str:
            await asyncio.sleep(0.01)
            return "soon"

        assert await first_completed(sleep(), soon()) == "soon"
        assert cancelled == ["sleep"]

    run(check)


def test_of_several_that_complete_at_once_the_first_argument_wins() -> None:
    async def check() -> None:
        async def value(number: int) -> int:
            return number

        assert await first_completed(value(1), value(2), value(3)) == 1

    run(check)


def test_an_error_is_raised() -> None:
    async def check() -> None:
        async def fail() -> None:
            raise ValueError("broken")

        with pytest.raises(ValueError, match="broken"):
            await first_completed(asyncio.sleep(60), fail())

    run(check)
