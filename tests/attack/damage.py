"""Attacks on the disk: bits that flip, and power that is cut."""

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from ahp_speaking import Refused
from attack.stage import NotStarted, Stage, Target, hold

SESSIONS = 8
STORE = "agenthost.db"
FLIPS = 4
"""How many bits are flipped at once."""

MAX_SENTENCE = 1_000
CUTS = 200
NOT_HERE = 2
"""How `power` ends where it cannot be tried."""

TESTS = Path(__file__).parents[1]


def bit_flips(stage: Stage) -> str:
    """Flip bits of the store, and read all sessions."""
    key = stage.key("ann")
    with stage.serve() as target:
        for number in range(SESSIONS):
            session = target.session("caller", key, "list_files")
            target.turn(session, f'list_files {{"glob": "*{number}*"}}', key)
        truth = asyncio.run(_read_all(target, key))
        target.served.stop(signal.SIGTERM)
    sound = (stage.data / STORE).read_bytes()
    outcomes: Counter[str] = Counter()
    for start in range(40 if stage.is_long else 3):
        if start % 10 == 0:
            stage.tell(f"start {start + 1}: {dict(outcomes)}")
        outcomes += _flip(stage, key, sound, truth)
    return ", ".join(f"{count} {what}" for what, count in sorted(outcomes.items()))


def _flip(stage: Stage, key: str, sound: bytes, truth: dict[str, Any]) -> Counter[str]:
    flipped = bytearray(sound)
    places = [stage.chance.randrange(100, len(sound)) for _ in range(FLIPS)]
    for place in places:
        flipped[place] ^= 1 << stage.chance.randrange(8)
    for path in stage.data.glob(f"{STORE}*"):
        path.unlink()
    (stage.data / STORE).write_bytes(flipped)
    try:
        with stage.serve() as target:
            return asyncio.run(_compare(target, key, truth, places))
    except NotStarted as error:
        said = str(error)
        hold("agenthost: " in said and "Traceback" not in said, f"bytes {places}: {said}")
        return Counter({"starts refused": 1})


async def _read_all(target: Target, key: str) -> dict[str, Any]:
    async with target.client(key) as client:
        items = (await client.request("listSessions"))["items"]
        return {one["resource"]: await client.subscribe(one["resource"]) for one in items}


async def _compare(target: Target, key: str, truth: dict[str, Any], places: list[int]) -> Counter[str]:
    outcomes: Counter[str] = Counter()
    async with target.client(key) as client:
        listed = {one["resource"] for one in (await client.request("listSessions"))["items"]}
        hold(listed <= truth.keys(), f"bytes {places}: sessions are listed that there were not")
        for uri, state in truth.items():
            try:
                found = await client.subscribe(uri)
            except Refused as refused:
                hold("Traceback" not in refused.message, f"bytes {places}: {refused.message}")
                hold(0 < len(refused.message) < MAX_SENTENCE, f"bytes {places}: {refused.message!r}")
                outcomes["sessions refused"] += 1
                continue
            parts = [name for name in {**state, **found} if state.get(name) != found.get(name)]
            hold(not parts, f"bytes {places}: {uri} has another {', '.join(parts)}")
            outcomes["sessions as before"] += 1
    return outcomes


def power_cuts(stage: Stage) -> str:
    """Cut the power, as `./run power` does."""
    seed = stage.chance.randrange(10**6)
    words = [sys.executable, "-m", "power", "--cuts", str(CUTS), "--seed", str(seed)]
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    told: list[str] = []
    with subprocess.Popen(
        words,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        for line in process.stdout or ():
            told.append(line.rstrip())
            stage.tell(told[-1])
    if process.returncode == NOT_HERE:
        return f"not tried: {told[-1]}"
    hold(process.returncode == 0, told[-1] if told else f"it ended with {process.returncode}")
    return f"{CUTS} cuts with each of both"
