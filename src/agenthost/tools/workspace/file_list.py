"""`list_files`: the files of the workspace or of a folder in it, within limits and without ignored ones."""

import stat
import time
from contextlib import closing
from typing import Annotated

from agenthost.errors import ToolError
from agenthost.host.authoring.tool import tool
from agenthost.host.authoring.tool_context import ToolContext
from agenthost.host.authoring.tool_results import ToolResult
from agenthost.host.files.jail import READ, file_kind
from agenthost.tools.workspace.file_walk import MAX_DEPTH, Walk, glob_matcher
from agenthost.tools.workspace.paths import open_path, relative_path

__all__ = ["list_files"]

MAX_ENTRIES = 1_000
MAX_VISITED = 500_000
"""How many entries are visited in search of matches."""

MAX_SECONDS = 30.0
"""How long a listing may take: many files and many ignore rules are slow."""

DEFAULT_DEPTH = 2


@tool(
    title="List files",
    read_only=True,
    open_world=False,
    trusted=True,
    grant="files",
    invocation="List {path}",
)
def list_files(
    context: ToolContext,
    path: Annotated[str, "the folder, relative to the workspace"] = ".",
    glob: Annotated[str | None, "only matching files, at any depth: *.py, or src/**/*.{ts,tsx}"] = None,
    depth: Annotated[int | None, "how many folders deep; 2 without a glob"] = None,
    ignored: Annotated[bool, "also what .gitignore excludes"] = False,  # noqa: FBT002 - by name
) -> ToolResult:
    """List files and folders of the workspace, as paths that other tools take. Folders end with a slash."""
    if depth is not None and depth < 1:
        raise ToolError("`depth` has to be at least 1")
    matches = glob_matcher(glob)
    deepest = depth or (DEFAULT_DEPTH if glob is None else MAX_DEPTH)
    found: list[str] = []
    seen = 0
    deadline = time.monotonic() + MAX_SECONDS
    is_whole = True
    with open_path(context.files, path, READ, follow=True) as place:
        name = relative_path(context.files, place.path)
        status = place.require_status()
        if not stat.S_ISDIR(status.st_mode):
            raise ToolError(f"{name!r:.200} is {file_kind(status)}, not a folder")
        with closing(Walk(context.files, depth=deepest, ignored=ignored).below(place)) as entries:
            for entry in entries:
                seen += 1
                if entry.is_folder:
                    found += [f"{entry.path}/"] if glob is None else []
                elif matches(entry.path):
                    found.append(entry.path)
                is_whole = seen <= MAX_VISITED and time.monotonic() < deadline
                if len(found) > MAX_ENTRIES or not is_whole or context.is_cancelled:
                    break
    return ToolResult(_format(found, is_whole=is_whole), message=f"Listed {name}")


def _format(found: list[str], *, is_whole: bool) -> str:
    if len(found) > MAX_ENTRIES:
        return "\n".join([*found[:MAX_ENTRIES], "[there are more: name a folder, or give a glob]"])
    if not is_whole:
        return "\n".join([*found, "[there may be more: the workspace is too large to look at all of it]"])
    return "\n".join(found) or "nothing was found"
