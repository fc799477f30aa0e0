"""`write_file` and `edit_file`: what is replaced has to be what the model saw.

An edit names the old text; a whole new content names the version that it replaces, as `read_file` told it.
Neither needs to remember what was read: it holds after a restart too, and for several agents at once.
"""

from typing import Annotated

from agenthost.errors import ToolError
from agenthost.host.toolcontext import ToolContext
from agenthost.host.toolresults import ToolResult
from agenthost.host.tools import tool
from agenthost.tools.workspace.changing import Change, Found, change_file, preview_change
from agenthost.tools.workspace.reading import FilePath
from agenthost.tools.workspace.texts import in_the_style_of, replace
from agenthost.wire.ahp.tool import ToolResultFileEditContent

__all__ = ["edit_file", "write_file"]


def _writing(path: str, content: str, replaces: str | None) -> Change:
    def change(found: Found) -> str:
        if found.text is None:
            if replaces is not None:
                raise ToolError(f"{path!r:.200} is not there any more; leave `replaces` out to make it anew")
            return content
        text = in_the_style_of(found.text, content)
        if text == found.text:
            return text  # it is so already, such as after a restart in the middle
        if replaces is None:
            raise ToolError(
                f"{path!r:.200} is there already; read it, and give the version that read_file tells as "
                "`replaces`, or change parts of it with edit_file"
            )
        if replaces != found.version:
            raise ToolError(f"{path!r:.200} was changed since version {replaces!r:.20}; read it again first")
        return text

    return change


def _editing(path: str, old: str, new: str, *, every: bool) -> Change:
    def change(found: Found) -> str:
        if found.text is None:
            raise ToolError(f"there is no {path!r:.200} in the workspace; make a new file with write_file")
        return replace(found.text, old, new, every=every)

    return change


def _preview_write(
    path: str, content: str, context: ToolContext, replaces: str | None = None
) -> list[ToolResultFileEditContent]:
    return preview_change(context, path, _writing(path, content, replaces))


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
    content: Annotated[str, "all that is to be in it"],
    context: ToolContext,
    replaces: Annotated[str | None, "for a file that is there: its version, as read_file tells"] = None,
) -> ToolResult:
    """Write a text file of the workspace, with the folders that it needs. To change parts, use edit_file."""
    return _changed(context, path, _writing(path, content, replaces), "Wrote")


def _preview_edit(
    path: str,
    old: str,
    new: str,
    context: ToolContext,
    all: bool = False,  # noqa: A002, FBT001, FBT002 - named for the model
) -> list[ToolResultFileEditContent]:
    return preview_change(context, path, _editing(path, old, new, every=all))


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
    old: Annotated[str, "the text to replace, exactly, without line numbers; it has to occur once"],
    new: Annotated[str, "the text to put in its place"],
    context: ToolContext,
    all: Annotated[bool, "replace every occurrence"] = False,  # noqa: A002, FBT002 - named for the model
) -> ToolResult:
    """Replace text in a file of the workspace."""
    return _changed(context, path, _editing(path, old, new, every=all), "Edited")


def _changed(context: ToolContext, path: str, change: Change, verb: str) -> ToolResult:
    changed = change_file(context, path, change)
    if changed.block is None:
        return ToolResult(
            f"{changed.name} is so already; version {changed.version}", message=f"{verb} {path}"
        )
    counts = changed.block.get("diff", {})
    lines = f"+{counts.get('added', 0)} -{counts.get('removed', 0)}"
    sentence = f"{verb} {changed.name}: {lines} lines; version {changed.version}"
    return ToolResult([changed.block, sentence], message=f"{verb} {changed.name} ({lines})")
