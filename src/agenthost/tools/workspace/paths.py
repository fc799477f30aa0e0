"""Paths of a model: every one is resolved here, and opened through the jail of its session.

Paths are relative to the workspace; an absolute one is accepted if it is inside. Errors of the jail and the
system become sentences for the model, with the path as it wrote it.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from agenthost.core.text_similarity import find_most_similar
from agenthost.errors import InvalidValue, ResourceNotFound, ToolError
from agenthost.host.files.jail import READ, Access, Place
from agenthost.host.files.reader import list_folder
from agenthost.host.files.uris import MAX_DEPTH, Parts, Target, belongs_to_git, is_beneath, normalize
from agenthost.host.files.workspace import Workspace

__all__ = ["PathNotFound", "open_path", "relative_path", "resolve_path"]

MAX_NEIGHBOURS = 5_000
"""How many entries of a folder are compared to suggest a similar name."""


class PathNotFound(ToolError):
    """A file, or a folder in its path, does not exist."""


def resolve_path(workspace: Workspace, path: str) -> Target:
    """Resolve a path as a model writes it, without touching the disk: the jail handles links.

    Raises:
        ToolError: it is outside of the workspace, or not a path.
    """
    if "\0" in path or not path:
        raise ToolError(f"{path!r} is not the path of a file")
    names = normalize([*(() if path.startswith("/") else workspace.path), *path.split("/")])
    if is_beneath(names, workspace.spelling):
        names = workspace.path + names[len(workspace.spelling) :]
    if not is_beneath(names, workspace.path):
        raise ToolError(f"{path!r:.200} is outside of the workspace; only what is in it can be used")
    if len(names) > MAX_DEPTH:
        raise ToolError(f"{path!r:.200} has too many folders in it")
    return Target(path, names)


@contextmanager
def open_path(workspace: Workspace, path: str, access: Access, *, follow: bool = False) -> Iterator[Place]:
    """Open the folder of a path, and yield the place of the path in it; see `Jail.place`.

    Raises:
        ToolError: the path is outside of the workspace, does not exist, or this access is not allowed.
    """
    target = resolve_path(workspace, path)
    if access.write:
        _check_writable(workspace, target)
    try:
        with workspace.jail.place(target, access, follow=follow) as place:
            yield place
    except ResourceNotFound:
        raise PathNotFound(f"there is no {path!r:.200} in the workspace{_hint(workspace, target)}") from None
    except InvalidValue as error:
        raise ToolError(f"{path!r:.200} is {error.found}, not {error.expected}") from None


def relative_path(workspace: Workspace, path: Parts) -> str:
    """Return a path as the model should write it: relative to the workspace."""
    return "/".join(path[len(workspace.path) :]) or "."


def _check_writable(workspace: Workspace, target: Target) -> None:
    """Refuse writes to git's own files: a hook is a program, and nobody has approved running it."""
    inside = target.path[len(workspace.path) :]
    if not inside:
        raise ToolError(f"{target.uri!r} is the workspace itself, not a file in it")
    if belongs_to_git(inside):
        raise ToolError(f"{target.uri!r:.200} belongs to git; its files cannot be written with this tool")


def _hint(workspace: Workspace, target: Target) -> str:
    """Suggest a file in the same folder with a similar name."""
    folder = target.path[:-1]
    if not is_beneath(folder, workspace.path):
        return ""
    try:
        with workspace.jail.place(Target(target.uri, folder), READ, follow=True) as place:
            names = [entry["name"] for entry in list_folder(workspace.jail, place, MAX_NEIGHBOURS)]
    except Exception:  # a failed hint must not hide the error
        return ""
    near = find_most_similar(target.path[-1], names)
    return f"; did you mean {relative_path(workspace, (*folder, names[near]))!r}?" if near is not None else ""
