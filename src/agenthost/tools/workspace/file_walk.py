"""A walk through the workspace: files and folders in order, without those that `.gitignore` files exclude.

Each folder is opened relative to its parent, and links are not followed, so the walk cannot leave the
workspace, even if folders are swapped meanwhile. `.git` and the host's own data are skipped.
"""

import os
from collections.abc import Callable, Generator
from dataclasses import dataclass
from itertools import islice

from agenthost.errors import ToolError
from agenthost.host.files.globs import BadGlob, expand_braces
from agenthost.host.files.ignore_rules import IgnoreRules, join_patterns, read_pattern
from agenthost.host.files.index import read_rules
from agenthost.host.files.jail import READ, Place
from agenthost.host.files.reader import opened_folder
from agenthost.host.files.workspace import Workspace
from agenthost.tools.workspace.paths import open_path

__all__ = ["Walk", "WalkEntry", "glob_matcher"]

MAX_DEPTH = 60
MAX_IN_FOLDER = 500_000
SKIPPED = frozenset({".git"})

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class WalkEntry:
    """A file or folder.

    Attributes:
        path: its path, relative to the workspace.
        is_folder: whether it is a folder.
        folder: the descriptor of its parent folder, open until the walk goes on.
        name: its name in that folder.
    """

    path: str
    is_folder: bool
    folder: int
    name: str


class Walk:
    """A walk of limited depth; with `ignored`, also through what `.gitignore` files exclude."""

    def __init__(self, files: Workspace, *, depth: int = MAX_DEPTH, ignored: bool = False) -> None:
        self._files = files
        self._depth = min(depth, MAX_DEPTH)
        self._ignored = ignored

    def below(self, place: Place) -> Generator[WalkEntry, None, None]:
        """Yield everything below a folder, sorted by name, each folder before its content."""
        inside = place.path[len(self._files.path) :]
        rules = None if self._ignored else self._rules_above(len(inside), place)
        with opened_folder(place) as folder:
            prefix = "".join(f"{name}/" for name in inside)
            yield from self._visit(folder, prefix, rules, 1)

    def _rules_above(self, depth: int, place: Place) -> IgnoreRules | None:
        """Read the ignore rules of the folders from the workspace down to the parent of this one."""
        rules = None
        for level in range(depth):
            path = place.path[: len(self._files.path) + level]
            with open_path(self._files, "/" + "/".join(path), READ) as above, opened_folder(above) as folder:
                rules = _with_rules(folder, rules, level)
        return rules

    def _visit(
        self, folder: int, prefix: str, above: IgnoreRules | None, depth: int
    ) -> Generator[WalkEntry, None, None]:
        rules = above if self._ignored else _with_rules(folder, above, prefix.count("/"))
        with os.scandir(folder) as found:
            entries = [(one.name, one.is_dir(follow_symlinks=False)) for one in islice(found, MAX_IN_FOLDER)]
        for name, is_folder in sorted(entries):
            if not self._is_shown(prefix + name, name, rules, is_folder=is_folder):
                continue
            yield WalkEntry(prefix + name, is_folder, folder, name)
            if is_folder and depth < self._depth:
                yield from self._enter(folder, name, prefix, rules, depth)

    def _enter(
        self, above: int, name: str, prefix: str, rules: IgnoreRules | None, depth: int
    ) -> Generator[WalkEntry, None, None]:
        try:
            folder = os.open(name, _FOLDER, dir_fd=above)
        except OSError:  # gone, swapped for a link, or not readable
            return
        try:
            yield from self._visit(folder, f"{prefix}{name}/", rules, depth + 1)
        finally:
            os.close(folder)

    def _is_shown(self, path: str, name: str, rules: IgnoreRules | None, *, is_folder: bool) -> bool:
        if name in SKIPPED or not name.isprintable():
            return False
        if rules is not None and rules.leaves_out(path, is_folder=is_folder):
            return False
        return self._files.jail.may((*self._files.path, *path.split("/")), READ)


def _with_rules(folder: int, above: IgnoreRules | None, depth: int) -> IgnoreRules | None:
    text = read_rules(folder)
    return IgnoreRules(text, above, depth) if text else above


def glob_matcher(glob: str | None) -> Callable[[str], bool]:
    """Return a test for paths: `*.py` matches a name anywhere, `src/**/*.{ts,tsx}` a whole path.

    Raises:
        ToolError: no path can match it, or it is too long.
    """
    if glob is None:
        return lambda _path: True
    try:
        expanded = expand_braces(glob)
    except BadGlob as error:
        raise ToolError(str(error)) from None
    patterns = [pattern for one in expanded if (pattern := read_pattern(one)) is not None]
    if not patterns:
        raise ToolError(f"nothing can match the glob {glob!r:.200}; an example is src/**/*.py")
    tests = join_patterns(patterns)
    return lambda path: any(fits(path) for fits in tests) != patterns[0].negated
