"""The jail: which files may be touched, decided while the path is walked, not before.

Every path is walked name by name from the top, each folder opened relative to the one above, and none
through a symbolic link. So whatever somebody swaps meanwhile, the descriptor that comes out is of a folder
whose whole path was checked. Links below a root are followed for reading, by us: what a link says is walked
in the same way, and may lead to other allowed folders only. Writing follows none.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from agenthost.errors import InvalidValue, ResourceDenied, ResourceError, ResourceNotFound
from agenthost.host.files.uris import DEEPEST, Parts, Target, is_beneath, parts_of, uri_of

__all__ = ["BOTH", "READ", "WRITE", "Access", "Jail", "Place", "Root"]

MOST_LINKS = 40
"""How many links a path may lead through, as on Linux: those in a circle have no end."""

# To walk through a folder one need not be allowed to list it; only Linux lets us say so.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

_DENIED = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ELOOP)
_MISSING = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)


@dataclass(frozen=True, slots=True)
class Access:
    """What somebody wants to do, or may do: each is separate, and neither brings the other."""

    read: bool = False
    write: bool = False


READ = Access(read=True)
WRITE = Access(write=True)
BOTH = Access(read=True, write=True)


@dataclass(frozen=True, slots=True)
class Root:
    """A file or folder that may be touched, with all that is in it.

    Attributes:
        path: where it really is, without links.
        access: what may be done there.
        spelling: how people write it, if a link is in that.
    """

    path: Parts
    access: Access
    spelling: Parts

    @classmethod
    def at(cls, path: Parts, access: Access) -> "Root":
        """Make a root of a path as it is now: if a link in it changes later, the root stays where it was."""
        real = os.path.realpath("/" + "/".join(path))
        return cls(parts_of(real.split("/")), access, path)


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is, or would be: a name in a folder that is held open.

    Attributes:
        folder: the descriptor of the folder; use it with `dir_fd`, and never follow a link.
        name: its name there.
        path: its path, without links.
        target: what the peer named.
    """

    folder: int
    name: str
    path: Parts
    target: Target

    def status(self) -> os.stat_result | None:
        """Look at what is there, and not at where a link leads."""
        try:
            return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def needed_status(self) -> os.stat_result:
        """Look at what has to be there.

        Raises:
            ResourceNotFound: nothing is.
        """
        found = self.status()
        if found is None:
            raise ResourceNotFound(self.target.uri)
        return found


