"""What a model is asked with: images, settings, the model that was chosen, and what the user says meanwhile.

The services are raw servers of the tests' own: aimock's journal has requests in one form for all formats.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aap_servers import PAUSE, OddServer
from agenthost import Model, ModelAgent
from hosting import run
from model_wires import BY_NAME, CHAT, RESPONSES, answers, event
from modelling import clock, model_agent
from talking import Talk, talking
from turning import send_pending

PNG = "iVBORw0KGgo="
DATA: Any = {"type": "embeddedResource", "label": "a dot", "data": PNG, "contentType": "image/png"}


@pytest.fixture
def servers() -> Iterator[Any]:
    """Return a function that starts services; they are closed at the end."""
    started = []

    def start(**told: Any) -> OddServer:
        started.append(OddServer(**told))
        return started[-1]

    yield start
    for one in started:
        one.close()


def bodies(server: OddServer) -> list[Any]:
    return [json.loads(body) for _, _, body in server.requests]


def say(folder: Path, agent: ModelAgent, text: str, *attachments: Any, **start: Any) -> Talk:
    talks = []

    async def story() -> None:
        async with talking(folder, agent) as host:
            talks.append(await Talk.begin(host, agent.name, **start))
            await talks[0].say(text, attachments)

    run(story)
    return talks[0]


IMAGES: dict[str, Any] = {
    "chat": {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
    "responses": {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"},
    "anthropic": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
    "google": {"inlineData": {"data": PNG, "mime_type": "image/png"}},
}


@pytest.mark.parametrize("wire", BY_NAME)
def test_an_image_is_sent_in_the_format_of_the_service(tmp_path: Path, servers: Any, wire: str) -> None:
    format_ = BY_NAME[wire]
    server = servers(**answers(format_, format_.whole("A dot.")))
    talk = say(tmp_path, model_agent(wire, server.url, titles=False), "What is it?", DATA)
    assert talk.answer == "A dot."
    (body,) = bodies(server)
    last = (body.get("messages") or body.get("input") or body.get("contents"))[-1]
    parts = last.get("content") or last["parts"]
    assert [{key: one[key] for key in IMAGES[wire]} for one in parts[1:]] == [IMAGES[wire]]


def test_a_link_to_an_image_is_sent_unchanged(tmp_path: Path, servers: Any) -> None:
    link: Any = {
        "type": "resource",
        "label": "dot",
        "uri": "https://127.0.0.1:9/dot.png",
        "displayKind": "image",
    }
    server = servers(**answers(CHAT, CHAT.whole("A dot.")))
    say(tmp_path, model_agent("chat", server.url, titles=False), "What is it?", link)
    (body,) = bodies(server)
    assert body["messages"][-1]["content"][1]["image_url"]["url"] == "https://127.0.0.1:9/dot.png"


def test_an_image_that_cannot_be_fetched_for_the_service_is_left_out(tmp_path: Path, servers: Any) -> None:
    link: Any = {
        "type": "resource",
        "label": "dot",
        "uri": "https://127.0.0.1:9/dot.png",
        "displayKind": "image",
    }
    format_ = BY_NAME["google"]
    server = servers(**answers(format_, format_.whole("I see none.")))
    talk = say(tmp_path, model_agent("google", server.url, titles=False), "What is it?", link)
    assert talk.answer == "I see none."
    assert "[an image that cannot be read]" in json.dumps(bodies(server)[0])


def test_the_session_chooses_how_much_a_model_thinks(tmp_path: Path, servers: Any) -> None:
    server = servers(**answers(RESPONSES, RESPONSES.whole("Done.")))
    agent = model_agent("responses", server.url, titles=False, settings={"thinking": "low", "max_tokens": 99})
    model = {"id": agent.models[0].id}
    for place, config in enumerate([{}, {"thinking": "high"}, {"thinking": "default"}, {"thinking": "odd"}]):
        (tmp_path / str(place)).mkdir()
        say(tmp_path / str(place), agent, "Think", model={**model, "config": config})
    assert [body["reasoning"]["effort"] for body in bodies(server)] == ["low", "high", "low", "low"]
    assert {body["max_output_tokens"] for body in bodies(server)} == {99}


def test_the_model_that_a_session_chose_is_asked(tmp_path: Path, servers: Any) -> None:
    server = servers(**answers(CHAT, CHAT.whole("Done.")))
    large = Model("large", "The large one", context_tokens=9, vision=False)
    agent = ModelAgent(model="small", models=[large, "small"], base_url=f"{server.url}/v1", titles=False)
    assert [model.id for model in agent.models] == ["small", "large"]
    assert agent.models[1] is large
    for place, start in enumerate([{}, {"model": {"id": "large"}}]):
        (tmp_path / str(place)).mkdir()
        say(tmp_path / str(place), agent, "Hello", **start)
    assert [body["model"] for body in bodies(server)] == ["small", "large"]
    assert [one[1]["authorization"] for one in server.requests] == ["Bearer api-key-not-set"] * 2


def test_the_key_comes_from_the_named_variable(
    tmp_path: Path, servers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = servers(**answers(CHAT, CHAT.whole("Done.")))
    monkeypatch.setenv("OPENAI_API_KEY", "not-this-one")
    monkeypatch.setenv("MY_KEY", "but-this")
    agent = ModelAgent(model="m", base_url=f"{server.url}/v1", api_key_env="MY_KEY", titles=False)
    say(tmp_path, agent, "Hello")
    assert server.requests[0][1]["authorization"] == "Bearer but-this"


def test_what_the_user_says_meanwhile_is_read_in_the_next_step(tmp_path: Path, servers: Any) -> None:
    first = [*CHAT.start("One moment."), PAUSE, *CHAT.end("stop")]
    server = servers(**answers(CHAT, first, CHAT.whole("Blue, then.")))

    async def story() -> None:
        async with talking(tmp_path, model_agent("chat", server.url, titles=False)) as host:
            talk = await Talk.begin(host, "chat")
            await talk.send("Paint it red")
            await talk.hear_one("delta")
            await send_pending(talk, "No, blue", "steering")
            await talk.finish()
            assert talk.answer == "One moment.Blue, then."

    run(story)
    said = [(message["role"], message["content"]) for message in bodies(server)[1]["messages"][1:]]
    assert said == [("user", "Paint it red"), ("assistant", "One moment."), ("user", "No, blue")]


def test_a_history_with_calls_gets_a_tool_for_services_that_require_one(tmp_path: Path, servers: Any) -> None:
    seed: Any = [
        {"role": "user", "content": "Time?"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "toolCallId": "a", "name": "sundial", "input": {}}],
        },
        {"role": "tool", "toolCallId": "a", "content": "Noon."},
        {"role": "assistant", "content": "Noon."},
    ]
    told = {}
    for wire in ("anthropic", "chat"):
        (tmp_path / wire).mkdir()
        server = servers(**answers(BY_NAME[wire], BY_NAME[wire].whole("Done.")))
        agent = model_agent(wire, server.url, titles=False, tools=[])
        say(tmp_path / wire, agent, "Thanks", messages=seed)
        told[wire] = [one["name"] for one in bodies(server)[0].get("tools", [])]
    assert told == {"anthropic": ["sundial"], "chat": []}


def _called(arguments: str) -> list[bytes]:
    call = {
        "index": 0,
        "id": "call_1",
        "type": "function",
        "function": {"name": "clock", "arguments": arguments},
    }
    choice = {"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return [*CHAT.start(), event(chunk), *CHAT.end("tool_calls")]


def test_input_that_is_not_json_runs_nothing_and_the_model_is_told(tmp_path: Path, servers: Any) -> None:
    server = servers(**answers(CHAT, _called('{"zone": '), CHAT.whole("My mistake.")))
    talk = say(tmp_path, model_agent("chat", server.url, titles=False), "Time?", tools={"clock": True})
    assert talk.answer == "My mistake."
    told = bodies(server)[1]["messages"][-1]["content"]
    assert "12:00" not in told
    assert "INVALID_JSON" in told


def test_an_answer_that_was_cut_off_calls_nothing(tmp_path: Path, servers: Any) -> None:
    cut = [*_called('{"zone": "Rome"}')[:-2], *CHAT.end("length")]
    server = servers(**answers(CHAT, cut))
    agent = model_agent("chat", server.url, titles=False, tools=[clock])
    talk = say(tmp_path, agent, "Time?", tools={"clock": True})
    calls = [
        part["toolCall"] for part in talk.state["turns"][-1]["responseParts"] if part["kind"] == "toolCall"
    ]
    assert [call["status"] for call in calls] == ["cancelled"]
    assert len(server.requests) == 1
