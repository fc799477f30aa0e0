"""What a client does, as legacy hosts know it: for our own client, which meets such hosts as well."""

from typing import Any

from agenthost.core.legacy.clients import project_client
from agenthost.core.legacy.customizations import is_enabled
from agenthost.core.legacy.meta import project_model
from agenthost.core.legacy.projection import project_action
from agenthost.core.queries import find_customization
from agenthost.core.session_meta import model_of
from agenthost.wire.ahp.session import SessionState

__all__ = ["project_client_actions"]


def project_client_actions(action: Any, session: SessionState, uri: str) -> list[Any]:
    """Return the legacy actions that a client's action on a session or its chat becomes; none if it has none.

    A message names its model. In the legacy protocol that is the session's, and is changed before.
    """
    said = _project(action, session, uri)
    model = action["message"].get("model") if "message" in action else None
    if said is None or model is None or model == model_of(session):
        return [] if said is None else [said]
    return [_make("session/modelChanged", uri, model=project_model(model)), said]


def _project(action: Any, session: SessionState, uri: str) -> Any:
    match action["type"]:
        case "session/activeClientSet":
            client = project_client(action["activeClient"])
            return _make("session/activeClientChanged", uri, activeClient=client)
        case "session/activeClientRemoved":
            return _make("session/activeClientChanged", uri, activeClient=None)
        case "session/customizationToggled":
            found = find_customization(session, lambda one: one["id"] == action["id"])
            enabled = is_enabled({"enablement": action["enablement"]})
            if found is None:
                return None
            return _make("session/customizationToggled", uri, uri=found["uri"], enabled=enabled)
        case _:
            return project_action(action, uri)


def _make(kind: str, session: str, /, **fields: Any) -> Any:
    return {"type": kind, "session": session, **fields}
