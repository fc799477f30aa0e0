"""The tools of agents that work on files: read, write, edit, list, search, run. See docs/workspace-tools.md.

Files are touched inside of the session's folder only, through one door (`paths`) and the host's jail.
"""

from agenthost.host.tools import Tool
from agenthost.tools.workspace.listing import list_files
from agenthost.tools.workspace.reading import read_file
from agenthost.tools.workspace.running import run
from agenthost.tools.workspace.searching import search
from agenthost.tools.workspace.writing import edit_file, write_file

__all__ = ["edit_file", "list_files", "read_file", "run", "search", "workspace_tools", "write_file"]


def workspace_tools() -> list[Tool]:
    """Give all of them, for `Agent(tools=…)`."""
    return [read_file, list_files, search, edit_file, write_file, run]
