"""Changing a file: from what is in it to what shall be, all at once or not at all. Knows no tool.

Calls for one file wait for each other. If others write it in between, the change is made again of what is
there then, so nothing is lost; what no longer fits fails by itself.
"""

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import TypeAlias

from agenthost.errors import TooLarge, ToolError
from agenthost.host.files.jail import BOTH, WRITE, Place, kind_of
from agenthost.host.files.reading import opened_file, read_opened
from agenthost.host.files.uris import Parts, path_of
from agenthost.host.files.workspace import Workspace
from agenthost.host.files.writing import write_file
from agenthost.host.toolcontext import ToolContext
from agenthost.tools.workspace.paths import NotThere, at, name_of, target_of
from agenthost.tools.workspace.texts import MAX_TEXT, decoded, encoded, version_of
from agenthost.wire.ahp.tool import ToolResultFileEditContent

__all__ = ["NOTHING", "Change", "Changed", "Found", "change_file", "preview_change"]

LARGEST_FILE = MAX_TEXT
ATTEMPTS = 5
"""How often a change is made anew because somebody else wrote the file meanwhile."""

_LOCKS = [Lock() for _ in range(64)]
"""One for each file, more or less: two files may share one."""


@dataclass(frozen=True, slots=True)
class Found:
    """What is in a file: its text and version; no text, if there is no file.

    `stamp` tells whether it is still the same.
    """

    text: str | None = None
    version: str = ""
    stamp: tuple[int, ...] | None = None


NOTHING = Found()

Change: TypeAlias = Callable[[Found], str]
"""Gives the new text for what was found; what it raises leaves the file as it is."""


@dataclass(frozen=True, slots=True)
class Changed:
    """What became of a file: its name for the model, and its version; no block if it was so already."""

    name: str
    version: str
    block: ToolResultFileEditContent | None


def preview_change(context: ToolContext, path: str, change: Change) -> list[ToolResultFileEditContent]:
    """Give the edit that a change would be, without making it."""
    files = context.files
    try:
        with at(files, path, BOTH) as place:
            found = _find(place)
    except NotThere:
        found = NOTHING
    new = change(found)
    return [] if new == found.text else [_block(context, target_of(files, path).path, found, new)]


def change_file(context: ToolContext, path: str, change: Change) -> Changed:
    """Change a file. Folders that it needs are made, once it is clear that there will be a file.

    Raises:
        ToolError: it may not be changed, or the change does not fit; nothing was changed.
    """
    files = context.files
    with _LOCKS[hash(target_of(files, path).path) % len(_LOCKS)]:
        for _ in range(ATTEMPTS):
            try:
                with at(files, path, BOTH) as place:
                    changed = _change(context, place, change)
            except NotThere:
                change(NOTHING)
                _make_folders(files, path)
                continue
            if changed is not None:
                return changed
    raise ToolError(f"{path!r:.200} is being changed by others all the time; try again later")


def _change(context: ToolContext, place: Place, change: Change) -> Changed | None:
    """Change a file; nothing, if somebody else did meanwhile."""
    found = _find(place)
    new = change(found)
    data = encoded(new)
    if len(data) > LARGEST_FILE:
        raise TooLarge("the text", LARGEST_FILE)
    name = name_of(context.files, place.path)
    if new == found.text:
        return Changed(name, found.version, None)
    if _stamp(place.status()) != found.stamp:
        return None
    write_file(place, data, create_only=found.text is None)
    return Changed(name, version_of(data), _block(context, place.path, found, new))


def _block(context: ToolContext, path: Parts, found: Found, new: str) -> ToolResultFileEditContent:
    return context.edited(path_of(path), found.text, new)


def _find(place: Place) -> Found:
    status = place.status()
    if status is None:
        return NOTHING
    name = place.target.uri
    if not stat.S_ISREG(status.st_mode):
        raise ToolError(f"{name!r:.200} is {kind_of(status)}, and only files are written")
    with opened_file(place) as (descriptor, opened):
        if opened.st_size > LARGEST_FILE:
            raise ToolError(f"{name!r:.200} is larger than {LARGEST_FILE} bytes; change it by a command")
        data = read_opened(descriptor, LARGEST_FILE)
    text = decoded(data)
    if text is None:
        raise ToolError(f"{name!r:.200} is binary, and only text is written")
    return Found(text, version_of(data), _stamp(opened))


def _stamp(status: os.stat_result | None) -> tuple[int, ...] | None:
    return None if status is None else (status.st_ino, status.st_dev, status.st_size, status.st_mtime_ns)


def _make_folders(files: Workspace, path: str) -> None:
    """Make the folders that a path goes through, as far as they are not there."""
    target = target_of(files, path)
    for depth in range(len(files.path) + 1, len(target.path)):
        name = name_of(files, target.path[:depth])
        with at(files, name, WRITE) as place:
            status = place.status()
            if status is None:
                with suppress(FileExistsError):  # somebody else was quicker
                    os.mkdir(place.name, dir_fd=place.folder)
            elif not stat.S_ISDIR(status.st_mode):
                raise ToolError(f"{name!r:.200} is {kind_of(status)}, so nothing can be in it")
