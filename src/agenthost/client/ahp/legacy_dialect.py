"""The dialect of hosts that only know AHP 0.1: a session and its chat are one resource there.

What we say is projected, and what the host says is lifted, by `core/legacy`. Its numbers are spread, because
one action of 0.1 may become several: each has a number of its own, and all belong to one of the host's.
"""

from collections.abc import Iterable, Iterator
from typing import Any, cast

from agenthost.client.ahp.dialect import Call, checked_result
from agenthost.client.ahp.errors import Refused
from agenthost.client.ahp.observable_replica import ObservableReplica, now_ms
from agenthost.core.legacy.client_actions import project_client_actions
from agenthost.core.legacy.clients import project_client
from agenthost.core.legacy.root import project_root_action, upgrade_root
from agenthost.core.legacy.summaries import lift_listed
from agenthost.core.legacy.terminals import project_claim, project_terminal_action, upgrade_terminal
from agenthost.core.legacy.translation import lift_action
from agenthost.core.legacy.upgrade import lift_state
from agenthost.errors import InvalidValue
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.actions.envelope import ActionEnvelope
from agenthost.wire.ahp.legacy import ROOT_URI as LEGACY_ROOT
from agenthost.wire.ahp.legacy.actions import action_resource
from agenthost.wire.ahp.legacy.methods import METHODS
from agenthost.wire.ahp.legacy.session import SessionState
from agenthost.wire.annotations import record_fields
from agenthost.wire.json import Json, JsonObject

__all__ = ["LegacyDialect", "chat_uri"]

SPREAD = 16
"""How many numbers one of the host's becomes: more than one of its actions becomes actions."""

CHAT_PREFIX = "ahp-chat:/0.1/"


KNOWN = frozenset(record_fields(SessionState))
"""What 0.1 has in the state of a session. What else a host sends is kept."""


def chat_uri(session: str) -> str:
    """Return the URI that we give to the chat of a session: the host has none for it."""
    return f"{CHAT_PREFIX}{session}"


