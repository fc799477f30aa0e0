"""The OpenAPI document of AAP version 3, made from the types that the server checks with."""

from typing import Any

from agenthost import __version__
from agenthost.wire.aap import v3
from agenthost.wire.json import JsonObject
from agenthost.wire.schema import Schemas

__all__ = ["openapi"]

_SCHEMAS = "#/components/schemas/"

_ON_SESSION = ("postTurn", "getSession", "getHistory", "deleteSession")
_NEW_ID = "$response.body#/sessionId"

_ERROR: JsonObject = {
    "type": "object",
    "description": "Why a request was refused: a stable code, one sentence, and the path of the field.",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {name: {"type": "string"} for name in ("code", "message", "path")},
        }
    },
}

_REFUSALS = {
    "400": "The body is not JSON.",
    "401": "No key, or one that is not valid.",
    "403": "A page of another site may not do this, or the agent needs a token.",
    "404": "There is no such session, path or kind of history.",
    "405": "The path does not support this method.",
    "409": "Not now: a turn is running.",
    "413": "The body is too large.",
    "421": "The Host header names another server.",
    "422": "The request is not valid: `path` names the field or parameter.",
    "429": "Too many requests; `Retry-After` says when to try again.",
    "503": "The host is starting, stopping, or cannot write.",
}


def openapi() -> JsonObject:
    """Return the document."""
    schemas = Schemas(_SCHEMAS)
    paths = _paths(schemas)
    components: JsonObject = {"schemas": {**schemas.definitions, "Error": _ERROR}}
    components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Agent Application Protocol, version 3",
            "version": __version__,
            "description": "Send turns to an agent, and bring your own tools.",
        },
        "servers": [{"url": "/aap/v3"}],
        "security": [{}, {"key": []}],
        "paths": paths,
        "components": components,
    }


def _paths(schemas: Schemas) -> JsonObject:
    session_id = _parameter("id", "path", {"type": "string"}, "The session.")
    kind = _parameter(
        "type", "query", schemas.refer(v3.HistoryType), "The kind of history; by default all on offer."
    )
    after = _parameter("after", "query", {"type": "string"}, "The `next` of the previous page.")
    turn_body = schemas.refer(v3.PostSessionTurnRequest)
    return {
        "/meta": {"get": _operation("getMeta", "The agents", _json(schemas, v3.GetMetaResponse))},
        "/sessions": {
            "get": _operation(
                "listSessions", "A page of sessions", _json(schemas, v3.GetSessionsResponse), [after]
            ),
            "post": _operation(
                "createSession",
                "Create a session, without running a turn",
                _json(schemas, v3.PostSessionsResponse),
                status="201",
                body=schemas.refer(v3.PostSessionsRequest),
            ),
        },
        "/sessions/{id}": {
            "get": _operation(
                "getSession", "One session", _json(schemas, v3.GetSessionResponse), [session_id]
            ),
            "delete": _operation(
                "deleteSession", "Remove a session for good", {}, [session_id], status="204"
            ),
        },
        "/sessions/{id}/history": {
            "get": _operation(
                "getHistory",
                "The history of a session",
                _json(schemas, v3.GetSessionHistoryResponse),
                [session_id, kind],
            )
        },
        "/sessions/{id}/turns": {
            "post": _operation(
                "postTurn",
                "Start a turn, or continue one",
                _turn_answer(schemas),
                [session_id],
                body=turn_body,
            )
        },
    }


def _json(schemas: Schemas, kind: Any) -> JsonObject:
    return {"application/json": {"schema": schemas.refer(kind)}}


def _turn_answer(schemas: Schemas) -> JsonObject:
    """Return the schema of the answer to a turn: one body, or a stream of events."""
    schemas.define("SSEEvent", v3.SSEEvent)
    text = "A server-sent event: `event` is the `event` of an `SSEEvent`, `data` is its other fields as JSON."
    fields: JsonObject = {"event": {"type": "string"}, "data": {"type": "string"}}
    # OpenAPI 3.1 has no schema for an item of a stream. Tools take this one for each event.
    event: JsonObject = {
        "type": "object",
        "description": text,
        "properties": fields,
        "required": list(fields),
    }
    return {**_json(schemas, v3.PostSessionTurnResponse), "text/event-stream": {"schema": event}}


def _parameter(name: str, place: str, schema: JsonObject, description: str) -> JsonObject:
    return {
        "name": name,
        "in": place,
        "required": place == "path",
        "schema": schema,
        "description": description,
    }


def _operation(
    name: str,
    summary: str,
    content: JsonObject,
    parameters: list[JsonObject] | None = None,
    *,
    status: str = "200",
    body: JsonObject | None = None,
) -> JsonObject:
    well: JsonObject = {"description": summary}
    if content:
        well["content"] = content
    if status == "201":
        well["links"] = {one: {"operationId": one, "parameters": {"id": _NEW_ID}} for one in _ON_SESSION}
    refused = {"application/json": {"schema": {"$ref": f"{_SCHEMAS}Error"}}}
    answers = {code: {"description": why, "content": refused} for code, why in _REFUSALS.items()}
    responses = {status: well, **answers}
    operation: JsonObject = {"operationId": name, "summary": summary, "responses": responses}
    if parameters:
        operation["parameters"] = parameters
    if body is not None:
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    return operation
