"""Agents that give tasks to each other: a lead runs several tasks in parallel, each in its own session.

`./run serve examples/subagents.py` serves both. Clients can open the workers' chats while they run.
"""

from agenthost import Call, Host, Turn
from agenthost.tools.subagents import subagent
from agenthost.tools.workspace import list_files

host = Host()


@host.agent("counter", tools=[list_files])
async def counter(turn: Turn) -> None:
    """Count the files that match a glob."""
    found = await turn.call("list_files", glob=turn.text)
    count = 0 if found == "nothing was found" else len(found.splitlines())
    await turn.say(f"{count} files fit {turn.text}")


@host.agent("lead", tools=[subagent("counter")])
async def lead(turn: Turn) -> None:
    """Count the files for each glob that the user names."""
    tasks = [Call("counter", {"task": glob}) for glob in turn.text.split()]
    for result in await turn.calls(*tasks):
        await turn.say(f"- {result}\n")


host.serve(port=8787)
