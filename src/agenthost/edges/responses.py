"""Responses that every edge gives: JSON, and errors in one form: `{"error": {"code", "message"}}`."""

from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from agenthost.wire.json import Json, encode_json

__all__ = ["error_response", "failed", "failure", "http_error", "json_response", "not_found", "refuse"]

_REFUSALS = {
    404: ("not_found", "there is nothing at this path"),
    405: ("method_not_allowed", "this path does not take that method"),
    500: ("internal_error", "something went wrong here; the server's log says what"),
}


def json_response(body: Json, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return a JSON response."""
    return Response(encode_json(body), status, headers, "application/json")


def error_response(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> Response:
    """Return an error response."""
    return json_response({"error": {"code": code, "message": message}}, status, headers)


async def refuse(
    scope: Scope,
    receive: Receive,
    send: Send,
    status: int,
    code: str,
    message: str,
    headers: Mapping[str, str] | None = None,
) -> None:
    """Send an error as the response to a request, or to a WebSocket that is not accepted yet."""
    response = error_response(status, code, message, dict(headers or {}))
    if scope["type"] == "http":
        await response(scope, receive, send)
        return
    start: dict[str, Any] = {"type": "websocket.http.response.start", "status": status}
    await send({**start, "headers": response.raw_headers})
    await send({"type": "websocket.http.response.body", "body": bytes(response.body)})


async def not_found(scope: Scope, receive: Receive, send: Send) -> None:
    """Respond that there is nothing at this path."""
    await refuse(scope, receive, send, 404, *_REFUSALS[404])


async def http_error(_request: Request, error: Exception) -> Response:
    """Return the response to an `HTTPException` of a route."""
    assert isinstance(error, HTTPException)  # noqa: S101 - as it was registered
    code, message = _REFUSALS.get(error.status_code, ("refused", error.detail))
    return error_response(error.status_code, code, message, dict(error.headers or {}))


async def failed(_request: Request, _error_: Exception) -> Response:
    """Return the response to an unexpected error. It reveals nothing; the server logs the traceback."""
    return error_response(500, *_REFUSALS[500])


async def failure(scope: Scope, receive: Receive, send: Send) -> None:
    """Respond that something went wrong, and nothing else."""
    await refuse(scope, receive, send, 500, *_REFUSALS[500])
