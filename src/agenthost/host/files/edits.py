"""Writes into a file that exists: at its end, at a position, or from a position on."""

import os
import stat
from contextlib import suppress
from dataclasses import dataclass

from agenthost.errors import InvalidValue, ResourceConflict, ResourceExists, TooLarge
from agenthost.host.files.etags import check_etag, etag_of
from agenthost.host.files.jail import Place, file_kind
from agenthost.host.files.locks import locked
from agenthost.host.files.params import WriteMode
from agenthost.host.files.reader import opened_file, read_opened
from agenthost.host.files.writer import check_replaceable, write_file

__all__ = ["Edit", "edit_file", "spliced"]

ATTEMPTS = 5
"""How often a change is tried while other programs write the file."""

_APPEND = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Edit:
    """How data is written.

    Attributes:
        mode: where the data goes, and what becomes of the rest.
        position: in bytes; from the end with `append`, else from the start. Beyond the file, it is its end.
        create_only: whether the file must be new.
        if_match: the etag that the file must have.
    """

    mode: WriteMode = "truncate"
    position: int = 0
    create_only: bool = False
    if_match: str | None = None


def edit_file(place: Place, data: bytes, edit: Edit, limit: int) -> None:
    """Write data into a file, which is created if it does not exist.

    Raises:
        InvalidValue: it is not a regular file.
        ResourceConflict: it is not in the state that `if_match` names.
        ResourceDenied: it is a link, or may not be written.
        ResourceExists: it exists, and must be new.
        TooLarge: it would have more bytes than the limit.
    """
    if edit.mode == "truncate" and edit.position == 0:
        write_file(place, data, create_only=edit.create_only, if_match=edit.if_match)
        return
    with locked(place):
        for attempt in range(ATTEMPTS):
            try:
                _edit(place, data, edit, limit)
            except (ResourceConflict, ResourceExists):
                # Another program was faster. The request may still be possible.
                if edit.if_match is not None or edit.create_only or attempt == ATTEMPTS - 1:
                    raise
            else:
                return


def _edit(place: Place, data: bytes, edit: Edit, limit: int) -> None:
    before = check_replaceable(place, create_only=edit.create_only)
    check_etag(place, edit.if_match, before)
    if before is None:
        write_file(place, data, create_only=True)
    elif edit.mode == "append" and edit.position == 0 and before.st_nlink == 1:
        _append(place, data, edit, limit)
    else:
        # A file with several names is replaced: the others may be in folders that must not be written.
        _rewrite(place, data, edit, limit)


def _append(place: Place, data: bytes, edit: Edit, limit: int) -> None:
    """Append to the file itself, as the system does it: what other programs append stays whole too (X2)."""
    descriptor = os.open(place.name, _APPEND, dir_fd=place.folder)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise InvalidValue(place.target.at, "a file", file_kind(status))
        if status.st_nlink > 1:
            raise ResourceConflict(place.target.uri)
        check_etag(place, edit.if_match, status)
        if status.st_size + len(data) > limit:
            raise TooLarge("the file", limit)
        _write_whole(descriptor, data, status.st_size)
    finally:
        os.close(descriptor)


def _write_whole(descriptor: int, data: bytes, start: int) -> None:
    """Append all of the data. If the disk is full, take back what was written."""
    written = 0
    try:
        while written < len(data):
            written += os.write(descriptor, memoryview(data)[written:])
        os.fsync(descriptor)
    except OSError:
        with suppress(OSError):
            if os.fstat(descriptor).st_size == start + written:  # nobody else has appended
                os.ftruncate(descriptor, start)
        raise


def _rewrite(place: Place, data: bytes, edit: Edit, limit: int) -> None:
    with opened_file(place) as (descriptor, status):
        check_etag(place, edit.if_match, status)
        if status.st_size > limit:
            raise TooLarge("the file", limit)
        new = spliced(read_opened(descriptor, limit), data, edit.mode, edit.position)
    if len(new) > limit:
        raise TooLarge("the file", limit)
    write_file(place, new, create_only=False, if_match=etag_of(status))


def spliced(old: bytes, data: bytes, mode: WriteMode, position: int) -> bytes:
    """Return the content of a file after a write."""
    if mode == "truncate":
        return old[:position] + data
    start = max(0, len(old) - position) if mode == "append" else position
    return old[:start] + data + old[start:]
