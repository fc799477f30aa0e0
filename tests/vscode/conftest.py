"""VS Code, where it is installed."""

import os

import pytest

from browsing import find_browser
from vscode.installation import Installation, find


@pytest.fixture
def installation() -> Installation:
    """Return what is installed; skip without it, or fail where `./check long` has seen to it."""
    found = find()
    if found is None or find_browser() is None:
        missing = f"{'VS Code' if found is None else 'Chromium'} is not installed"
        if os.environ.get("AGENTHOST_VSCODE"):
            pytest.fail(f"{missing}, though ./check long has seen to it")
        pytest.skip(f"{missing}: ./check long sees to it")
    return found
