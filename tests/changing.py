"""An agent that changes files as it is told, for the tests of changesets.

A message has words separated by `;`: `a=text` writes a file, `a=` deletes it, `a>b` renames it, `ask` waits.
In a text, `/` begins a new line.
"""

from pathlib import Path

from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.steps import Call
from agenthost.host.authoring.tool import tool
from agenthost.host.authoring.tool_context import ToolContext
from agenthost.host.authoring.tool_results import ToolResult
from agenthost.host.authoring.turn import Turn

__all__ = ["CHANGER"]


def _text(file: Path) -> str | None:
    return file.read_text() if file.exists() else None


@tool(exposed=False)
def change(word: str, context: ToolContext) -> ToolResult:
    """Write, delete or rename a file."""
    name, sign, rest = word.partition("=" if "=" in word else ">")
    file = context.workspace / name
    before = _text(file)
    if sign == ">":
        target = file.rename(context.workspace / rest)
        edit = context.edited(file, before, _text(target))
        edit["after"]["uri"] = target.as_uri()
        return ToolResult([edit])
    if not rest:
        file.unlink()
        return ToolResult([context.edited(file, before, None)])
    file.write_text(rest.replace("/", "\n"))
    return ToolResult([context.edited(file, before, _text(file))])


async def _follow(turn: Turn) -> None:
    for word in filter(None, turn.text.split(";")):
        if word == "ask":
            await turn.ask("Go on?")
        elif word == "say":
            await turn.say("nothing to do")
        else:
            await turn.calls(Call("change", {"word": word}))


CHANGER = Agent("changer", _follow, tools=[change])
