"""The engine: opened, trimmed, closed, and refused where it cannot be."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agenthost.errors import SessionNotFound, StorageError
from agenthost.host import engine as engine_module
from agenthost.host.limits import Limits
from hosting import new_state, run, started

URI = "demo:/one"


def rename(title: str) -> Any:
    return {"type": "session/titleChanged", "session": URI, "title": title}


def test_a_second_engine_on_the_same_folder_is_refused_and_told_who_has_it(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path):
            with pytest.raises(StorageError, match="process"):
                async with started(tmp_path):
                    pass
        async with started(tmp_path) as host:
            assert host.sessions.count == 0

    run(story)


def test_closing_writes_what_is_left(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await host.sessions.create(new_state(URI))
            for place in range(100):
                session.act(rename(str(place)))
        async with started(tmp_path) as host:
            assert (await host.sessions.get(URI)).state["summary"]["title"] == "99"

    run(story)


def test_the_log_is_trimmed_to_its_limits_by_itself_and_no_state_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "TRIM_SECONDS", 0.01)

    async def story() -> None:
        async with started(tmp_path, log_per_session=10) as host:
            session = await host.sessions.create(new_state(URI))
            for place in range(50):
                session.act(rename(str(place)))
            host.journal.write([session.snapshot()])
            await host.journal.wait()
            while host.storage.floor([session.number]) < 40:  # noqa: ASYNC110 - nobody is told of a trim
                await asyncio.sleep(0.01)
        async with started(tmp_path) as host:
            assert (await host.sessions.get(URI)).state["summary"]["title"] == "49"

    run(story)


def test_limits_of_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="log_in_all has to be at least 1, not 0"):
        Limits(log_in_all=0)


def test_the_sessions_to_take_up_are_found_by_their_numbers(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            for place in range(3):
                await host.sessions.create(new_state(f"demo:/{place}"))
            busy = await host.sessions.get("demo:/1")
            turn = {"type": "session/turnStarted", "session": "demo:/1", "turnId": "t"}
            action: Any = {**turn, "userMessage": {"text": "Hi"}}
            busy.act(action)
        async with started(tmp_path) as host:
            (number,) = host.opening.active
            found = await host.sessions.by_number(number)
            assert found is await host.sessions.get("demo:/1")
            await host.sessions.dispose("demo:/1")
            for gone in (number, 0, 99):
                with pytest.raises(SessionNotFound, match=f"number {gone}"):
                    await host.sessions.by_number(gone)

    run(story)
