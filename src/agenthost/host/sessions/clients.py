"""Clients: which are connected, and what happens to the tools of one that leaves.

A client that leaves is no longer the active client of its sessions. Its open calls wait a while for it to
come back, then they fail, so that no turn waits for a client that is gone (HR-U06). A client that sends
single requests is never connected, and stays active (see `Private.app`). A state names clients by id alone:
they are clients of the session's owner, except for guests, who have no owner (see `Private.guests`). Knows
no connections, only who has one.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from agenthost.core import actions
from agenthost.core.queries import active_calls, client_of, find_active_client
from agenthost.host.access.identity import Identity
from agenthost.host.sessions.dispatch import Dispatcher
from agenthost.host.sessions.listeners import AppliedAction
from agenthost.host.state.private import with_values
from agenthost.host.state.session import Session
from agenthost.wire.ahp.customization import Customization
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.ahp.toolcall import ToolCallResult
from agenthost.wire.json import Json, JsonObject

GONE = "the client that runs this tool has left"
MAX_GUESTS = 100
"""How many guests a session remembers: the newest ones."""

UNKNOWN = "the client does not run this tool"

LISTENS_TO = frozenset({"session/activeClientSet", "session/activeClientRemoved"})
"""The types of actions that `Clients.on_action` handles."""


class Clients:
    """The clients that are connected.

    `running` returns the sessions whose turns run or wait, `find` a session in memory, by its URI. `tell` is
    called when a client has come, or has gone, for other nodes.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        running: Callable[[], Iterable[Session]],
        find: Callable[[str], Session | None],
        grace_seconds: float,
        tell: Callable[[Identity, bool], None] | None = None,
    ) -> None:
        self._tell = tell
        self._elsewhere: dict[Identity, set[int]] = {}  # at which other nodes clients are connected
        self._dispatcher = dispatcher
        self._find = find
        self._running = running
        self._grace = grace_seconds
        self._connections: Counter[Identity] = Counter()
        # The URIs of the sessions that each client is active in; some may have left memory.
        self._active: dict[Identity, set[str]] = {}
        self._timers: dict[Identity, asyncio.TimerHandle] = {}

    def is_there(self, client: Identity) -> bool:
        """Return whether a client is connected."""
        return self._connections[client] > 0 or client in self._elsewhere

    def joined(self, client: Identity) -> None:
        """Record that a client has connected, for the first time or again."""
        self._connections[client] += 1
        if self._tell is not None and self._connections[client] == 1:
            self._tell(client, True)  # noqa: FBT003
        self._stop_waiting(client)

    def _stop_waiting(self, client: Identity) -> None:
        # HR-U06: it is back in time, so its calls stay open.
        timer = self._timers.pop(client, None)
        if timer is not None:
            timer.cancel()

    def left(self, client: Identity) -> None:
        """Record that a client's connection has ended."""
        self._connections[client] -= 1
        if self._connections[client] <= 0:
            # Otherwise the counter would grow with every client that ever connected.
            del self._connections[client]
            if self._tell is not None:
                self._tell(client, False)  # noqa: FBT003
            if client not in self._elsewhere:
                self._release(client)

    def note_elsewhere(self, client: Identity, node: int, *, is_there: bool) -> None:
        """Record that a client has connected to another node, or is no longer there."""
        nodes = self._elsewhere.setdefault(client, set())
        was_there = bool(nodes)
        nodes.discard(node)
        if is_there:
            nodes.add(node)
            self._stop_waiting(client)
        if not nodes:
            del self._elsewhere[client]
            if was_there and not self.is_there(client):
                self._release(client)

    def close(self) -> None:
        """Stop waiting for clients to come back."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def on_action(self, applied: AppliedAction) -> None:
        """Record which clients are active in a session."""
        action, session = applied.action, applied.session
        if action["type"] == "session/activeClientSet" and applied.client is not None:
            note_guest(session, applied.client)
        elif action["type"] == "session/activeClientRemoved":
            self._active.get(identity_in(session, action["clientId"]), set()).discard(session.row.uri)
        self.note(session)

    def fail_gone_calls(self, session: Session) -> None:
        """Fail the calls of a session that wait for a client that is gone."""
        active = {one["clientId"] for one in session.state["activeClients"]}
        self._fail_calls(session, lambda one: one.client_id not in active and self._is_gone(one))

    def note(self, session: Session) -> None:
        """Record which clients are active in a session, such as a new one, and their customizations."""
        if session.home is not session:
            return  # they are active in the session of the chat
        for client in session.state["activeClients"]:
            if not self._is_never_connected(session, client["clientId"]):
                self._active.setdefault(identity_in(session, client["clientId"]), set()).add(session.row.uri)
        customizations = followed(session.state)
        if customizations != session.state.get("customizations", []):
            self._dispatcher.act(session, actions.customizations_changed(customizations))

    def welcome(self, session: Session) -> None:
        """Check a session that was loaded from the store: its active clients may not have come back."""
        self.note(session)
        absent = {client for client in self._clients_of(session) if not self.is_there(client)}
        for client in absent:
            self._release(client)

    def _clients_of(self, session: Session) -> set[Identity]:
        calls = {str(client_of(call)) for call in open_client_calls(session)}
        clients = calls | {one["clientId"] for one in session.state["activeClients"]}
        return {identity_in(session, one) for one in clients if not self._is_never_connected(session, one)}

    def _is_never_connected(self, session: Session, client_id: str) -> bool:
        return session.private.get("app") == client_id

    def _release(self, gone: Identity) -> None:
        for uri in self._active.pop(gone, set()):
            session = self._find(uri)
            if session is None:
                continue  # not in memory; `welcome` handles it when it is loaded
            if session.is_foreign:
                continue  # the node that writes it does this
            # An equal id of another owner is another client, and stays active.
            client = find_active_client(session.state, gone.client_id)
            if client is not None and identity_in(session, gone.client_id) == gone:
                self._dispatcher.act(session, actions.active_client_removed(gone.client_id))
        # Not restarted: `welcome` comes here for each session that is loaded while the client is away.
        if gone not in self._timers:
            loop = asyncio.get_running_loop()
            self._timers[gone] = loop.call_later(self._grace, self._give_up, gone)

    def _give_up(self, gone: Identity) -> None:
        self._timers.pop(gone, None)
        for session in list(self._running()):
            self._fail_calls(session, lambda client: client == gone)

    def _is_gone(self, client: Identity) -> bool:
        return not self.is_there(client) and client not in self._timers

    def _fail_calls(self, session: Session, is_gone: Callable[[Identity], bool]) -> None:
        """Fail the calls of clients that are gone. A call that still streams fails once it is ready."""
        for call in open_client_calls(session):
            client_id = str(client_of(call))
            if (
                call["status"] == "running"
                and is_gone(identity_in(session, client_id))
                and not self._is_never_connected(session, client_id)
            ):
                self._fail(session, call, GONE, "client-gone")

    def declined(self, session: Session, action: Json, client_id: str) -> None:
        """Fail a running call that its own client denies: a denial would be too late."""
        if (
            type(action) is dict
            and action.get("type") == "chat/toolCallConfirmed"
            and action.get("approved") is False
        ):
            meant = (action.get("toolCallId"), client_id, "running")
            for call in open_client_calls(session):
                if (call["toolCallId"], client_of(call), call["status"]) == meant:
                    self._fail(session, call, UNKNOWN, "declined")

    def _fail(self, session: Session, call: JsonObject, why: str, code: str) -> None:
        result: ToolCallResult = {
            "success": False,
            "pastTenseMessage": f"{call['displayName']} failed",
            "error": {"message": why, "code": code},
        }
        turn_id = session.chat["activeTurn"]["id"]
        self._dispatcher.act(session, actions.tool_call_complete(turn_id, call["toolCallId"], result))


def identity_in(session: Session, client_id: str) -> Identity:
    """Return the identity that a client id in the state of a session refers to."""
    is_guest = client_id in session.private.get("guests", ())
    return Identity(client_id, "" if is_guest else session.row.owner)


def note_guest(session: Session, client: Identity) -> None:
    """Record whether a client that becomes active in an owner's session is a guest."""
    guests = [one for one in session.private.get("guests", []) if one != client.client_id]
    if client.owner != session.row.owner:
        guests = [*guests, client.client_id][-MAX_GUESTS:]
    private = with_values(session.private, guests=guests or None)
    if private is not None:
        session.keep(private)


def followed(state: SessionState) -> list[Customization]:
    """Return the customizations of a session: the host's own, and the current ones of its active clients.

    One that was switched off stays off as long as its client provides it. None is loaded: nothing here does
    that. Those of a client that has left are gone (HR-U07).
    """
    before: list[Any] = state.get("customizations", [])
    kept = [one for one in before if "clientId" not in one]
    taken = {one["id"] for one in kept}
    for client in state["activeClients"]:
        known = {one["id"]: one for one in before if one.get("clientId") == client["clientId"]}
        for brought in client.get("customizations", []):
            # Customizations are toggled by id, so an id may be there only once.
            if brought["id"] not in taken:
                taken.add(brought["id"])
                switched = known.get(brought["id"], brought).get("enablement")
                one: Any = {**brought, "clientId": client["clientId"]}
                kept.append(one if switched is None else {**one, "enablement": switched})
    return kept


def open_client_calls(session: Session) -> list[Any]:
    """Return the calls that a client has to run and that have not ended."""
    return [
        call
        for call in active_calls(session.chat)
        if client_of(call) is not None and call["status"] in ("streaming", "running")
    ]
