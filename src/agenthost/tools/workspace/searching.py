"""`search`: a regular expression in the files of the workspace, with ripgrep if it is there.

We walk and open the files ourselves, and hand them over as descriptors: so both searchers look at the same
files, neither can be led out of the workspace, and what git ignores is the same as for `list_files`.
"""

import os
import re
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from threading import BoundedSemaphore
from typing import Annotated

from agenthost.errors import ToolError
from agenthost.host.files.jail import READ
from agenthost.host.toolcontext import ToolContext
from agenthost.host.toolresults import ToolResult
from agenthost.host.tools import tool
from agenthost.tools.workspace.paths import at, name_of
from agenthost.tools.workspace.walking import Walk, fitting

__all__ = ["search"]

MOST_MATCHES = 100
MOST_CHARACTERS = 48_000
MOST_AROUND = 10
LONGEST_LINE = 300
SECONDS = 30.0
AT_ONCE = 64
"""How many files one searcher is given: each is a descriptor."""

LONGEST_PRINTED = 4096
"""How much of a line a searcher prints; the rest is cut here, so that it looks the same."""

PROBE = 8 * 1024
GREP = Path(__file__).with_name("grep.py")

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_LINE = re.compile(rb"/dev/fd/(\d+)\0(\d+)([:-])(.*)")
_TURNS = BoundedSemaphore(4)
"""How many searches go on at the same time, as each holds many files open."""


@dataclass(slots=True)
class Search:
    """What is searched for, and what was found so far."""

    pattern: str
    around: int
    ignore_case: bool
    names_only: bool
    deadline: float
    lines: list[str] = field(default_factory=list)
    matches: int = 0
    size: int = 0
    is_late: bool = False

    @property
    def is_full(self) -> bool:
        """Whether that is enough."""
        return self.matches > MOST_MATCHES or self.size > MOST_CHARACTERS

    def look_into(self, files: Sequence[tuple[str, int]]) -> None:
        """Search files that are open.

        Raises:
            ToolError: the pattern is no regular expression.
        """
        try:
            ran = subprocess.run(  # noqa: S603 - our own program, and the pattern is one argument
                [*self._command(), *(f"/dev/fd/{file}" for _, file in files)],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                pass_fds=[file for _, file in files],
                timeout=max(self.deadline - time.monotonic(), 0.1),
                check=False,
            )
        except subprocess.TimeoutExpired:
            self.is_late = True
            return
        if ran.returncode > 1:
            words = " ".join(ran.stderr.decode(errors="replace").split())
            raise ToolError(f"the pattern cannot be searched for: {words[:300]}")
        self._take({file: name for name, file in files}, ran.stdout)

    def _command(self) -> list[str]:
        most, columns = str(MOST_MATCHES + 1), str(LONGEST_PRINTED)
        ripgrep = shutil.which("rg")
        if ripgrep is None:
            case = "i" if self.ignore_case else "-"
            grep = [sys.executable, "-I", "-S", str(GREP)]
            return [*grep, self.pattern, case, str(self.around), most, columns]
        options = ["--no-config", "--color=never", "--no-heading", "--with-filename", "--line-number"]
        options += ["--null", "--no-context-separator", "--max-columns-preview", "--max-columns", columns]
        options += ["--max-count", most, "--context", str(self.around)]
        return [ripgrep, *options, *(["-i"] if self.ignore_case else []), "-e", self.pattern, "--"]

    def _take(self, names: dict[int, str], printed: bytes) -> None:
        """Take what a searcher printed, in the order of the files: it may have its own."""
        found: dict[int, list[tuple[int, bytes, bytes]]] = {file: [] for file in names}
        for line in printed.split(b"\n"):
            if (match := _LINE.fullmatch(line)) is not None:
                found[int(match[1])].append((int(match[2]), match[3], match[4]))
        for file, lines in found.items():
            if lines and self.names_only:
                self._add(names[file])
                self.matches += 1
            elif lines:
                self._take_file(names[file], lines)

    def _take_file(self, name: str, lines: list[tuple[int, bytes, bytes]]) -> None:
        last = None
        for number, mark, line in lines:
            if self.around and self.lines and number - 1 != last:
                self._add("--")
            text = line.decode(errors="replace").removesuffix("\r")
            short = text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}…"
            self._add(f"{name}{mark.decode()}{number}{mark.decode()}{short}")
            self.matches += mark == b":"
            last = number
            if self.is_full:
                return

    def _add(self, line: str) -> None:
        self.lines.append(line)
        self.size += len(line) + 1

    def told(self) -> str:
        """Say it to the model."""
        lines = list(self.lines)
        if self.is_late:
            lines.append(f"[stopped after {SECONDS:g} seconds: narrow the search by path or glob]")
        elif self.is_full:
            lines.append("[there is more: narrow the search by path, glob or pattern]")
        return "\n".join(lines) or "nothing was found"


