"""What clients of other nodes do with the sessions that this node writes.

A command has the client and its rights, which the other node has checked: nodes of a host trust each other.
Everything goes through the door of all clients, so it is decided here as if the client were connected here.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from agenthost.core import actions
from agenthost.core.decisions.grants import Rights
from agenthost.core.legacy.dispatch import Translation, translate_dispatch
from agenthost.core.queries import ENDED_CALL_STATUSES, open_questions
from agenthost.errors import HostError
from agenthost.host.access.caller import Caller
from agenthost.host.access.identity import Identity
from agenthost.host.chats import NewChat
from agenthost.host.client import HostClient
from agenthost.host.cluster.commands import KNOWN
from agenthost.host.parts import HostParts
from agenthost.host.sessions.action_source import ClientAction
from agenthost.host.state.senders import Sender
from agenthost.host.state.session import Session, TranscriptEntry
from agenthost.wire.json import Json, JsonObject

__all__ = ["RemoteClients"]

MAX_SENDERS = 10_000
"""How many connections of clients of other nodes are known, the newest."""

Answer: TypeAlias = Callable[[], Json]


class RemoteClients:
    """Carries out commands of clients that are connected to other nodes."""

    def __init__(self, parts: Callable[[], HostParts]) -> None:
        """Use the parts of a host, once it is open."""
        self._parts = parts
        self._senders: OrderedDict[tuple[str, str], Sender] = OrderedDict()
        self._methods: Mapping[str, Callable[[HostClient, Session, Any], Awaitable[Answer]]] = {
            "dispatch": self._dispatch,
            "act": self._act,
            "decline": self._decline,
            "disposeSession": self._dispose_session,
            "createChat": self._create_chat,
            "disposeChat": self._dispose_chat,
        }

    async def carry_out(self, session: Session, method: str, params: JsonObject) -> Answer:
        """Carry out a command; see `CarryOut`.

        Raises:
            HostError: it is refused.
        """
        caller: Any = params["caller"]
        rights = Rights(frozenset(caller["grants"]), frozenset(caller["off"]))
        identity = Identity.from_key(caller["client"])
        client = HostClient(self._parts(), identity, Caller(caller["owner"], rights))
        if method.startswith(KNOWN):
            return partial(_turn_of, session) if method == KNOWN + "act" else _nothing
        done = self._methods.get(method)
        if done is None:
            raise HostError(f"this node of the host does not know the command {method!r:.80}")
        return await done(client, session, params)

    async def _dispatch(self, client: HostClient, session: Session, params: Any) -> Answer:
        sender = None if params["sender"] is None else await self._sender(client, params["sender"])
        translate = partial(_translate, client) if params["isLegacy"] else None
        refusal = await client.dispatch(
            params["seq"], params["channel"], params["action"], sender=sender, translate=translate
        )
        # What the log of the session has reaches its client from there.
        is_lost = refusal is not None and refusal.resource != session.number
        reason = refusal.reason if refusal is not None and is_lost else None
        return lambda: {"refused": reason}

    async def _sender(self, client: HostClient, given: Any) -> Sender:
        key = (client.identity.key, given["id"])
        sender = self._senders.get(key)
        if sender is None:
            senders = self._parts().engine.senders
            sender = self._senders[key] = await senders.join_remote(client.identity, given["lastSeen"])
            if len(self._senders) > MAX_SENDERS:
                senders.leave(self._senders.popitem(last=False)[1])
        return sender

    async def _act(self, client: HostClient, session: Session, params: Any) -> Answer:
        wanted = [
            ClientAction(one["action"], [TranscriptEntry(*said) for said in one["messages"]], one["private"])
            for one in params["wanted"]
        ]
        client.act(session, wanted, **params["choices"])
        mark, begun = session.journal.mark(), _turn_of(session)
        return lambda: {**begun, "seq": mark.seq}

    async def _decline(self, client: HostClient, session: Session, params: Any) -> Answer:
        """Decline questions of an agent, unless somebody here can answer them."""
        if not self._parts().engine.hub.count(session.number):
            for request in open_questions(session.chat):
                if request["id"] in params["questions"]:
                    client.act(session, [ClientAction(actions.input_completed(request["id"], "decline"))])
        return _nothing

    async def _dispose_session(self, client: HostClient, session: Session, _params: Any) -> Answer:
        await client.dispose_session(session.uri)
        return _nothing

    async def _create_chat(self, client: HostClient, session: Session, params: Any) -> Answer:
        new: Any = {key: params[key] for key in ("uri", "message", "source", "folders")}
        await client.create_chat(session.uri, NewChat(**new))
        return _nothing

    async def _dispose_chat(self, client: HostClient, _session: Session, params: Any) -> Answer:
        await client.dispose_chat(params["uri"])
        return _nothing


def _nothing() -> Json:
    return None


def _turn_of(session: Session) -> JsonObject:
    """Return the running turn with its open calls, and where the transcript has got to."""
    turn: Any = session.chat.get("activeTurn")
    if turn is not None:
        parts = [
            part
            for part in turn["responseParts"]
            if part["kind"] == "toolCall" and part["toolCall"]["status"] not in ENDED_CALL_STATUSES
        ]
        turn = {**turn, "responseParts": parts}
    return {"turn": turn, "position": len(session.messages), "seq": session.shown_seq}


def _translate(client: HostClient, resource: object, action: Json) -> Translation:
    conversation = resource.conversation if isinstance(resource, Session) else None
    return translate_dispatch(
        action, conversation, client.identity.client_id, client.now_ms(), client.chat_of
    )
