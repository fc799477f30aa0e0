"""The names of a tree as of one moment, and which of them somebody probably means. Pure.

Shorter paths come first, once and for all; so of those that fit equally well the first ones found are the
best ones, and a search ends as soon as it has enough.
"""

import re
from bisect import bisect
from collections.abc import Iterable, Iterator
from itertools import accumulate, chain, islice

__all__ = ["Snapshot"]

VIEWS_KEPT = 8


class Snapshot:
    """All files and folders of a tree, seen from its top; folders end with a slash.

    Attributes:
        paths: them, the shortest first.
        is_whole: whether none was left out because there are too many, or not found yet.
    """

    def __init__(self, paths: Iterable[str], *, is_whole: bool = True) -> None:
        self.paths = sorted(paths, key=lambda path: (len(path), path))
        self.is_whole = is_whole
        # One text, as Python searches that much faster than many: a line for each, every name after a slash.
        lines = [f"/{path.lower()}\n" for path in self.paths]
        self._text = "\n" + "".join(lines)
        self._starts = list(accumulate(map(len, lines[:-1]), initial=1))
        self._views: dict[str, Snapshot] = {}

    def below(self, folder: str) -> "Snapshot":
        """Give what is in this folder, seen from there; the empty name is the top."""
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
        """Give the paths that fit what was typed, the best first; for nothing, those at the top."""
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
        """Search in ever weaker ways, for positions in the text; one may find again what another did."""
        yield (
            at for at in self._all(f"/{wanted}") if self._text.startswith(("\n", "/\n"), at + 1 + len(wanted))
        )
        yield (at for at in self._all(f"/{wanted}") if self._is_in_name(at + 1, wanted))
        yield self._all(f"\n/{wanted}", skip=1)
        yield (at for at in self._all(wanted) if self._is_in_name(at, wanted))
        yield self._all(wanted)
        # Each character up to the next one that is wanted: there is one way to fit, so a line is read once.
        yield (match.start() for match in re.finditer(f"/{_gaps(wanted, '/')}[^/\n]*/?\n", self._text))
        yield (match.start() + 1 for match in re.finditer(f"\n{_gaps(wanted)}", self._text))

    def _all(self, needle: str, skip: int = 0) -> Iterator[int]:
        """Find a text wherever it is."""
        at = self._text.find(needle)
        while at >= 0:
            yield at + skip
            at = self._text.find(needle, at + 1)

    def _is_in_name(self, at: int, wanted: str) -> bool:
        """Tell whether only the last name of a path follows what was found."""
        rest = at + len(wanted)
        slash = self._text.find("/", rest, self._text.index("\n", rest))
        return slash < 0 or self._text[slash + 1] == "\n"


def _gaps(wanted: str, end: str = "") -> str:
    return "".join(f"[^\n{end}{re.escape(char)}]*+{re.escape(char)}" for char in wanted)
