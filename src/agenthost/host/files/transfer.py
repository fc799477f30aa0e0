"""Transfer of files and whole folders: copy, move and delete. Works on places that the jail has walked to.

A folder never replaces anything, and nothing replaces a folder: more would be lost than one can see. Links
are copied, moved and deleted as links, wherever they lead.
"""

import errno
import os
import stat
from contextlib import suppress
from dataclasses import dataclass

from agenthost.errors import InvalidValue, ResourceDenied, ResourceExists, TooLarge, TooMany
from agenthost.host.files.jail import Place
from agenthost.host.files.locks import locked
from agenthost.host.files.reader import CHUNK, opened_file, opened_folder
from agenthost.host.files.removal import remove_tree
from agenthost.host.files.uris import is_beneath
from agenthost.host.files.writer import NEW, fresh_name, publish, replace, write_all

__all__ = ["Budget", "copy", "delete", "move"]

MAX_TREE_DEPTH = 100


@dataclass(slots=True)
class Budget:
    """How much one copy may still include."""

    entries: int
    size: int
    max_entries: int
    max_bytes: int

    @classmethod
    def of(cls, entries: int, size: int) -> "Budget":
        """Return a full budget."""
        return cls(entries, size, entries, size)

    def take_entry(self) -> None:
        """Count a file or folder.

        Raises:
            TooMany: the budget is used up.
        """
        self.entries -= 1
        if self.entries < 0:
            raise TooMany("what is to be copied", self.max_entries)

    def take_bytes(self, count: int) -> None:
        """Count bytes.

        Raises:
            TooLarge: the budget is used up.
        """
        self.size -= count
        if self.size < 0:
            raise TooLarge("what is to be copied", self.max_bytes)


def delete(place: Place, *, recursive: bool) -> None:
    """Delete a file, a link or a folder.

    Raises:
        InvalidValue: the folder is not empty, and `recursive` is not set.
        ResourceNotFound: it does not exist.
    """
    if not stat.S_ISDIR(place.require_status().st_mode):
        with locked(place):
            os.unlink(place.name, dir_fd=place.folder)
    elif recursive:
        remove_tree(place.folder, place.name)
    else:
        try:
            os.rmdir(place.name, dir_fd=place.folder)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            raise InvalidValue("$.recursive", "true, as the folder is not empty", "no such wish") from None


def copy(source: Place, destination: Place, budget: Budget, *, fail_if_exists: bool) -> None:
    """Copy a file, or a folder with everything in it.

    Raises:
        InvalidValue: the destination is inside the folder itself.
        ResourceExists: the destination exists, and must not or cannot be replaced.
        ResourceNotFound: the source does not exist.
        TooLarge: it has more bytes than may be copied.
        TooMany: it has more entries than may be copied.
    """
    status = source.require_status()
    _check_meeting(status, destination, fail_if_exists=fail_if_exists)
    if source.path == destination.path:
        return
    if not stat.S_ISDIR(status.st_mode):
        _copy_file(source, destination, budget, create_only=fail_if_exists)
        return
    if is_beneath(destination.path, source.path):
        raise InvalidValue(destination.target.at, "a place outside of the copied folder", "one inside it")
    fresh = Place(destination.folder, fresh_name(), destination.path, destination.target)
    try:
        _copy_tree(source, fresh, budget, MAX_TREE_DEPTH)
        _put_folder(fresh, destination)
    except BaseException:
        with suppress(OSError):
            remove_tree(fresh.folder, fresh.name)
        raise


def _copy_file(source: Place, destination: Place, budget: Budget, *, create_only: bool) -> None:
    budget.take_entry()
    with (
        opened_file(source) as (descriptor, status),
        replace(destination, create_only=create_only, mode=_mode(status)) as written,
    ):
        _pour(descriptor, written, budget)


def _mode(status: os.stat_result) -> int:
    """Return the permissions of a copy, without setuid and setgid bits."""
    return stat.S_IMODE(status.st_mode) & 0o777


