"""The session reducer: which function handles which action, and the actions on a session as a whole.

Its chats are in `chats`, what it waits for in `input_needed`, its customizations in `customizations`.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from agenthost.core.reducers import chats, customizations, directories, input_needed
from agenthost.core.reducers.handlers import handle
from agenthost.core.reducers.live import Live
from agenthost.core.reducers.records import apply_config, put, upserted
from agenthost.core.reducers.status import set_flag
from agenthost.wire.ahp.actions import SessionAction
from agenthost.wire.ahp.actions.session import SessionActiveClientRemovedAction, SessionActiveClientSetAction
from agenthost.wire.ahp.enums import SessionStatus
from agenthost.wire.ahp.session import SessionState

Handler: TypeAlias = Callable[[SessionState, Any], SessionState]


def reduce_session(live: Live[SessionState], action: SessionAction) -> Live[SessionState]:
    """Apply one action. An action that does not apply leaves the state as it was."""
    return handle(HANDLERS, live, action)


def next_session_state(state: SessionState, action: SessionAction) -> SessionState:
    """Return the state after an action, without versions: nothing streams to a session."""
    handler = HANDLERS.get(action["type"])
    return state if handler is None else handler(state, action)


def _active_client_set(state: SessionState, action: SessionActiveClientSetAction) -> SessionState:
    """S15: a client that is known stays in its place."""
    client: Any = action.get("activeClient")
    if client is None:
        return state
    return put(state, activeClients=upserted(state.get("activeClients", []), client, "clientId"))


def _active_client_removed(state: SessionState, action: SessionActiveClientRemovedAction) -> SessionState:
    """S16: a client that is not known changes nothing."""
    clients = state.get("activeClients", [])
    left = [client for client in clients if client.get("clientId") != action.get("clientId")]
    return state if len(left) == len(clients) else put(state, activeClients=left)


HANDLERS: dict[str, Handler] = {
    "session/ready": lambda state, _action: put(state, lifecycle="ready"),  # S1: the status stays
    "session/creationFailed": lambda state, action: put(  # S2
        state, lifecycle="failed", creationError=action.get("error")
    ),
    "session/chatAdded": chats.chat_added,
    "session/chatRemoved": chats.chat_removed,
    "session/chatUpdated": chats.chat_updated,
    "session/chatsReordered": chats.chats_reordered,
    "session/defaultChatChanged": lambda state, action: put(  # S7
        state, defaultChat=action.get("defaultChat")
    ),
    "session/titleChanged": lambda state, action: put(state, title=action.get("title")),  # S8
    "session/isReadChanged": lambda state, action: set_flag(  # S9
        state, SessionStatus.IS_READ, on=action.get("isRead", False)
    ),
    "session/isArchivedChanged": lambda state, action: set_flag(  # S9
        state, SessionStatus.IS_ARCHIVED, on=action.get("isArchived", False)
    ),
    "session/activityChanged": lambda state, action: put(state, activity=action.get("activity")),  # S10
    "session/changesetsChanged": lambda state, action: put(state, changesets=action.get("changesets")),  # S11
    "session/configChanged": apply_config,  # S12
    "session/metaChanged": lambda state, action: put(state, _meta=action.get("_meta")),  # S13
    "session/serverToolsChanged": lambda state, action: put(state, serverTools=action.get("tools")),  # S14
    "session/activeClientSet": _active_client_set,
    "session/activeClientRemoved": _active_client_removed,
    "session/workingDirectorySet": directories.directory_set,
    "session/workingDirectoryRemoved": directories.directory_removed,
    "session/workingDirectoryReplaced": directories.directory_replaced,
    "session/inputNeededSet": input_needed.input_needed_set,
    "session/inputNeededRemoved": input_needed.input_needed_removed,
    "session/customizationsChanged": lambda state, action: put(  # S21
        state, customizations=action.get("customizations")
    ),
    "session/customizationToggled": customizations.customization_toggled,
    "session/customizationUpdated": customizations.customization_updated,
    "session/customizationRemoved": customizations.customization_removed,
    "session/mcpServerStateChanged": customizations.mcp_server_state_changed,
    "session/mcpServerStartRequested": customizations.mcp_server_start_requested,
    "session/mcpServerStopRequested": customizations.mcp_server_stop_requested,
    "session/mcpServerBackgroundRequested": customizations.mcp_server_background_requested,
}
