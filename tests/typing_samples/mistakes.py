"""Actions with a mistake on each line that is marked with `# error: CODE`, as the type checker names it."""

from typing import Any

from agenthost.client.ahp.connection import Connection
from agenthost.core import actions
from agenthost.core.reducers import Live, reduce_chat, reduce_session, reduce_terminal
from agenthost.host.client import HostClient
from agenthost.host.log.entries import encode_entry
from agenthost.host.sessions.action_source import ClientAction
from agenthost.host.sessions.dispatch import Dispatcher
from agenthost.host.state.root import Root
from agenthost.host.state.session import Session
from agenthost.host.state.terminal import TerminalResource
from agenthost.host.turns.running_turn import RunningTurn
from agenthost.wire.ahp.actions import ChatAction
from agenthost.wire.ahp.actions.turn import ChatTurnCancelledAction
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.ahp.terminal import TerminalState

# A literal


def misspelt_type() -> ChatTurnCancelledAction:
    return {"type": "chat/turnCanceled", "turnId": "t1", "duration": 5}  # error: typeddict-item


def misspelt_field() -> ChatTurnCancelledAction:
    return {"type": "chat/turnCancelled", "turnID": "t1", "duration": 5}  # error: typeddict-item


def unknown_field() -> ChatTurnCancelledAction:
    return {"type": "chat/turnCancelled", "turnId": "t", "duration": 5, "why": ""}  # error: typeddict-unknown-key


def missing_field() -> ChatTurnCancelledAction:
    return {"type": "chat/turnCancelled", "turnId": "t1"}  # error: typeddict-item


def wrong_value() -> ChatTurnCancelledAction:
    return {"type": "chat/turnCancelled", "turnId": 1, "duration": 5}  # error: typeddict-item


def one_of_many() -> ChatAction:
    return {"type": "chat/turnCanceled", "turnId": "t1", "duration": 5}  # error: return-value


# A constructor


def wrong_calls() -> None:
    actions.turn_canceled("t1", 5)  # error: attr-defined
    actions.turn_cancelled(5, turn="t1")  # error: call-arg
    actions.turn_cancelled("t1")  # error: call-arg
    actions.turn_cancelled(1, 5)  # error: arg-type
    actions.tool_call_approved("t1", "c1", option="always")  # error: call-arg
    actions.tool_call_approved("t1", "c1", confirmed="yes")  # error: arg-type
    actions.usage("t1", {"inputTokens": "many"})  # error: typeddict-item
    actions.turn_started("t1", {"words": "Hi"}, "2026-01-02T03:04:05.000Z")  # error: typeddict-item
    actions.turn_started("t1", {"text": "Hi"}, "2026-01-02T03:04:05.000Z")  # error: typeddict-item
    actions.turn_started("t1", {"text": "Hi", "origin": {"kind": "user"}})  # error: call-arg


# The way to a session


def of_another_resource(dispatcher: Dispatcher, session: Session, running: RunningTurn) -> None:
    typed = actions.terminal_input("ls\n")
    dispatcher.act(session, typed)  # error: arg-type
    session.act(typed)  # error: arg-type
    session.check(typed)  # error: arg-type
    running.act(typed)  # error: arg-type
    ClientAction(typed)  # error: arg-type
    dispatcher.act(session, actions.root_config_changed({}))  # error: arg-type


def plain_dicts(dispatcher: Dispatcher, client: HostClient, session: Session, running: RunningTurn) -> None:
    action: dict[str, Any] = {"type": "chat/turnCancelled", "turnId": "t1", "duration": 5}
    dispatcher.act(session, action)  # error: arg-type
    session.act(action)  # error: arg-type
    running.act(action)  # error: arg-type
    client.act(session, [ClientAction(action)])  # error: arg-type
    client.act(session, [action])  # error: list-item


def literals(dispatcher: Dispatcher, session: Session) -> None:
    dispatcher.act(session, {"type": "chat/turnCanceled", "turnId": "t", "duration": 5})  # error: arg-type
    session.act({"type": "chat/turnCancelled", "turnID": "t", "duration": 5})  # error: arg-type


def streamed(session: Session) -> None:
    session.stream("chat/dleta", "t1", "p1", "Hi")  # error: arg-type


# The ways to a terminal, to the root and to the journal


def to_a_terminal(terminal: TerminalResource, action: dict[str, Any]) -> None:
    terminal.act(actions.turn_cancelled("t1", 5))  # error: arg-type
    terminal.act(action)  # error: arg-type


def to_the_root(root: Root, action: dict[str, Any]) -> None:
    root.act(actions.turn_cancelled("t1", 5))  # error: arg-type
    root.act(action)  # error: arg-type


def to_the_journal(action: dict[str, Any]) -> None:
    encode_entry("ahp-chat:/1", action)  # error: arg-type
    encode_entry(actions.turn_cancelled("t1", 5))  # error: call-arg


def reduced(session: Live[SessionState], chat: Live[ChatState], terminal: Live[TerminalState]) -> None:
    reduce_session(session, actions.terminal_cleared())  # error: arg-type
    reduce_session(session, actions.turn_cancelled("t1", 5))  # error: arg-type
    reduce_chat(chat, actions.title_changed("A title"))  # error: arg-type
    reduce_terminal(terminal, actions.turn_cancelled("t1", 5))  # error: arg-type


# A client


def dispatched(connection: Connection, action: dict[str, Any]) -> None:
    connection.dispatch(action)  # error: arg-type
