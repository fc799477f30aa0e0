"""Actions as they should be made: the type checker has nothing to say."""

from agenthost.core import actions
from agenthost.core.reducers import Live, reduce_chat, reduce_session
from agenthost.host.client import HostClient
from agenthost.host.log.entries import encode_entry
from agenthost.host.sessions.action_source import ClientAction
from agenthost.host.sessions.dispatch import Dispatcher
from agenthost.host.state.root import Root
from agenthost.host.state.session import Session
from agenthost.host.state.terminal import TerminalResource
from agenthost.host.turns.running_turn import RunningTurn
from agenthost.wire.ahp.actions.turn import ChatTurnCancelledAction
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.session import SessionState


def make() -> ChatTurnCancelledAction:
    return {"type": "chat/turnCancelled", "turnId": "t1", "duration": 5}


def to_a_session(dispatcher: Dispatcher, session: Session, running: RunningTurn) -> None:
    dispatcher.act(session, actions.turn_cancelled("t1", 5))
    dispatcher.act(session, make())
    session.act(actions.title_changed("A title"))
    session.stream("chat/delta", "t1", "p1", "Hi")
    session.check(actions.turn_complete("t1", 5))
    running.act(actions.usage("t1", {"inputTokens": 1}))


def for_a_client(client: HostClient, session: Session) -> None:
    approved = actions.tool_call_approved("t1", "c1", option_id="always")
    client.act(session, [ClientAction(approved), ClientAction(actions.turn_cancelled("t1", 5))])


def to_a_terminal(terminal: TerminalResource) -> None:
    terminal.act(actions.terminal_resized(80, 24))


def to_the_root(root: Root) -> None:
    root.act(actions.root_config_changed({"key": 1}, replace=True))


def to_the_journal() -> None:
    encode_entry("ahp-chat:/1", actions.turn_cancelled("t1", 5))


def reduced(session: Live[SessionState], chat: Live[ChatState]) -> None:
    reduce_session(session, actions.title_changed("A title"))
    reduce_chat(chat, actions.turn_cancelled("t1", 5))
