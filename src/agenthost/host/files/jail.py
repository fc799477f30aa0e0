"""The jail: which files may be accessed, decided while the path is walked, not before.

Every path is walked name by name from the top. Each folder is opened relative to its parent, and never
through a symbolic link. So whatever is swapped in between, the resulting descriptor is of a folder whose
whole path was checked. For reading, links below a root are followed by this module itself: the target is
walked in the same way, and has to be allowed too. Writing follows no links.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from agenthost.errors import InvalidValue, ResourceDenied, ResourceError, ResourceNotFound
from agenthost.host.files.uris import MAX_DEPTH, Parts, Target, is_beneath, normalize, uri_of

__all__ = ["BOTH", "READ", "WRITE", "Access", "Jail", "Place", "Root"]

MAX_LINKS = 40
"""How many links a path may go through, as on Linux: links can form a circle."""

# Walking through a folder does not need permission to list it. Only Linux can express that.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

_DENIED = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ELOOP)
_MISSING = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)


@dataclass(frozen=True, slots=True)
class Access:
    """Access that is wanted or allowed. Reading and writing are separate; neither implies the other."""

    read: bool = False
    write: bool = False


READ = Access(read=True)
WRITE = Access(write=True)
BOTH = Access(read=True, write=True)


@dataclass(frozen=True, slots=True)
class Root:
    """A file or folder that may be accessed, with everything in it.

    Attributes:
        path: its real path, with links resolved.
        access: what is allowed there.
        spelling: the path as people write it, which may contain links.
    """

    path: Parts
    access: Access
    spelling: Parts

    @classmethod
    def at(cls, path: Parts, access: Access) -> "Root":
        """Return a root for a path. Links are resolved now: changing one later does not move the root."""
        real = os.path.realpath("/" + "/".join(path))
        return cls(normalize(real.split("/")), access, path)


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is, or would be: a name in a folder that is held open.

    Attributes:
        folder: the descriptor of the folder; use it as `dir_fd`, and never follow a link.
        name: its name in the folder.
        path: its path, with links resolved.
        target: what the peer named.
    """

    folder: int
    name: str
    path: Parts
    target: Target

    def status(self) -> os.stat_result | None:
        """Return the status of what is there, without following a link; `None` if nothing is."""
        try:
            return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def require_status(self) -> os.stat_result:
        """Return the status of what has to be there.

        Raises:
            ResourceNotFound: nothing is there.
        """
        found = self.status()
        if found is None:
            raise ResourceNotFound(self.target.uri)
        return found


