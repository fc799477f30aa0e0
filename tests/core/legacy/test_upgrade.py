"""Legacy states become states of today, and legacy clients see them as they were."""

from typing import Any

from hypothesis import given

from agenthost.core.legacy.projected_state import project_session_state
from agenthost.core.legacy.reducers.status import compute_status
from agenthost.core.legacy.root import project_root_state, upgrade_root
from agenthost.core.legacy.summaries import lift_summary, project_listed
from agenthost.core.legacy.terminals import project_terminal_state, upgrade_terminal
from agenthost.core.legacy.upgrade import upgrade_session
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.legacy.root import RootState as LegacyRootState
from agenthost.wire.ahp.legacy.session import SessionState as LegacySessionState
from agenthost.wire.ahp.legacy.session import SessionSummary as LegacySummary
from agenthost.wire.ahp.legacy.terminal import TerminalState as LegacyTerminalState
from agenthost.wire.ahp.root import RootState
from agenthost.wire.ahp.session import SessionState, SessionSummary
from agenthost.wire.ahp.terminal import TerminalState
from agenthost.wire.shape import Shape
from building import done, in_turn, markdown, session, tool_call
from strategies import values_of

CHAT = "ahp-chat:/one"


def chat_of(_session: str) -> str:
    return CHAT


def without_what_is_lost(legacy: Any) -> Any:
    """Return a legacy state without what has no place today, and what no legacy host says."""
    summary = legacy["summary"]
    if "activeTurn" not in legacy or not legacy.get("inputRequests"):
        legacy.pop("inputRequests", None)
    legacy["turns"] = [turn for turn in legacy["turns"] if turn["state"] == "error" or "error" not in turn]
    for turn in [*legacy["turns"], legacy.get("activeTurn", {"responseParts": []})]:
        for part in turn["responseParts"]:
            if part["kind"] == "toolCall" and part["toolCall"]["status"] == "streaming":
                part["toolCall"].setdefault("partialInput", "")
    for one in legacy.get("customizations", []):
        if not one.get("statusMessage") or "status" not in one:
            one.pop("statusMessage", None)
    if not legacy.get("_meta"):
        legacy.pop("_meta", None)
    summary["modifiedAt"] = 86_400_000
    summary["status"] = compute_status(legacy)
    return legacy


@given(legacy=values_of(LegacySessionState).map(without_what_is_lost))
def test_a_legacy_session_is_seen_as_it_was(legacy: Any) -> None:
    session, chat = upgrade_session(legacy, CHAT)
    summary = legacy["summary"]
    assert project_session_state(session, chat, summary["resource"], summary["createdAt"]) == legacy
    Shape[Any](SessionState).take(session)
    Shape[Any](ChatState).take(chat)


@given(legacy=values_of(LegacyTerminalState))
def test_a_legacy_terminal_is_seen_as_it_was(legacy: Any) -> None:
    terminal = upgrade_terminal(legacy, chat_of)
    assert project_terminal_state(terminal) == legacy
    Shape[Any](TerminalState).take(terminal)


@given(legacy=values_of(LegacyRootState))
def test_a_legacy_root_is_seen_as_it_was(legacy: Any) -> None:
    root = upgrade_root(legacy, chat_of)
    assert project_root_state(root) == legacy
    Shape[Any](RootState).take(root)


@given(legacy=values_of(LegacySummary))
def test_a_legacy_summary_is_seen_as_it_was(legacy: Any) -> None:
    legacy.update(createdAt=1_700_000_000_000, modifiedAt=1_700_000_000_001)
    summary = lift_summary(legacy)
    assert project_listed(summary) == legacy
    Shape[Any](SessionSummary).take(summary)


def test_an_upgraded_session_lists_its_chat() -> None:
    legacy: Any = session(status=97, turns=[done("t1", markdown("p"))])
    upgraded, chat = upgrade_session(legacy, CHAT)
    entry = {"resource": CHAT, "title": "", "status": 1, "modifiedAt": "1970-01-01T00:00:02.000Z"}
    assert (upgraded["chats"], upgraded["defaultChat"], upgraded["status"]) == ([entry], CHAT, 97)
    assert {key: value for key, value in chat.items() if key != "turns"} == entry


def test_a_question_without_a_turn_has_no_place() -> None:
    legacy: Any = session(status=24 | 32, inputRequests=[{"id": "r"}])
    upgraded, chat = upgrade_session(legacy, CHAT)
    assert (upgraded["status"], chat["status"], chat.get("activeTurn")) == (1 | 32, 1, None)


def test_an_open_question_becomes_a_part_of_the_turn() -> None:
    legacy: Any = in_turn(markdown("p"), status=24, inputRequests=[{"id": "r"}])
    _, chat = upgrade_session(legacy, CHAT)
    turn = chat["activeTurn"]
    assert turn["responseParts"] == [markdown("p"), {"kind": "inputRequest", "request": {"id": "r"}}]
    assert turn["startedAt"] == "1970-01-01T00:00:02.000Z"


def test_a_time_that_no_calendar_reaches_is_the_first_of_all() -> None:
    legacy: Any = session(summary={"modifiedAt": 1e300})
    assert upgrade_session(legacy, CHAT)[1]["modifiedAt"] == "1970-01-01T00:00:00.000Z"


def test_what_a_user_would_rather_have_had_is_a_message() -> None:
    call = tool_call("cancelled", invocationMessage="x", reason="denied", userSuggestion={"text": "Ask"})
    legacy: Any = session(turns=[done("t1", call)])
    [part] = upgrade_session(legacy, CHAT)[1]["turns"][0]["responseParts"]
    lifted: Any = part
    assert lifted["toolCall"]["userSuggestion"] == {"text": "Ask", "origin": {"kind": "user"}}