def _pour(descriptor: int, written: int, budget: Budget) -> None:
    while chunk := os.read(descriptor, CHUNK):
        budget.take_bytes(len(chunk))
        write_all(written, chunk)


def _copy_tree(source: Place, destination: Place, budget: Budget, depth: int) -> None:
    if depth == 0:
        raise TooMany("the depth of the folder", MAX_TREE_DEPTH)
    budget.take_entry()
    os.mkdir(destination.name, 0o700, dir_fd=destination.folder)
    with opened_folder(source) as old, opened_folder(destination) as new:
        with os.scandir(old) as found:
            for entry in found:
                inner = Place(old, entry.name, source.path, source.target)
                copied = Place(new, entry.name, destination.path, destination.target)
                if entry.is_dir(follow_symlinks=False):
                    _copy_tree(inner, copied, budget, depth - 1)
                else:
                    _copy_leaf(inner, copied, budget, is_link=entry.is_symlink())
        os.fchmod(new, _mode(os.fstat(old)))


def _copy_leaf(source: Place, destination: Place, budget: Budget, *, is_link: bool) -> None:
    """Copy a file or link into a folder that nobody sees yet, so it need not be atomic."""
    budget.take_entry()
    if is_link:
        os.symlink(
            os.readlink(source.name, dir_fd=source.folder), destination.name, dir_fd=destination.folder
        )
        return
    with opened_file(source) as (descriptor, status):
        written = os.open(destination.name, NEW, _mode(status), dir_fd=destination.folder)
        try:
            _pour(descriptor, written, budget)
        finally:
            os.close(written)


def move(source: Place, destination: Place, budget: Budget, *, fail_if_exists: bool) -> None:
    """Move a file, a link or a folder. Between file systems it is copied, then deleted.

    Raises:
        InvalidValue: the destination is inside the folder itself.
        ResourceExists: the destination exists, and must not or cannot be replaced.
        ResourceNotFound: the source does not exist.
    """
    status = source.require_status()
    _check_meeting(status, destination, fail_if_exists=fail_if_exists)
    if source.path == destination.path:
        return
    is_folder = stat.S_ISDIR(status.st_mode)
    if is_folder and is_beneath(destination.path, source.path):
        raise InvalidValue(destination.target.at, "a place outside of the moved folder", "one inside it")
    try:
        if is_folder:
            _put_folder(source, destination)
        else:
            with locked(source, destination):
                publish(source.folder, source.name, destination, create_only=fail_if_exists)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _move_far(source, destination, budget, status, fail_if_exists=fail_if_exists)


def _move_far(
    source: Place, destination: Place, budget: Budget, status: os.stat_result, *, fail_if_exists: bool
) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise InvalidValue(destination.target.at, "a place on the same file system", "one on another")
    copy(source, destination, budget, fail_if_exists=fail_if_exists)
    delete(source, recursive=True)


def _check_meeting(status: os.stat_result, destination: Place, *, fail_if_exists: bool) -> None:
    """Refuse to replace what must not be replaced, before anything changes."""
    there = destination.status()
    if there is None:
        return
    is_same = os.path.samestat(status, there)
    is_folder = stat.S_ISDIR(status.st_mode) or stat.S_ISDIR(there.st_mode)
    if fail_if_exists or (is_folder and not is_same):
        raise ResourceExists(destination.target.uri)
    if stat.S_ISLNK(there.st_mode) and not is_same:
        raise ResourceDenied(f"{destination.target.uri!r:.200} is a link, and nothing is written through it")


def _put_folder(source: Place, destination: Place) -> None:
    """Give a folder this name if it is free: `rename` replaces an empty folder, so reserve it with ours."""
    try:
        os.mkdir(destination.name, 0o700, dir_fd=destination.folder)
    except FileExistsError:
        raise ResourceExists(destination.target.uri) from None
    try:
        os.rename(source.name, destination.name, src_dir_fd=source.folder, dst_dir_fd=destination.folder)
    except BaseException:
        with suppress(OSError):
            os.rmdir(destination.name, dir_fd=destination.folder)
        raise