@tool(
    title="Search",
    read_only=True,
    open_world=False,
    trusted=True,
    grant="files",
    invocation="Search for {pattern}",
)
def search(
    pattern: Annotated[str, "a regular expression, for one line"],
    context: ToolContext,
    path: Annotated[str, "a folder or file, seen from the workspace"] = ".",
    glob: Annotated[str | None, "only files that fit: *.py, or src/**/*.{ts,tsx}"] = None,
    ignore_case: Annotated[bool, "whether A is a too"] = False,  # noqa: FBT002 - by name
    around: Annotated[int, f"how many lines around each match, at most {MOST_AROUND}"] = 0,
    names_only: Annotated[bool, "only the paths of the files"] = False,  # noqa: FBT002 - by name
) -> ToolResult:
    """Search the text files of the workspace, but those that .gitignore leaves out.

    Gives path:number:line for a match, and path-number-line for what is around it.
    """
    if not pattern or "\n" in pattern or "\0" in pattern:
        raise ToolError("`pattern` is for one line: it cannot be empty, nor hold a line end")
    around = 0 if names_only else max(0, min(around, MOST_AROUND))
    wanted = Search(pattern, around, ignore_case, names_only, time.monotonic() + SECONDS)
    with _TURNS, closing(_opened(context, path, fitting(glob), wanted.deadline)) as files:
        for batch in _batches(files):
            wanted.look_into(batch)
            wanted.is_late = wanted.is_late or time.monotonic() > wanted.deadline
            if wanted.is_full or wanted.is_late or context.is_cancelled:
                break
    return ToolResult(wanted.told(), message=f"Searched for {pattern[:60]}")


def _batches(files: Iterator[tuple[str, int]]) -> Iterator[list[tuple[str, int]]]:
    """Give some open files at a time, and close them after each."""
    while True:
        batch: list[tuple[str, int]] = []
        try:
            batch.extend(islice(files, AT_ONCE))
            if not batch:
                return
            yield batch
        finally:
            for _, file in batch:
                os.close(file)


def _opened(
    context: ToolContext, path: str, fits: Callable[[str], bool], deadline: float
) -> Generator[tuple[str, int], None, None]:
    """Open the text files that are meant, one after the other; whoever takes them closes them."""
    with at(context.files, path, READ, follow=True) as place:
        if stat.S_ISDIR(place.needed_status().st_mode):
            with closing(Walk(context.files).below(place)) as entries:
                for entry in entries:
                    if context.is_cancelled or time.monotonic() > deadline:
                        return
                    if not entry.is_folder and fits(entry.path):
                        yield from _opened_text(entry.path, entry.name, entry.folder)
        else:
            yield from _opened_text(name_of(context.files, place.path), place.name, place.folder)


def _opened_text(path: str, name: str, folder: int) -> Iterator[tuple[str, int]]:
    """Open a file, if it is one and looks like text."""
    try:
        file = os.open(name, _FILE, dir_fd=folder)
    except OSError:  # gone, a link, or not ours to read
        return
    is_text = False
    try:
        is_text = stat.S_ISREG(os.fstat(file).st_mode) and b"\0" not in os.pread(file, PROBE, 0)
    finally:
        if not is_text:
            os.close(file)
    if is_text:
        yield path, file
