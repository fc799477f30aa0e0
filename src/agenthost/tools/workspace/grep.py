"""A program that searches files for a regular expression, run by `file_search` if ripgrep is not installed.

It is a separate process because a regular expression of Python can run endlessly while it holds the GIL. A
process can be killed. It prints what ripgrep prints with the same options, and needs only Python itself.

    grep.py PATTERN i|- CONTEXT MAX_COUNT COLUMNS FILE...
"""

import re
import sys
from collections import deque
from pathlib import Path

MAX_LINE_BYTES = 1024 * 1024
"""How much of a line is searched."""


def search(pattern: "re.Pattern[str]", name: str, context: int, max_count: int, columns: int) -> None:
    """Print the matching lines of a file, and the lines around them."""
    before: deque[tuple[int, str]] = deque(maxlen=context)
    count = after = number = 0
    with Path(name).open("rb") as file:
        while line := file.readline(MAX_LINE_BYTES):
            number += 1
            text = line.decode(errors="replace").removesuffix("\n").removesuffix("\r")
            if count < max_count and pattern.search(text):
                for place, earlier in before:
                    show(name, place, "-", earlier, columns)
                before.clear()
                show(name, number, ":", text, columns)
                count, after = count + 1, context
            elif after:
                show(name, number, "-", text, columns)
                after -= 1
            elif count >= max_count:
                return
            else:
                before.append((number, text))


def show(name: str, number: int, mark: str, text: str, columns: int) -> None:
    """Print one line."""
    if len(text) > columns:
        text = f"{text[:columns]} [... omitted end of long line]"
    sys.stdout.write(f"{name}\0{number}{mark}{text}\n")


def main(pattern: str, case: str, context: str, max_count: str, columns: str, *files: str) -> int:
    """Search all files."""
    try:
        compiled = re.compile(pattern, re.IGNORECASE if case == "i" else 0)
    except re.error as error:
        sys.stderr.write(f"regex parse error: {error}\n")
        return 2
    sys.stdout.reconfigure(encoding="utf-8", errors="replace", newline="\n")  # type: ignore[union-attr]
    for name in files:
        search(compiled, name, int(context), int(max_count), int(columns))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
