"""Terminals in both protocols: how a process ended, and who holds a terminal, is said in more words here."""

from collections.abc import Callable
from typing import Any, TypeAlias, cast

from agenthost.wire.ahp.actions.text import TerminalData
from agenthost.wire.ahp.legacy.actions import TerminalAction as LegacyTerminalAction
from agenthost.wire.ahp.legacy.actions.text import TerminalData as LegacyTerminalData
from agenthost.wire.ahp.legacy.terminal import TerminalClaim as LegacyClaim
from agenthost.wire.ahp.legacy.terminal import TerminalInfo as LegacyTerminalInfo
from agenthost.wire.ahp.legacy.terminal import TerminalState as LegacyTerminalState
from agenthost.wire.ahp.terminal import TerminalClaim, TerminalInfo, TerminalState

ChatOf: TypeAlias = Callable[[str], str | None]
"""Names the default chat of a session; `None` if there is no such session."""


def no_chat(_session_uri: str) -> str | None:
    """Know no session."""
    return None


def project_terminal_state(state: TerminalState) -> LegacyTerminalState:
    """Return the state of a terminal as legacy clients see it."""
    return cast("LegacyTerminalState", _project(state))


def project_terminal(terminal: TerminalInfo) -> LegacyTerminalInfo:
    """Return a terminal of the list as legacy clients see it."""
    return cast("LegacyTerminalInfo", _project(terminal))


def project_terminal_action(action: Any, terminal_uri: str) -> LegacyTerminalAction | LegacyTerminalData:
    """Return an action on a terminal as legacy clients see it. They know them all."""
    if type(action) is TerminalData:
        return LegacyTerminalData(terminal_uri, action.data)
    projected: Any = {"type": action["type"], "terminal": terminal_uri}
    projected.update({key: value for key, value in action.items() if key != "type"})
    if "claim" in projected:
        projected["claim"] = project_claim(projected["claim"])
    return cast("LegacyTerminalAction", projected)


def project_claim(claim: TerminalClaim) -> LegacyClaim:
    """Return who holds a terminal. A legacy session has one chat, which is not named."""
    return cast("LegacyClaim", {key: value for key, value in claim.items() if key != "chat"})


def upgrade_terminal(state: LegacyTerminalState, chat_of: ChatOf) -> TerminalState:
    """Return the state of a legacy terminal."""
    return cast("TerminalState", _lift(state, chat_of))


def lift_terminals(terminals: list[LegacyTerminalInfo], chat_of: ChatOf) -> list[TerminalInfo]:
    """Return a legacy list of terminals."""
    return [cast("TerminalInfo", _lift(one, chat_of)) for one in terminals]


def lift_claim(claim: LegacyClaim, chat_of: ChatOf) -> TerminalClaim:
    """Return who holds a legacy terminal: of a session, its default chat."""
    lifted: Any = dict(claim)
    chat = chat_of(lifted["session"]) if lifted.get("kind") == "session" else None
    if chat is not None:
        lifted["chat"] = chat
    return cast("TerminalClaim", lifted)


def _project(terminal: Any) -> dict[str, Any]:
    projected = {key: value for key, value in terminal.items() if key not in ("lifecycle", "isPty")}
    projected["claim"] = project_claim(terminal["claim"])
    # A process that ended without a code looks to legacy clients as if it ran.
    code = terminal["lifecycle"].get("exitCode")
    return projected if code is None else {**projected, "exitCode": code}


def _lift(terminal: Any, chat_of: ChatOf) -> dict[str, Any]:
    lifted = {key: value for key, value in terminal.items() if key != "exitCode"}
    lifted["claim"] = lift_claim(terminal["claim"], chat_of)
    code = terminal.get("exitCode")
    lifted["lifecycle"] = {"status": "running"} if code is None else {"status": "exited", "exitCode": code}
    return lifted
