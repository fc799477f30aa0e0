"""What goes wrong at a model's service.

The services are raw servers of the tests' own. aimock has no refusals in the words of Anthropic and OpenAI,
no errors in mid-stream but a connection that ends, no `Retry-After` of milliseconds, and nothing that hangs.
"""

import asyncio
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from aap_servers import CUT, HANG, LEAVE, OddServer
from agenthost import ModelAgent
from agenthost.core.turn_transcript import message_text
from agenthost.errors import AgentUnavailable
from hosting import TIMEOUT, run
from model_wires import BY_NAME, CHAT, RESPONSES, Wire, answers, event, refused
from modelling import model_agent as model_agent_with_titles
from talking import Heard, Talk, talking
from turning import transcript


@pytest.fixture(params=BY_NAME)
def wire(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def model_agent(wire: str, url: str, **more: Any) -> ModelAgent:
    """Make an agent that asks for nothing but answers."""
    return model_agent_with_titles(wire, url, titles=False, **more)


@contextmanager
def service(wire: Wire, *told: Sequence[bytes]) -> Iterator[OddServer]:
    """Run a service that answers like this, one request after the other."""
    server = OddServer(**answers(wire, *told))
    try:
        yield server
    finally:
        server.close()


class Told:
    """A turn with a model, and what came of it."""

    def __init__(self, heard: Heard, talk: Talk) -> None:
        self.heard = heard
        self.text = talk.answer
        self.turn = talk.state["turns"][-1]
        self.transcript = transcript(talk.session)
        self.activities = [action.get("activity") for action in heard.of("activityChanged")]
        self.error = heard.ending.get("error", {}).get("message", "")


def say(folder: Path, agent: ModelAgent, text: str) -> Told:
    """Say something, and return what came of it."""
    return say_all(folder, agent, text)[0]


def say_all(folder: Path, agent: ModelAgent, *texts: str) -> list[Told]:
    """Say these things, one turn after the other."""
    told: list[Told] = []

    async def story() -> None:
        async with talking(folder, agent) as host:
            talk = await Talk.begin(host, agent.name)
            told.extend([Told(await talk.say(text), talk) for text in texts])

    run(story)
    return told


NOW = {"retry_after_ms": "1"}
BUSY = refused("429 Too Many Requests", **NOW)


def test_a_request_to_a_busy_service_is_retried_and_people_see_that(tmp_path: Path, wire: str) -> None:
    format_ = BY_NAME[wire]
    with service(
        format_, BUSY, refused("500 Internal Server Error", **NOW), format_.whole("Here I am.")
    ) as busy:
        told = say(tmp_path, model_agent(wire, busy.url), "Hello")
        assert len(busy.requests) >= 3
    assert told.text == "Here I am."
    assert [bool(one) for one in told.activities] == [True, False, True, False]
    assert "attempt 2 of 5 in 0 s" in told.activities[0]


def test_a_service_that_stays_busy_fails_the_turn_after_the_last_attempt(tmp_path: Path) -> None:
    with service(CHAT, BUSY) as busy:
        told = say(tmp_path, model_agent("chat", busy.url, attempts=3), "Hello")
        assert len(busy.requests) == 3
    assert told.error == "OpenAI is getting too many requests; try again later"
    assert told.activities[-1] is None


def test_a_service_that_asks_for_a_long_wait_is_not_waited_for(tmp_path: Path) -> None:
    with service(CHAT, refused("429 Too Many Requests", retry_after="3600")) as busy:
        told = say(tmp_path, model_agent("chat", busy.url), "Hello")
        assert len(busy.requests) == 1
    assert told.error == "OpenAI is getting too many requests; try again later"


def test_a_service_that_cannot_be_reached_is_named(tmp_path: Path) -> None:
    told = say(tmp_path, model_agent("chat", "http://127.0.0.1:1", attempts=1), "Hello")
    assert told.error == "OpenAI cannot be reached, or the connection broke"


@pytest.mark.parametrize("how", ["broken", "cut"])
def test_a_broken_stream_ends_the_turn_and_keeps_what_was_said(tmp_path: Path, wire: str, how: str) -> None:
    format_ = BY_NAME[wire]
    broken = [*format_.start("Once upon", " a time"), *(format_.broken if how == "broken" else [CUT])]
    with service(format_, broken, format_.whole("Better now.")) as service_:
        told, after = say_all(tmp_path, model_agent(wire, service_.url), "Tell", "Go on")
        assert len(service_.requests) == 2
    assert told.heard.ending["type"] == "session/error"
    assert told.error.endswith("; what it said so far is kept")
    assert told.text == "Once upon a time"
    assert message_text(told.transcript[-1]["content"]) == "Once upon a time"
    assert after.text == "Better now."


def test_a_service_that_hangs_before_its_answer_times_out(tmp_path: Path, wire: str) -> None:
    format_ = BY_NAME[wire]
    with service(format_, [HANG]) as hung:
        agent = model_agent(wire, hung.url, settings={"timeout": 0.2}, attempts=1)
        told = say(tmp_path, agent, "Hello")
    assert told.error.endswith(" did not answer in time")


def test_a_service_that_hangs_during_its_answer_times_out(tmp_path: Path, wire: str) -> None:
    format_ = BY_NAME[wire]
    with service(format_, [*format_.start("Once"), HANG]) as hung:
        told = say(tmp_path, model_agent(wire, hung.url, settings={"timeout": 0.2}), "Hello")
    assert told.error.endswith(" did not answer in time; what it said so far is kept")
    assert told.text == "Once"


def test_a_turn_that_is_cancelled_closes_the_connection(tmp_path: Path, wire: str) -> None:
    format_ = BY_NAME[wire]

    async def story() -> None:
        async with talking(tmp_path, model_agent(wire, open_.url)) as host:
            talk = await Talk.begin(host, wire)
            await talk.send("Hello")
            await talk.hear_one("delta")
            await talk.cancel()
            assert await asyncio.to_thread(open_.left.wait, TIMEOUT)
            await talk.finish()

    with service(format_, [*format_.start("Once"), LEAVE]) as open_:
        run(story)


def test_a_refusal_ends_the_turn_as_a_refusal(tmp_path: Path, wire: str) -> None:
    format_ = BY_NAME[wire]
    with service(format_, format_.whole("I would rather not.", stop=2)) as service_:
        told = say(tmp_path, model_agent(wire, service_.url), "Hello")
    assert told.text == "I would rather not."
    assert told.turn["responseParts"][-1]["content"] == "The model refused to answer."


def test_a_refusal_in_words_of_its_own_is_shown(tmp_path: Path) -> None:
    chunk = {"index": 0, "delta": {"refusal": "I cannot help with that."}, "finish_reason": None}
    refusal = event(
        {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [chunk]}
    )
    with service(CHAT, [*CHAT.start(), refusal, *CHAT.end("stop")]) as service_:
        told = say(tmp_path, model_agent("chat", service_.url), "Hello")
    assert told.text == "I cannot help with that."
    assert told.turn["responseParts"][-1]["content"] == "The model refused to answer."


def test_an_answer_that_reaches_the_limit_is_cut_off(tmp_path: Path, wire: str) -> None:
    format_ = BY_NAME[wire]
    with service(format_, format_.whole("It was a dark", stop=1)) as service_:
        told = say(tmp_path, model_agent(wire, service_.url), "Hello")
    assert told.turn["responseParts"][-1]["content"] == "The answer was cut off: the model reached its limit."


KEYS = {
    "chat": "OPENAI_API_KEY",
    "responses": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "google": "GOOGLE_API_KEY or GEMINI_API_KEY",
}
SERVICES = {"chat": "OpenAI", "responses": "OpenAI", "anthropic": "Anthropic", "google": "Google"}


def test_a_wrong_key_is_reported_with_the_variable_to_set(tmp_path: Path, wire: str) -> None:
    wrong = refused("401 Unauthorized", "Incorrect API key provided: sk-12345", "invalid_api_key")
    with service(BY_NAME[wire], wrong) as service_:
        told = say(tmp_path, model_agent(wire, service_.url), "Hello")
        assert len(service_.requests) == 1
    assert told.error == f"{SERVICES[wire]} does not accept the API key: set {KEYS[wire]} to a valid one"


def test_an_unknown_model_is_named(tmp_path: Path, wire: str) -> None:
    with service(BY_NAME[wire], refused("404 Not Found", "no such model", "model_not_found")) as service_:
        agent = model_agent(wire, service_.url)
        told = say(tmp_path, agent, "Hello")
    model = agent.models[0].id.partition(":")[2]
    assert told.error.startswith(f"{SERVICES[wire]} has no model {model!r}")


def test_what_a_service_refuses_is_reported_in_its_words(tmp_path: Path, wire: str) -> None:
    with service(BY_NAME[wire], refused("400 Bad Request", "temperature has to be 1", "bad")) as service_:
        told = say(tmp_path, model_agent(wire, service_.url), "Hello")
    assert told.error == f"{SERVICES[wire]} refused the request: temperature has to be 1"


def test_an_invalid_answer_is_reported_without_a_traceback(tmp_path: Path, wire: str) -> None:
    format_ = BY_NAME[wire]
    with service(
        format_, [*format_.start(), event("{]", "content_block_delta"), *format_.end(format_.stops[0])]
    ) as service_:
        told = say(tmp_path, model_agent(wire, service_.url, attempts=1), "Hello")
    assert told.heard.ending["type"] == "session/error"
    assert told.heard.ending["error"]["errorType"] == "modelFailed"
    assert told.error


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ("openai:gpt-5", "there is no API key for OpenAI: set OPENAI_API_KEY"),
        ("anthropic:claude-sonnet-5", "there is no API key for Anthropic: set ANTHROPIC_API_KEY"),
        ("google:gemini-3.5-flash", "there is no API key for Google: set GOOGLE_API_KEY or GEMINI_API_KEY"),
    ],
)
def test_a_missing_key_is_a_warning_at_the_start_and_fails_the_first_turn(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    model: str,
    sentence: str,
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    told = say(tmp_path, ModelAgent(model=model), "Hello")
    assert told.error == sentence
    warned = [one.message for one in caplog.records if one.name == "agenthost.model"]
    assert warned == [
        f"{sentence.rpartition('set ')[2]} is not set: {model} cannot answer without it",
        f"{model}: {sentence}",
    ]


def test_an_unknown_service_is_named() -> None:
    with pytest.raises(ValueError, match="'nobody:gpt-5': unknown service; known are anthropic"):
        ModelAgent(model="nobody:gpt-5")


def test_a_missing_library_is_reported_with_what_to_install() -> None:
    with pytest.raises(AgentUnavailable, match=r"Groq needs a library that is not installed: .*pip install"):
        ModelAgent(model="groq:llama-3.3-70b")


def test_the_service_of_your_own_server_may_have_any_name() -> None:
    assert ModelAgent(model="nobody:gpt-5", base_url="http://127.0.0.1:9/v1").models[0].id == "nobody:gpt-5"


def test_the_settings_of_the_examples_are_valid_for_their_models(tmp_path: Path) -> None:
    """The library warns of others, and warnings are errors here."""
    for file in sorted((Path(__file__).parents[3] / "examples" / "agents").glob("*.toml")):
        table = tomllib.loads(file.read_text())
        model = table["model"].replace("openai:", "openai-responses:")
        (tmp_path / file.stem).mkdir()
        with service(RESPONSES, RESPONSES.whole("Hello.")) as server:
            agent = ModelAgent(
                model=model, base_url=f"{server.url}/v1", settings=table.get("settings"), titles=False
            )
            told = say(tmp_path / file.stem, agent, "Hello")
        assert (told.error, told.text) == ("", "Hello.")
