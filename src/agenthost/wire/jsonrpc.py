"""JSON-RPC 2.0 framing: which kind of message a frame holds, and what to answer if it holds none.

Both sides number their requests independently, so `method` is checked first: a peer's request is never
mistaken for the response to one of ours (HR-R10).
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, TypeAlias

from agenthost.errors import HostError, NotJson
from agenthost.wire.error_messages import describe
from agenthost.wire.integers import as_integer
from agenthost.wire.json import Json, JsonObject, check_density, decode_json, encode_json

MessageId: TypeAlias = int | float | str


class RpcCode(IntEnum):
    """The codes that JSON-RPC itself defines."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603


@dataclass(frozen=True, slots=True)
class Request:
    """Expects exactly one response, with the same id."""

    id: MessageId
    method: str
    params: JsonObject


@dataclass(frozen=True, slots=True)
class Notification:
    """Expects no response, not even an error."""

    method: str
    params: JsonObject


@dataclass(frozen=True, slots=True)
class Success:
    """The response to a request; `result` may be null."""

    id: MessageId
    result: Json


@dataclass(frozen=True, slots=True)
class Failure:
    """The response to a request that failed; `id` is null if the request's own id was unreadable."""

    id: MessageId | None
    code: int
    message: str
    data: Json = None


Message: TypeAlias = Request | Notification | Success | Failure


class BadFrame(HostError):
    """A frame that is not a message. `reply` is the response to send, if there should be one."""

    def __init__(self, sentence: str, reply: Failure | None) -> None:
        super().__init__(sentence)
        self.reply = reply


def decode_message(data: bytes | str, *, is_trusted: bool = True) -> Message:
    """Decode one frame. If the peer is not trusted, the number of values is checked first.

    Missing or null params count as `{}`.

    Raises:
        BadFrame: not JSON, not a message, or the params are not an object.
    """
    try:
        if not is_trusted:
            check_density(data)
        value = decode_json(data)
    except NotJson as error:  # HR-R04: without an id, as none can be read
        raise _bad(None, RpcCode.PARSE_ERROR, str(error)) from error
    if type(value) is not dict:
        raise _bad(None, RpcCode.INVALID_REQUEST, f"$: expected one message, found {describe(value)}")
    if "method" not in value and ("result" in value or "error" in value):
        return _response(value)
    return _call(value)


def _call(value: JsonObject) -> Request | Notification:
    message_id: Any = value.get("id")
    if "id" in value and not _is_id(message_id):
        sentence = f"$.id: expected a number or a string, found {describe(message_id)}"
        raise _bad(None, RpcCode.INVALID_REQUEST, sentence)
    _require_version(value, message_id)
    method = value.get("method")
    if type(method) is not str:
        found = describe(method) if "method" in value else "nothing"
        raise _bad(message_id, RpcCode.INVALID_REQUEST, f"$.method: expected a string, found {found}")
    params = value.get("params")
    if params is None:
        params = {}
    if type(params) is not dict:
        raise _bad_params(value, f"$.params: expected an object, found {describe(params)}")
    return Request(message_id, method, params) if "id" in value else Notification(method, params)


def _require_version(value: JsonObject, message_id: Any) -> None:
    if value.get("jsonrpc") != "2.0":
        found = describe(value["jsonrpc"]) if "jsonrpc" in value else "nothing"
        raise _bad(message_id, RpcCode.INVALID_REQUEST, f'$.jsonrpc: expected "2.0", found {found}')


def _bad_params(value: JsonObject, sentence: str) -> BadFrame:
    if "id" not in value:
        return BadFrame(sentence, None)  # HR-R02: a notification gets no response
    return _bad(value["id"], RpcCode.INVALID_PARAMS, sentence)


def _response(value: JsonObject) -> Success | Failure:
    """Read a response. A malformed response is not answered."""
    message_id: Any = value.get("id")
    error = value.get("error")
    if error is None and "result" in value:
        if not _is_id(message_id):
            found = describe(message_id) if "id" in value else "nothing"
            raise BadFrame(f"$.id: expected a number or a string, found {found}", None)
        return Success(message_id, value["result"])
    code = error.get("code") if type(error) is dict else None
    code = code if type(code) is int else as_integer(code)
    if type(error) is not dict or code is None or type(error.get("message")) is not str:
        raise BadFrame("$.error: expected an object with a `code` and a `message`", None)
    return Failure(message_id if _is_id(message_id) else None, code, error["message"], error.get("data"))


def _is_id(value: Any) -> bool:
    return type(value) in (int, float, str)


def _bad(message_id: Any, code: RpcCode, sentence: str) -> BadFrame:
    return BadFrame(sentence, Failure(message_id, code, sentence))


def encode_message(message: Message) -> bytes:
    """Encode a message. `params` and `result` may contain `msgspec.Raw` for bytes that are JSON already."""
    return encode_json({"jsonrpc": "2.0", **_fields(message)})


def _fields(message: Message) -> JsonObject:
    match message:
        case Request(message_id, method, params):
            return {"id": message_id, "method": method, "params": params}
        case Notification(method, params):
            return {"method": method, "params": params}
        case Success(message_id, result):
            return {"id": message_id, "result": result}
        case Failure(message_id, code, sentence, data):
            error = {"code": code, "message": sentence}
            return {"id": message_id, "error": error if data is None else {**error, "data": data}}
