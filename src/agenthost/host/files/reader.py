"""The reader: content of files and entries of folders. Works on places that the jail has walked to."""

import os
import stat
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from mimetypes import MimeTypes
from typing import Literal

from agenthost.errors import HostError, InvalidValue, TooLarge, TooMany
from agenthost.host.files.jail import READ, Jail, Place, file_kind
from agenthost.host.files.params import Encoding, FolderEntry, ReadResult
from agenthost.host.files.uris import Target, uri_of

__all__ = [
    "encode_content",
    "guess_content_type",
    "list_folder",
    "opened_file",
    "opened_folder",
    "read_file",
    "read_opened",
]

CHUNK = 1024 * 1024

# Non-blocking: opening a pipe would otherwise wait for a writer.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC

# Python's own table, not this machine's, so that the answer is the same everywhere.
_TYPES = MimeTypes()


@contextmanager
def opened_file(place: Place) -> Iterator[tuple[int, os.stat_result]]:
    """Open a regular file for reading. Return its descriptor and its status.

    Raises:
        InvalidValue: it is not a regular file.
    """
    descriptor = os.open(place.name, _FILE, dir_fd=place.folder)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise InvalidValue(place.target.at, "a file", file_kind(status))
        yield descriptor, status
    finally:
        os.close(descriptor)


@contextmanager
def opened_folder(place: Place) -> Iterator[int]:
    """Open a folder to list it."""
    descriptor = os.open(place.name, _FOLDER, dir_fd=place.folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def read_file(place: Place, limit: int) -> bytes:
    """Read a whole file. Its size is checked first, so that a file that is too large costs nothing.

    Raises:
        TooLarge: it has more bytes than the limit.
    """
    with opened_file(place) as (descriptor, status):
        if status.st_size > limit:
            raise TooLarge("the file", limit)
        return read_opened(descriptor, limit)


def read_opened(descriptor: int, limit: int) -> bytes:
    """Read the rest of an open file.

    Raises:
        TooLarge: there are more bytes than the limit.
    """
    chunks: list[bytes] = []
    size = 0
    while chunk := os.read(descriptor, CHUNK):
        size += len(chunk)
        if size > limit:  # it grew, or it does not report its size, as in /proc
            raise TooLarge("the file", limit)
        chunks.append(chunk)
    return b"".join(chunks)


def list_folder(jail: Jail, place: Place, limit: int) -> list[FolderEntry]:
    """Return the entries of a folder, sorted by name.

    A link counts as its target if that may be read, else as a file. A name that is not valid UTF-8 is shown
    with replacement characters, so that people see that something is there.

    Raises:
        TooMany: there are more entries than the limit. AHP cannot say that some were left out.
    """
    entries: list[FolderEntry] = []
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


def encode_content(data: bytes, wish: Encoding | None, content_type: str | None = None) -> ReadResult:
    """Return bytes as text if they decode and base64 was not requested, else as base64.

    If no encoding was requested, data with a null byte is not text.
    """
    answer: ReadResult | None = None
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


def guess_content_type(name: str) -> str | None:
    """Guess the content type of a file from its name."""
    kind, packed = _TYPES.guess_type(name)
    return None if packed else kind
