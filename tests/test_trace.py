"""The script that traces a turn through the host."""

import re
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "scripts" / "trace_turn.py"


def test_the_trace_of_a_turn_has_its_totals_and_its_path_from_the_edge_to_the_store() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "ahp"], capture_output=True, text=True, check=True)
    total, *lines = done.stdout.splitlines()
    found = re.fullmatch(r"ahp: (\d+) calls, (\d+) functions, (\d+) files", total)
    assert found is not None
    calls, functions, files = map(int, found.groups())
    assert calls > functions > files == len(lines)
    counts = {file: int(count) for file, count, *_ in map(str.split, lines)}
    assert sum(counts.values()) == calls
    assert next(iter(counts)).startswith("edges/")
    assert {file.partition("/")[0] for file in counts} == {"edges", "wire", "host", "core"}
    assert counts["core/reducers/session.py"] == 1
