"""Walking the workspace: files and folders in order, without what `.gitignore` files leave out.

Each folder is opened relative to the one above, and no link is followed, so the walk never leaves the
workspace, whatever is swapped meanwhile. `.git` and the host's own data are not entered.
"""

import os
import re
from collections.abc import Callable, Generator
from dataclasses import dataclass
from itertools import islice, product
from math import prod

from agenthost.errors import ToolError
from agenthost.host.files.ignoring import MAX_PATTERN, IgnoreRules, join_patterns, read_pattern
from agenthost.host.files.index import read_rules
from agenthost.host.files.jail import READ, Place
from agenthost.host.files.reading import opened_folder
from agenthost.host.files.workspace import Workspace
from agenthost.tools.workspace.paths import at

__all__ = ["Entry", "Walk", "fitting"]

DEEPEST = 60
MOST_IN_A_FOLDER = 500_000
SKIPPED = frozenset({".git"})

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_BRACES = re.compile(r"\{([^{}]*)\}")
MOST_GLOBS = 64
"""How many patterns one with braces may stand for."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that was found.

    Attributes:
        path: seen from the workspace.
        is_folder: whether it is a folder.
        folder: the descriptor of the folder that it is in, open while the walk is there.
        name: its name there.
    """

    path: str
    is_folder: bool
    folder: int
    name: str


class Walk:
    """How to walk: how deep, and whether what `.gitignore` files leave out is left out."""

    def __init__(self, files: Workspace, *, depth: int = DEEPEST, ignored: bool = False) -> None:
        self._files = files
        self._depth = min(depth, DEEPEST)
        self._ignored = ignored

    def below(self, place: Place) -> Generator[Entry, None, None]:
        """Give all that is in a folder, each folder before what is in it, by name."""
        inside = place.path[len(self._files.path) :]
        rules = None if self._ignored else self._rules_above(len(inside), place)
        with opened_folder(place) as folder:
            prefix = "".join(f"{name}/" for name in inside)
            yield from self._visit(folder, prefix, rules, 1)

    def _rules_above(self, depth: int, place: Place) -> IgnoreRules | None:
        """Read the rules of the folders from the workspace down to the one above this."""
        rules = None
        for level in range(depth):
            path = place.path[: len(self._files.path) + level]
            with at(self._files, "/" + "/".join(path), READ) as above, opened_folder(above) as folder:
                rules = _with_rules(folder, rules, level)
        return rules

    def _visit(
        self, folder: int, prefix: str, above: IgnoreRules | None, depth: int
    ) -> Generator[Entry, None, None]:
        rules = above if self._ignored else _with_rules(folder, above, prefix.count("/"))
        with os.scandir(folder) as found:
            entries = [
                (one.name, one.is_dir(follow_symlinks=False)) for one in islice(found, MOST_IN_A_FOLDER)
            ]
        for name, is_folder in sorted(entries):
            if not self._is_shown(prefix + name, name, rules, is_folder=is_folder):
                continue
            yield Entry(prefix + name, is_folder, folder, name)
            if is_folder and depth < self._depth:
                yield from self._enter(folder, name, prefix, rules, depth)

    def _enter(
        self, above: int, name: str, prefix: str, rules: IgnoreRules | None, depth: int
    ) -> Generator[Entry, None, None]:
        try:
            folder = os.open(name, _FOLDER, dir_fd=above)
        except OSError:  # gone, swapped for a link, or not ours to read
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


def fitting(glob: str | None) -> Callable[[str], bool]:
    """Make a test for paths: `*.py` fits a name anywhere, `src/**/*.{ts,tsx}` a whole path.

    Raises:
        ToolError: no path can fit it, or it is too long.
    """
    if glob is None:
        return lambda _path: True
    patterns = [pattern for one in _without_braces(glob) if (pattern := read_pattern(one)) is not None]
    if not patterns:
        raise ToolError(f"nothing can fit the glob {glob!r:.200}; one is src/**/*.py")
    tests = join_patterns(patterns)
    return lambda path: any(fits(path) for fits in tests) != patterns[0].negated


def _without_braces(glob: str) -> list[str]:
    """Give the patterns that one with braces stands for."""
    if len(glob) > MAX_PATTERN:
        raise ToolError(f"the glob is longer than {MAX_PATTERN} characters")
    pieces = _BRACES.split(glob)
    choices = [piece.split(",") if place % 2 else [piece] for place, piece in enumerate(pieces)]
    if prod(map(len, choices)) > MOST_GLOBS:
        raise ToolError(f"the braces of the glob stand for more than {MOST_GLOBS} patterns")
    return ["".join(one) for one in product(*choices)]
