"""`write_file` and `edit_file`: they replace only what the model has seen.

An edit names the old text; a whole new content names the version that it replaces, as `read_file` reported
it. So nothing has to be remembered about reads: it works after a restart, and for several agents at once.
"""

from typing import Annotated

from agenthost.errors import ToolError
from agenthost.host.authoring.tool import tool
from agenthost.host.authoring.tool_context import ToolContext
from agenthost.host.authoring.tool_results import ToolResult
from agenthost.tools.workspace.file_changes import CurrentFile, TextChange, change_file, preview_change
from agenthost.tools.workspace.file_reader import FilePath
from agenthost.tools.workspace.texts import match_style, replace
from agenthost.wire.ahp.tool import ToolResultFileEditContent

__all__ = ["edit_file", "write_file"]


def _write_change(path: str, content: str, replaces: str | None) -> TextChange:
    def change(found: CurrentFile) -> str:
        if found.text is None:
            if replaces is not None:
                raise ToolError(f"{path!r:.200} no longer exists; leave `replaces` out to create it again")
            return content
        text = match_style(found.text, content)
        if text == found.text:
            return text  # nothing to do, for example after a restart
        if replaces is None:
            raise ToolError(
                f"{path!r:.200} already exists; read it, and pass the version that read_file reports as "
                "`replaces`, or change parts of it with edit_file"
            )
        if replaces != found.version:
            raise ToolError(f"{path!r:.200} has changed since version {replaces!r:.20}; read it again first")
        return text

    return change


def _edit_change(path: str, old: str, new: str, *, every: bool) -> TextChange:
    def change(found: CurrentFile) -> str:
        if found.text is None:
            raise ToolError(f"there is no {path!r:.200} in the workspace; create a new file with write_file")
        return replace(found.text, old, new, every=every)

    return change


def _preview_write(
    path: str, content: str, context: ToolContext, replaces: str | None = None
) -> list[ToolResultFileEditContent]:
    return preview_change(context, path, _write_change(path, content, replaces))


@tool(
    title="Write file",
    read_only=False,
    destructive=True,
    idempotent=True,
    open_world=False,
    editable=True,
    invocation="Write {path}",
    preview=_preview_write,
    grant="files",
)
def write_file(
    path: FilePath,
    content: Annotated[str, "the whole content of the file"],
    context: ToolContext,
    replaces: Annotated[str | None, "if the file exists: its version, as read_file reports it"] = None,
) -> ToolResult:
    """Write a text file of the workspace, and create missing folders. To change parts, use edit_file."""
    return _apply(context, path, _write_change(path, content, replaces), "Wrote")


def _preview_edit(
    path: str,
    old: str,
    new: str,
    context: ToolContext,
    all: bool = False,  # noqa: A002, FBT001, FBT002 - named for the model
) -> list[ToolResultFileEditContent]:
    return preview_change(context, path, _edit_change(path, old, new, every=all))


@tool(
    title="Edit file",
    read_only=False,
    destructive=True,
    idempotent=False,
    open_world=False,
    editable=True,
    invocation="Edit {path}",
    preview=_preview_edit,
    grant="files",
)
def edit_file(
    path: FilePath,
    old: Annotated[str, "the exact text to replace, without line numbers; it has to occur once"],
    new: Annotated[str, "the text to put in its place"],
    context: ToolContext,
    all: Annotated[bool, "replace every occurrence"] = False,  # noqa: A002, FBT002 - named for the model
) -> ToolResult:
    """Replace text in a file of the workspace."""
    return _apply(context, path, _edit_change(path, old, new, every=all), "Edited")


def _apply(context: ToolContext, path: str, change: TextChange, verb: str) -> ToolResult:
    changed = change_file(context, path, change)
    if changed.block is None:
        return ToolResult(
            f"{changed.name} already has this content; version {changed.version}", message=f"{verb} {path}"
        )
    counts = changed.block.get("diff", {})
    lines = f"+{counts.get('added', 0)} -{counts.get('removed', 0)}"
    sentence = f"{verb} {changed.name}: {lines} lines; version {changed.version}"
    return ToolResult([changed.block, sentence], message=f"{verb} {changed.name} ({lines})")
