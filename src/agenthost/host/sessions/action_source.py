"""The sources of actions: which client, on which connection, with which rights."""

from collections.abc import Sequence

import msgspec

from agenthost.core.conversation import ConversationAction
from agenthost.core.decisions.grants import ALL_RIGHTS, Rights
from agenthost.host.access.identity import Identity
from agenthost.host.state.senders import Sender, Sent
from agenthost.host.state.session import TranscriptEntry
from agenthost.wire.ahp.actions.envelope import ActionOrigin
from agenthost.wire.json import Json, JsonObject

__all__ = ["ActionSource", "ClientAction"]


class ActionSource(msgspec.Struct, frozen=True, gc=False):
    """Where a client's action comes from.

    `origin` is shown to others; None if the client does not number its actions. `sent` is what a receipt is
    kept for. `sender` is the connection; None for an action that was deferred. `rights` are what the client
    may do; a deferred action was checked against them when it arrived. `channel` is what it was sent to.
    `legacy` is what clients of an older protocol are shown: the action as one of them sent it.
    """

    origin: ActionOrigin | None
    client: Identity
    sent: Sent | None = None
    sender: Sender | None = None
    rights: Rights = ALL_RIGHTS
    channel: str = ""
    legacy: Sequence[Json] | None = None


class ClientAction(msgspec.Struct, frozen=True, gc=False):
    """An action that an edge made for its client, with what is written in the same commit.

    `private` are the values of the private data that change; `None` removes one.
    """

    action: ConversationAction
    messages: Sequence[TranscriptEntry] = ()
    private: JsonObject | None = None