class Jail:
    """What one owner may access at one moment."""

    def __init__(
        self,
        roots: Sequence[Root],
        *,
        hidden: Sequence[Parts] = (),
        own: Parts | None = None,
        can_ask: Callable[[Access], bool] = lambda _access: False,
    ) -> None:
        """Allow access to these roots, except for what is hidden in them.

        `own` is a folder that is not hidden although a folder above it is. `can_ask` returns whether a
        request for more access could succeed.
        """
        self._roots = roots
        self._hidden = hidden
        self._own = own
        self._can_ask = can_ask

    @contextmanager
    def place(
        self, target: Target, access: Access, *, follow: bool = False, keeps_last: bool = False
    ) -> Iterator[Place]:
        """Walk to what a peer named, and hold its folder open in the block. It need not exist.

        `follow` follows links, the last name included, unless `keeps_last`. Without it, a link on the way is
        refused, and one at the end is the place itself. Errors of the system are translated.

        Raises:
            ResourceDenied: this access is not allowed.
            ResourceNotFound: the folder that it would be in does not exist.
        """
        walk = _Walk(self._spelled(target.path))
        try:
            with translated_errors(target):
                path = self._walk(walk, target, access, follow=follow, keeps_last=keeps_last or not follow)
                yield Place(walk.folders[-1], path[-1] if path else ".", path, target)
        finally:
            walk.close()

    def may(self, path: Parts, access: Access) -> bool:
        """Return whether this access to a path is allowed. Links must be resolved."""
        if self.is_hidden(path):
            return False
        return all(
            any(is_beneath(path, root.path) for root in self._roots_for(need)) for need in _needs(access)
        )

    def is_hidden(self, path: Parts) -> bool:
        """Return whether a path is hidden. Links must be resolved."""
        own = self._own if self._own is not None and is_beneath(path, self._own) else None
        return any(
            is_beneath(path, hidden) and not (own is not None and is_beneath(own, hidden))
            for hidden in self._hidden
        )

    def hidden_in(self, folder: Parts) -> frozenset[str]:
        """Return the names in a folder that are hidden. Links must be resolved."""
        inside = (path for path in self._hidden if path[:-1] == folder and self.is_hidden(path))
        return frozenset(path[-1] for path in inside if path)

    def within(self, folder: Parts, spelling: Parts) -> "Jail":
        """Return a jail narrowed to one folder, given by its real path."""
        roots = [Root(folder, root.access, spelling) for root in self._roots if is_beneath(folder, root.path)]
        roots += [root for root in self._roots if is_beneath(root.path, folder) and root.path != folder]
        return Jail(roots, hidden=self._hidden, own=self._own)

    def check_tree(self, place: Place, *, leaves: bool) -> None:
        """Refuse to access a whole tree that has something hidden in it, or, if it `leaves`, is a root.

        Raises:
            ResourceDenied: it is one of these.
        """
        is_root = leaves and any(place.path == root.path for root in self._roots)
        if is_root or any(is_beneath(hidden, place.path) for hidden in self._hidden):
            raise ResourceDenied(f"{place.target.uri!r:.200} cannot be accessed as a whole")

    def _walk(
        self, walk: "_Walk", target: Target, access: Access, *, follow: bool, keeps_last: bool
    ) -> Parts:
        """Open folder after folder. Return the path of the end; its folder is the last one opened."""
        links = 0
        while walk.todo:
            name = walk.todo.pop()
            if name == "..":
                walk.go_up()
                continue
            path = (*walk.names, name)
            # Checked before it is opened: what is not allowed must not even show whether it exists.
            self._check(path, walk.todo, target, access)
            if not walk.todo and keeps_last:
                return path
            leads_to = walk.go_into(name) if walk.todo else read_link(walk.folders[-1], name)
            if leads_to is not None:
                links += 1
                if not follow or links > MAX_LINKS or not self.may(path, access):
                    raise ResourceDenied(f"a link is on the way to {target.uri!r:.200}, and is not followed")
                self._go_along(walk, leads_to)
            elif not walk.todo:
                return path
        # A link led up, to a folder that is open already.
        path = tuple(walk.names)
        self._check(path, (), target, access)
        walk.go_up()
        return path

    def _go_along(self, walk: "_Walk", leads_to: str) -> None:
        """Continue with the target of a link."""
        names = leads_to.split("/")
        if leads_to.startswith("/"):
            while walk.names:
                walk.go_up()
            # Normalized first, so that what is not allowed is refused before any of it is opened.
            names = list(self._spelled(normalize(names)))
        walk.todo += reversed([name for name in names if name not in ("", ".")])
        if len(walk.todo) > MAX_DEPTH:
            raise OSError(errno.ENAMETOOLONG, "the path is too long")

    def _spelled(self, path: Parts) -> Parts:
        """Return a path with the links in the spelling of a root replaced."""
        for root in self._roots:
            if root.spelling != root.path and is_beneath(path, root.spelling):
                return root.path + path[len(root.spelling) :]
        return path

    def _check(self, path: Parts, todo: Sequence[str], target: Target, access: Access) -> None:
        """Refuse a step outside of what is allowed. Folders above a root may only be walked through."""
        if self.may(path, access):
            return
        is_on_the_way = bool(todo) and all(
            any(is_beneath(root.path, path) for root in self._roots_for(need)) for need in _needs(access)
        )
        is_hidden = self.is_hidden(path)
        leads_home = self._own is not None and is_beneath(self._own, path)
        if is_on_the_way and (leads_home or not is_hidden):
            return
        end = normalize((*path, *reversed(todo)))
        can_ask = not is_hidden and self._can_ask(access)
        raise ResourceDenied(
            # With the request that would help, and none if asking is useless (HR-F02).
            f"{target.uri!r:.200} is outside of what may be {'written' if access.write else 'read'}",
            uri=(target.uri if end == target.path else uri_of(end)) if can_ask else None,
            read=access.read,
            write=access.write,
        )

    def _roots_for(self, need: str) -> list[Root]:
        return [root for root in self._roots if getattr(root.access, need)]


def _needs(access: Access) -> list[str]:
    return [need for need in ("read", "write") if getattr(access, need)]


class _Walk:
    """A walk in progress: the open folders from the top, their names, and the names that are left."""

    def __init__(self, path: Parts) -> None:
        self.folders = [os.open("/", _FOLDER)]
        self.names: list[str] = []
        self.todo = list(reversed(path))

    def go_into(self, name: str) -> str | None:
        """Open a folder. If it is a link instead, return its target."""
        try:
            self.folders.append(os.open(name, _FOLDER, dir_fd=self.folders[-1]))
        except OSError as error:
            if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                raise
            leads_to = read_link(self.folders[-1], name)
            if leads_to is None:
                raise
            return leads_to
        self.names.append(name)
        return None

    def go_up(self) -> None:
        """Go back to the folder that we came from, even if it was moved in between."""
        if self.names:
            self.names.pop()
            os.close(self.folders.pop())

    def close(self) -> None:
        """Close all folders."""
        for folder in self.folders:
            os.close(folder)


def read_link(folder: int, name: str) -> str | None:
    """Return the target of a link; `None` if it is not a link, or does not exist."""
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOENT):
            return None
        raise


@contextmanager
def translated_errors(target: Target) -> Iterator[None]:
    """Translate errors of the system to errors about what the peer named."""
    try:
        yield
    except OSError as error:
        if error.errno in _MISSING:
            raise ResourceNotFound(target.uri) from error
        if error.errno in _DENIED:
            raise ResourceDenied(f"the system denies access to {target.uri!r:.200}") from error
        if error.errno == errno.EISDIR:
            raise InvalidValue(target.at, "a file", "a folder") from error
        raise ResourceError(f"{target.uri!r:.200}: {error.strerror or type(error).__name__}") from error


def file_kind(status: os.stat_result) -> str:
    """Describe what kind of file this is, for people."""
    for is_kind, word in _KINDS:
        if is_kind(status.st_mode):
            return word
    return "a special file"


_KINDS = (
    (stat.S_ISREG, "a file"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISLNK, "a link"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)
