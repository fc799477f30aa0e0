"""Globs: select paths below a folder. Matching takes linear time, as with ignore rules."""

import re
from collections.abc import Sequence
from itertools import product
from math import prod

from agenthost.errors import InvalidValue
from agenthost.host.files.ignore_rules import MAX_PATTERN, Pattern, join_patterns, read_pattern
from agenthost.host.files.uris import Parts

__all__ = ["BadGlob", "PathFilter", "expand_braces"]

MAX_EXPANDED = 64
"""How many patterns the braces of a glob may expand to."""

MAX_GLOBS = 200
MAX_CHARACTERS = 16 * 1024
"""How many globs a filter may have, and how long they may be together: each path is compared with all."""

_BRACES = re.compile(r"\{([^{}]*)\}")
_ANYTHING_BELOW = "/**"


class BadGlob(ValueError):
    """A glob that is too long, or stands for too many patterns; the sentence says which."""


def expand_braces(glob: str) -> list[str]:
    """Return the patterns that a glob with braces expands to.

    Raises:
        BadGlob: it is too long, or they are too many.
    """
    if len(glob) > MAX_PATTERN:
        raise BadGlob(f"the glob is longer than {MAX_PATTERN} characters")
    pieces = _BRACES.split(glob)
    choices = [piece.split(",") if place % 2 else [piece] for place, piece in enumerate(pieces)]
    if prod(map(len, choices)) > MAX_EXPANDED:
        raise BadGlob(f"the braces of the glob expand to more than {MAX_EXPANDED} patterns")
    return ["".join(one) for one in product(*choices)]


class PathFilter:
    """Which paths of a folder are reported: those that are included, or all, except the excluded ones.

    Globs and paths are relative to the folder: `*.py` is a file in it, `**/*.py` one at any depth. A glob
    that matches a folder applies to everything in it.
    """

    def __init__(self, top: Parts, includes: Sequence[str] | None, excludes: Sequence[str]) -> None:
        """Read the globs. Without `includes`, everything is included.

        Raises:
            InvalidValue: there are too many globs, or one cannot match anything.
        """
        self.includes_all = includes is None
        self._includes = join_patterns(_patterns(top, includes or (), "$.includes"))
        self._excludes = join_patterns(_patterns(top, excludes, "$.excludes"))

    def includes(self, path: str) -> bool:
        """Return whether a path, relative to the folder, is included by itself."""
        return self.includes_all or any(fits(path) for fits in self._includes)

    def excludes(self, path: str) -> bool:
        """Return whether a path, relative to the folder, is excluded."""
        return any(fits(path) for fits in self._excludes)


def _patterns(top: Parts, globs: Sequence[str], at: str) -> list[Pattern]:
    if len(globs) > MAX_GLOBS or sum(map(len, globs)) > MAX_CHARACTERS:
        raise InvalidValue(at, f"at most {MAX_GLOBS} globs of {MAX_CHARACTERS} characters together", "more")
    found: list[Pattern] = []
    for glob in globs:
        try:
            expanded = expand_braces(_relative(glob, "/" + "/".join(top)))
        except BadGlob as error:
            raise InvalidValue(at, "globs that can be read", str(error)) from None
        for one in expanded:
            pattern = read_pattern(f"/{one}")
            if pattern is None:
                raise InvalidValue(at, "globs that something can match", repr(glob[:200]))
            found.append(pattern)
            # A pattern for everything in a folder covers the folder too, so that it need not be entered.
            above = one.removesuffix(_ANYTHING_BELOW)
            if above != one and (whole := read_pattern(f"/{above}")) is not None:
                found.append(whole)
    return found


def _relative(glob: str, top: str) -> str:
    """Return a glob relative to the folder. It may also be written with the path of the folder."""
    beneath = glob.removeprefix(top.rstrip("/") + "/") if glob.startswith("/") else glob
    return beneath.removeprefix("./").strip("/")
