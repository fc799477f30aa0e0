"""Clients: which are connected, and what becomes of the tools of one that leaves.

A client that leaves is no longer the active client of its sessions. Its open calls wait a while for it to
come back, then they fail, so that no turn hangs on somebody who is gone. An application that talks by single
requests is never connected; it stays what it is (see `Private.app`). A state names clients by their ids
alone: they are clients of the session's owner, but for guests, who have none (see `Private.guests`). Knows
no connections, only who has one.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from agenthost.host.dispatch import Dispatcher, Happening
from agenthost.host.identity import Identity
from agenthost.host.session import Session
from agenthost.host.setup import changed, private_of
from agenthost.wire.ahp.customization import SessionCustomization
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.json import Json, JsonObject

GONE = "the client that runs this tool has left"
MAX_GUESTS = 100
"""How many guests a session remembers, the newest."""

UNKNOWN = "the client does not run this tool"


class Clients:
    """Who is there.

    `running` gives the sessions whose turns run or wait, `find` one that is in memory, by its URI.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        running: Callable[[], Iterable[Session]],
        find: Callable[[str], Session | None],
        grace_seconds: float,
    ) -> None:
        self._dispatcher = dispatcher
        self._find = find
        self._running = running
        self._grace = grace_seconds
        self._connections: Counter[Identity] = Counter()
        # The sessions that each client is active in, by URI: some may have left memory.
        self._active: dict[Identity, set[str]] = {}
        self._timers: dict[Identity, asyncio.TimerHandle] = {}

    def is_there(self, client: Identity) -> bool:
        """Tell whether a client is connected."""
        return self._connections[client] > 0

    def joined(self, client: Identity) -> None:
        """Note that a client is connected, for the first time or again."""
        self._connections[client] += 1
        timer = self._timers.pop(client, None)
        if timer is not None:
            timer.cancel()

    def left(self, client: Identity) -> None:
        """Note that a connection of a client ended."""
        self._connections[client] -= 1
        if self._connections[client] <= 0:
            del self._connections[client]
            self._release(client)

    def close(self) -> None:
        """Wait for nobody any more."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def happened(self, happening: Happening) -> None:
        """Note who is the active client of a session; fail a call that is ready when its client is gone."""
        action, session = happening.action, happening.session
        if action["type"] == "session/toolCallReady":
            active = session.state.get("activeClient", {}).get("clientId")
            self._fail_calls(session, lambda one: one.client_id != active and self._is_gone(one))
        elif action["type"] == "session/activeClientChanged":
            if action.get("activeClient") is not None and happening.client is not None:
                note_guest(session, happening.client)
            for sessions in self._active.values():
                sessions.discard(session.row.uri)
            self.note(session)

    def note(self, session: Session) -> None:
        """Note who is the active client of a session, such as one that was just made, and what it brings."""
        client = session.state.get("activeClient")
        if client is not None and not self._is_application(session, client["clientId"]):
            self._active.setdefault(identity_in(session, client["clientId"]), set()).add(session.row.uri)
        customizations = followed(session.state)
        if customizations != session.state.get("customizations", []):
            action = {"type": "session/customizationsChanged", "session": session.row.uri}
            self._dispatcher.act(session, {**action, "customizations": customizations})

    def welcome(self, session: Session) -> None:
        """Look at a session that came from the store: its active client may not have come back."""
        self.note(session)
        absent = {client for client in self._clients_of(session) if not self.is_there(client)}
        for client in absent:
            self._release(client)

    def _clients_of(self, session: Session) -> set[Identity]:
        calls = {call["toolClientId"] for call in open_client_calls(session)}
        client = session.state.get("activeClient")
        clients = calls | ({client["clientId"]} if client else set())
        return {identity_in(session, one) for one in clients if not self._is_application(session, one)}

    def _is_application(self, session: Session, client_id: str) -> bool:
        return private_of(session).get("app") == client_id

    def _release(self, gone: Identity) -> None:
        for uri in self._active.pop(gone, set()):
            session = self._find(uri)
            if session is None:
                continue  # not in memory; `welcome` sees to it when it comes back
            client = session.state.get("activeClient")
            if client is not None and identity_in(session, client["clientId"]) == gone:
                self._dispatcher.act(
                    session,
                    {
                        "type": "session/activeClientChanged",
                        "session": session.row.uri,
                        "activeClient": None,
                    },
                )
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
        """Fail the calls of clients that are gone. One that still streams is failed when it is ready."""
        for call in open_client_calls(session):
            client_id = call["toolClientId"]
            if (
                call["status"] == "running"
                and is_gone(identity_in(session, client_id))
                and not self._is_application(session, client_id)
            ):
                self._fail(session, call, GONE, "client-gone")

    def declined(self, session: Session, action: Json, client_id: str) -> None:
        """Fail a running call whose own client says that it will not run it: too late for a denial."""
        if action.get("type") == "session/toolCallConfirmed" and action.get("approved") is False:
            meant = (action.get("toolCallId"), client_id, "running")
            for call in open_client_calls(session):
                if (call["toolCallId"], call["toolClientId"], call["status"]) == meant:
                    self._fail(session, call, UNKNOWN, "declined")

    def _fail(self, session: Session, call: JsonObject, why: str, code: str) -> None:
        base = {
            "session": session.row.uri,
            "turnId": session.state["activeTurn"]["id"],
            "toolCallId": call["toolCallId"],
        }
        error = {"message": why, "code": code}
        result = {"success": False, "pastTenseMessage": f"{call['displayName']} failed", "error": error}
        self._dispatcher.act(session, {**base, "type": "session/toolCallComplete", "result": result})


def identity_in(session: Session, client_id: str) -> Identity:
    """Return who is meant by a client id in the state of a session."""
    is_guest = client_id in private_of(session).get("guests", ())
    return Identity(client_id, "" if is_guest else session.row.owner)


def note_guest(session: Session, client: Identity) -> None:
    """Note whether a client that becomes active has an owner, where the session has one."""
    guests = [one for one in private_of(session).get("guests", []) if one != client.client_id]
    if client.owner != session.row.owner:
        guests = [*guests, client.client_id][-MAX_GUESTS:]
    private = changed(session, guests=guests or None)
    if private is not None:
        session.keep(private)


def followed(state: SessionState) -> list[SessionCustomization]:
    """Give the customizations of a session: the host's own, and those of its active client as they are now.

    What somebody switched off stays so as long as the client brings it. None has a status: nothing here
    loads them.
    """
    before = state.get("customizations", [])
    client = state.get("activeClient")
    kept = [one for one in before if "clientId" not in one]
    if client is None:
        return kept
    client_id = client["clientId"]
    known = {one["customization"]["uri"]: one for one in before if one.get("clientId") == client_id}
    taken = {one["customization"]["uri"] for one in kept}
    for brought in client.get("customizations", []):
        if brought["uri"] not in taken:
            taken.add(brought["uri"])
            is_on = known[brought["uri"]]["enabled"] if brought["uri"] in known else True
            kept.append({"customization": brought, "enabled": is_on, "clientId": client_id})
    return kept


def open_client_calls(session: Session) -> list[Any]:
    """Give the calls that a client has to run, and that have not ended."""
    turn = session.state.get("activeTurn")
    parts: list[Any] = turn["responseParts"] if turn else []
    calls = [part["toolCall"] for part in parts if part["kind"] == "toolCall"]
    return [call for call in calls if "toolClientId" in call and call["status"] in ("streaming", "running")]
