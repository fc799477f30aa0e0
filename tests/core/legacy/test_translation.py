"""The actions of legacy clients and hosts have the effect here that they have in a legacy session."""

from copy import deepcopy
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from agenthost.core.legacy.reducers import Live
from agenthost.core.legacy.reducers import reduce_session as reduce_legacy
from agenthost.core.legacy.translation import lift_action, translate_action
from agenthost.core.legacy.upgrade import lift_state
from agenthost.core.reducers import REDUCERS
from agenthost.wire.ahp.actions import StateAction
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.legacy.actions import CLIENT_ACTIONS
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.shape import Shape
from core_legacy import seen, told
from drawn_values import CHAT
from session_histories import History, Step, histories

NOW = 1_790_000_000_000

ACTION: Shape[Any] = Shape(StateAction)
SHAPES: dict[str, Shape[Any]] = {"session": Shape(SessionState), "chat": Shape(ChatState)}


class Lifted:
    """What a client that follows a legacy host has: a session and its chat."""

    def __init__(self, legacy: Any) -> None:
        session, chat = lift_state(deepcopy(legacy), CHAT)
        self.states: dict[str, Any] = {"session": session, "chat": chat}

    def follow(self, action: Any) -> None:
        for channel, lifted in lift_action(action, self.states["session"], self.states["chat"], now_ms=NOW):
            self.apply(channel, lifted)

    def apply(self, channel: Any, action: Any) -> None:
        live = REDUCERS[channel](Live(self.states[channel]), ACTION.take(deepcopy(action)))
        self.states[channel] = SHAPES[channel].take(deepcopy(live.state))

    @property
    def seen(self) -> Any:
        return seen(self.states["session"], self.states["chat"])


def takes_input_back(legacy: Any, action: Any) -> bool:
    """Return whether a running call loses its input: that is not to be said here."""
    if action["type"] != "session/toolCallReady" or "toolInput" in action:
        return False
    parts = legacy["activeTurn"]["responseParts"] if "activeTurn" in legacy else []
    return any("toolInput" in part["toolCall"] for part in parts if part["kind"] == "toolCall")


@given(history=histories(), data=st.data())
def test_who_follows_a_legacy_host_has_what_the_host_has(history: History, data: st.DataObject) -> None:
    joined = data.draw(st.integers(0, len(history.steps)))
    start = history.steps[joined - 1] if joined else history
    legacy = Live(seen(start.session, start.chat))
    lifted = Lifted(legacy.state)
    assert lifted.seen == legacy.state
    for step in history.steps[joined:]:
        for action in told(step):
            assume(not takes_input_back(legacy.state, action))
            lifted.follow(deepcopy(action))
            legacy = reduce_legacy(legacy, action, 0)
            assert lifted.seen == legacy.state, action


def may_be_a_clients(step: Step, action: Any) -> bool:
    """Return whether the client `me` may have done this: for itself, and nobody else is active."""
    if not step.ends_group or action["type"] not in CLIENT_ACTIONS:
        return False
    if "activeClient" not in action["type"]:
        return True
    named = [action["activeClient"]] if action.get("activeClient") else []
    return all(client["clientId"] == "me" for client in [*step.session_before["activeClients"], *named])


@given(history=histories())
def test_what_a_legacy_client_does_has_the_effect_that_it_expects(history: History) -> None:
    for step in history.steps:
        made = told(step)
        if len(made) != 1 or not may_be_a_clients(step, made[0]):
            continue
        states: dict[Any, Any] = {"session": step.session_before, "chat": step.chat_before}
        expected = reduce_legacy(Live(seen(*states.values())), made[0], 0).state
        channel, actions = translate_action(made[0], *states.values(), now_ms=NOW, client_id="me")
        for action in actions:
            states[channel] = REDUCERS[channel](Live(states[channel]), ACTION.take(action)).state
        assert seen(*states.values()) == expected, made[0]
