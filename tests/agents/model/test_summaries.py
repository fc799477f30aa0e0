"""Long conversations: their beginning is summarised once, by the model, and stays in the full history."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aap_servers import OddServer
from agenthost import Model, ModelAgent
from agenthost.core.transcript import public
from hosting import run
from model_wires import CHAT, answers, refused
from modelling import Service, model_service
from talking import Talk, talking
from turning import crash, transcript

SUMMARY = "They spoke of ducks."
ASKED = "beginning of a conversation"
LONG = "quack " * 200

FIXTURES: list[Any] = [
    {"match": {"systemMessage": ASKED}, "response": {"content": SUMMARY}},
    {"match": {}, "response": {"content": "Indeed."}},
]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with model_service(tmp_path_factory.mktemp("service"), FIXTURES) as started:
        yield started


def forgetful(url: str) -> ModelAgent:
    """Make an agent of a model with little room."""
    model = Model("chat", context_tokens=2_000)
    return ModelAgent(model="chat", models=[model], base_url=f"{url}/v1", titles=False)


async def talk_much(talk: Talk, times: int, first: int = 1) -> None:
    for number in range(first, first + times):
        await talk.say(f"{number}: {LONG}")


def summaries(service: Service, about: str) -> int:
    """Count how often a summary was asked for, of a conversation that holds this."""
    return sum(ASKED in json.dumps(body) for body in service.requests(about))


def test_what_no_longer_fits_is_summarised_once_and_stays_in_the_full_history(
    tmp_path: Path, service: Service
) -> None:
    async def story() -> None:
        agent = forgetful(service.url)
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host, "assistant")
            await talk.say("Of swans")
            await talk_much(talk, 5)
            messages = [said.message for said in talk.session.messages]
            assert len(messages) == 12
            note, *rest = public(agent.compact(messages, agent.budget(None)))
            assert str(note["content"]).endswith(f"earlier messages were left out; a summary:]\n{SUMMARY}")
            assert rest[-2:] == transcript(talk.session)[-2:]
            given = service.requests(f"5: {LONG}")[-1]["messages"]
            assert given[0]["content"].endswith(SUMMARY)

    run(story)
    assert summaries(service, "Of swans") == 1


def test_a_summary_is_still_there_after_a_restart_and_one_builds_upon_the_other(
    tmp_path: Path, service: Service
) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()

    async def story() -> None:
        async with talking(before, forgetful(service.url)) as host:
            talk = await Talk.begin(host, "assistant")
            await talk.say("Of geese")
            await talk_much(talk, 5)
            await talk.session.journal.wait()
            crash(before, after)
            uri = talk.uri
        made = summaries(service, "Of geese")
        async with talking(after, forgetful(service.url)) as host:
            talk = await Talk.join(host, uri)
            await talk.say("And now?")
            assert (made, summaries(service, "Of geese")) == (1, 1)
            await talk_much(talk, 4, first=6)
            later = [body for body in service.requests(SUMMARY) if ASKED in json.dumps(body)]
            assert SUMMARY in json.dumps(later[-1]["messages"][-1])

    run(story)


def test_if_the_summary_fails_the_beginning_is_left_out(tmp_path: Path) -> None:
    failing = [
        CHAT.whole("Indeed."),
        CHAT.whole("Indeed."),
        refused("400 Bad Request"),
        CHAT.whole("Still here."),
    ]
    server = OddServer(**answers(CHAT, *failing))

    async def story() -> None:
        async with talking(tmp_path, forgetful(server.url)) as host:
            talk = await Talk.begin(host, "assistant")
            await talk_much(talk, 2)
            heard = await talk.say(f"3: {LONG * 3}")
            assert talk.answer == "Still here."
            doing = [action.get("activity") for action in heard.of("activityChanged")]
            assert doing == ["Summarising the conversation so far", None]
            given = json.loads(server.requests[-1][2])["messages"]
            assert given[0]["content"].startswith("[")
            assert given[0]["content"].endswith("left out]")

    run(story)
    server.close()


def test_a_service_that_finds_the_conversation_too_long_gets_less(tmp_path: Path) -> None:
    long = refused("400 Bad Request", "too many tokens", "context_length_exceeded")
    told = [
        CHAT.whole("Indeed."),
        CHAT.whole("Indeed."),
        long,
        CHAT.whole(SUMMARY),
        CHAT.whole("Short enough."),
    ]
    server = OddServer(**answers(CHAT, *told))

    async def story() -> None:
        async with talking(tmp_path, forgetful(server.url)) as host:
            talk = await Talk.begin(host, "assistant")
            await talk_much(talk, 2)
            await talk.say("3: Go on")
            assert talk.answer == "Short enough."
            given = json.loads(server.requests[-1][2])["messages"]
            assert given[0]["content"].endswith(SUMMARY)

    run(story)
    server.close()
