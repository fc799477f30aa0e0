"""A dispatcher on a real store that notes what happened, for the tests of dispatching."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

from agenthost.core import actions
from agenthost.core.legacy.dispatch import Translation, translate_dispatch
from agenthost.host.access.identity import Identity
from agenthost.host.sessions.dispatch import Dispatcher
from agenthost.host.sessions.listeners import ActionListeners, AppliedAction
from agenthost.host.state.engine import Engine
from agenthost.host.state.session import Session
from agenthost.wire.ahp.actions.chat import ChatPendingMessageSetAction
from agenthost.wire.ahp.actions.turn import ChatTurnStartedAction
from chat_building import BEGUN
from hosting import chat_of, new_session, run, started, user_message

URI = "demo:/one"
CHAT = chat_of(URI)
ME = Identity("me")

Noted: TypeAlias = list[AppliedAction]
Story = Callable[[Dispatcher, Session, Noted, Engine], Awaitable[None]]


def tell(folder: Path, story: Story) -> None:
    """Run a story with a session and a dispatcher that notes what happened."""

    async def inner() -> None:
        async with started(folder) as host:
            noted: Noted = []
            dispatcher = Dispatcher(
                host.sessions, root=host.root, senders=host.senders, listeners=ActionListeners(noted.append)
            )
            await story(dispatcher, await new_session(host, URI), noted, host)

    run(inner)


def start(turn_id: str) -> ChatTurnStartedAction:
    """Return the action that starts a turn."""
    return actions.turn_started(turn_id, user_message(turn_id), BEGUN)


def queue(message_id: str) -> ChatPendingMessageSetAction:
    """Return the action that queues a message."""
    return actions.pending_message_set("queued", message_id, user_message(message_id))


def types(noted: Noted) -> list[str]:
    """Return the types of the actions that happened."""
    return [one.action["type"].partition("/")[2] for one in noted]


async def dispatch(dispatcher: Dispatcher, number: int, action: Any, client: Identity = ME) -> Any:
    """Dispatch an action to the channel that it is for; returns the refusal, if it is refused."""
    channel = CHAT if action["type"].startswith("chat/") else URI
    return await dispatcher.dispatch(client, number, channel, action)


def translate(session: Any, action: Any) -> Translation:
    """Translate the action of an older client."""
    return translate_dispatch(action, session.conversation, ME.client_id, 0)
