"""How long names may be, and what is left alone."""

from typing import Any

import pytest

from agenthost.errors import InvalidValue
from agenthost.wire.name_limits import MAX_ID, MAX_TITLE, MAX_URI, check_names

LONG = "x" * (MAX_URI + 1)


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({"clientId": LONG}, "$.clientId: expected at most 256 characters, found 8193"),
        ({"title": LONG}, "$.title: expected at most 1000 characters"),
        ({"session": LONG}, "$.session: expected at most 8192 characters"),
        ({"uri": LONG}, "$.uri: expected"),
        ({"subscriptions": ["a", LONG]}, r"$.subscriptions\[1\]: expected"),
        ({"activeClient": {"clientId": LONG}}, "$.activeClient.clientId: expected"),
        ({"activeClient": {"tools": [{"name": LONG}]}}, r"$.activeClient.tools\[0\].name: expected"),
        ({"tools": [{"name": "a"}, {"name": LONG}]}, r"$.tools\[1\].name: expected"),
    ],
)
def test_a_name_that_is_too_long_is_refused_with_its_path(params: Any, path: str) -> None:
    with pytest.raises(InvalidValue, match=path.replace("$", r"\$")):
        check_names(params)


def test_names_may_be_as_long_as_the_limit_and_texts_of_people_longer() -> None:
    check_names({"clientId": "x" * MAX_ID, "title": "x" * MAX_TITLE, "session": "x" * MAX_URI})
    check_names(
        {"text": LONG, "userMessage": {"text": LONG}, "config": {"name": LONG}, "_meta": {"id": LONG}}
    )
