"""The command line: `app` declares the commands; each command has its own module.

`serve` (with `agent_files` and `acp_programs`), `ask`, `chat/`, `sessions` (with `export` and
`stored_sessions`), `keys`, `token`, `doctor` and `reduce`.
"""

from agenthost.cli.app import app
from agenthost.commands import program_name

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line."""
    app(prog_name=program_name())
