"""Legacy clients see the root and the terminals as legacy ones, and what they do to them counts."""

from copy import deepcopy
from typing import Any

from hypothesis import given

from agenthost.core.legacy.reducers import Live, reduce_root, reduce_terminal
from agenthost.core.legacy.root import project_root_action, project_root_state
from agenthost.core.legacy.terminals import project_terminal_action, project_terminal_state
from agenthost.core.legacy.translation import lift_action, translate_action
from agenthost.core.reducers import reduce_root as reduce_current_root
from agenthost.core.reducers import reduce_terminal as reduce_current_terminal
from agenthost.core.session_meta import STAND_IN
from agenthost.wire.ahp.actions import RootAction, TerminalAction
from agenthost.wire.ahp.actions.text import TerminalData
from agenthost.wire.ahp.legacy.actions import RootAction as LegacyRootAction
from agenthost.wire.ahp.legacy.actions import StateAction as LegacyAction
from agenthost.wire.ahp.legacy.actions import TerminalAction as LegacyTerminalAction
from agenthost.wire.ahp.legacy.actions.text import TerminalData as LegacyTerminalData
from agenthost.wire.ahp.legacy.root import RootState as LegacyRootState
from agenthost.wire.ahp.legacy.terminal import TerminalState as LegacyTerminalState
from agenthost.wire.ahp.root import RootState
from agenthost.wire.ahp.terminal import TerminalState
from agenthost.wire.shape import Shape
from strategies import values_of

TERMINAL = "terminal:/one"
CHAT = "ahp-chat:/one"

ACTION: Shape[Any] = Shape(LegacyAction)


def chat_of(_session: str) -> str:
    return CHAT


@given(state=values_of(RootState), action=values_of(RootAction))
def test_who_follows_the_root_sees_the_projected_root(state: Any, action: Any) -> None:
    legacy = ACTION.take(deepcopy(project_root_action(action)))
    after = reduce_current_root(Live(state), action).state
    assert reduce_root(Live(project_root_state(state)), legacy, 0).state == project_root_state(after)
    Shape[Any](LegacyRootState).take(project_root_state(after))


@given(state=values_of(TerminalState), action=values_of(TerminalAction))
def test_who_follows_a_terminal_sees_the_projected_terminal(state: Any, action: Any) -> None:
    legacy = ACTION.take(deepcopy(project_terminal_action(action, TERMINAL)))
    after = reduce_current_terminal(Live(state), action).state
    followed = reduce_terminal(Live(project_terminal_state(state)), legacy, 0).state
    assert followed == project_terminal_state(after)
    Shape[Any](LegacyTerminalState).take(project_terminal_state(after))


@given(state=values_of(RootState), action=values_of(LegacyRootAction))
def test_what_is_done_to_a_legacy_root_is_done_to_the_root(state: Any, action: Any) -> None:
    [(channel, lifted)] = lift_action(action, now_ms=0, chat_of=chat_of)
    after = reduce_current_root(Live(state), lifted).state
    assert project_root_state(after) == reduce_root(Live(project_root_state(state)), action, 0).state
    assert channel == "root"


@given(state=values_of(TerminalState), action=values_of(LegacyTerminalAction))
def test_what_is_done_to_a_legacy_terminal_is_done_to_the_terminal(state: Any, action: Any) -> None:
    channel, actions = translate_action(action, now_ms=0, client_id="me", chat_of=chat_of)
    after = reduce_current_terminal(Live(state), *actions).state
    followed = reduce_terminal(Live(project_terminal_state(state)), action, 0).state
    assert project_terminal_state(after) == followed
    assert channel == "terminal"


def test_output_stays_a_struct() -> None:
    assert project_terminal_action(TerminalData("hi"), TERMINAL) == LegacyTerminalData(TERMINAL, "hi")
    [(_, lifted)] = lift_action(LegacyTerminalData(TERMINAL, "hi"), now_ms=0)
    assert lifted == {"type": "terminal/data", "data": "hi"}


def test_a_session_that_holds_a_terminal_does_so_with_its_default_chat() -> None:
    claim = {"kind": "session", "session": "x:/1", "turnId": "t"}
    action = {"type": "terminal/claimed", "terminal": TERMINAL, "claim": claim}
    [claimed] = translate_action(action, now_ms=0, client_id="me", chat_of=chat_of).actions
    assert claimed == {"type": "terminal/claimed", "claim": {**claim, "chat": CHAT}}
    assert project_terminal_action(claimed, TERMINAL) == action


def test_a_session_that_nobody_knows_has_no_chat() -> None:
    claim = {"kind": "session", "session": "x:/gone"}
    action = {"type": "terminal/claimed", "terminal": TERMINAL, "claim": claim}
    assert translate_action(action, now_ms=0, client_id="me").actions[0]["claim"] == claim


def test_unknown_actions_become_nothing() -> None:
    for scope in ("root", "terminal", "session"):
        made = translate_action({"type": f"{scope}/notYetInvented"}, now_ms=0, client_id="me")
        assert made == (scope, [])


def test_the_model_that_stands_for_an_agent_without_one_is_not_shown() -> None:
    standing: Any = {"id": "a", "provider": "a", "name": "a", "_meta": {STAND_IN: True}}
    real: Any = {"id": "b", "provider": "a", "name": "b", "_meta": {"k": 1}}
    for models, shown in (([standing], []), ([real], [real]), ([], [])):
        agent: Any = {"provider": "a", "displayName": "A", "description": "", "models": models}
        state: Any = {"agents": [agent]}
        assert project_root_state(state)["agents"] == [{**agent, "models": shown}]
