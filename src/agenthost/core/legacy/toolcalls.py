"""Tool calls in both protocols."""

from typing import Any, Final

from agenthost.core.legacy.messages import lift_message, project_message
from agenthost.core.session_meta import SESSION
from agenthost.wire.ahp.legacy.toolcall import ToolCallState as LegacyToolCallState
from agenthost.wire.ahp.toolcall import ToolCallState

LEGACY_KEYS: Final = (
    *("toolCallId", "toolName", "displayName", "toolClientId", "_meta", "status"),
    *("partialInput", "invocationMessage", "toolInput"),
    *("confirmationTitle", "edits", "editable", "options"),
    *("confirmed", "selectedOption"),
    *("success", "pastTenseMessage", "content", "structuredContent", "error"),
    *("reason", "reasonMessage", "userSuggestion"),
)
"""The fields that a legacy call may have, in any of its states."""

RESULT: Final = ("success", "pastTenseMessage", "content", "structuredContent", "error")
"""The fields of a legacy result."""


def project_call(call: ToolCallState) -> LegacyToolCallState:
    """Return a call as legacy clients see it."""
    whole: Any = call
    client_id = project_contributor(whole.get("contributor"))
    if client_id is not None:
        whole = {**whole, "toolClientId": client_id}
    # In the order of the legacy reducers: what is folded and what is projected are the same bytes.
    projected: Any = {key: whole[key] for key in LEGACY_KEYS if key in whole}
    if "toolInput" in projected and project_tool_input(projected["toolInput"]) is None:
        del projected["toolInput"]
    if "content" in projected:
        projected["content"] = project_content(projected["content"])
    if "userSuggestion" in projected:
        projected["userSuggestion"] = project_message(projected["userSuggestion"])
    status = whole.get("status")
    if status == "auth-required":
        # Nobody can sign in with a legacy client; to it, the tool takes its time.
        projected["status"] = "running"
    elif status == "streaming" and "invocationMessage" in projected:
        # Legacy actions can bring the message with some input only, be it empty.
        projected.setdefault("partialInput", "")
    result: LegacyToolCallState = projected
    return result


def lift_call(call: LegacyToolCallState) -> ToolCallState:
    """Return a legacy call."""
    lifted: Any = dict(call)
    client_id = lifted.pop("toolClientId", None)
    if client_id is not None:
        lifted["contributor"] = lift_contributor(client_id)
    if "userSuggestion" in lifted:
        lifted["userSuggestion"] = lift_message(lifted["userSuggestion"])
    result: ToolCallState = lifted
    return result


def project_content(content: Any) -> Any:
    """Return the content of a call: a subagent has a session, where today it has a chat (C7)."""
    return [_project_block(block) for block in content] if type(content) is list else content


def _project_block(block: Any) -> Any:
    meta = block.get("_meta") if type(block) is dict and block.get("type") == "subagent" else None
    if type(meta) is not dict or SESSION not in meta:
        return block
    kept = {key: value for key, value in meta.items() if key != SESSION}
    projected = {**block, "resource": meta[SESSION], "_meta": kept}
    if not kept:
        del projected["_meta"]
    return projected


def project_contributor(contributor: Any) -> str | None:
    """Return the id of the client that runs a call; `None` if the host runs it."""
    if contributor is None or contributor.get("kind") != "client":
        return None
    client_id: str | None = contributor.get("clientId")
    return client_id


def lift_contributor(client_id: str) -> Any:
    """Return the contributor that stands for a client's id."""
    return {"kind": "client", "clientId": client_id}


def project_tool_input(tool_input: Any) -> str | None:
    """Return a call's input; `None` if it is stored elsewhere, which legacy clients cannot say."""
    return tool_input if type(tool_input) is str else None
