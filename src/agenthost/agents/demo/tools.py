"""The tools of the demo agent. Files are touched inside the workspace only; commands by a sandbox."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Annotated, TypeAlias
from zoneinfo import ZoneInfo

from agenthost.errors import ToolError
from agenthost.host.files.uris import belongs_to_git
from agenthost.host.toolcontext import ToolContext
from agenthost.host.toolresults import ToolResult
from agenthost.host.tools import tool
from agenthost.tools.workspace.scopes import scope_of
from agenthost.wire.ahp.tool import ToolResultFileEditContent

__all__ = ["TOOLS"]

LONGEST_SLEEP = 600
LARGEST_FILE = 1024 * 1024
LONGEST_OUTPUT = 32 * 1024
RUN_SECONDS = 60.0

FilePath: TypeAlias = Annotated[str, "the file, seen from the workspace"]


@tool(title="Add", read_only=True)
async def add(a: float, b: float) -> float:
    """Add two numbers."""
    total = a + b
    # A whole number without a fraction, for people; beyond 2^53 it would pretend to be exact.
    return int(total) if total.is_integer() and abs(total) < 2**53 else total


@tool(title="Clock", read_only=True)
async def clock(zone: Annotated[str, "a time zone, such as Europe/Rome"] = "UTC") -> str:
    """Tell the time."""
    return datetime.now(_zone(zone)).isoformat(timespec="seconds")


def _zone(name: str) -> tzinfo:
    if name == "UTC":
        return UTC  # known even where no list of time zones is installed
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ToolError(f"there is no time zone {name[:40]!r}; one is Europe/Rome") from None


@tool(title="Fail", read_only=False, destructive=False)
async def fail() -> str:
    """Fail, always."""
    raise ToolError("this tool always fails")


@tool(title="Sleep", read_only=True, timeout=LONGEST_SLEEP + 10)
async def sleep(seconds: Annotated[float, "how long, at most 600"], context: ToolContext) -> str:
    """Wait for some time."""
    if not 0 <= seconds <= LONGEST_SLEEP:
        raise ToolError(f"seconds has to be from 0 to {LONGEST_SLEEP}, not {seconds:g}")
    await context.progress(f"Sleeping for {seconds:g} seconds")
    await asyncio.sleep(seconds)
    return f"slept for {seconds:g} seconds"


def _preview_write(path: str, text: str, context: ToolContext) -> list[ToolResultFileEditContent]:
    file = _inside(context.workspace, path)
    with _plainly(path):
        before = _read(file, path) if file.exists() else None
    return [] if before == text else [context.edited(file, before, text)]


@tool(
    title="Write file",
    read_only=False,
    destructive=True,
    idempotent=True,
    editable=True,
    preview=_preview_write,
    grant="files",
)
def write_file(
    path: FilePath, text: Annotated[str, "all that is to be in it"], context: ToolContext
) -> ToolResult:
    """Write text to a file of the workspace; what was in it before is gone."""
    file, data = _inside(context.workspace, path), text.encode()
    if belongs_to_git(file.parts):
        raise ToolError(f"{path!r} belongs to git; its files are not written by hand")
    if len(data) > LARGEST_FILE:
        raise ToolError(f"the text is larger than {LARGEST_FILE} bytes")
    with _plainly(path):
        before = _read(file, path) if file.exists() else None
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    sentence = f"Wrote {len(text)} character{'' if len(text) == 1 else 's'} to {path}."
    return ToolResult([context.edited(file, before, text), sentence], message=f"Wrote {path}")


@tool(title="Read file", read_only=True, grant="files")
def read_file(path: FilePath, context: ToolContext) -> str:
    """Read a text file of the workspace."""
    with _plainly(path):
        return _read(_inside(context.workspace, path), path)


def _inside(workspace: Path, path: str) -> Path:
    """Give the file that a path means, all links followed; looked at anew for each use, as links change.

    Raises:
        ToolError: it is not in the workspace.
    """
    root = workspace.resolve()
    try:
        file = (root / path).resolve()
    except (OSError, RuntimeError, ValueError):  # such as links in a circle, or a name that cannot be
        raise ToolError(f"{path!r} is no path of a file") from None
    if not file.is_relative_to(root):
        raise ToolError(f"{path!r} is outside the workspace; only files inside it may be touched")
    if file == root:
        raise ToolError(f"{path!r} is the workspace itself, not a file in it")
    return file


def _read(file: Path, path: str) -> str:
    if not file.is_file() and file.exists():
        raise ToolError(f"{path!r} is not a plain file")  # reading a pipe would never end
    with file.open("rb") as opened:
        data = opened.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise ToolError(f"{path!r} is larger than {LARGEST_FILE} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ToolError(f"{path!r} is not a text in UTF-8") from None


@contextmanager
def _plainly(path: str) -> Iterator[None]:
    """Say what the system refuses in one sentence, with the path as it was given."""
    try:
        yield
    except OSError as error:
        raise ToolError(f"{path!r}: {error.strerror or type(error).__name__}") from error


@tool(
    title="Run",
    read_only=False,
    destructive=True,
    idempotent=False,
    editable=True,
    grant="run",
    scope=scope_of,
)
async def run(command: Annotated[str, "the command, for sh"], context: ToolContext) -> ToolResult:
    """Run a shell command in the workspace, for at most a minute; gives what it prints."""
    if "\0" in command:
        raise ToolError("a command cannot hold a null byte")
    ran = await context.terminal(command, seconds=RUN_SECONDS, longest=LONGEST_OUTPUT)
    words = ran.output
    if ran.is_cut:
        words += "\n[the rest was left out]"
    if ran.is_detached:
        words += "\n[the user took over the terminal, and the command may go on in it]"
    error = f"the command ended with code {ran.code}" if ran.code else None
    if ran.is_late:
        error = f"the command took longer than {RUN_SECONDS:g} seconds and was stopped"
    return ToolResult([ran.block, words], message=f"Ran {command[:60]}", error=error)


TOOLS = (add, clock, fail, sleep, write_file, read_file, run)
