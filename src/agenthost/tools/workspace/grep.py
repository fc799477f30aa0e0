"""A program that searches files for a regular expression, where there is no ripgrep: run by `searching`.

It is a process of its own because Python's expressions can take for ever and hold everything else up
meanwhile; a process can be ended. It prints what ripgrep prints with the same options, and imports nothing
but what comes with Python.

    grep.py PATTERN i|- CONTEXT MOST COLUMNS FILE...
"""

import re
import sys
from collections import deque
from pathlib import Path

LONGEST = 1024 * 1024
"""How much of a line is looked at."""


def search(pattern: "re.Pattern[str]", name: str, context: int, most: int, columns: int) -> None:
    """Print the lines of a file that fit, and those around them."""
    before: deque[tuple[int, str]] = deque(maxlen=context)
    count = after = number = 0
    with Path(name).open("rb") as file:
        while line := file.readline(LONGEST):
            number += 1
            text = line.decode(errors="replace").removesuffix("\n").removesuffix("\r")
            if count < most and pattern.search(text):
                for place, earlier in before:
                    show(name, place, "-", earlier, columns)
                before.clear()
                show(name, number, ":", text, columns)
                count, after = count + 1, context
            elif after:
                show(name, number, "-", text, columns)
                after -= 1
            elif count >= most:
                return
            else:
                before.append((number, text))


def show(name: str, number: int, mark: str, text: str, columns: int) -> None:
    """Print one line."""
    if len(text) > columns:
        text = f"{text[:columns]} [... omitted end of long line]"
    sys.stdout.write(f"{name}\0{number}{mark}{text}\n")


def main(pattern: str, case: str, context: str, most: str, columns: str, *files: str) -> int:
    """Search all files."""
    try:
        compiled = re.compile(pattern, re.IGNORECASE if case == "i" else 0)
    except re.error as error:
        sys.stderr.write(f"regex parse error: {error}\n")
        return 2
    sys.stdout.reconfigure(encoding="utf-8", errors="replace", newline="\n")  # type: ignore[union-attr]
    for name in files:
        search(compiled, name, int(context), int(most), int(columns))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
