"""Code that might never end, in a process of its own: whoever waits for it can give up."""

import subprocess
import sys
from pathlib import Path

SECONDS = 25
"""Far more than any of it needs on a busy machine, and far less than what backtracks would take."""


def run_bounded(code: str, *words: str | Path) -> str:
    """Run a program of Python within bounded time; give what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
        cwd=Path(__file__).parent,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
