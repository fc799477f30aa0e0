"""The engine: opened, trimmed, closed, and refused where it cannot be."""

import asyncio
from pathlib import Path

import pytest

from agenthost.core.actions import title_changed, turn_started
from agenthost.errors import SessionNotFound, StorageError
from agenthost.host.limits import Limits
from agenthost.host.state import engine as engine_module
from chat_building import BEGUN
from hosting import new_session, run, started, user_message

URI = "demo:/one"


@pytest.mark.sqlite
def test_a_second_engine_on_the_same_folder_is_refused_and_told_who_has_it(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path):
            with pytest.raises(StorageError, match="process"):
                async with started(tmp_path):
                    pass
        async with started(tmp_path) as host:
            assert host.session_counts.total == 0

    run(story)


def test_closing_writes_what_is_left(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            for place in range(100):
                session.act(title_changed(str(place)))
        async with started(tmp_path) as host:
            assert (await host.sessions.get(URI)).state["title"] == "99"

    run(story)


def test_the_log_is_trimmed_to_its_limits_by_itself_and_no_state_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "TRIM_SECONDS", 0.01)

    async def story() -> None:
        async with started(tmp_path, log_per_session=10) as host:
            session = await new_session(host, URI)
            for place in range(50):
                session.act(title_changed(str(place)))
            host.journal.write([session.snapshot()])
            await host.journal.wait()
            while host.storage.floor([session.number]) < 40:  # noqa: ASYNC110 - nobody is told of a trim
                await asyncio.sleep(0.01)
        async with started(tmp_path) as host:
            assert (await host.sessions.get(URI)).state["title"] == "49"

    run(story)


def test_limits_of_zero_are_refused() -> None:
    with pytest.raises(ValueError, match="log_in_all must be at least 1, not 0"):
        Limits(log_in_all=0)


def test_the_sessions_to_resume_are_found_by_their_numbers(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            for place in range(3):
                await new_session(host, f"demo:/{place}")
            busy = await host.sessions.get("demo:/1")
            busy.act(turn_started("t", user_message(), BEGUN))
        async with started(tmp_path) as host:
            (number,) = host.opening.active
            found = await host.sessions.by_number(number)
            assert found is await host.sessions.get("demo:/1")
            await host.removals.remove("demo:/1")
            for gone in (number, 0, 99):
                with pytest.raises(SessionNotFound, match=f"number {gone}"):
                    await host.sessions.by_number(gone)

    run(story)
