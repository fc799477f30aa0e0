"""Removal of a folder with everything in it, however deep it is.

A subfolder is opened relative to its parent and left through `..`, which must be the folder we came from. So
no link is followed, a folder that is moved in between leads nowhere else, and only one is open at a time.
"""

import errno
import os
from dataclasses import dataclass, field

__all__ = ["remove_tree"]

_FOLDER = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC


@dataclass(slots=True)
class _Level:
    """A folder being removed: its name, its device and inode, and the subfolders that are left."""

    name: str
    identity: tuple[int, int]
    folders: list[str] = field(default_factory=list)


def remove_tree(above: int, name: str) -> None:
    """Remove the folder with this name from an open folder.

    Raises:
        OSError: something in it cannot be removed, or was moved. What was removed so far is gone.
    """
    current = os.open(name, _FOLDER, dir_fd=above)
    try:
        levels = [_entered(current, name)]
        while levels:
            if levels[-1].folders:
                inner = levels[-1].folders.pop()
                current = _switched(current, inner)
                levels.append(_entered(current, inner))
            elif len(levels) == 1:
                os.rmdir(levels.pop().name, dir_fd=above)
            else:
                current = _switched(current, "..")
                empty = levels.pop()
                if _identity(current) != levels[-1].identity:
                    raise OSError(errno.EBUSY, "a folder was moved while it was being removed")
                os.rmdir(empty.name, dir_fd=current)
    finally:
        os.close(current)


def _switched(current: int, name: str) -> int:
    """Open another folder and close this one."""
    following = os.open(name, _FOLDER, dir_fd=current)
    os.close(current)
    return following


def _entered(folder: int, name: str) -> _Level:
    """Remove everything from a folder except its subfolders, which come next."""
    level = _Level(name, _identity(folder))
    with os.scandir(folder) as found:
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                level.folders.append(entry.name)
            else:
                os.unlink(entry.name, dir_fd=folder)
    return level


def _identity(folder: int) -> tuple[int, int]:
    status = os.fstat(folder)
    return status.st_dev, status.st_ino