class LegacyDialect:
    """AHP 0.1. `replica` has the states that its actions are about."""

    has_several_clients = False
    has_changesets = False

    def __init__(self, replica: ObservableReplica) -> None:
        self._replica = replica

    # What we say

    def say(self, call: Call) -> Call | None:
        """Return a request or notification of 0.1."""
        method, params = call
        channel = params.get("channel", ROOT_URI)
        rest = {key: value for key, value in params.items() if key not in ("channel", "_meta")}
        if method in ("subscribe", "unsubscribe"):
            # The chat comes with its session.
            if _is_chat(channel):
                return None
            return Call(method, {"resource": LEGACY_ROOT if channel == ROOT_URI else channel})
        if method == "createSession":
            return Call(method, {"session": channel, **_new_session(rest, params.get("_meta", {}))})
        if method == "disposeSession":
            return Call(method, {"session": channel})
        if method == "completions":
            return Call(method, {"session": _session_of(channel), **rest})
        if method == "createTerminal":
            return Call(method, {"terminal": channel, **rest, "claim": project_claim(rest["claim"])})
        if method == "disposeTerminal":
            return Call(method, {"terminal": channel})
        if method == "reconnect":
            return Call(method, self._reconnect(rest))
        if method not in METHODS:
            raise Refused(f"the host has no {method}: it speaks AHP 0.1")
        return Call(method, rest)

    @staticmethod
    def _reconnect(params: Any) -> JsonObject:
        followed = [LEGACY_ROOT if uri == ROOT_URI else uri for uri in params["subscriptions"]]
        return {
            **params,
            "lastSeenServerSeq": params["lastSeenServerSeq"] // SPREAD,
            "subscriptions": [uri for uri in followed if not _is_chat(uri)],
        }

    def dispatches(self, params: Any) -> list[JsonObject]:
        """Return the params for the legacy actions: the last one has the number of ours."""
        channel, action, number = params["channel"], params["action"], params["clientSeq"]
        said = self._project(channel, action)
        if not said:
            raise Refused(f"the host has no {action['type']}: it speaks AHP 0.1")
        # The echoes of those before it say what they changed, and nobody waits for them.
        numbers = [*(-number - place for place in range(len(said) - 1)), number]
        return [{"clientSeq": seq, "action": one} for seq, one in zip(numbers, said, strict=True)]

    def _project(self, channel: str, action: Any) -> list[Any]:
        scope = action["type"].partition("/")[0]
        if scope == "root":
            return [project_root_action(action)]
        if scope == "terminal":
            return [project_terminal_action(action, channel)]
        session = _session_of(channel)
        return project_client_actions(action, self._replica.session(session), session)

    # What the host says

    def read_result(self, call: Call, result: Json) -> Any:
        """Return the result of a request, lifted."""
        found = checked_result(METHODS, call.method, result)
        if call.method == "subscribe":
            session, *chat = _snapshots(found["snapshot"])
            return {"snapshot": session, **({"chat": chat[0]} if chat else {})}
        if call.method == "listSessions":
            return {"items": [lift_listed(item) for item in found["items"]]}
        if call.method == "initialize":
            shown = [one for snapshot in found["snapshots"] for one in _snapshots(snapshot)]
            return {**found, "serverSeq": _last_number(found["serverSeq"]), "snapshots": shown}
        if call.method == "reconnect" and found["type"] == "replay":
            missing = [ROOT_URI if uri == LEGACY_ROOT else uri for uri in found["missing"]]
            return {"type": "replay", "actions": self._replay(found["actions"]), "missing": missing}
        if call.method == "reconnect":
            shown = [one for snapshot in found["snapshots"] for one in _snapshots(snapshot)]
            return {"type": "snapshot", "snapshots": shown}
        return found

    def _replay(self, envelopes: list[Any]) -> Iterator[ActionEnvelope]:
        for envelope in envelopes:
            yield from self._lift(envelope)

    def read_envelopes(self, params: Any) -> Iterable[ActionEnvelope]:
        """Return what an action becomes. Its params may be inside of an `envelope`, as some hosts send it."""
        inner = params.get("envelope")
        if "action" not in params and isinstance(inner, dict):
            params = inner
        envelope = METHODS["action"].params.take(params)
        if "type" not in envelope["action"]:
            raise InvalidValue("$.action.type", "a string", "nothing")
        return self._lift(envelope)

    def _lift(self, envelope: Any) -> Iterator[ActionEnvelope]:
        action = envelope["action"]
        uri = action_resource(action) or ""
        channel = ROOT_URI if uri == LEGACY_ROOT else uri
        common = {key: envelope[key] for key in ("origin", "rejectionReason") if key in envelope}
        first = envelope["serverSeq"] * SPREAD
        own = self._find_own(envelope)
        if own is not None and (envelope.get("rejectionReason") is not None):
            # Our own action, not the host's echo of its projection: it is this one that is pending.
            yield self._envelope(own.params["channel"], own.params["action"], first, common)
            return
        made = [] if "rejectionReason" in envelope else self._actions(channel, action)
        for place, (where, one) in enumerate(made):
            is_last = place == len(made) - 1
            is_own = own is not None and where == own.params["channel"]
            number = _last_number(envelope["serverSeq"]) if is_last else first + place
            yield self._envelope(where, one, number, common if is_own or own is None else {})
        if own is not None and all(where != own.params["channel"] for where, _ in made):
            # It changed nothing, but it is answered.
            yield self._envelope(own.params["channel"], {"type": "none"}, first, common)
        # Its number was seen all the same, and is where a replay begins.
        elif not made:
            yield self._envelope(channel, {"type": "none"}, first, {})

    def _find_own(self, envelope: Any) -> Any:
        origin = envelope.get("origin") or {}
        if origin.get("clientId") != self._replica.client_id:
            return None
        return self._replica.find_outgoing(origin["clientSeq"])

    def _actions(self, uri: str, action: Any) -> list[tuple[str, Any]]:
        """Return the actions that one of 0.1 becomes, each with its channel."""
        if action["type"].startswith("session/"):
            # Without the states before it, an action cannot be lifted.
            if not self._replica.is_subscribed(chat_uri(uri)):
                return []
            states = self._replica.confirmed_conversation(uri)
            lifted = lift_action(action, *states, now_ms=now_ms(), chat_of=chat_uri)
        else:
            lifted = lift_action(action, now_ms=now_ms(), chat_of=chat_uri)
        return [(chat_uri(uri) if kind == "chat" else uri, one) for kind, one in lifted]

    @staticmethod
    def _envelope(channel: str, action: Any, seq: int, more: Any) -> ActionEnvelope:
        return cast("ActionEnvelope", {"channel": channel, "action": action, "serverSeq": seq, **more})

    def read_notification(self, call: Call) -> Call | None:
        """Return what a `notification` says."""
        if call.method != "notification":
            return None
        news = METHODS["notification"].params.take(call.params)["notification"]
        match news["type"]:
            case "notify/sessionAdded":
                return Call("root/sessionAdded", {"summary": lift_listed(news["summary"])})
            case "notify/sessionRemoved":
                return Call("root/sessionRemoved", {"session": news["session"]})
            case "notify/sessionSummaryChanged":
                changes = _lift_changes(news["changes"])
                return Call("root/sessionSummaryChanged", {"session": news["session"], "changes": changes})
            case "notify/authRequired":
                named = {key: news[key] for key in ("reason",) if key in news}
                return Call("auth/required", {"resource": {"resource": news["resource"]}, **named})
        return None

    def stale_resource(self, params: Any) -> str | None:
        """Return the session or terminal."""
        inner = params.get("envelope", params)
        action = inner.get("action") if isinstance(inner, dict) else None
        uri = action_resource(action) if isinstance(action, dict) else None
        return ROOT_URI if uri == LEGACY_ROOT else uri


