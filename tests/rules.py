"""The mark that ties a test to the reducer rules it proves; `core/reducers/test_rules.py` keeps the list."""

import pytest


def rule(*ids: str) -> pytest.MarkDecorator:
    """Say which rules the test below proves."""
    return pytest.mark.rule(*ids)