class Jail:
    """What one owner may touch at one moment."""

    def __init__(
        self,
        roots: Sequence[Root],
        *,
        hidden: Sequence[Parts] = (),
        own: Parts | None = None,
        can_ask: Callable[[Access], bool] = lambda _access: False,
    ) -> None:
        """Let these roots be touched, without what is hidden in them.

        `own` is a folder that is not hidden although one above it is. `can_ask` tells whether asking for more
        is of any use.
        """
        self._roots = roots
        self._hidden = hidden
        self._own = own
        self._can_ask = can_ask

    @contextmanager
    def place(self, target: Target, access: Access, *, follow: bool = False) -> Iterator[Place]:
        """Walk to what a peer named, and hold its folder open meanwhile. It need not be there.

        `follow` goes on through links, the last name too; without, a link on the way is refused, and one at
        the end is the place itself. What the system refuses meanwhile is said in our words.

        Raises:
            ResourceDenied: it may not be touched in this way.
            ResourceNotFound: the folder that it would be in is not there.
        """
        way = _Way(self._spelled(target.path))
        try:
            with plainly(target):
                path = self._walk(way, target, access, follow=follow)
                yield Place(way.folders[-1], path[-1] if path else ".", path, target)
        finally:
            way.close()

    def may(self, path: Parts, access: Access) -> bool:
        """Tell whether a path without links may be touched in this way."""
        if self.is_hidden(path):
            return False
        return all(
            any(is_beneath(path, root.path) for root in self._roots_for(need)) for need in _needs(access)
        )

    def is_hidden(self, path: Parts) -> bool:
        """Tell whether a path without links is nobody's business."""
        own = self._own if self._own is not None and is_beneath(path, self._own) else None
        return any(
            is_beneath(path, hidden) and not (own is not None and is_beneath(own, hidden))
            for hidden in self._hidden
        )

    def within(self, folder: Parts, spelling: Parts) -> "Jail":
        """Give the same for one folder only, by its path without links: nothing outside may be touched."""
        roots = [Root(folder, root.access, spelling) for root in self._roots if is_beneath(folder, root.path)]
        roots += [root for root in self._roots if is_beneath(root.path, folder) and root.path != folder]
        return Jail(roots, hidden=self._hidden, own=self._own)

    def check_tree(self, place: Place, *, leaves: bool) -> None:
        """Refuse what concerns a whole tree with something hidden in it; and, if it `leaves`, to lose a root.

        Raises:
            ResourceDenied: it is one of these.
        """
        is_root = leaves and any(place.path == root.path for root in self._roots)
        if is_root or any(is_beneath(hidden, place.path) for hidden in self._hidden):
            raise ResourceDenied(f"{place.target.uri!r:.200} cannot be touched as a whole")

    def _walk(self, way: "_Way", target: Target, access: Access, *, follow: bool) -> Parts:
        """Open folder after folder; gives the path of the end, whose folder is then the last one."""
        links = 0
        while way.todo:
            name = way.todo.pop()
            if name == "..":
                way.go_up()
                continue
            path = (*way.names, name)
            self._check(path, way.todo, target, access)
            if not way.todo and not follow:
                return path
            leads_to = way.go_into(name) if way.todo else link_of(way.folders[-1], name)
            if leads_to is not None:
                links += 1
                if not follow or links > MOST_LINKS or not self.may(path, access):
                    raise ResourceDenied(f"a link is on the way to {target.uri!r:.200}, and is not followed")
                self._go_along(way, leads_to)
            elif not way.todo:
                return path
        # A link led up, to a folder that was walked through already.
        path = tuple(way.names)
        self._check(path, (), target, access)
        way.go_up()
        return path

    def _go_along(self, way: "_Way", leads_to: str) -> None:
        """Go on where a link leads."""
        names = leads_to.split("/")
        if leads_to.startswith("/"):
            while way.names:
                way.go_up()
            # Without dots, so that what is not allowed is seen before anything of it is looked at.
            names = list(self._spelled(parts_of(names)))
        way.todo += reversed([name for name in names if name not in ("", ".")])
        if len(way.todo) > DEEPEST:
            raise OSError(errno.ENAMETOOLONG, "the path is too long")

    def _spelled(self, path: Parts) -> Parts:
        """Give the path without the links that a root was named with."""
        for root in self._roots:
            if root.spelling != root.path and is_beneath(path, root.spelling):
                return root.path + path[len(root.spelling) :]
        return path

    def _check(self, path: Parts, todo: Sequence[str], target: Target, access: Access) -> None:
        """Refuse a step that leaves what is allowed; what is above a root is only walked through."""
        if self.may(path, access):
            return
        is_on_the_way = bool(todo) and all(
            any(is_beneath(root.path, path) for root in self._roots_for(need)) for need in _needs(access)
        )
        is_hidden = self.is_hidden(path)
        leads_home = self._own is not None and is_beneath(self._own, path)
        if is_on_the_way and (leads_home or not is_hidden):
            return
        end = parts_of((*path, *reversed(todo)))
        can_ask = not is_hidden and self._can_ask(access)
        raise ResourceDenied(
            f"{target.uri!r:.200} is outside of what may be {'written' if access.write else 'read'}",
            uri=(target.uri if end == target.path else uri_of(end)) if can_ask else None,
            read=access.read,
            write=access.write,
        )

    def _roots_for(self, need: str) -> list[Root]:
        return [root for root in self._roots if getattr(root.access, need)]


def _needs(access: Access) -> list[str]:
    return [need for need in ("read", "write") if getattr(access, need)]


class _Way:
    """A walk under way: the folders that are open, from the top, their names, and what is still to come."""

    def __init__(self, path: Parts) -> None:
        self.folders = [os.open("/", _FOLDER)]
        self.names: list[str] = []
        self.todo = list(reversed(path))

    def go_into(self, name: str) -> str | None:
        """Open a folder; if it is a link instead, tell where that leads."""
        try:
            self.folders.append(os.open(name, _FOLDER, dir_fd=self.folders[-1]))
        except OSError as error:
            if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                raise
            leads_to = link_of(self.folders[-1], name)
            if leads_to is None:
                raise
            return leads_to
        self.names.append(name)
        return None

    def go_up(self) -> None:
        """Leave a folder for the one that we came from, wherever it has been moved to meanwhile."""
        if self.names:
            self.names.pop()
            os.close(self.folders.pop())

    def close(self) -> None:
        """Let go of all folders."""
        for folder in self.folders:
            os.close(folder)


def link_of(folder: int, name: str) -> str | None:
    """Give where a link leads; nothing if it is none, or not there."""
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOENT):
            return None
        raise


@contextmanager
def plainly(target: Target) -> Iterator[None]:
    """Say what the system refuses in our own words, of what the peer named."""
    try:
        yield
    except OSError as error:
        if error.errno in _MISSING:
            raise ResourceNotFound(target.uri) from error
        if error.errno in _DENIED:
            raise ResourceDenied(f"the system does not let us touch {target.uri!r:.200}") from error
        if error.errno == errno.EISDIR:
            raise InvalidValue(target.at, "a file", "a folder") from error
        raise ResourceError(f"{target.uri!r:.200}: {error.strerror or type(error).__name__}") from error


def kind_of(status: os.stat_result) -> str:
    """Name what is there, for people."""
    for is_kind, word in _KINDS:
        if is_kind(status.st_mode):
            return word
    return "something that is no file"


_KINDS = (
    (stat.S_ISREG, "a file"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISLNK, "a link"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)
