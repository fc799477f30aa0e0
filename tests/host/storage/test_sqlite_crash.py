"""The SQLite store under `kill -9`: what was acknowledged is there, and every commit is whole or absent."""

import random
import subprocess
import sys
from pathlib import Path

from storing import dense_store

GROUP = 7

# Commits groups of entries, each with a message, and prints the number of each that was acknowledged.
COMMIT = """
import sys
from pathlib import Path
from agenthost.host.storage import AddMessages, Entry, PutSnapshot
from storing import added, commit, dense_store

group = int(sys.argv[2])
store = dense_store(Path(sys.argv[1]))
last = store.open().last_seq
if last == 0:
    commit(store, [added(1)], 0)
while True:
    entries = [Entry(last + i, 1, b"%d" % last) for i in range(1, group + 1)]
    last += group
    commit(store, [*entries[:3], AddMessages(1, last // group, (b"%d" % last,)), *entries[3:]], last)
    print(last, flush=True)
    if last % (40 * group) == 0:
        store.trim(100 * group, 200 * group)
        commit(store, [PutSnapshot(1, b"%d" % last, last)], last)
"""


def killed_after(path: Path, acknowledged: int) -> int:
    """Kill the committing process once so many groups were acknowledged; give the last one that was."""
    command = [sys.executable, "-c", COMMIT, str(path), str(GROUP)]
    env = {"PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as process:
        assert process.stdout
        lines = [process.stdout.readline() for _ in range(acknowledged)]
        process.kill()
        lines += process.stdout.read().splitlines(keepends=True)
    return max(int(line) for line in lines if line.endswith("\n"))


def test_acknowledged_commits_survive_kill_9_completely(tmp_path: Path) -> None:
    chance = random.Random(1)  # noqa: S311
    for _ in range(10):
        acknowledged = killed_after(tmp_path, chance.randrange(1, 60))
        store = dense_store(tmp_path)
        last = store.open().last_seq
        session = store.load(1)
        log = store.replay(store.floor([1]), [1], "me")
        store.close()
        assert last >= acknowledged
        assert session
        assert last % GROUP == 0
        assert len(session.messages) == 1 + last // GROUP
        assert [entry.seq for entry in log] == list(range(last - len(log) + 1, last + 1))
        assert [entry.seq for entry in session.entries] == list(range(session.state_seq + 1, last + 1))
