"""The names of a tree as of one moment, and a fuzzy search in them. Pure.

Paths are sorted by length once. So among equally good matches the first ones found are the best, and a search
ends as soon as it has enough.
"""

import re
from bisect import bisect
from collections.abc import Iterable, Iterator
from itertools import accumulate, chain, islice

__all__ = ["Snapshot"]

VIEWS_KEPT = 8


class Snapshot:
    """All files and folders of a tree, relative to its top. Folders end with a slash.

    Attributes:
        paths: the paths, shortest first.
        is_whole: whether none was left out because of limits, or not found yet.
    """

    def __init__(self, paths: Iterable[str], *, is_whole: bool = True) -> None:
        self.paths = sorted(paths, key=lambda path: (len(path), path))
        self.is_whole = is_whole
        # One line per path, every name after a slash: Python searches one text much faster than many.
        lines = [f"/{path.lower()}\n" for path in self.paths]
        self._text = "\n" + "".join(lines)
        self._starts = list(accumulate(map(len, lines[:-1]), initial=1))
        self._views: dict[str, Snapshot] = {}

    def below(self, folder: str) -> "Snapshot":
        """Return the entries below this folder, relative to it. The empty name is the top."""
        if not folder:
            return self
        view = self._views.get(folder)
        if view is None:
            start = f"{folder}/"
            inside = (path[len(start) :] for path in self.paths if path.startswith(start))
            view = Snapshot((path for path in inside if path), is_whole=self.is_whole)
            self._views[folder] = view
            for oldest in list(self._views)[:-VIEWS_KEPT]:
                self._views.pop(oldest, None)
        return view

    def search(self, query: str, limit: int) -> list[str]:
        """Return the paths that match a query, best first. An empty query matches those at the top."""
        if not query:
            at_top = (path for path in self.paths if "/" not in path[:-1])
            return list(islice(dict.fromkeys(chain(islice(at_top, limit), self.paths[:limit])), limit))
        places: dict[int, None] = {}
        for found in self._stages(query.lower().replace("\n", "")):
            for position in found:
                places.setdefault(bisect(self._starts, position) - 1)
                if len(places) == limit:
                    return [self.paths[place] for place in places]
        return [self.paths[place] for place in places]

    def _stages(self, wanted: str) -> Iterator[Iterator[int]]:
        """Yield positions in the text, from the strictest match to the weakest. Some come more than once."""
        yield (
            at for at in self._all(f"/{wanted}") if self._text.startswith(("\n", "/\n"), at + 1 + len(wanted))
        )
        yield (at for at in self._all(f"/{wanted}") if self._is_in_name(at + 1, wanted))
        yield self._all(f"\n/{wanted}", skip=1)
        yield (at for at in self._all(wanted) if self._is_in_name(at, wanted))
        yield self._all(wanted)
        # Possessive gaps up to the next wanted character: there is one way to match, so no backtracking.
        yield (match.start() for match in re.finditer(f"/{_gaps(wanted, '/')}[^/\n]*/?\n", self._text))
        yield (match.start() + 1 for match in re.finditer(f"\n{_gaps(wanted)}", self._text))

    def _all(self, needle: str, skip: int = 0) -> Iterator[int]:
        """Yield every position of a text."""
        at = self._text.find(needle)
        while at >= 0:
            yield at + skip
            at = self._text.find(needle, at + 1)

    def _is_in_name(self, at: int, wanted: str) -> bool:
        """Return whether a match is in the last name of its path."""
        rest = at + len(wanted)
        slash = self._text.find("/", rest, self._text.index("\n", rest))
        return slash < 0 or self._text[slash + 1] == "\n"


def _gaps(wanted: str, end: str = "") -> str:
    return "".join(f"[^\n{end}{re.escape(char)}]*+{re.escape(char)}" for char in wanted)
