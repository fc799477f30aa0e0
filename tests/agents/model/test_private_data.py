"""What a service wants to have back is kept, through a restart too, and shown to nobody."""

import json
from pathlib import Path
from typing import Any

import pytest

from aap_servers import OddServer
from agenthost import ModelAgent
from hosting import run
from model_thoughts import EXPECTED, SECRET, THINKING, sent_back
from model_wires import BY_NAME, CHAT, answers, event
from modelling import model_agent
from talking import Talk, talking
from turning import crash, exact_transcript, transcript, until_call


@pytest.fixture(params=THINKING)
def wire(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def service(wire: str) -> Any:
    format_ = BY_NAME[wire]
    server = OddServer(**answers(format_, THINKING[wire], format_.whole("It is noon.")))
    yield server
    server.close()


def agent_of(wire: str, service: OddServer) -> ModelAgent:
    return model_agent(wire, service.url, titles=False)


def test_thoughts_go_back_as_they_came_also_after_a_restart(
    tmp_path: Path, wire: str, service: OddServer
) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()

    async def ask() -> str:
        async with talking(before, agent_of(wire, service)) as host:
            talk = await Talk.begin(host, wire)
            await talk.send("What time is it?")
            await until_call(talk, "pending-confirmation")
            await talk.session.journal.wait()
            crash(before, after)
            return talk.uri

    async def go_on(uri: str) -> None:
        async with talking(after, agent_of(wire, service)) as host:
            talk = await Talk.join(host, uri)
            await talk.approve(await until_call(talk, "pending-confirmation"))
            await talk.finish()
            assert talk.answer == "It is noon."
            body = json.loads(service.requests[-1][2])
            assert sent_back(wire, body) == EXPECTED[wire]
            shown = json.dumps([talk.state, transcript(talk.session)])
            assert SECRET in json.dumps(exact_transcript(talk.session))
            assert SECRET not in shown

    async def story() -> None:
        await go_on(await ask())

    run(story)
    assert len(service.requests) == 2


def test_cached_tokens_are_reported(tmp_path: Path) -> None:
    usage: Any = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}
    usage["prompt_tokens_details"] = {"cached_tokens": 7}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": []}
    told = [*CHAT.whole("Hi")[:-1], event({**chunk, "usage": usage}), event("[DONE]")]
    server = OddServer(**answers(CHAT, told))

    async def story() -> None:
        async with talking(tmp_path, model_agent("chat", server.url, titles=False)) as host:
            talk = await Talk.begin(host, "chat")
            await talk.say("Hello")
            spent = {"inputTokens": 9, "outputTokens": 2, "cacheReadTokens": 7, "model": "openai-chat:gpt-4o"}
            assert talk.state["turns"][-1]["usage"] == spent

    run(story)
    server.close()
