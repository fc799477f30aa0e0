"""The public fixtures of AHP, through `./run reduce`, wherever the variable AHP_FIXTURES says they are."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

FOLDER = os.environ.get("AHP_FIXTURES")
RUN = Path(__file__).parents[2] / "run"
NOW = 9999


def without_nulls(value: Any) -> Any:
    if type(value) is list:
        return [without_nulls(entry) for entry in value]
    if type(value) is not dict:
        return value
    return {key: without_nulls(entry) for key, entry in value.items() if entry is not None}


@pytest.mark.skipif(not FOLDER, reason="AHP_FIXTURES names no folder")
def test_every_fixture_gives_the_state_that_it_expects() -> None:
    files = sorted(Path(str(FOLDER)).glob("*.json"))
    assert files, f"no fixtures in {FOLDER}"
    fixtures = [json.loads(file.read_text()) for file in files]
    lines = [
        json.dumps(
            {"reducer": one["reducer"], "state": one["initial"], "actions": one["actions"], "now": NOW}
        )
        for one in fixtures
    ]
    done = subprocess.run([RUN, "reduce"], input="\n".join(lines), capture_output=True, text=True, check=True)
    states = {file.name: json.loads(line) for file, line in zip(files, done.stdout.splitlines(), strict=True)}
    expected = {file.name: without_nulls(one["expected"]) for file, one in zip(files, fixtures, strict=True)}
    assert states == expected
