"""`list_files`: what is in the workspace, or in a folder of it; bounded, and without what git ignores."""

import stat
import time
from contextlib import closing
from typing import Annotated

from agenthost.errors import ToolError
from agenthost.host.files.jail import READ, kind_of
from agenthost.host.toolcontext import ToolContext
from agenthost.host.toolresults import ToolResult
from agenthost.host.tools import tool
from agenthost.tools.workspace.paths import at, name_of
from agenthost.tools.workspace.walking import DEEPEST, Walk, fitting

__all__ = ["list_files"]

MOST_ENTRIES = 1_000
MOST_SEEN = 500_000
"""How many entries are looked at for those that fit."""

MAX_SECONDS = 30.0
"""How long is looked: many files, and many rules of what to leave out, take their time."""

DEPTH = 2


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
    path: Annotated[str, "the folder, seen from the workspace"] = ".",
    glob: Annotated[str | None, "only files that fit, at any depth: *.py, or src/**/*.{ts,tsx}"] = None,
    depth: Annotated[int | None, "how many folders deep; 2 without a glob"] = None,
    ignored: Annotated[bool, "also what .gitignore leaves out"] = False,  # noqa: FBT002 - by name
) -> ToolResult:
    """List files and folders of the workspace, as paths that other tools take; folders end with a slash."""
    if depth is not None and depth < 1:
        raise ToolError("`depth` has to be at least 1")
    fits = fitting(glob)
    deepest = depth or (DEPTH if glob is None else DEEPEST)
    found: list[str] = []
    seen = 0
    deadline = time.monotonic() + MAX_SECONDS
    is_whole = True
    with at(context.files, path, READ, follow=True) as place:
        name = name_of(context.files, place.path)
        status = place.needed_status()
        if not stat.S_ISDIR(status.st_mode):
            raise ToolError(f"{name!r:.200} is {kind_of(status)}, not a folder")
        with closing(Walk(context.files, depth=deepest, ignored=ignored).below(place)) as entries:
            for entry in entries:
                seen += 1
                if entry.is_folder:
                    found += [f"{entry.path}/"] if glob is None else []
                elif fits(entry.path):
                    found.append(entry.path)
                is_whole = seen <= MOST_SEEN and time.monotonic() < deadline
                if len(found) > MOST_ENTRIES or not is_whole or context.is_cancelled:
                    break
    return ToolResult(_told(found, is_whole=is_whole), message=f"Listed {name}")


def _told(found: list[str], *, is_whole: bool) -> str:
    if len(found) > MOST_ENTRIES:
        return "\n".join([*found[:MOST_ENTRIES], "[there are more: name a folder, or give a glob]"])
    if not is_whole:
        return "\n".join([*found, "[there may be more: the workspace is too large to look at all of it]"])
    return "\n".join(found) or "nothing was found"
