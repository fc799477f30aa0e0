"""Deeply nested values: what was accepted can always be read again, and the rest is refused."""

from pathlib import Path
from typing import Any

import pytest

from agenthost.client.ahp.frames import decode_frame
from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.turn import Turn
from agenthost.wire.json import MAX_GIVEN_DEPTH, encode_json
from hosting import run
from talking import Talk, talking


def nested(levels: int) -> Any:
    value: Any = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


def deep_agent(levels: int) -> Agent:
    """Make an agent whose tool takes and gives values of so many levels."""

    def deep(value: dict[str, Any]) -> Any:
        return nested(levels)

    async def answer(turn: Turn) -> None:
        await turn.call("deep", value=nested(levels - 1))
        await turn.say("done")

    return Agent("demo", answer, tools=[deep])


def test_a_session_with_the_deepest_input_and_result_is_read_again_by_host_and_client(tmp_path: Path) -> None:
    agent = deep_agent(MAX_GIVEN_DEPTH)

    async def story() -> None:
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host, tools={"deep": True})
            await talk.say("Hi")
            assert talk.answer == "done"
        async with talking(tmp_path, agent) as host:
            talk = await Talk.join(host, talk.uri)
            (turn,) = talk.state["turns"]
            assert turn["responseParts"][0]["toolCall"]["success"]
            snapshot = {"resource": talk.uri, "fromSeq": 1, "state": talk.state}
            frame = {"jsonrpc": "2.0", "id": 1, "result": {"type": "snapshot", "snapshots": [snapshot]}}
            decode_frame(encode_json(frame))

    run(story)


@pytest.mark.parametrize("levels", [MAX_GIVEN_DEPTH + 1, 1_500])
def test_a_result_that_is_too_deep_is_a_failure_with_a_sentence(tmp_path: Path, levels: int) -> None:
    def deep() -> Any:
        return nested(levels)

    async def answer(turn: Turn) -> None:
        await turn.call("deep")

    async def story() -> None:
        async with talking(tmp_path, Agent("demo", answer, tools=[deep])) as host:
            talk = await Talk.begin(host, tools={"deep": True})
            (done,) = (await talk.say("Hi")).of("toolCallComplete")
            assert done["result"]["error"]["message"] == f"nested deeper than {MAX_GIVEN_DEPTH} levels"

    run(story)


def test_an_action_that_is_too_deep_is_refused_with_a_sentence(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, deep_agent(1)) as host:
            talk = await Talk.begin(host)
            message = {"text": "Hi", "_meta": nested(MAX_GIVEN_DEPTH)}
            refusal = await talk.act("turnStarted", turnId="t", userMessage=message)
            assert refusal is not None
            assert f"nested deeper than {MAX_GIVEN_DEPTH} levels" in str(refusal.envelope)

    run(story)
