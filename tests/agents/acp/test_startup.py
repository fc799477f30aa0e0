"""Programs that take long to start: people see what they wait for."""

import logging
from pathlib import Path

import pytest

from acp_acting import acting
from agenthost.agents.acp import agent
from hosting import run
from talking import Talk, talking
from turning import until


def test_a_program_that_takes_long_to_start_shows_it_in_the_session_and_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(agent, "DISCOVERY_SECONDS", 0.01)
    caplog.set_level(logging.INFO, "agenthost.acp")
    gate = tmp_path / "gate"

    async def story() -> None:
        async with talking(tmp_path, acting(tmp_path / "home", env={"ACTING_GATE": str(gate)})) as host:
            talk = await Talk.begin(host, "acting")
            await talk.send("say hello")
            shown = await until(talk, lambda state: state["summary"].get("activity"))
            assert shown == "acting is starting"
            gate.touch()
            assert (await talk.finish()).text == "hello "
            assert "activity" not in talk.state["summary"]

    run(story)
    lines = [record.message for record in caplog.records]
    assert "acting is starting, which takes a while" in lines
    assert [line for line in lines if line.startswith("acting is ready, after ")]


def test_a_fast_start_is_not_shown(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, acting(tmp_path / "home")) as host:
            talk = await Talk.begin(host, "acting")
            heard = await talk.say("say hello")
            assert [*heard.of("activityChanged")] == []

    run(story)


def test_a_program_that_cannot_start_leaves_nothing_behind_in_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent, "DISCOVERY_SECONDS", 0.01)
    monkeypatch.setattr("agenthost.agents.acp.peer.START_SECONDS", 2.0)

    async def story() -> None:
        never = {"ACTING_GATE": str(tmp_path / "never")}
        async with talking(tmp_path, acting(tmp_path / "home", env=never)) as host:
            talk = await Talk.begin(host, "acting")
            await talk.send("say hello")
            heard = await talk.finish()
            assert next(iter(heard.of("activityChanged")))["activity"] == "acting is starting"
            assert "did not answer within 2 seconds" in heard.ending["error"]["message"]
            assert "activity" not in talk.state["summary"]

    run(story)
