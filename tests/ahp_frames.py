"""What a client of AHP hears: every frame is checked, and what each resource is now is kept.

Checked is that a frame is one message, of a method that a host may use, with the shape that the protocol asks
for; that numbers grow; and that nothing comes which was not subscribed, or was in the snapshot already.
"""

import asyncio
import json
from typing import Any

from agenthost.core.legacy.reducers import REDUCERS, Live
from agenthost.wire.ahp.legacy import ROOT_URI
from agenthost.wire.ahp.legacy.errors import ERROR_DATA, ErrorCode
from agenthost.wire.ahp.legacy.methods import METHODS
from agenthost.wire.shape import STRICT, Shape

RESULTS = {name: Shape[Any](one.result.kind, STRICT) for name, one in METHODS.items() if one.result}
PUSHED = {name: Shape[Any](one.params.kind, STRICT) for name, one in METHODS.items() if one.caller == "host"}
DATA = {code: Shape[Any](shape.kind, STRICT) for code, shape in ERROR_DATA.items()}


UNKNOWN_KIND = "file"
"""A kind of attachment that the protocol does not have."""


class Refused(Exception):
    """A request was answered with an error."""

    def __init__(self, error: Any) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data = error.get("data")


class Gone(Exception):
    """The connection ended while something was waited for."""


def action_resource(action: Any) -> Any:
    """Return the resource that an action belongs to."""
    scope = str(action["type"]).partition("/")[0]
    return ROOT_URI if scope == "root" else action.get(scope)


def without_unknown(value: Any) -> Any:
    """Copy what came, without attachments of unknown kinds: those are passed on as clients sent them."""
    if type(value) is list:
        return [without_unknown(one) for one in value if not _is_unknown(one)]
    return {key: without_unknown(one) for key, one in value.items()} if type(value) is dict else value


def _is_unknown(value: Any) -> bool:
    return type(value) is dict and value.get("type") == UNKNOWN_KIND


def shape_error(message: Any) -> None:
    """Check an error: a code that there is, a sentence without anything internal, data of the right shape."""
    error = message["error"]
    assert error.keys() <= {"code", "message", "data"}, message
    assert error["code"] in set(ErrorCode), message
    assert type(error["message"]) is str, message
    assert "Traceback" not in error["message"], message
    assert 'File "' not in error["message"], message
    if "data" in error:
        DATA[error["code"]].take(json.loads(json.dumps(error["data"])))


class Ears:
    """Takes what comes.

    Attributes:
        envelopes: all actions that came, refusals too, in order.
        notices: all notifications that came.
        states: what each subscribed resource is, as the actions since its snapshot say.
        strays: answers that belong to no request, such as those to frames that are none.
        last_seq: the number of the newest action.
    """

    def __init__(self, client_id: str) -> None:
        self.client_id = client_id
        self.envelopes: list[Any] = []
        self.notices: list[Any] = []
        self.states: dict[str, Live[Any]] = {}
        self.strays: list[Any] = []
        self.last_seq = 0
        self._floors: dict[str, int] = {}
        self._left: set[str] = set()
        self._asked: dict[Any, tuple[str, Any, asyncio.Future[Any]]] = {}

    def take(self, message: Any) -> None:
        assert message["jsonrpc"] == "2.0", message
        if "method" in message:
            assert "id" not in message, f"a host asks for nothing: {message}"
            params = without_unknown(message["params"])
            if "rejectionReason" in params:  # the words of the client itself, whatever they are
                params["action"] = {"type": "session/ready", "session": ""}
            PUSHED[message["method"]].take(params)
            if message["method"] == "action":
                self._happen(message["params"])
            else:
                self.notices.append(message["params"]["notification"])
            return
        assert ("result" in message) != ("error" in message), message
        if "error" in message:
            shape_error(message)
        known = self._asked.pop(message["id"], None) if message["id"] is not None else None
        if known is None:
            self.strays.append(message)
            return
        method, params, future = known
        if "error" in message:
            future.set_exception(Refused(message["error"]))
            return
        RESULTS[method].take(without_unknown(message["result"]))
        self._learn(method, params, message["result"])
        future.set_result(message["result"])

    def _learn(self, method: str, params: Any, result: Any) -> None:
        """Keep the states that an answer brings."""
        snapshots = result.get("snapshots", []) if type(result) is dict else []
        if method == "subscribe":
            snapshots = [result["snapshot"]]
        for one in snapshots:
            self.states[one["resource"]] = Live(one["state"])
            self._floors[one["resource"]] = one["fromSeq"]
            self.last_seq = max(self.last_seq, one["fromSeq"])
            self._left.discard(one["resource"])
        if method == "reconnect" and result["type"] == "replay":
            for uri in params["subscriptions"]:
                self._floors.setdefault(uri, params["lastSeenServerSeq"])
            for envelope in result["actions"]:
                assert envelope["serverSeq"] > params["lastSeenServerSeq"], envelope
                self._happen(envelope)

    def _happen(self, envelope: Any) -> None:
        seq, action = envelope["serverSeq"], envelope["action"]
        assert seq > self.last_seq, f"{seq} after {self.last_seq}"
        self.last_seq = seq
        self.envelopes.append(envelope)
        if "rejectionReason" in envelope:
            assert envelope["origin"]["clientId"] == self.client_id, f"another client's refusal: {envelope}"
            return
        uri = action_resource(action)
        assert uri in self._floors, f"not subscribed: {envelope}"
        assert uri not in self._left, f"not subscribed any more: {envelope}"
        assert seq > self._floors[uri], f"in the snapshot already: {envelope}"
        if uri in self.states:
            kind: Any = action["type"].partition("/")[0]
            self.states[uri] = REDUCERS[kind](self.states[uri], action, 0)
