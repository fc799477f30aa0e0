"""The examples of adapters, loaded as people serve them."""

from pathlib import Path

from agenthost.cli.agent_files import load_agents
from agenthost.host.authoring.agent import Agent
from hosting import run
from talking import Talk, said, talking

EXAMPLES = Path(__file__).parents[3] / "examples"


def loaded(name: str) -> Agent:
    (agent,) = load_agents([str(EXAMPLES / name)])
    return agent


def test_a_function_of_text(tmp_path: Path) -> None:
    assert said(tmp_path, loaded("text_agent.py"), "one two three").text == "three two one "


def test_a_pydantic_ai_agent(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, loaded("pydantic_agent.py")) as host:
            talk = await Talk.begin(host, "gambler")
            await talk.send("Play")
            heard = await talk.hear(lambda action: "confirmationTitle" in action)
            await talk.approve(heard.actions[-1])
            await talk.finish()
            assert talk.answer == "Let us see. A 4. You have paid 4."

    run(story)


def test_a_graph(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, loaded("langgraph_agent.py")) as host:
            talk = await Talk.begin(host, "geographer")
            await talk.send("How many?")
            asked = await talk.hear_one("inputRequested")
            await talk.reply(asked, {"answer": {"kind": "text", "value": "Lima"}})
            await talk.finish()
            assert talk.answer == "I look it up. 10 million people live there."

    run(story)
