"""Previews: the changes that a tool call would make, shown to whoever is asked to approve it.

Knows tools; nothing of sessions. A preview is optional: if finding it fails or takes too long, the user is
asked without it.
"""

import asyncio
import inspect
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agenthost.errors import HostError
from agenthost.host.authoring.threads import run_in_thread
from agenthost.host.authoring.tool import FindEdits, Tool
from agenthost.host.authoring.tool_context import ToolContext
from agenthost.host.storage import PutContent
from agenthost.wire.ahp.tool import FileEdit, ToolResultFileEditContent
from agenthost.wire.json import JsonObject

__all__ = ["PREVIEW_SECONDS", "Preview", "preview_of"]

PREVIEW_SECONDS = 2.0
"""How long a preview may delay a call."""

logger = logging.getLogger("agenthost.tools")


@dataclass(frozen=True, slots=True)
class Preview:
    """What a call would change.

    Attributes:
        edits: the files, before and after.
        writes: the contents that the edits refer to, written when they are shown.
    """

    edits: list[FileEdit] = field(default_factory=list)
    writes: Sequence[PutContent] = ()


async def preview_of(one: Tool, arguments: JsonObject, context: ToolContext) -> Preview:
    """Return what a call would change; empty if that cannot be found out in time."""
    if one.preview is None:
        return Preview()
    values = one.read(arguments)
    if one.signature.context:
        values[one.signature.context] = context
    try:
        async with asyncio.timeout(PREVIEW_SECONDS):
            blocks = await _edits(one, one.preview, values)
    except HostError:  # the call itself will fail with the same error
        return Preview()
    except Exception:
        logger.warning("the preview of tool %s failed", one.name, exc_info=True)
        return Preview()
    return Preview([_edit(block) for block in blocks or ()], context.writes)


async def _edits(one: Tool, preview: FindEdits, values: dict[str, Any]) -> Any:
    if inspect.iscoroutinefunction(preview):
        return await preview(**values)
    return await run_in_thread(lambda: preview(**values), one.name)


def _edit(block: ToolResultFileEditContent) -> FileEdit:
    edit: Any = {key: value for key, value in block.items() if key != "type"}
    return edit  # type: ignore[no-any-return]
