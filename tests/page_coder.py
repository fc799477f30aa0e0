"""The agents of the pictures: the demo agent, and one that seems to work on code."""

from agenthost import Agent, Turn, Usage
from agenthost.agents.demo import demo
from agenthost.tools.workspace import workspace_tools
from page_stage import tour

__all__ = ["coder", "demo"]


async def code(turn: Turn) -> None:
    """Read and change the code in the workspace."""
    if turn.text.startswith("Why"):
        await tour(turn)
        return
    await turn.think("The test wants another greeting. Where is it printed? Look at src/app.py first.")
    await turn.say("The test expects `hello, world`. I look at where the greeting comes from.")
    await turn.call("read_file", path="src/app.py")
    await turn.say(
        "It is printed in **one place**, and `return None` at the end says nothing. I would change:"
    )
    old = '    print("hello")\n    return None\n'
    await turn.call("edit_file", path="src/app.py", old=old, new='    print("hello, world")\n')
    await turn.use(Usage(input_tokens=3_120, output_tokens=214, cache_read_tokens=2_048))
    await turn.say("Done. The test passes now.")


coder = Agent("coder", code, title="Coder", tools=workspace_tools())
