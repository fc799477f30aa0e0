"""Programs of others that tests talk to: where they are, or why a test is skipped.

They come from npm, by the lock file in tests/peers. `./check` installs them where there is npm, and then says
so by PEER_TESTS: one that is missing after that is a failure, not a skip.
"""

import os
from pathlib import Path

import pytest

PEERS = Path(__file__).parent / "peers"


def peer(name: str) -> str:
    """Return the path of a program of these packages; skips the test where it is not installed."""
    path = PEERS / "node_modules" / ".bin" / name
    if path.exists():
        return str(path)
    if os.environ.get("PEER_TESTS"):
        pytest.fail(f"{name} is not installed in {PEERS}, though ./check installed the peers")
    pytest.skip(f"needs {name}: run `npm install` in tests/peers")


def ripgrep() -> str:
    """Return the path of ripgrep, which its package has in a folder for each system."""
    found = sorted((PEERS / "node_modules" / "@vscode").glob("ripgrep-*/bin/rg"))
    return str(found[0]) if found else peer("rg")
