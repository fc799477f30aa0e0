"""Whole journeys with a model, over both protocols and in every wire format: the service is aimock."""

from typing import Any

import pytest

from model_talking import PROTOCOLS
from modelling import WIRES, Service


def say(said: str, response: Any, **match: Any) -> Any:
    return {"match": {"userMessage": said, **match}, "response": response}


def call(name: str, **given: Any) -> Any:
    return {"toolCalls": [{"name": name, "arguments": given}]}


FIXTURES = [
    say("hello", {"content": "Good morning to you, dear user."}),
    say("throw", {"content": "I throw. ", **call("dice")}, hasToolResult=False),
    say("throw", {"content": "It is a four."}, toolResultContains="a four"),
    say("time", call("clock", zone="Rome"), hasToolResult=False),
    say("time", {"content": "Noon in Rome."}, toolResultContains="12:00 in Rome"),
    say("time", {"content": "I was not let."}, toolResultContains="Tool call denied: not today"),
    say("paint", call("paint", colour="blue"), hasToolResult=False),
    say("paint", {"content": "Blue it is."}, toolResultContains="painted blue"),
    say("sum", {"content": "Four.", "reasoning": "Two and two, let me see."}),
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
    """Give what says something in a new session, and tells what came of it."""

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


def test_a_tool_of_the_server_is_run_and_its_result_answered_upon(told: Any) -> None:
    outcome = told("Please throw a die")
    assert (outcome.text, outcome.stop) == ("I throw. It is a four.", "end_turn")


def test_a_tool_that_needs_permission_runs_when_it_is_granted(told: Any) -> None:
    assert told("What time is it?", may=True).text == "Noon in Rome."


def test_a_tool_that_is_denied_is_told_to_the_model_with_the_reason(told: Any) -> None:
    assert told("What time is it?", may=False).text == "I was not let."


def test_a_tool_of_the_application_is_run_by_it(told: Any) -> None:
    assert told("Do paint it").text == "Blue it is."


def test_thoughts_are_shown_as_such(told: Any) -> None:
    outcome = told("Do the sum")
    assert (outcome.thoughts, outcome.text) == ("Two and two, let me see.", "Four.")


def test_an_answer_that_reaches_the_limit_says_so(told: Any, wire: str) -> None:
    outcome = told("Write a novel")
    assert outcome.text == "It was a dark and"
    # In the Responses format, the service has no word for it.
    assert outcome.stop == ("end_turn" if wire == "responses" else "max_tokens")


def test_what_the_model_is_asked_has_the_system_prompt_and_the_tools(served: Any, told: Any) -> None:
    told("Say hello")
    service: Service = served.service
    body = service.requests("Say hello")[-1]
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert {one["function"]["name"] for one in body["tools"]} == {"clock", "dice", "paint"}
