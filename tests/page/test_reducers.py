"""The page's reducers and the host's are two programs: whatever happens, they come to the same state."""

import json
import os
import subprocess
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from agenthost.cli.reduce import CURRENT
from agenthost.core.reducers import REDUCERS, Live, ResourceKind
from agenthost.wire.annotations import union_members
from chance import Chance

WEB = Path(__file__).parents[2] / "web"
VITEST = WEB / "node_modules" / ".bin" / "vitest"
CASES = 800
KINDS: tuple[ResourceKind, ...] = ("chat",) * 4 + ("session",) * 3 + ("terminal", "changeset", "root")
"""What the page has reducers for, the larger ones more often."""


def make_case(seed: int) -> dict[str, Any]:
    """Let a dozen things of one sort, or of all, happen to a state, and see what the host makes of it."""
    chance = Chance(seed)
    kind = chance.random.choice(KINDS)
    start = chance.value(CURRENT.states[kind].kind)
    members = union_members(CURRENT.actions[kind].kind)
    sort = chance.random.choice([None, *sorted({member.__module__ for member in members})])
    likely = [member for member in members if sort in (None, member.__module__)]
    log = [chance.value(chance.random.choice(likely)) for _ in range(16)]
    if chance.random.random() < 0.8:  # most of what happens is about the turn that runs
        running = start.get("activeTurn", {}).get("id", "a")
        log = [{**action, "turnId": running} if "turnId" in action else action for action in log]
    live = Live(CURRENT.states[kind].take(deepcopy(start)))
    for action in log:
        live = REDUCERS[kind](live, CURRENT.actions[kind].take(deepcopy(action)))
    name = f"{seed}: {' '.join(action['type'] for action in log)}"
    return {"description": name, "reducer": kind, "initial": start, "actions": log, "expected": live.state}


def test_the_page_comes_to_the_same_state_as_the_host(tmp_path: Path) -> None:
    if not VITEST.exists():
        if os.environ.get("AGENTHOST_BROWSER"):
            pytest.fail("vitest is not installed in web, though ./check has seen to it")
        pytest.skip("needs vitest: run `npm install` in web")
    (tmp_path / "cases.json").write_text(json.dumps([make_case(seed) for seed in range(CASES)]))
    done = subprocess.run(
        [VITEST, "run", "tests/fixtures.test.ts", "--reporter=default", "--no-color"],
        cwd=WEB,
        env={**os.environ, "AHP_1_0_FIXTURES": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert f"{CASES + 1} passed" in done.stdout
