"""The tools of the demo agent. Files outside the workspace are refused; commands may be sandboxed."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Annotated, TypeAlias
from zoneinfo import ZoneInfo

from agenthost.errors import ToolError
from agenthost.host.authoring.tool import tool
from agenthost.host.authoring.tool_context import ToolContext
from agenthost.host.authoring.tool_results import ToolResult
from agenthost.host.files.uris import belongs_to_git
from agenthost.tools.workspace.scopes import command_scope
from agenthost.wire.ahp.tool import ToolResultFileEditContent

__all__ = ["TOOLS"]

MAX_SLEEP_SECONDS = 600
MAX_FILE_BYTES = 1024 * 1024
MAX_OUTPUT_CHARACTERS = 32 * 1024
RUN_SECONDS = 60.0

FilePath: TypeAlias = Annotated[str, "the file, relative to the workspace"]


@tool(title="Add", read_only=True)
async def add(a: float, b: float) -> float:
    """Add two numbers."""
    total = a + b
    # People prefer 5 to 5.0; beyond 2^53 an integer would look exact without being so.
    return int(total) if total.is_integer() and abs(total) < 2**53 else total


@tool(title="Clock", read_only=True)
async def clock(zone: Annotated[str, "a time zone, such as Europe/Rome"] = "UTC") -> str:
    """Tell the time."""
    return datetime.now(_zone(zone)).isoformat(timespec="seconds")


def _zone(name: str) -> tzinfo:
    if name == "UTC":
        return UTC  # works without an installed time zone database
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ToolError(f"there is no time zone {name[:40]!r}; an example is Europe/Rome") from None


@tool(title="Fail", read_only=False, destructive=False)
async def fail() -> str:
    """Fail, always."""
    raise ToolError("this tool always fails")


@tool(title="Sleep", read_only=True, timeout=MAX_SLEEP_SECONDS + 10)
async def sleep(seconds: Annotated[float, "how long, at most 600"], context: ToolContext) -> str:
    """Wait for some time."""
    if not 0 <= seconds <= MAX_SLEEP_SECONDS:
        raise ToolError(f"seconds has to be from 0 to {MAX_SLEEP_SECONDS}, not {seconds:g}")
    await context.progress(f"Sleeping for {seconds:g} seconds")
    await asyncio.sleep(seconds)
    return f"slept for {seconds:g} seconds"


def _preview_write(path: str, text: str, context: ToolContext) -> list[ToolResultFileEditContent]:
    file = _resolve(context.workspace, path)
    with _tool_errors(path):
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
    path: FilePath, text: Annotated[str, "the whole content of the file"], context: ToolContext
) -> ToolResult:
    """Write text to a file of the workspace. Replaces its previous content."""
    file, data = _resolve(context.workspace, path), text.encode()
    if belongs_to_git(file.parts):
        raise ToolError(f"{path!r} belongs to git; its files cannot be written with this tool")
    if len(data) > MAX_FILE_BYTES:
        raise ToolError(f"the text is larger than {MAX_FILE_BYTES} bytes")
    with _tool_errors(path):
        before = _read(file, path) if file.exists() else None
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    sentence = f"Wrote {len(text)} character{'' if len(text) == 1 else 's'} to {path}."
    return ToolResult([context.edited(file, before, text), sentence], message=f"Wrote {path}")


@tool(title="Read file", read_only=True, grant="files")
def read_file(path: FilePath, context: ToolContext) -> str:
    """Read a text file of the workspace."""
    with _tool_errors(path):
        return _read(_resolve(context.workspace, path), path)


def _resolve(workspace: Path, path: str) -> Path:
    """Return the file that a path means, with all links followed. Called for each use, as links may change.

    Raises:
        ToolError: it is not in the workspace.
    """
    root = workspace.resolve()
    try:
        file = (root / path).resolve()
    except (OSError, RuntimeError, ValueError):  # such as a loop of links, or an invalid name
        raise ToolError(f"{path!r} is not the path of a file") from None
    if not file.is_relative_to(root):
        raise ToolError(f"{path!r} is outside the workspace; only files inside it can be used")
    if file == root:
        raise ToolError(f"{path!r} is the workspace itself, not a file in it")
    return file


def _read(file: Path, path: str) -> str:
    if not file.is_file() and file.exists():
        raise ToolError(f"{path!r} is not a plain file")  # reading a pipe would never end
    with file.open("rb") as opened:
        data = opened.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise ToolError(f"{path!r} is larger than {MAX_FILE_BYTES} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ToolError(f"{path!r} is not text in UTF-8") from None


@contextmanager
def _tool_errors(path: str) -> Iterator[None]:
    """Turn an `OSError` into a sentence with the path as it was given."""
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
    scope=command_scope,
)
async def run(command: Annotated[str, "the command, for sh"], context: ToolContext) -> ToolResult:
    """Run a shell command in the workspace, for at most a minute, and return its output."""
    if "\0" in command:
        raise ToolError("a command cannot contain a null byte")
    ran = await context.terminal(command, seconds=RUN_SECONDS, longest=MAX_OUTPUT_CHARACTERS)
    text = ran.output
    if ran.is_cut:
        text += "\n[the rest was left out]"
    if ran.is_detached:
        text += "\n[the user took over the terminal; the command may still be running in it]"
    error = f"the command ended with code {ran.code}" if ran.code else None
    if ran.is_late:
        error = f"the command took longer than {RUN_SECONDS:g} seconds and was stopped"
    return ToolResult([ran.block, text], message=f"Ran {command[:60]}", error=error)


TOOLS = (add, clock, fail, sleep, write_file, read_file, run)
