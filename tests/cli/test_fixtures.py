"""The public fixtures of AHP, run through `./run reduce`.

AHP_FIXTURES says where those of 0.1.0 are, one case per file. AHP_1_0_FIXTURES names the folder of 1.0's:
one case per file in `reducers`, and one per line in `random`, with the states that another implementation
reached.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

LEGACY_FOLDER = os.environ.get("AHP_FIXTURES")
FOLDER = os.environ.get("AHP_1_0_FIXTURES")
RUN = Path(__file__).parents[2] / "run"
NOW = 9999

Cases = dict[str, dict[str, Any]]


def without_nulls(value: Any) -> Any:
    if type(value) is list:
        return [without_nulls(entry) for entry in value]
    if type(value) is not dict:
        return value
    return {key: without_nulls(entry) for key, entry in value.items() if entry is not None}


def cases_in_files(folder: Path) -> Cases:
    return {file.name: json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))}


def cases_in_lines(folder: Path) -> Cases:
    return {
        f"{file.name}:{number}": json.loads(line)
        for file in sorted(folder.glob("*.jsonl"))
        for number, line in enumerate(file.read_text().splitlines(), 1)
    }


def check(cases: Cases, least: int, **how: Any) -> None:
    """Reduce all cases in one process, and compare. There are at least this many."""
    assert len(cases) >= least
    lines = [
        json.dumps({"reducer": one["reducer"], "state": one["initial"], "actions": one["actions"], **how})
        for one in cases.values()
    ]
    done = subprocess.run([RUN, "reduce"], input="\n".join(lines), capture_output=True, text=True, check=True)
    states = {name: json.loads(line) for name, line in zip(cases, done.stdout.splitlines(), strict=True)}
    assert states == {name: without_nulls(one["expected"]) for name, one in cases.items()}


@pytest.mark.skipif(not LEGACY_FOLDER, reason="AHP_FIXTURES names no folder")
def test_every_legacy_fixture_results_in_the_expected_state() -> None:
    check(cases_in_files(Path(str(LEGACY_FOLDER))), 144, now=NOW)


@pytest.mark.skipif(not FOLDER, reason="AHP_1_0_FIXTURES names no folder")
def test_every_fixture_results_in_the_expected_state() -> None:
    check(cases_in_files(Path(str(FOLDER)) / "reducers"), 298, protocol="1.0")


@pytest.mark.skipif(not FOLDER, reason="AHP_1_0_FIXTURES names no folder")
def test_every_random_sequence_results_in_the_expected_state() -> None:
    check(cases_in_lines(Path(str(FOLDER)) / "random"), 260, protocol="1.0")
