"""New folders, with the folders above them that are missing."""

import os
import stat
from contextlib import suppress

from agenthost.errors import ResourceDenied, ResourceExists, ResourceNotFound
from agenthost.host.files.jail import WRITE, Jail, Place
from agenthost.host.files.uris import Target, belongs_to_git, uri_of

__all__ = ["check_git", "make_folder"]


def make_folder(jail: Jail, target: Target) -> None:
    """Make a folder, and those above it that are missing. One that exists is fine.

    Each of them is walked to from the top, as for any other write, so a folder that is swapped for a link in
    between leads nowhere.

    Raises:
        ResourceDenied: it may not be made.
        ResourceExists: something else has that name, or that of a folder above.
    """
    try:
        _make(jail, target)
    except ResourceNotFound:
        if not target.path:
            raise
        above = target.path[:-1]
        make_folder(jail, Target(uri_of(above), above, target.at))
        _make(jail, target)


def _make(jail: Jail, target: Target) -> None:
    with jail.place(target, WRITE) as place:
        check_git(place)
        status = place.status()
        if status is None:
            with suppress(FileExistsError):  # another program was faster; it may be a folder
                os.mkdir(place.name, dir_fd=place.folder)
            status = place.require_status()
        if not stat.S_ISDIR(status.st_mode):
            raise ResourceExists(target.uri)


def check_git(place: Place) -> None:
    """Refuse to change files of git: hooks, and much of its config, are programs that git runs.

    Raises:
        ResourceDenied: the place is a folder of git, or inside one.
    """
    if belongs_to_git(place.path):
        raise ResourceDenied(f"{place.target.uri!r:.200} belongs to git; its files are not written by hand")
