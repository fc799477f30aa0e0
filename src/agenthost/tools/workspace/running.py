"""`run`: a shell command in a terminal of the session. People watch it live, and may type into it.

Where there is a sandbox, that holds the command; else it may do what the host's user may. So it is asked for,
and an approval for the session is as narrow as `scopes` says.
"""

from collections import deque
from typing import Annotated

from agenthost.errors import ToolError
from agenthost.host.terminals.toolrun import Ran, plain
from agenthost.host.toolcontext import ToolContext
from agenthost.host.toolresults import ToolResult
from agenthost.host.tools import tool
from agenthost.tools.workspace.scopes import scope_of
from agenthost.wire.ahp.tool import ToolResultContent

__all__ = ["run"]

SECONDS = 120
MOST_SECONDS = 1_800
MOST_CHARACTERS = 30_000
"""How much of the output the model reads: its beginning and its end."""

MOST_KEPT = 4 * 1024 * 1024
"""How much of it is kept beside, for who wants to see all of it."""


class Printed:
    """What a command prints: all of it, or, if that is too much, its beginning and its end."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._half = most // 2
        self._head: list[str] = []
        self._room = self._half
        self._tail: deque[str] = deque()
        self._size = 0
        self._lost = 0

    def add(self, text: str) -> None:
        """Take more of it."""
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
        """Give it as plain text; what was lost in the middle is told."""
        gap = f"\n[… {self._lost} characters were left out …]\n" if self._lost else ""
        return plain("".join([*self._head, gap, *self._tail]))


def cut(text: str, most: int) -> str:
    """Leave out the middle of a text that is too long, whole lines where that is possible."""
    if len(text) <= most:
        return text
    head, tail = text[: most // 2], text[-(most // 2) :]
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
    timeout=MOST_SECONDS + 60,
    invocation="Run {command}",
    scope=scope_of,
    grant="run",
)
async def run(
    command: Annotated[str, "the command, for sh; it starts in the workspace"],
    context: ToolContext,
    seconds: Annotated[int, f"how long it may take, at most {MOST_SECONDS}"] = SECONDS,
) -> ToolResult:
    """Run a shell command, and give what it prints. What runs on by itself ends with it."""
    if "\0" in command or not command.strip():
        raise ToolError("`command` is empty, or holds a null byte")
    if not 1 <= seconds <= MOST_SECONDS:
        raise ToolError(f"`seconds` has to be from 1 to {MOST_SECONDS}")
    printed = Printed()
    ran = await context.terminal(command, seconds=seconds, heard=printed.add)
    text = printed.text()
    content: list[ToolResultContent | str] = [ran.block, cut(text, MOST_CHARACTERS)]
    if len(text) > MOST_CHARACTERS and (whole := context.keep(text.encode(errors="replace"))) is not None:
        content += [whole, "[read_file gives any part of all of it, by the path above]"]
    if ran.is_detached:
        content.append("[the user took over the terminal, and the command may go on in it]")
    return ToolResult(content, message=f"Ran {command[:60]}", error=_error(ran, seconds))


def _error(ran: Ran, seconds: int) -> str | None:
    if ran.is_late:
        return f"the command took longer than {seconds} seconds and was stopped"
    return f"the command ended with code {ran.code}" if ran.code else None
