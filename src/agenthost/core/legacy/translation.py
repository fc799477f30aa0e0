"""Legacy actions, of clients and of hosts, as actions on a session, its default chat, the root or a terminal.

Legacy actions bring no times: those are worked out from the time that is given. A legacy action that would
change nothing may become none at all.
"""

from typing import Any, Final, Literal, NamedTuple, TypeAlias

from agenthost.core.legacy.chat_translation import CHAT_TRANSLATORS
from agenthost.core.legacy.given_action import Given, Translator, copied, make
from agenthost.core.legacy.root import lift_agents
from agenthost.core.legacy.session_translation import SESSION_TRANSLATORS
from agenthost.core.legacy.terminals import ChatOf, lift_claim, lift_terminals, no_chat
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.legacy.enums import SessionStatus
from agenthost.wire.ahp.session import SessionState

__all__ = ["Channel", "Translated", "lift_action", "translate_action"]

Channel: TypeAlias = Literal["root", "session", "chat", "terminal"]


class Translated(NamedTuple):
    """The actions that a legacy action becomes, if any, and the kind of channel that they are for."""

    channel: Channel
    actions: list[Any]


def translate_action(
    action: Any,
    session: SessionState | None = None,
    chat: ChatState | None = None,
    *,
    now_ms: float,
    client_id: str,
    chat_of: ChatOf = no_chat,
) -> Translated:
    """Return what the action of a legacy client becomes.

    `session` and its default `chat` are as they were before it; the root and terminals need none. `chat_of`
    names the default chat of a session.
    """
    return _translate(Given(action, session, chat, now_ms, client_id, chat_of))


def lift_action(
    action: Any,
    session: SessionState | None = None,
    chat: ChatState | None = None,
    *,
    now_ms: float,
    chat_of: ChatOf = no_chat,
) -> list[tuple[Channel, Any]]:
    """Return what the action of a legacy host becomes: actions, each with the kind of its channel.

    The host is always right: it may replace the active client, and marks the whole session as read or unread.
    """
    channel, made = _translate(Given(action, session, chat, now_ms, None, chat_of))
    lifted: list[tuple[Channel, Any]] = [(channel, one) for one in made]
    if action["type"] in UNREADS and session is not None and session["status"] & SessionStatus.IS_READ:
        lifted.append(("session", {"type": "session/isReadChanged", "isRead": False}))
    return lifted


def _translate(given: Given) -> Translated:
    kind = given.action["type"]
    if kind in TRANSLATORS:
        channel, translator = TRANSLATORS[kind]
        return Translated(channel, translator(given))
    scope = kind.partition("/")[0]
    return Translated(scope if scope in ("root", "terminal") else "session", [])


def _agents_changed(given: Given) -> list[Any]:
    return [make(given, "root/agentsChanged", agents=lift_agents(given.action["agents"]))]


def _terminals_changed(given: Given) -> list[Any]:
    terminals = lift_terminals(given.action["terminals"], given.chat_of)
    return [make(given, "root/terminalsChanged", terminals=terminals)]


def _claimed(given: Given) -> list[Any]:
    return [make(given, "terminal/claimed", claim=lift_claim(given.action["claim"], given.chat_of))]


_ROOT: Final[dict[str, Translator]] = {
    "root/agentsChanged": _agents_changed,
    "root/activeSessionsChanged": copied("root/activeSessionsChanged", "activeSessions"),
    "root/terminalsChanged": _terminals_changed,
    "root/configChanged": copied("root/configChanged", "config", "replace"),
}

_TERMINAL_FIELDS: Final = {
    "terminal/data": ("data",),
    "terminal/input": ("data",),
    "terminal/resized": ("cols", "rows"),
    "terminal/titleChanged": ("title",),
    "terminal/cwdChanged": ("cwd",),
    "terminal/exited": ("exitCode",),
    "terminal/cleared": (),
    "terminal/commandDetectionAvailable": (),
    "terminal/commandExecuted": ("commandId", "commandLine", "timestamp"),
    "terminal/commandFinished": ("commandId", "exitCode", "durationMs"),
}

_TERMINAL: Final[dict[str, Translator]] = {
    "terminal/claimed": _claimed,
    **{kind: copied(kind, *keys) for kind, keys in _TERMINAL_FIELDS.items()},
}

UNREADS: Final = frozenset({"session/turnStarted", "session/inputRequested"})
"""The legacy actions that make a session unread."""

TRANSLATORS: Final[dict[str, tuple[Channel, Translator]]] = {
    **{kind: ("root", translator) for kind, translator in _ROOT.items()},
    **{kind: ("session", translator) for kind, translator in SESSION_TRANSLATORS.items()},
    **{kind: ("chat", translator) for kind, translator in CHAT_TRANSLATORS.items()},
    **{kind: ("terminal", translator) for kind, translator in _TERMINAL.items()},
}
"""How each legacy action is translated, and for which kind of channel."""
