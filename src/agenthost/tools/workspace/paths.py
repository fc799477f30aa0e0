"""The one door to files: every path of a model goes through here, and through the jail of its session.

A path is seen from the workspace; an absolute one is good too if it leads inside. What the jail or the system
refuses is said in words for the model, with the path as it wrote it.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from agenthost.core.comparison import find_nearest
from agenthost.errors import InvalidValue, ResourceNotFound, ToolError
from agenthost.host.files.jail import READ, Access, Place
from agenthost.host.files.reading import list_folder
from agenthost.host.files.uris import DEEPEST, Parts, Target, belongs_to_git, is_beneath, parts_of
from agenthost.host.files.workspace import Workspace

__all__ = ["NotThere", "at", "name_of", "target_of"]

MOST_NEIGHBOURS = 5_000
"""In how large a folder a name is looked for that is like the one that is not there."""


class NotThere(ToolError):
    """A file, or a folder on the way to it, is not there."""


def target_of(workspace: Workspace, path: str) -> Target:
    """Read a path as a model writes it. Looks at no disk: links are the business of the jail.

    Raises:
        ToolError: it is outside of the workspace, or no path at all.
    """
    if "\0" in path or not path:
        raise ToolError(f"{path!r} is no path of a file")
    names = parts_of([*(() if path.startswith("/") else workspace.path), *path.split("/")])
    if is_beneath(names, workspace.spelling):
        names = workspace.path + names[len(workspace.spelling) :]
    if not is_beneath(names, workspace.path):
        raise ToolError(f"{path!r:.200} is outside of the workspace; only what is in it may be touched")
    if len(names) > DEEPEST:
        raise ToolError(f"{path!r:.200} has too many folders in it")
    return Target(path, names)


@contextmanager
def at(workspace: Workspace, path: str, access: Access, *, follow: bool = False) -> Iterator[Place]:
    """Walk to what a model named, and hold its folder open meanwhile; see `Jail.place`.

    Raises:
        ToolError: it is outside of the workspace, not there, or may not be touched in this way.
    """
    target = target_of(workspace, path)
    if access.write:
        _check_writable(workspace, target)
    try:
        with workspace.jail.place(target, access, follow=follow) as place:
            yield place
    except ResourceNotFound:
        raise NotThere(f"there is no {path!r:.200} in the workspace{_hint(workspace, target)}") from None
    except InvalidValue as error:
        raise ToolError(f"{path!r:.200} is {error.found}, not {error.expected}") from None


def name_of(workspace: Workspace, path: Parts) -> str:
    """Give a path as the model should write it: seen from the workspace."""
    return "/".join(path[len(workspace.path) :]) or "."


def _check_writable(workspace: Workspace, target: Target) -> None:
    """Keep out of what git runs and reads by itself: a hook is a program, and nobody was asked for that."""
    inside = target.path[len(workspace.path) :]
    if not inside:
        raise ToolError(f"{target.uri!r} is the workspace itself, not a file in it")
    if belongs_to_git(inside):
        raise ToolError(f"{target.uri!r:.200} belongs to git; its files are not written by hand")


def _hint(workspace: Workspace, target: Target) -> str:
    """Tell of a file in the same folder with a name like that."""
    folder = target.path[:-1]
    if not is_beneath(folder, workspace.path):
        return ""
    try:
        with workspace.jail.place(Target(target.uri, folder), READ, follow=True) as place:
            names = [entry["name"] for entry in list_folder(workspace.jail, place, MOST_NEIGHBOURS)]
    except Exception:  # a hint is a help, and never another failure
        return ""
    near = find_nearest(target.path[-1], names)
    return f"; did you mean {name_of(workspace, (*folder, names[near]))!r}?" if near is not None else ""
