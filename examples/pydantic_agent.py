"""An unchanged pydantic-ai agent: it runs its own tools, and people see and approve their calls.

`./run serve examples/pydantic_agent.py` needs no API key, as the model is a function.
"""

from collections.abc import AsyncIterator

from pydantic_ai import Agent, ModelMessage, ModelRequest, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

from agenthost.agents.adapters import PydanticAgent


async def model(messages: list[ModelMessage], _info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
    """Roll the dice, then pay. A real one is a name: `Agent("openai:gpt-5")`."""
    last = messages[-1]
    results = [part for part in last.parts if isinstance(part, ToolReturnPart)]
    if not isinstance(last, ModelRequest) or not results:
        yield "Let us see. "
        yield {0: DeltaToolCall("roll", "{}", tool_call_id="roll-1")}
    elif results[0].tool_name == "roll":
        yield f"A {results[0].content}. "
        yield {0: DeltaToolCall("pay", f'{{"amount": {results[0].content}}}', tool_call_id="pay-1")}
    else:
        yield str(results[0].content)


gambler = Agent(FunctionModel(stream_function=model), instructions="You play dice.")


@gambler.tool_plain
def roll() -> int:
    """Roll a die."""
    return 4


@gambler.tool_plain(requires_approval=True)
def pay(amount: int) -> str:
    """Pay what was lost."""
    return f"You have paid {amount}."


agent = PydanticAgent("gambler", gambler, title="Gambler", description="Plays dice for money.")
