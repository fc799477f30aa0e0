"""Name limits: how long the ids, URIs and titles may be that a client chooses.

Names are stored for good, shown to everybody and repeated in every message about the thing. Texts that people
write are limited by the size of the message only. Only keys that mean the same everywhere are checked.
"""

from agenthost.errors import InvalidValue
from agenthost.wire.json import Json, JsonObject

__all__ = ["MAX_ID", "MAX_TITLE", "MAX_URI", "check_length", "check_names"]

MAX_ID = 256
MAX_TITLE = 1_000
MAX_URI = 8_192
"""Enough for the longest file path on most systems, with every byte escaped."""

_LIMITS = {
    **dict.fromkeys(("clientId", "id", "name", "provider", "requestId", "toolCallId", "turnId"), MAX_ID),
    **dict.fromkeys(("displayName", "title"), MAX_TITLE),
    **dict.fromkeys(("destination", "resource", "session", "source", "terminal", "uri"), MAX_URI),
    **dict.fromkeys(("cwd", "workingDirectory"), MAX_URI),
}
_HOLDERS = frozenset({"activeClient", "claim", "fork"})
_URIS = frozenset({"initialSubscriptions", "subscriptions"})


def check_length(text: str, limit: int, at: str) -> None:
    """Refuse a name that is too long.

    Raises:
        InvalidValue: it is too long; the path is `at`.
    """
    if len(text) > limit:
        raise InvalidValue(at, f"at most {limit} characters", f"{len(text)}")


def check_names(holder: JsonObject, at: str = "$") -> None:
    """Refuse params or an action with a name that is too long. Free-form data in them is not checked.

    Raises:
        InvalidValue: with the path of the name.
    """
    for key, value in holder.items():
        if type(value) is str:
            limit = _LIMITS.get(key)
            if limit is not None and len(value) > limit:
                check_length(value, limit, f"{at}.{key}")
        elif key in _HOLDERS and type(value) is dict:
            check_names(value, f"{at}.{key}")
        elif type(value) is list and (key in _URIS or key == "tools"):
            _check_list(value, f"{at}.{key}")


def _check_list(values: list[Json], at: str) -> None:
    for place, value in enumerate(values):
        if type(value) is dict:
            check_names(value, f"{at}[{place}]")
        elif type(value) is str:
            check_length(value, MAX_URI, f"{at}[{place}]")
