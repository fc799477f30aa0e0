"""The script that traces a turn through the host."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "trace_turn.py"


@pytest.mark.parametrize("name", ["aap", "ahp", "ahp-0.1"])
def test_the_trace_of_a_turn_has_its_totals_and_its_path_from_the_edge_to_the_store(name: str) -> None:
    done = subprocess.run([sys.executable, SCRIPT, name], capture_output=True, text=True, check=True)
    total, *lines = done.stdout.splitlines()
    found = re.fullmatch(rf"{name}: (\d+) calls, (\d+) functions, (\d+) files", total)
    assert found is not None
    calls, functions, files = map(int, found.groups())
    assert calls > functions > files == len(lines)
    counts = {file: int(count) for file, count, *_ in map(str.split, lines)}
    assert sum(counts.values()) == calls
    assert next(iter(counts)).startswith("edges/")
    assert {file.partition("/")[0] for file in counts} - {"threads.py"} == {"edges", "wire", "host", "core"}
    assert counts["core/reducers/chat.py"] >= 1
    assert counts["core/derived.py"] >= 1
    assert ("core/legacy/dispatch.py" in counts) == (name == "ahp-0.1")
