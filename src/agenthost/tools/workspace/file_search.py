"""`search`: a regular expression in the files of the workspace, with ripgrep if it is installed.

We walk the folders and pass open descriptors to the search program. So ripgrep and our own program search the
same files, neither can be led out of the workspace, and ignored files are the same as for `list_files`.
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
from agenthost.host.authoring.tool import tool
from agenthost.host.authoring.tool_context import ToolContext
from agenthost.host.authoring.tool_results import ToolResult
from agenthost.host.files.jail import READ
from agenthost.tools.workspace.file_walk import Walk, glob_matcher
from agenthost.tools.workspace.paths import open_path, relative_path

__all__ = ["search"]

MAX_MATCHES = 100
MAX_CHARACTERS = 48_000
MAX_CONTEXT_LINES = 10
MAX_LINE_CHARACTERS = 300
SECONDS = 30.0
BATCH_SIZE = 64
"""How many files one search process gets: each is a descriptor."""

MAX_PRINTED_COLUMNS = 4096
"""How much of a line the search program prints; we cut it further, so that both programs look the same."""

PROBE = 8 * 1024
GREP = Path(__file__).with_name("grep.py")

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_LINE = re.compile(rb"/dev/fd/(\d+)\0(\d+)([:-])(.*)")
_TURNS = BoundedSemaphore(4)
"""How many searches run at the same time: each holds many files open."""


@dataclass(slots=True)
class SearchRun:
    """A search: what to find, and what was found so far."""

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
        """Whether a limit is reached."""
        return self.matches > MAX_MATCHES or self.size > MAX_CHARACTERS

    def search_files(self, files: Sequence[tuple[str, int]]) -> None:
        """Search open files.

        Raises:
            ToolError: the pattern is not a regular expression.
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
            reason = " ".join(ran.stderr.decode(errors="replace").split())
            raise ToolError(f"the pattern cannot be searched for: {reason[:300]}")
        self._parse({file: name for name, file in files}, ran.stdout)

    def _command(self) -> list[str]:
        max_count, columns = str(MAX_MATCHES + 1), str(MAX_PRINTED_COLUMNS)
        ripgrep = shutil.which("rg")
        if ripgrep is None:
            case = "i" if self.ignore_case else "-"
            grep = [sys.executable, "-I", "-S", str(GREP)]
            return [*grep, self.pattern, case, str(self.around), max_count, columns]
        options = ["--no-config", "--color=never", "--no-heading", "--with-filename", "--line-number"]
        options += ["--null", "--no-context-separator", "--max-columns-preview", "--max-columns", columns]
        options += ["--max-count", max_count, "--context", str(self.around)]
        return [ripgrep, *options, *(["-i"] if self.ignore_case else []), "-e", self.pattern, "--"]

    def _parse(self, names: dict[int, str], printed: bytes) -> None:
        """Parse the output of the search program, and sort it: ripgrep searches files in any order."""
        found: dict[int, list[tuple[int, bytes, bytes]]] = {file: [] for file in names}
        for line in printed.split(b"\n"):
            if (match := _LINE.fullmatch(line)) is not None:
                found[int(match[1])].append((int(match[2]), match[3], match[4]))
        for file, lines in found.items():
            if lines and self.names_only:
                self._add(names[file])
                self.matches += 1
            elif lines:
                self._add_matches(names[file], lines)

    def _add_matches(self, name: str, lines: list[tuple[int, bytes, bytes]]) -> None:
        last = None
        for number, mark, line in lines:
            if self.around and self.lines and number - 1 != last:
                self._add("--")
            text = line.decode(errors="replace").removesuffix("\r")
            short = text if len(text) <= MAX_LINE_CHARACTERS else f"{text[:MAX_LINE_CHARACTERS]}…"
            self._add(f"{name}{mark.decode()}{number}{mark.decode()}{short}")
            self.matches += mark == b":"
            last = number
            if self.is_full:
                return

    def _add(self, line: str) -> None:
        self.lines.append(line)
        self.size += len(line) + 1

    def format(self) -> str:
        """Return the result for the model."""
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
    path: Annotated[str, "a folder or file, relative to the workspace"] = ".",
    glob: Annotated[str | None, "only matching files: *.py, or src/**/*.{ts,tsx}"] = None,
    ignore_case: Annotated[bool, "ignore upper and lower case"] = False,  # noqa: FBT002 - by name
    around: Annotated[int, f"how many lines around each match, at most {MAX_CONTEXT_LINES}"] = 0,
    names_only: Annotated[bool, "only the paths of the files"] = False,  # noqa: FBT002 - by name
) -> ToolResult:
    """Search the text files of the workspace, except those that .gitignore excludes.

    Returns path:number:line for a match, and path-number-line for the lines around it.
    """
    if not pattern or "\n" in pattern or "\0" in pattern:
        raise ToolError("`pattern` is for one line: it cannot be empty, or contain a line end or a null byte")
    around = 0 if names_only else max(0, min(around, MAX_CONTEXT_LINES))
    wanted = SearchRun(pattern, around, ignore_case, names_only, time.monotonic() + SECONDS)
    with _TURNS, closing(_open_files(context, path, glob_matcher(glob), wanted.deadline)) as files:
        for batch in _batches(files):
            wanted.search_files(batch)
            wanted.is_late = wanted.is_late or time.monotonic() > wanted.deadline
            if wanted.is_full or wanted.is_late or context.is_cancelled:
                break
    return ToolResult(wanted.format(), message=f"Searched for {pattern[:60]}")


def _batches(files: Iterator[tuple[str, int]]) -> Iterator[list[tuple[str, int]]]:
    """Yield batches of open files, and close each batch after use."""
    while True:
        batch: list[tuple[str, int]] = []
        try:
            batch.extend(islice(files, BATCH_SIZE))
            if not batch:
                return
            yield batch
        finally:
            for _, file in batch:
                os.close(file)


def _open_files(
    context: ToolContext, path: str, matches: Callable[[str], bool], deadline: float
) -> Generator[tuple[str, int], None, None]:
    """Open the text files to search, one after the other. The caller closes them."""
    with open_path(context.files, path, READ, follow=True) as place:
        if stat.S_ISDIR(place.require_status().st_mode):
            with closing(Walk(context.files).below(place)) as entries:
                for entry in entries:
                    if context.is_cancelled or time.monotonic() > deadline:
                        return
                    if not entry.is_folder and matches(entry.path):
                        yield from _open_text(entry.path, entry.name, entry.folder)
        else:
            yield from _open_text(relative_path(context.files, place.path), place.name, place.folder)


def _open_text(path: str, name: str, folder: int) -> Iterator[tuple[str, int]]:
    """Open a path if it is a regular file that looks like text."""
    try:
        file = os.open(name, _FILE, dir_fd=folder)
    except OSError:  # gone, a link, or not readable
        return
    is_text = False
    try:
        is_text = stat.S_ISREG(os.fstat(file).st_mode) and b"\0" not in os.pread(file, PROBE, 0)
    finally:
        if not is_text:
            os.close(file)
    if is_text:
        yield path, file
