"""A tool for an agent that is written in TOML: `tools = ["notes.py:note"]`."""

from agenthost import ToolContext, tool


@tool(title="Note")
def note(text: str, context: ToolContext) -> str:
    """Write a line into notes.md of the workspace."""
    with (context.workspace / "notes.md").open("a") as file:
        file.write(f"- {text}\n")
    return "noted"
