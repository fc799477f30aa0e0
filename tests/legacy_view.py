"""Sessions of a host as clients of AHP 0.1 see them, for tests that need no connection."""

from functools import partial
from typing import Any

from agenthost.core.legacy.projected_state import project_session_state
from agenthost.core.times import unix_ms
from agenthost.edges.ahp.v0_1.projection import channel_of, envelopes_of
from agenthost.edges.ahp.v0_1.translation import translate_action
from agenthost.host.client import HostClient
from agenthost.host.log.subscriptions import LogItem
from agenthost.host.state.session import Session
from agenthost.wire.ahp.legacy import ROOT_URI
from agenthost.wire.ahp.legacy.actions import action_resource
from agenthost.wire.json import decode_json


def shown_state(session: Session) -> Any:
    """Return what was shown of a session."""
    return _projected(session, session.shown_state, session.shown_chat.state)


def current_state(session: Session) -> Any:
    """Return a session as it is now, durable or not."""
    return _projected(session, session.state, session.chat)


def _projected(session: Session, state: Any, chat: Any) -> Any:
    return project_session_state(state, chat, session.uri, unix_ms(session.created_at) or 0)


def actions_of(item: LogItem) -> list[Any]:
    """Return the actions that an item of the log stands for."""
    return [decode_json(line)["action"] for line in envelopes_of(item)]


async def dispatch(client: HostClient, number: int, action: Any, **more: Any) -> LogItem | None:
    """Dispatch an action; returns the refusal, if it is refused."""
    channel = channel_of(action_resource(action) or ROOT_URI)
    return await client.dispatch(number, channel, action, translate=partial(translate_action, client), **more)
