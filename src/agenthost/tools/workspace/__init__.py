"""Tools for agents that work on files: read, write, edit, list, search, run. See docs/workspace-tools.md.

Every path goes through `paths` and the host's jail, so only files inside the session's folder can be used.
"""

from agenthost.host.authoring.tool import Tool
from agenthost.tools.workspace.file_list import list_files
from agenthost.tools.workspace.file_reader import read_file
from agenthost.tools.workspace.file_search import search
from agenthost.tools.workspace.file_writer import edit_file, write_file
from agenthost.tools.workspace.shell import run

__all__ = ["edit_file", "list_files", "read_file", "run", "search", "workspace_tools", "write_file"]


def workspace_tools() -> list[Tool]:
    """Return all workspace tools, for `Agent(tools=…)`."""
    return [read_file, list_files, search, edit_file, write_file, run]
