"""Writing: a file appears or changes all at once, or not at all.

What is new is written under another name in the same folder, and takes its place in one step. So a
condition that does not hold, a full disk or a crash leaves neither an empty file nor half of one.
"""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from agenthost.errors import InvalidValue, ResourceDenied, ResourceExists
from agenthost.host.files.jail import Place, kind_of

__all__ = ["NEW", "fresh_name", "publish", "replace", "write_all", "write_file"]

# Some file systems have no second names for a file.
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)

# Only where nothing is, so that it cannot be a link either.
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_TRY = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def write_file(place: Place, data: bytes, *, create_only: bool) -> None:
    """Let a file hold these bytes. One that is there keeps its permissions.

    Raises:
        ResourceDenied: it is a link, or may not be written.
        ResourceExists: it is there, and was to be new.
        InvalidValue: it is a folder, or no file at all.
    """
    with replace(place, create_only=create_only) as descriptor:
        write_all(descriptor, data)


@contextmanager
def replace(place: Place, *, create_only: bool, mode: int | None = None) -> Iterator[int]:
    """Give a descriptor to write to; what was written is the file once the block ends well.

    `mode` is for a file that was not there.
    """
    before = _check_replaceable(place, create_only=create_only)
    name = fresh_name()
    # A file that others may not read must not be readable under its other name either.
    descriptor = os.open(name, NEW, 0o666 if before is None else 0o600, dir_fd=place.folder)
    try:
        try:
            yield descriptor
            if before is not None:
                _keep_mode(descriptor, before)
            elif mode is not None:
                os.fchmod(descriptor, mode)
            os.fsync(descriptor)  # else a power cut could leave the name without the bytes
        finally:
            os.close(descriptor)
        publish(place.folder, name, place, create_only=create_only)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=place.folder)
        raise


def _check_replaceable(place: Place, *, create_only: bool) -> os.stat_result | None:
    """Tell what would be replaced, if anything is there, and refuse what must not be."""
    before = place.status()
    if before is None:
        return None
    if create_only:
        raise ResourceExists(place.target.uri)
    if stat.S_ISLNK(before.st_mode):
        raise ResourceDenied(f"{place.target.uri!r:.200} is a link, and nothing is written through it")
    if not stat.S_ISREG(before.st_mode):
        raise InvalidValue(place.target.at, "a file", kind_of(before))
    # A file may be replaced by who may write its folder; but who may not write the file should not.
    os.close(os.open(place.name, _TRY, dir_fd=place.folder))
    return before


def fresh_name() -> str:
    """Make a name that nothing has."""
    return f".{secrets.token_hex(12)}.agenthost"


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of it: the system may take it in pieces."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _keep_mode(descriptor: int, before: os.stat_result) -> None:
    """Give a new file the owner, as far as we may, and the permissions of the one that it replaces."""
    now = os.fstat(descriptor)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        with suppress(PermissionError):
            os.fchown(descriptor, before.st_uid, before.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(before.st_mode))


def publish(folder: int, name: str, place: Place, *, create_only: bool) -> None:
    """Let a file have its right name, in one step; with `create_only` only if nothing has that.

    Raises:
        ResourceExists: something has it.
    """
    if not create_only:
        os.rename(name, place.name, src_dir_fd=folder, dst_dir_fd=place.folder)
        return
    try:
        _add_name(folder, name, place)
    except FileExistsError:
        raise ResourceExists(place.target.uri) from None


def _add_name(folder: int, name: str, place: Place) -> None:
    """Give a file a second name, which is refused where one is, and take the first away."""
    try:
        os.link(name, place.name, src_dir_fd=folder, dst_dir_fd=place.folder, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
    else:
        os.unlink(name, dir_fd=folder)
        return
    # No second names here: take the name with an empty file, and replace that.
    os.close(os.open(place.name, NEW, 0o600, dir_fd=place.folder))
    try:
        os.rename(name, place.name, src_dir_fd=folder, dst_dir_fd=place.folder)
    except BaseException:
        os.unlink(place.name, dir_fd=place.folder)
        raise
