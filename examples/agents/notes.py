"""A tool for an agent in TOML: `tools = ["notes.py:note"]`."""

from agenthost import ToolContext, tool


@tool(title="Note")
def note(text: str, context: ToolContext) -> str:
    """Add a line to notes.md in the workspace."""
    with (context.workspace / "notes.md").open("a") as file:
        file.write(f"- {text}\n")
    return "noted"
