"""Agents as they are declared: of functions and of classes, and what is refused."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agenthost.core.session_meta import STAND_IN
from agenthost.host.authoring.agent import CONTEXT_TOKENS, Agent, Model
from agenthost.host.authoring.options import Option
from agenthost.host.authoring.turn import Turn
from agenthost.host.host import Host
from talking import Talk
from turning import tell


async def talks(turn: Turn) -> None:
    """Talk to people.

    And more, which is for those who read the code.
    """
    await turn.say("Hello")


async def steps(_turn: Turn) -> AsyncIterator[Any]:
    yield "Hello"


class Called:
    async def __call__(self, turn: Turn) -> None:
        await turn.say("Hello")


class Poet(Agent):
    name = "demo"
    description = "Rhymes."
    models = (Model("small", context_tokens=1_000, vision=True), Model("large", "The large one"))

    async def answer(self, turn: Turn) -> AsyncIterator[Any]:
        yield f"Hello from {turn.agent.label}"


def test_an_agent_is_described_by_its_function() -> None:
    agent = Agent("demo", talks, title="Demo")
    assert (agent.description, agent.label, agent.is_stepwise) == ("Talk to people.", "Demo", False)
    info: Any = {"provider": "demo", "displayName": "Demo", "description": "Talk to people."}
    # One that lets nobody choose has a model that stands for it: some clients start no turn without one.
    model = {"id": "demo", "provider": "demo", "name": "Demo", "_meta": {STAND_IN: True}}
    capabilities = {"multipleChats": {"fork": True, "sideChat": True}}
    assert agent.info() == {**info, "models": [model], "capabilities": capabilities}
    assert Agent("demo", steps).is_stepwise


def test_an_agent_may_be_a_class_or_an_object_that_is_called(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        await talk.say("Hi")
        assert talk.answer == "Hello"

    tell(tmp_path, Called(), story)
    poet = Poet()
    assert (poet.name, poet.is_stepwise) == ("demo", True)
    assert poet.info()["models"] == [
        {
            "id": "small",
            "provider": "demo",
            "name": "small",
            "maxContextWindow": 1_000,
            "supportsVision": True,
        },
        {"id": "large", "provider": "demo", "name": "The large one"},
    ]


def test_the_budget_is_that_of_the_model_or_else_of_the_agent() -> None:
    poet = Poet()
    budgets = [poet.budget(model_id) for model_id in (None, "small", "large", "unknown")]
    assert budgets == [1_000, 1_000, CONTEXT_TOKENS, CONTEXT_TOKENS]
    assert Agent("demo", talks, context_tokens=5).budget(None) == 5


@pytest.mark.parametrize("name", ["", "a b", "1st", "é", "a/b", "x" * 65])
def test_a_name_that_is_not_a_valid_uri_scheme_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="is not a valid agent name"):
        Agent(name, talks)


@pytest.mark.parametrize("name", ["ahp-chat", "AHP-x", "file", "https", "mcp", "agenthost-terminal"])
def test_a_name_that_is_the_scheme_of_something_else_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="it is the scheme of something else"):
        Agent(name, talks)


def test_names_that_differ_only_in_case_are_refused() -> None:
    host = Host()
    host.add(Agent("Demo", talks))
    with pytest.raises(ValueError, match="the agents 'Demo' and 'demo' differ only in case"):
        host.add(Agent("demo", talks))
    host.add(Agent("demo2", talks))


def test_what_cannot_answer_is_refused() -> None:
    def plain(_turn: Turn) -> Any:
        return None

    with pytest.raises(TypeError, match="must be `async def` or an async generator"):
        Agent("demo", plain)
    with pytest.raises(TypeError, match="`async def`"):
        Agent("demo")


@pytest.mark.parametrize(
    ("declared", "error"),
    [
        ({"colour": "red"}, "unknown arguments for an agent: colour; known are title, version"),
        ({"options": [Option.text("a"), Option.secret("a")]}, "two options called 'a'"),
        ({"models": [Model("a"), Model("a")]}, "two models called 'a'"),
    ],
)
def test_an_invalid_declaration_is_refused(declared: Any, error: str) -> None:
    with pytest.raises((TypeError, ValueError), match=error):
        Agent("demo", talks, **declared)


def test_an_option_is_checked_where_it_is_declared() -> None:
    assert Option.select("tone", ["kind", "dry"]).default == "kind"
    with pytest.raises(ValueError, match="default 'loud' is not one of"):
        Option.select("tone", ["kind"], "loud")
    with pytest.raises(ValueError, match="needs a name"):
        Option.text("")


def test_two_agents_of_one_name_are_refused() -> None:
    host = Host()
    agent = host.add(Agent("demo", talks))
    assert host.add(agent) is agent
    with pytest.raises(ValueError, match="two agents are called 'demo'"):
        host.agent("demo")(steps)
    assert list(host.agents) == ["demo"]
