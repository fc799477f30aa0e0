"""Secrets: what an agent declares to be one is not written down in plain, wherever it comes."""

import json
from pathlib import Path
from typing import Any

import pytest

from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.options import Option
from ahp_agents import echo
from ahp_sites import Place, served
from ahp_speaking import new_uri
from hosting import run
from rules import rule

VALUE = "sk-never-in-plain"
VAULTED = Agent("vaulted", echo, options=[Option("apiKey", "secret"), Option("style", "text")])


@rule("HR-A01")
@pytest.mark.sqlite
def test_a_secret_of_an_agent_is_in_no_file_and_in_no_wire_log(tmp_path: Path) -> None:
    wire = tmp_path / "wire.jsonl"

    async def story(place: Place) -> None:
        async with place.client() as me:
            # As declared, though nobody has it yet; even in what cannot be read.
            await me.raw('{"jsonrpc": "2.0", "config": {"apiKey": "' + VALUE + '", ')
            assert (await me.stray())["error"]["code"] == -32700
            uri = await me.begun(new_uri("vaulted"))
            answer = await me.decide(uri, "session/configChanged", config={"apiKey": VALUE})
            assert answer["action"]["config"] == {"apiKey": VALUE}
            assert "rejectionReason" in answer
            # By its value, wherever it stands.
            await me.request("createSession", session="vaulted:/2", config={"apiKey": VALUE})
            refused = await me.decide(uri, "session/modelChanged", model={"id": VALUE})
            assert "rejectionReason" in refused

    async def told() -> None:
        async with served(tmp_path, VAULTED, config={"wire_log": wire}) as place:
            await story(place)
        wire_log = place.app._ahp._wire
        assert wire_log is not None
        wire_log.close()

    run(told)
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert {wire, tmp_path / "data" / "agenthost.db"} <= set(files)
    assert [file.name for file in files if VALUE.encode() in file.read_bytes()] == []
    lines: list[Any] = [json.loads(line) for line in wire.read_text().splitlines()]
    assert any('"apiKey": "***' in line.get("text", "") for line in lines)


@rule("HR-C04", "HR-C09")
def test_a_refusal_that_was_not_kept_is_decided_anew_when_its_action_comes_again(tmp_path: Path) -> None:
    async def told() -> None:
        async with served(tmp_path, VAULTED) as place:
            async with place.client() as me:
                uri = await me.begun(new_uri("vaulted"))
                seen = me.last_seq
                await me.decide(uri, "session/configChanged", seq=7, config={"apiKey": VALUE})
            async with place.stranger() as me:
                assert (await me.reopen(seen, uri))["type"] == "snapshot"
                again = await me.decide(uri, "session/configChanged", seq=7, config={"apiKey": VALUE})
                assert again["action"]["config"] == {"apiKey": VALUE}

    run(told)
