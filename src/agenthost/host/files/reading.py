"""Reading: what is in a file, and what is in a folder. Works on places that the jail has walked to."""

import os
import stat
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from mimetypes import MimeTypes
from typing import Literal

from agenthost.errors import HostError, InvalidValue, TooLarge, TooMany
from agenthost.host.files.jail import READ, Jail, Place, kind_of
from agenthost.host.files.uris import Target, uri_of
from agenthost.wire.ahp.commands.resource import DirectoryEntry, ResourceReadResult
from agenthost.wire.ahp.enums import ContentEncoding

__all__ = [
    "answer_with",
    "content_type_of",
    "list_folder",
    "opened_file",
    "opened_folder",
    "read_file",
    "read_opened",
]

CHUNK = 1024 * 1024

# Not blocking: opening a pipe would wait for somebody to write into it.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC

# The types that Python knows, not those of this machine: the answer is the same everywhere.
_TYPES = MimeTypes()


@contextmanager
def opened_file(place: Place) -> Iterator[tuple[int, os.stat_result]]:
    """Open a plain file to read it; gives its descriptor and what it was like when it was opened.

    Raises:
        InvalidValue: it is something else.
    """
    descriptor = os.open(place.name, _FILE, dir_fd=place.folder)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise InvalidValue(place.target.at, "a file", kind_of(status))
        yield descriptor, status
    finally:
        os.close(descriptor)


@contextmanager
def opened_folder(place: Place) -> Iterator[int]:
    """Open a folder to see what is in it."""
    descriptor = os.open(place.name, _FOLDER, dir_fd=place.folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def read_file(place: Place, limit: int) -> bytes:
    """Read a file whole; its size is looked at first, so that one that is too large costs nothing.

    Raises:
        TooLarge: it has more bytes than the limit.
    """
    with opened_file(place) as (descriptor, status):
        if status.st_size > limit:
            raise TooLarge("the file", limit)
        return read_opened(descriptor, limit)


def read_opened(descriptor: int, limit: int) -> bytes:
    """Read what is left of a file that is open.

    Raises:
        TooLarge: there are more bytes than the limit.
    """
    chunks: list[bytes] = []
    size = 0
    while chunk := os.read(descriptor, CHUNK):
        size += len(chunk)
        if size > limit:  # it grew, or is of the kind that does not know its size
            raise TooLarge("the file", limit)
        chunks.append(chunk)
    return b"".join(chunks)


def list_folder(jail: Jail, place: Place, limit: int) -> list[DirectoryEntry]:
    """Give what is in a folder, by name.

    A link counts as what it leads to, as far as that may be read; else as a file. A name that is no UTF-8 is
    shown with marks in place of what cannot be, so that people see that something is there.

    Raises:
        TooMany: there are more entries than the limit; there is no way to say that some were left out.
    """
    entries: list[DirectoryEntry] = []
    with opened_folder(place) as folder, os.scandir(folder) as found:
        for entry in found:
            if len(entries) == limit:
                raise TooMany("the folder", limit)
            if entry.is_symlink():
                kind = _end_of_link(jail, place, entry.name)
            else:
                kind = "directory" if entry.is_dir(follow_symlinks=False) else "file"
            name = entry.name if entry.name.isascii() else _shown(entry.name)
            entries.append({"name": name, "type": kind})
    entries.sort(key=lambda entry: entry["name"])
    return entries


def _shown(name: str) -> str:
    return os.fsencode(name).decode(errors="replace")


def _end_of_link(jail: Jail, place: Place, name: str) -> Literal["file", "directory"]:
    path = (*place.path, name)
    try:
        with jail.place(Target(uri_of(path), path), READ, follow=True) as end:
            status = end.status()
    except HostError:
        return "file"
    return "directory" if status is not None and stat.S_ISDIR(status.st_mode) else "file"


def answer_with(
    data: bytes, wish: ContentEncoding | None, content_type: str | None = None
) -> ResourceReadResult:
    """Give bytes as text, if they are and nobody wants otherwise, else as base64.

    Without a wish, bytes with a null among them are no text, whatever they decode to.
    """
    answer: ResourceReadResult | None = None
    if wish == "utf-8" or (wish is None and b"\0" not in data):
        try:
            answer = {"data": data.decode(), "encoding": "utf-8"}
        except UnicodeDecodeError:
            answer = None
    if answer is None:
        answer = {"data": b64encode(data).decode(), "encoding": "base64"}
    if content_type is not None:
        answer["contentType"] = content_type
    return answer


def content_type_of(name: str) -> str | None:
    """Guess what kind of content a file has, by its name."""
    kind, packed = _TYPES.guess_type(name)
    return None if packed else kind
