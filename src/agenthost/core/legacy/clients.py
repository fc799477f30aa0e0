"""Active clients of a session: any number today, at most one in the legacy protocol."""

from typing import Any, cast

from agenthost.core.legacy.customizations import lift_plugin, project_plugin
from agenthost.wire.ahp.legacy.session import SessionActiveClient as LegacyActiveClient
from agenthost.wire.ahp.session import SessionActiveClient, SessionState


def active_client(session: SessionState) -> SessionActiveClient | None:
    """Return the client that legacy clients see: the earliest that brings tools, or else the earliest.

    A client that joins later does not take over from one that brings tools.
    """
    clients = session["activeClients"]
    return next((client for client in clients if client["tools"]), clients[0] if clients else None)


def find_client(session: SessionState, client_id: str | None) -> SessionActiveClient | None:
    """Return the active client with this id."""
    return next((one for one in session["activeClients"] if one["clientId"] == client_id), None)


def project_client(client: SessionActiveClient) -> LegacyActiveClient:
    """Return a client as legacy clients see it."""
    projected: Any = dict(client)
    if "customizations" in projected:
        projected["customizations"] = [project_plugin(one) for one in projected["customizations"]]
    return cast("LegacyActiveClient", projected)


def lift_client(client: LegacyActiveClient) -> SessionActiveClient:
    """Return a legacy client."""
    lifted: Any = dict(client)
    if "customizations" in lifted:
        lifted["customizations"] = [lift_plugin(one) for one in lifted["customizations"]]
    return cast("SessionActiveClient", lifted)
