"""Atomic changes of a file: from its current text to a new one.

Calls for the same file wait for each other. If another program writes it in between, the change is computed
again from the new content, so nothing is lost; a change that no longer applies fails.
"""

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import TypeAlias

from agenthost.errors import TooLarge, ToolError
from agenthost.host.authoring.tool_context import ToolContext
from agenthost.host.files.jail import BOTH, WRITE, Place, file_kind
from agenthost.host.files.reader import opened_file, read_opened
from agenthost.host.files.uris import Parts, to_path
from agenthost.host.files.workspace import Workspace
from agenthost.host.files.writer import write_file
from agenthost.tools.workspace.paths import PathNotFound, open_path, relative_path, resolve_path
from agenthost.tools.workspace.texts import MAX_TEXT, content_version, decode_text, encode_text
from agenthost.wire.ahp.tool import ToolResultFileEditContent

__all__ = ["NO_FILE", "ChangedFile", "CurrentFile", "TextChange", "change_file", "preview_change"]

MAX_FILE_BYTES = MAX_TEXT
ATTEMPTS = 5
"""How often a change is tried while other programs write the file."""

_LOCKS = [Lock() for _ in range(64)]
"""Locks by hash of the path: two files may share one."""


@dataclass(frozen=True, slots=True)
class CurrentFile:
    """The current content of a file.

    Attributes:
        text: its text; `None` if there is no file.
        version: its version, as `read_file` reports it.
        stamp: identifies this state of the file, to detect writes of others.
    """

    text: str | None = None
    version: str = ""
    stamp: tuple[int, ...] | None = None


NO_FILE = CurrentFile()

TextChange: TypeAlias = Callable[[CurrentFile], str]
"""Returns the new text for the current file. If it raises, the file stays as it is."""


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """The result of a change.

    Attributes:
        name: the path, relative to the workspace.
        version: the version after the change.
        block: the edit; `None` if nothing had to be changed.
    """

    name: str
    version: str
    block: ToolResultFileEditContent | None


def preview_change(context: ToolContext, path: str, change: TextChange) -> list[ToolResultFileEditContent]:
    """Return the edit that a change would make, without making it."""
    files = context.files
    try:
        with open_path(files, path, BOTH) as place:
            found = _find(place)
    except PathNotFound:
        found = NO_FILE
    new = change(found)
    return [] if new == found.text else [_block(context, resolve_path(files, path).path, found, new)]


def change_file(context: ToolContext, path: str, change: TextChange) -> ChangedFile:
    """Change a file. Missing folders are created once the change is known to apply.

    Raises:
        ToolError: the file may not be changed, or the change does not apply; nothing was changed.
    """
    files = context.files
    with _LOCKS[hash(resolve_path(files, path).path) % len(_LOCKS)]:
        for _ in range(ATTEMPTS):
            try:
                with open_path(files, path, BOTH) as place:
                    changed = _change(context, place, change)
            except PathNotFound:
                change(NO_FILE)
                _make_folders(files, path)
                continue
            if changed is not None:
                return changed
    raise ToolError(f"{path!r:.200} is constantly being changed by others; try again later")


def _change(context: ToolContext, place: Place, change: TextChange) -> ChangedFile | None:
    """Change a file; `None` if another program wrote it in between."""
    found = _find(place)
    new = change(found)
    data = encode_text(new)
    if len(data) > MAX_FILE_BYTES:
        raise TooLarge("the text", MAX_FILE_BYTES)
    name = relative_path(context.files, place.path)
    if new == found.text:
        return ChangedFile(name, found.version, None)
    if _stamp(place.status()) != found.stamp:
        return None
    write_file(place, data, create_only=found.text is None)
    return ChangedFile(name, content_version(data), _block(context, place.path, found, new))


def _block(context: ToolContext, path: Parts, found: CurrentFile, new: str) -> ToolResultFileEditContent:
    return context.edited(to_path(path), found.text, new)


def _find(place: Place) -> CurrentFile:
    status = place.status()
    if status is None:
        return NO_FILE
    name = place.target.uri
    if not stat.S_ISREG(status.st_mode):
        raise ToolError(f"{name!r:.200} is {file_kind(status)}; only files can be written")
    with opened_file(place) as (descriptor, opened):
        if opened.st_size > MAX_FILE_BYTES:
            raise ToolError(f"{name!r:.200} is larger than {MAX_FILE_BYTES} bytes; change it with a command")
        data = read_opened(descriptor, MAX_FILE_BYTES)
    text = decode_text(data)
    if text is None:
        raise ToolError(f"{name!r:.200} is binary; only text can be written")
    return CurrentFile(text, content_version(data), _stamp(opened))


def _stamp(status: os.stat_result | None) -> tuple[int, ...] | None:
    return None if status is None else (status.st_ino, status.st_dev, status.st_size, status.st_mtime_ns)


def _make_folders(files: Workspace, path: str) -> None:
    """Create the missing folders of a path."""
    target = resolve_path(files, path)
    for depth in range(len(files.path) + 1, len(target.path)):
        name = relative_path(files, target.path[:depth])
        with open_path(files, name, WRITE) as place:
            status = place.status()
            if status is None:
                with suppress(FileExistsError):  # another program was faster
                    os.mkdir(place.name, dir_fd=place.folder)
            elif not stat.S_ISDIR(status.st_mode):
                raise ToolError(f"{name!r:.200} is {file_kind(status)}, not a folder")
