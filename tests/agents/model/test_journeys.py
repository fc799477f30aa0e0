"""Whole journeys with a model, over both protocols and in every wire format: the service is aimock."""

import json
from typing import Any

import pytest

from agenthost.client import AapClient, AhpClient
from model_talking import PROTOCOLS
from modelling import WIRES, Service


def say(said: str, response: Any, **match: Any) -> Any:
    return {"match": {"userMessage": said, **match}, "response": response}


def call(name: str, **given: Any) -> Any:
    return {"toolCalls": [{"name": name, "arguments": given}]}


def used(read: int, said: int) -> Any:
    return {"usage": {"prompt_tokens": read, "completion_tokens": said, "total_tokens": read + said}}


THOUGHT = "Two and two, let me see."

FIXTURES = [
    say("hello", {"content": "Good morning to you, dear user."}),
    say("throw", {"content": "I throw. ", **call("dice")}, hasToolResult=False),
    say("throw", {"content": "It is a four."}, toolResultContains="a four"),
    say("time", call("clock", zone="Rome"), hasToolResult=False),
    say("time", {"content": "Noon in Rome."}, toolResultContains="12:00 in Rome"),
    say("time", {"content": "I was not let."}, toolResultContains="Tool call denied: not today"),
    say("paint", call("paint", colour="blue"), hasToolResult=False),
    say("paint", {"content": "Blue it is."}, toolResultContains="painted blue"),
    say("sum", {"content": "Four.", "reasoning": THOUGHT, "reasoningSignature": "secret-signature"}),
    say("cost", {**call("dice"), **used(100, 10)}, hasToolResult=False),
    say("cost", {"content": "Much.", **used(200, 20)}, hasToolResult=True),
    say("novel", {"content": "It was a dark and", "finishReason": "length"}),
]


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


pytestmark = [
    # The service ends calls in Gemini's format with a reason that Google's library does not know.
    pytest.mark.filterwarnings("ignore:FUNCTION_CALL is not a valid FinishReason:UserWarning"),
]


@pytest.fixture
def told(served: Any, wire: str, protocol: str) -> Any:
    """Return a function that sends a message in a new session, and returns the outcome."""

    def say_it(text: str, *, may: bool | None = None) -> Any:
        async def story() -> Any:
            async with PROTOCOLS[protocol](served.site.url, wire).open() as talker:
                talker.may = may
                return await talker.say(text)

        return served.run(story())

    return say_it


def test_an_answer_arrives_piece_by_piece(told: Any) -> None:
    outcome = told("Say hello")
    assert (outcome.text, outcome.stop) == ("Good morning to you, dear user.", "end_turn")
    assert len(outcome.pieces) > 1


def test_a_server_tool_is_run_and_the_model_gets_its_result(told: Any) -> None:
    outcome = told("Please throw a die")
    assert (outcome.text, outcome.stop) == ("I throw. It is a four.", "end_turn")


def test_a_tool_that_needs_permission_runs_when_it_is_granted(told: Any) -> None:
    assert told("What time is it?", may=True).text == "Noon in Rome."


def test_the_model_is_told_of_a_denied_tool_with_the_reason(told: Any) -> None:
    assert told("What time is it?", may=False).text == "I was not let."


def test_a_tool_of_the_application_is_run_by_it(told: Any) -> None:
    assert told("Do paint it").text == "Blue it is."


def test_thoughts_are_shown_as_thoughts(told: Any) -> None:
    outcome = told("Do the sum")
    assert (outcome.thoughts, outcome.text) == (THOUGHT, "Four.")


def test_an_answer_that_reaches_the_limit_says_so(told: Any, wire: str) -> None:
    outcome = told("Write a novel")
    assert outcome.text == "It was a dark and"
    # The Responses format has no such reason.
    assert outcome.stop == ("end_turn" if wire == "responses" else "max_tokens")


def test_what_the_model_is_asked_has_the_system_prompt_and_the_tools(served: Any, told: Any) -> None:
    told("Say hello")
    service: Service = served.service
    body = service.requests("Say hello")[-1]
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert {one["function"]["name"] for one in body["tools"]} == {"clock", "dice", "paint"}


def test_private_data_of_the_service_is_shown_over_neither_protocol(served: Any) -> None:
    async def story() -> None:
        async with AapClient(f"{served.site.url}/aap") as aap:
            session = await aap.create("anthropic")
            await session.ask("Do the sum")
            shown = [await session.history("full"), await session.history("compacted"), await session.info()]
            held = served.site.host.parts.engine.sessions.held(session.id)
            assert "secret-signature" in json.dumps([said.message for said in held.messages])
            async with AhpClient(f"{served.site.url.replace('http', 'ws', 1)}/ahp") as ahp:
                watched = await ahp.session(held.row.uri)
                everything = json.dumps([shown, watched.state])
            assert THOUGHT in everything
            assert "secret-signature" not in everything
            assert "_private" not in everything

    served.run(story())


def test_a_session_gets_a_title_from_the_model_unless_somebody_gave_it_one(served: Any) -> None:
    async def story() -> None:
        async with AhpClient(f"{served.site.url.replace('http', 'ws', 1)}/ahp") as client:
            session = await client.create("chat")
            await session.ask("Say hello")
            await session.until(lambda state: state.session["title"] == "Of clocks and dice")
            mine = await client.create("chat")
            await mine.rename("Mine")
            await mine.ask("Say hello")
            assert mine.title == "Mine"

    served.run(story())


def test_the_usage_of_a_turn_includes_all_of_its_steps(served: Any) -> None:
    async def story() -> None:
        async with AhpClient(f"{served.site.url.replace('http', 'ws', 1)}/ahp") as client:
            session = await client.create("chat")
            await session.ask("Count the cost")
            assert session.turns[-1]["usage"] == {
                "inputTokens": 300,
                "outputTokens": 30,
                "model": "openai-chat:gpt-4o",
            }

    served.run(story())


def test_models_offer_their_thinking_levels(served: Any) -> None:
    async def story() -> None:
        async with AhpClient(f"{served.site.url.replace('http', 'ws', 1)}/ahp") as client:
            agents: Any = {agent["provider"]: agent for agent in client.agents}
            (offered,) = agents["responses"]["models"]
            assert (offered["id"], offered["name"]) == ("openai-responses:gpt-5", "gpt-5")
            assert offered["maxContextWindow"] == 400_000
            assert "high" in offered["configSchema"]["properties"]["thinking"]["enum"]

    served.run(story())
