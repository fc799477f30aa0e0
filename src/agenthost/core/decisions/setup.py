"""Whether a client may set up a session like this: its options, its tools and which of them it trusts.

Commands decide about more than one action can say, so they are decided here: `createSession`, and what a
client switches on with a turn.
"""

from collections.abc import Mapping, Sequence

import msgspec

from agenthost.core.decisions.clients import check_tools
from agenthost.core.decisions.grants import Grant, Rights
from agenthost.errors import HostError, InvalidValue
from agenthost.wire.ahp.session import SessionActiveClient
from agenthost.wire.ahp.tool import ToolDefinition
from agenthost.wire.error_messages import quote
from agenthost.wire.json import Json

__all__ = ["Offer", "check_client_tools", "check_options", "check_session", "check_trust"]


class Offer(msgspec.Struct, frozen=True, gc=False):
    """What an agent offers, as far as decisions need it.

    Attributes:
        tool_grants: its tools, all of them, and what trusting each needs.
        option_grants: the options that need a grant to be set.
        option_defaults: the values that options have unless they are set.
        takes_client_tools: whether clients may bring their own tools.
        lacks: the reason why the client may not begin, such as a missing token.
    """

    tool_grants: Mapping[str, Grant | None]
    option_grants: Mapping[str, Grant]
    option_defaults: Mapping[str, Json]
    takes_client_tools: bool = True
    lacks: HostError | None = None


def check_session(
    offer: Offer,
    rights: Rights,
    *,
    client_id: str,
    options: Mapping[str, Json],
    tools: Mapping[str, bool] | None,
    active_client: SessionActiveClient | None,
    tools_at: str,
) -> None:
    """Refuse a new session that the client may not create like this. `tools_at` is the path of its tools.

    Raises:
        HostError: why not.
    """
    if offer.lacks is not None:
        raise offer.lacks
    check_options(offer, rights, options, offer.option_defaults)
    check_trust(offer, rights, tools or {})
    if active_client is not None:
        if active_client["clientId"] != client_id:
            found = quote(active_client["clientId"])
            raise InvalidValue("$.activeClient.clientId", f"the client's own id, {quote(client_id)}", found)
        check_client_tools(offer, active_client["tools"], tools_at)


def check_options(
    offer: Offer, rights: Rights, values: Mapping[str, Json], current: Mapping[str, Json]
) -> None:
    """Refuse values that the client may not choose. Default values are allowed to all clients.

    Raises:
        GrantMissing, SwitchedOff: with what is missing.
    """
    for name, grant in offer.option_grants.items():
        if name in values and values[name] != current.get(name):
            rights.check_grant(grant, f"setting {quote(name)}")


def check_trust(offer: Offer, rights: Rights, tools: Mapping[str, bool]) -> None:
    """Refuse to trust tools if the client may not do that.

    Raises:
        GrantMissing, SwitchedOff: with what is missing.
    """
    for name, is_trusted in tools.items():
        # Switching a tool on needs no grant, as it still asks.
        if is_trusted:
            rights.check_grant(offer.tool_grants.get(name), f"trusting {quote(name)}")


def check_client_tools(offer: Offer, tools: Sequence[ToolDefinition], at: str) -> None:
    """Refuse tools of a client where the agent takes none, and names that are taken.

    Raises:
        InvalidValue: its path names the culprit.
    """
    check_tools(tools, offer.tool_grants, at, are_allowed=offer.takes_client_tools)
