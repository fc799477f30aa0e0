"""The writer: files are created and replaced atomically.

New content is written under another name in the same folder, and then renamed. So a failed check, a full
disk or a crash leaves neither an empty file nor half of one.
"""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from agenthost.errors import InvalidValue, ResourceDenied, ResourceExists
from agenthost.host.files.etags import check_etag
from agenthost.host.files.jail import Place, file_kind
from agenthost.host.files.locks import locked

__all__ = ["NEW", "check_replaceable", "fresh_name", "publish", "replace", "write_all", "write_file"]

# The errors of file systems without hard links.
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)

# `O_EXCL`: fail if the name exists, even as a link.
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_TRY = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def write_file(place: Place, data: bytes, *, create_only: bool, if_match: str | None = None) -> None:
    """Write a file. An existing one keeps its permissions; with `if_match` it must have that etag.

    Raises:
        ResourceConflict: it has another etag, or does not exist.
        ResourceDenied: it is a link, or may not be written.
        ResourceExists: it exists, and must be new.
        InvalidValue: it is not a regular file.
    """
    with replace(place, create_only=create_only, if_match=if_match) as descriptor:
        write_all(descriptor, data)


@contextmanager
def replace(
    place: Place, *, create_only: bool, mode: int | None = None, if_match: str | None = None
) -> Iterator[int]:
    """Yield a descriptor to write to. The file is replaced when the block ends without an error.

    `mode` is for a file that did not exist.
    """
    before = check_replaceable(place, create_only=create_only)
    check_etag(place, if_match, before)
    name = fresh_name()
    # The temporary file must not be readable for more people than the file it replaces.
    descriptor = os.open(name, NEW, 0o666 if before is None else 0o600, dir_fd=place.folder)
    try:
        try:
            yield descriptor
            if before is not None:
                _keep_mode(descriptor, before)
            elif mode is not None:
                os.fchmod(descriptor, mode)
            os.fsync(descriptor)  # otherwise a power cut could keep the name but lose the content
        finally:
            os.close(descriptor)
        with locked(place):
            if if_match is not None:
                check_etag(place, if_match, place.status())
            publish(place.folder, name, place, create_only=create_only)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=place.folder)
        raise


def check_replaceable(place: Place, *, create_only: bool) -> os.stat_result | None:
    """Return the status of an existing file; refuse one that must not be replaced. Raises as `write_file`."""
    before = place.status()
    if before is None:
        return None
    if create_only:
        raise ResourceExists(place.target.uri)
    if stat.S_ISLNK(before.st_mode):
        raise ResourceDenied(f"{place.target.uri!r:.200} is a link, and nothing is written through it")
    if not stat.S_ISREG(before.st_mode):
        raise InvalidValue(place.target.at, "a file", file_kind(before))
    # Write access to the folder would be enough to replace the file. Require it for the file too.
    os.close(os.open(place.name, _TRY, dir_fd=place.folder))
    return before


def fresh_name() -> str:
    """Return a name that is not in use."""
    return f".{secrets.token_hex(12)}.agenthost"


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of the data: the system may accept less at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _keep_mode(descriptor: int, before: os.stat_result) -> None:
    """Give a new file the permissions, and if allowed the owner, of the one that it replaces."""
    now = os.fstat(descriptor)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        with suppress(PermissionError):
            os.fchown(descriptor, before.st_uid, before.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(before.st_mode))


def publish(folder: int, name: str, place: Place, *, create_only: bool) -> None:
    """Give a file its final name atomically; with `create_only`, only if the name is free.

    Raises:
        ResourceExists: the name is taken.
    """
    if not create_only:
        os.rename(name, place.name, src_dir_fd=folder, dst_dir_fd=place.folder)
        return
    try:
        _add_name(folder, name, place)
    except FileExistsError:
        raise ResourceExists(place.target.uri) from None


def _add_name(folder: int, name: str, place: Place) -> None:
    """Add the final name as a hard link, which fails if it is taken, and remove the first name."""
    try:
        os.link(name, place.name, src_dir_fd=folder, dst_dir_fd=place.folder, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
    else:
        os.unlink(name, dir_fd=folder)
        return
    # No hard links here: reserve the name with an empty file, and replace that.
    os.close(os.open(place.name, NEW, 0o600, dir_fd=place.folder))
    try:
        os.rename(name, place.name, src_dir_fd=folder, dst_dir_fd=place.folder)
    except BaseException:
        os.unlink(place.name, dir_fd=place.folder)
        raise
