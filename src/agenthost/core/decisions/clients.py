"""Whether a client may take part in a session, and bring these tools."""

from collections.abc import Iterable, Sequence
from typing import Any

from agenthost.core.conversation import Conversation
from agenthost.core.decisions.refusal import Dispatch, Refused
from agenthost.errors import InvalidValue
from agenthost.wire.ahp.actions.session import SessionActiveClientRemovedAction, SessionActiveClientSetAction
from agenthost.wire.ahp.tool import ToolDefinition
from agenthost.wire.error_messages import quote


def active_client_set(conversation: Conversation, action: SessionActiveClientSetAction, by: Dispatch) -> None:
    """Refuse to act for others, and tools whose names are taken. Several clients may be active."""
    new = action["activeClient"]
    # HR-A11: nobody else changes a client's tools.
    if new["clientId"] != by.client_id:
        raise Refused(f"a client can only make itself active, not {quote(new['clientId'])}")
    of_host: list[Any] = conversation.session.get("serverTools", [])
    taken = {*by.context.tool_names, *(tool.get("name") for tool in of_host)}
    check_tools(new["tools"], taken, "$.activeClient.tools", are_allowed=by.context.takes_client_tools)


def active_client_removed(
    conversation: Conversation, action: SessionActiveClientRemovedAction, by: Dispatch
) -> None:
    """Refuse to act for others, and a client that is not active."""
    if action["clientId"] != by.client_id:
        raise Refused(f"a client can only end its own part, not that of {quote(action['clientId'])}")
    active: list[Any] = conversation.session.get("activeClients", [])
    if not active:
        raise Refused("no client is active")
    if by.client_id not in [client.get("clientId") for client in active]:
        raise Refused(f"client {quote(by.client_id)} is not active")


def check_tools(tools: Sequence[ToolDefinition], taken: Iterable[str], at: str, *, are_allowed: bool) -> None:
    """Refuse tools of a client where the agent takes none, and two tools with the same name (HR-U08).

    A model calls tools by name alone. A tool of the host keeps its name, exposed or hidden, on or off:
    otherwise a client's tool would become another one when the host's is switched on. `at` is the path of
    the tools.

    Raises:
        InvalidValue: its path names the culprit.
    """
    if tools and not are_allowed:
        raise InvalidValue(at, "no tools, as the agent takes none from clients", f"{len(tools)}")
    names = set(taken)
    for place, tool in enumerate(tools):
        if tool["name"] in names:
            raise InvalidValue(f"{at}[{place}].name", "a name that no other tool has", quote(tool["name"]))
        names.add(tool["name"])
