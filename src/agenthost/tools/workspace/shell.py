"""`run`: a shell command in a terminal of the session. People can watch it live and type into it.

A sandbox confines the command; without one it can do whatever the host's user can. So it needs approval, and
an approval for the session covers only what `scopes` says.
"""

from collections import deque
from typing import Annotated

from agenthost.errors import ToolError
from agenthost.host.authoring.tool import tool
from agenthost.host.authoring.tool_context import ToolContext
from agenthost.host.authoring.tool_results import ToolResult
from agenthost.host.terminals.command_runner import CommandResult, plain_text
from agenthost.tools.workspace.scopes import command_scope
from agenthost.wire.ahp.tool import ToolResultContent

__all__ = ["run"]

SECONDS = 120
MAX_SECONDS = 1_800
MAX_CHARACTERS = 30_000
"""How much of the output the model gets: its beginning and its end."""

MAX_KEPT_CHARACTERS = 4 * 1024 * 1024
"""How much of the output is kept, for people and for `read_file`."""


class CommandOutput:
    """The output of a command; if it is too long, its beginning and its end."""

    def __init__(self, limit: int = MAX_KEPT_CHARACTERS) -> None:
        self._half = limit // 2
        self._head: list[str] = []
        self._room = self._half
        self._tail: deque[str] = deque()
        self._size = 0
        self._lost = 0

    def add(self, text: str) -> None:
        """Add output."""
        if self._room:
            self._head.append(text[: self._room])
            text, self._room = text[self._room :], max(0, self._room - len(text))
        self._tail.append(text)
        self._size += len(text)
        while self._size - len(self._tail[0]) >= self._half:
            gone = len(self._tail.popleft())
            self._size -= gone
            self._lost += gone

    def text(self) -> str:
        """Return it as plain text, with a note of what is missing in the middle."""
        gap = f"\n[… {self._lost} characters were left out …]\n" if self._lost else ""
        return plain_text("".join([*self._head, gap, *self._tail]))


def truncate_middle(text: str, limit: int) -> str:
    """Leave out the middle of a long text, at line ends where possible."""
    if len(text) <= limit:
        return text
    head, tail = text[: limit // 2], text[-(limit // 2) :]
    head = head[: head.rfind("\n") + 1] or head
    tail = tail[tail.find("\n") + 1 :] or tail
    return f"{head}[… {len(text) - len(head) - len(tail)} characters left out …]\n{tail}"


@tool(
    title="Run",
    read_only=False,
    destructive=True,
    idempotent=False,
    open_world=True,
    editable=True,
    timeout=MAX_SECONDS + 60,
    invocation="Run {command}",
    scope=command_scope,
    grant="run",
)
async def run(
    command: Annotated[str, "the command, for sh; it starts in the workspace"],
    context: ToolContext,
    seconds: Annotated[int, f"how long it may take, at most {MAX_SECONDS}"] = SECONDS,
) -> ToolResult:
    """Run a shell command, and return its output. Background processes end with it."""
    if "\0" in command or not command.strip():
        raise ToolError("`command` is empty, or contains a null byte")
    if not 1 <= seconds <= MAX_SECONDS:
        raise ToolError(f"`seconds` has to be from 1 to {MAX_SECONDS}")
    printed = CommandOutput()
    ran = await context.terminal(command, seconds=seconds, heard=printed.add)
    text = printed.text()
    content: list[ToolResultContent | str] = [ran.block, truncate_middle(text, MAX_CHARACTERS)]
    if len(text) > MAX_CHARACTERS and (whole := context.keep(text.encode(errors="replace"))) is not None:
        content += [whole, "[read_file reads any part of the whole output, by the path above]"]
    if ran.is_detached:
        content.append("[the user took over the terminal; the command may still be running in it]")
    return ToolResult(content, message=f"Ran {command[:60]}", error=_error(ran, seconds))


def _error(ran: CommandResult, seconds: int) -> str | None:
    if ran.is_late:
        return f"the command took longer than {seconds} seconds and was stopped"
    return f"the command ended with code {ran.code}" if ran.code else None
