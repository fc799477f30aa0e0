"""A legacy action to be translated. Most translations only copy fields."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from agenthost.core.legacy.terminals import ChatOf


class Given(NamedTuple):
    """A legacy action, and what its translation depends on. Without a client, the host made it."""

    action: Any
    session: Any
    chat: Any
    now_ms: float
    client_id: str | None
    chat_of: ChatOf


Translator: TypeAlias = Callable[[Given], list[Any]]


def make(given: Given, kind: str, *keys: str, **fields: Any) -> dict[str, Any]:
    """Return an action with these fields of the legacy one, if they have a value, and others."""
    copied = {key: given.action[key] for key in keys if given.action.get(key) is not None}
    return {"type": kind, **copied, **fields}


def copied(kind: str, *keys: str) -> Translator:
    """Return a translator that copies these fields, if they have a value."""
    return lambda given: [make(given, kind, *keys)]
