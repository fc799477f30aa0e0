"""Forwarding: what a client does to sessions that other nodes write is carried out by those nodes."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

from agenthost.errors import HostError, OwnedElsewhere, SessionNotFound
from agenthost.host.access.caller import Caller
from agenthost.host.access.identity import Identity
from agenthost.host.parts import HostParts
from agenthost.host.sessions.action_source import ClientAction
from agenthost.host.state.root import Root
from agenthost.host.state.senders import Sender
from agenthost.host.state.session import Session
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.tool import ToolDefinition
from agenthost.wire.json import Json, JsonObject

__all__ = ["Choices", "Forwarding", "SentAction"]

SETTINGS_ELSEWHERE = "another node of this host writes the root, and it has no settings to change"


class Choices(TypedDict, total=False):
    """What a client chooses for a session together with its actions.

    Attributes:
        tools: the exposed tools to switch on first, and whether each is trusted; all others are switched off.
        secrets: replace the old ones.
        client_tools: those that one of the actions provides.
        tools_at: their path in the request.
    """

    tools: Mapping[str, bool] | None
    secrets: Mapping[str, str] | None
    client_tools: Sequence[ToolDefinition] | None
    tools_at: str


class SentAction(NamedTuple):
    """An action as a client sent it; `is_legacy` if in an older protocol."""

    client_seq: int
    channel: str
    action: Json
    is_legacy: bool


class Forwarding:
    """Has other nodes carry out what a client wants of their sessions."""

    __slots__ = ("_caller", "_identity", "_parts")

    def __init__(self, parts: HostParts, identity: Identity, caller: Caller) -> None:
        self._parts = parts
        self._identity = identity
        self._caller = caller

    async def find(self, channel: str) -> Session | Root | None:
        """Return what has this channel, if another node writes it."""
        engine = self._parts.engine
        if channel == ROOT_URI:
            return engine.root if engine.root.is_foreign else None
        if channel in engine.terminals:
            return None
        try:
            session = await engine.sessions.find(channel)
        except HostError:
            return None  # whoever looks next says why
        return session if session.is_foreign else None

    async def dispatch(self, there: Session | Root, sent: SentAction, sender: Sender | None) -> str | None:
        """Have an action decided and applied. Return why it is refused, if the session's log does not say."""
        if isinstance(there, Root):
            return SETTINGS_ELSEWHERE
        came_by = None if sender is None else {"id": f"{id(sender):x}", "lastSeen": sender.last_seen}
        params: JsonObject = {"seq": sent.client_seq, "channel": sent.channel, "action": sent.action}
        try:
            done: Any = await self.run(
                there, "dispatch", {**params, "sender": came_by, "isLegacy": sent.is_legacy}
            )
        except SessionNotFound:
            return None  # HR-A02
        except HostError as error:
            return str(error)
        return None if done is None else done["refused"]

    async def act(self, session: Session, wanted: Sequence[ClientAction], choices: Choices) -> JsonObject:
        """Have actions applied: all of them, or none. Return the turn that runs then.

        That is its turn with the open calls, `position`, the length of the transcript, and `seq`, the number
        of the last action of these.

        Raises:
            HostError: one of them is refused, or that node cannot be reached.
        """
        encoded = [
            {
                "action": one.action,
                "messages": [[said.turn, said.message] for said in one.messages],
                "private": one.private,
            }
            for one in wanted
        ]
        done: Any = await self.run(session, "act", {"wanted": encoded, "choices": {**choices}})
        return done  # type: ignore[no-any-return]

    async def run(self, session: Session, method: str, params: JsonObject) -> Json:
        """Have a method carried out by the node that writes a session, within the rights of the client.

        Raises:
            HostError: what it raised there, or that node cannot be reached.
        """
        commands = self._parts.commands
        if commands is None:
            raise OwnedElsewhere(session.uri)
        rights = self._caller.rights
        caller: JsonObject = {
            "client": self._identity.key,
            "owner": self._caller.owner,
            "grants": sorted(rights.grants),
            "off": sorted(rights.off),
        }
        return await commands.run(session, method, {**params, "caller": caller})
