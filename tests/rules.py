"""The mark that ties a test to the rules it proves; `test_rules.py` beside those tests keeps the list."""

import pytest


def rule(*ids: str) -> pytest.MarkDecorator:
    """Say which rules the test below proves."""
    return pytest.mark.rule(*ids)
