"""Previews: what somebody sees who is asked about a tool call, found out before it is asked for.

Knows tools; nothing of sessions. A preview is a help: one that fails or takes long is left out, and the call
is asked for without it.
"""

import asyncio
import inspect
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeAlias

from agenthost.errors import HostError
from agenthost.host.storage import PutContent
from agenthost.host.toolcontext import ToolContext, run_in_thread
from agenthost.wire.ahp.tool import FileEdit, ToolResultFileEditContent
from agenthost.wire.json import Json, JsonObject, encode_json

if TYPE_CHECKING:
    from agenthost.host.tools import Tool

__all__ = ["PREVIEW_SECONDS", "FindEdits", "FindScope", "Preview", "Scope", "preview_of"]

PREVIEW_SECONDS = 2.0
"""How long a call may be held up by it."""

logger = logging.getLogger("agenthost.tools")

FindEdits: TypeAlias = Callable[..., Any]
"""Takes what the tool takes; gives the blocks of the edits that it would make (`ToolContext.edited`)."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What an approval for the whole session is good for, if not for all calls of a tool.

    Attributes:
        key: the same for all calls that it is good for.
        label: what it is, after "Allow": `exactly this`.
        is_command: whether it is a command, which may do anything. Then all of them may be approved at once
            only where they run in a sandbox.
    """

    key: str
    label: str
    is_command: bool = False

    @classmethod
    def exactly(cls, value: Json, label: str = "exactly this", *, is_command: bool = False) -> "Scope":
        """Make one that is good for this input, or this part of it, and no other."""
        return cls(f"={sha256(encode_json(value)).hexdigest()[:32]}", label, is_command)


FindScope: TypeAlias = Callable[..., Scope | None]
"""Takes what the tool takes, but the context; quick, as it is called on the event loop."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What a call would change.

    Attributes:
        edits: the files, before and after.
        writes: the contents that they refer to, to be written when they are shown.
    """

    edits: list[FileEdit] = field(default_factory=list)
    writes: Sequence[PutContent] = ()


async def preview_of(one: "Tool", arguments: JsonObject, context: ToolContext) -> Preview:
    """Find out what a call would change; nothing, if that cannot be told in time."""
    if one.preview is None:
        return Preview()
    values = one.read(arguments)
    if one.signature.context:
        values[one.signature.context] = context
    try:
        async with asyncio.timeout(PREVIEW_SECONDS):
            blocks = await _edits(one, one.preview, values)
    except HostError:  # what it would say, the call itself will
        return Preview()
    except Exception:
        logger.warning("the preview of tool %s failed", one.name, exc_info=True)
        return Preview()
    return Preview([_edit(block) for block in blocks or ()], context.writes)


async def _edits(one: "Tool", preview: FindEdits, values: dict[str, Any]) -> Any:
    if inspect.iscoroutinefunction(preview):
        return await preview(**values)
    return await run_in_thread(lambda: preview(**values), one.name)


def _edit(block: ToolResultFileEditContent) -> FileEdit:
    edit: Any = {key: value for key, value in block.items() if key != "type"}
    return edit  # type: ignore[no-any-return]