def _new_session(params: Any, meta: Any) -> JsonObject:
    """Return the params of a new session, or of a fork."""
    fork = meta.get("agenthost", {}).get("fork")
    rest = {key: value for key, value in params.items() if key not in ("workingDirectories", "progressToken")}
    if "activeClient" in rest:
        rest["activeClient"] = project_client(rest["activeClient"])
    if params.get("workingDirectories"):
        rest["workingDirectory"] = params["workingDirectories"][0]
    return rest if fork is None else {**rest, "fork": fork}


def _snapshots(snapshot: Any) -> list[Any]:
    """Return the snapshots that one of 0.1 stands for: of a session, those of the session and its chat."""
    uri, state, seq = snapshot["resource"], snapshot["state"], _last_number(snapshot["fromSeq"])
    if "summary" in state:
        chat = chat_uri(uri)
        session, conversation = lift_state(state, chat)
        unknown = {key: value for key, value in state.items() if key not in KNOWN}
        return [_snapshot(uri, {**unknown, **session}, seq), _snapshot(chat, conversation, seq)]
    if "content" in state:
        return [_snapshot(uri, upgrade_terminal(state, chat_uri), seq)]
    if "agents" in state and uri == LEGACY_ROOT:
        return [_snapshot(ROOT_URI, upgrade_root(state, chat_uri), seq)]
    return [_snapshot(uri, state, seq)]


def _snapshot(uri: str, state: Any, seq: int) -> Any:
    return {"resource": uri, "state": state, "fromSeq": seq}


def _last_number(seq: int) -> int:
    return seq * SPREAD + SPREAD - 1


def _lift_changes(changes: Any) -> JsonObject:
    """Return the changed fields of a summary. Null stands for a field that is gone, as in 0.1."""
    told = {key: value for key, value in changes.items() if value is not None}
    gone: JsonObject = {key: None for key in ("activity", "project") if changes.get(key, "") is None}
    return {**lift_listed(told), **gone}


def _is_chat(uri: str) -> bool:
    return uri.startswith(CHAT_PREFIX)


def _session_of(channel: str) -> str:
    return channel.removeprefix(CHAT_PREFIX)
