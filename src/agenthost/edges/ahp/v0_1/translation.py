"""Actions that clients of AHP 0.1 dispatch, translated for the host."""

from agenthost.core.legacy.dispatch import Translation, translate_dispatch
from agenthost.host.client import HostClient
from agenthost.host.state.session import Session
from agenthost.wire.json import Json

__all__ = ["translate_action"]


def translate_action(client: HostClient, resource: object, action: Json) -> Translation:
    """Return what an action becomes; `resource` is what it is about. Raises as `translate_dispatch`."""
    conversation = resource.conversation if isinstance(resource, Session) else None
    return translate_dispatch(
        action, conversation, client.identity.client_id, client.now_ms(), client.chat_of
    )
