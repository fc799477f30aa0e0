"""Actions of a session: what it is, who takes part, and which chats it has."""

from agenthost.wire.ahp.actions.customization import (
    SessionCustomizationsChangedAction,
    SessionCustomizationToggledAction,
)
from agenthost.wire.ahp.actions.session import (
    SessionActiveClientRemovedAction,
    SessionActiveClientSetAction,
    SessionChangesetsChangedAction,
    SessionChatAddedAction,
    SessionChatRemovedAction,
    SessionChatsReorderedAction,
    SessionChatUpdatedAction,
    SessionConfigChangedAction,
    SessionCreationFailedAction,
    SessionInputNeededRemovedAction,
    SessionInputNeededSetAction,
    SessionIsArchivedChangedAction,
    SessionIsReadChangedAction,
    SessionMetaChangedAction,
    SessionReadyAction,
    SessionServerToolsChangedAction,
    SessionTitleChangedAction,
)
from agenthost.wire.ahp.changeset import Changeset
from agenthost.wire.ahp.chat import ChatSummary, PartialChatSummary
from agenthost.wire.ahp.common import URI, ErrorInfo, Meta
from agenthost.wire.ahp.customization import Customization, CustomizationEnablement
from agenthost.wire.ahp.session import SessionActiveClient, SessionInputRequest
from agenthost.wire.ahp.tool import ToolDefinition
from agenthost.wire.json import JsonObject

__all__ = [
    "active_client_removed",
    "active_client_set",
    "changesets_changed",
    "chat_added",
    "chat_removed",
    "chat_updated",
    "chats_reordered",
    "config_changed",
    "creation_failed",
    "customization_toggled",
    "customizations_changed",
    "input_needed_removed",
    "input_needed_set",
    "is_archived_changed",
    "is_read_changed",
    "meta_changed",
    "server_tools_changed",
    "session_ready",
    "title_changed",
]


def session_ready() -> SessionReadyAction:
    """The session can be used."""
    return {"type": "session/ready"}


def creation_failed(error: ErrorInfo) -> SessionCreationFailedAction:
    """The session could not be created."""
    return {"type": "session/creationFailed", "error": error}


def title_changed(title: str) -> SessionTitleChangedAction:
    """The session has a new title."""
    return {"type": "session/titleChanged", "title": title}


def is_read_changed(*, is_read: bool) -> SessionIsReadChangedAction:
    """The session was read, or is unread again."""
    return {"type": "session/isReadChanged", "isRead": is_read}


def is_archived_changed(*, is_archived: bool) -> SessionIsArchivedChangedAction:
    """The session was archived, or brought back."""
    return {"type": "session/isArchivedChanged", "isArchived": is_archived}


def config_changed(config: JsonObject, *, replace: bool = False) -> SessionConfigChangedAction:
    """Settings of the session have new values; with `replace`, these are all values."""
    action: SessionConfigChangedAction = {
        "type": "session/configChanged",
        "config": config,
    }
    if replace:
        action["replace"] = True
    return action


def server_tools_changed(tools: list[ToolDefinition]) -> SessionServerToolsChangedAction:
    """The session has these tools of the host now."""
    return {"type": "session/serverToolsChanged", "tools": tools}


def customizations_changed(customizations: list[Customization]) -> SessionCustomizationsChangedAction:
    """The session has these customizations now."""
    return {
        "type": "session/customizationsChanged",
        "customizations": customizations,
    }


def meta_changed(meta: Meta) -> SessionMetaChangedAction:
    """The session has this metadata now."""
    return {"type": "session/metaChanged", "_meta": meta} if meta else {"type": "session/metaChanged"}


def active_client_set(client: SessionActiveClient) -> SessionActiveClientSetAction:
    """A client takes part in the session and brings these tools, or changes what it brings."""
    return {"type": "session/activeClientSet", "activeClient": client}


def active_client_removed(client_id: str) -> SessionActiveClientRemovedAction:
    """A client no longer takes part in the session."""
    return {"type": "session/activeClientRemoved", "clientId": client_id}


def customization_toggled(
    customization_id: str, enablement: list[CustomizationEnablement]
) -> SessionCustomizationToggledAction:
    """A customization was switched on or off."""
    return {"type": "session/customizationToggled", "id": customization_id, "enablement": enablement}


def changesets_changed(changesets: list[Changeset]) -> SessionChangesetsChangedAction:
    """The session offers these changesets now."""
    return {"type": "session/changesetsChanged", "changesets": changesets}


# The catalogue of chats


def chat_added(summary: ChatSummary) -> SessionChatAddedAction:
    """The session has another chat."""
    return {"type": "session/chatAdded", "summary": summary}


def chat_removed(chat: URI) -> SessionChatRemovedAction:
    """A chat of the session is gone."""
    return {"type": "session/chatRemoved", "chat": chat}


def chats_reordered(chats: list[URI]) -> SessionChatsReorderedAction:
    """The chats have another order."""
    return {"type": "session/chatsReordered", "chats": chats}


def chat_updated(chat: URI, changes: PartialChatSummary) -> SessionChatUpdatedAction:
    """A chat of the session has a new title, status, activity or time."""
    return {"type": "session/chatUpdated", "chat": chat, "changes": changes}


def input_needed_set(request: SessionInputRequest) -> SessionInputNeededSetAction:
    """Something in a chat waits for a person or for a client."""
    return {"type": "session/inputNeededSet", "request": request}


def input_needed_removed(request_id: str) -> SessionInputNeededRemovedAction:
    """Something in a chat waits no longer."""
    return {"type": "session/inputNeededRemoved", "id": request_id}
