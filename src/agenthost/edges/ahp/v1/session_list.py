"""`listSessions` of AHP 1.0: pages of summaries, the last modified first, or those with certain words."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from agenthost.core.summaries import is_task_summary
from agenthost.edges.ahp.v1.client import ClientContext
from agenthost.errors import InvalidValue, NotJson
from agenthost.wire.error_messages import describe, quote
from agenthost.wire.json import Json, decode_json, encode_json

__all__ = ["REQUESTS"]

LISTED_AT_ONCE = 1_000

Place: TypeAlias = tuple[str, str]
"""The place of a session in the list: when it was modified, and its URI."""


async def list_sessions(client: ClientContext, params: Any) -> Json:
    """`listSessions`: the summaries of all sessions, or of one page.

    AHP does not define `filter`. Ours is `{"agenthost": {"text": …}}`; everything else is ignored.
    """
    ours = params.get("filter", {}).get("agenthost") if type(params.get("filter")) is dict else None
    if ours is not None:
        return await _search_sessions(client, ours)
    # By time and URI: the URI makes the order total, so that a cursor is one place in it.
    items = sorted(await _all(client), key=_place, reverse=True)
    if "cursor" in params:
        after = _decode_cursor(params["cursor"])
        items = [item for item in items if _place(item) < after]
    limit = params.get("limit")
    if limit is not None and limit < 1:
        raise InvalidValue("$.limit", "a number above 0", str(limit))
    page = items if limit is None else items[:limit]
    result: Json = {"items": [client.to_summary(item) for item in page]}
    if len(page) < len(items):
        result["nextCursor"] = _encode_cursor(_place(page[-1]))
    return result


async def _all(client: ClientContext) -> list[Any]:
    found: list[Any] = []
    before: int | None = None
    while True:
        # C7: the session of a subagent is a chat of another one.
        rows = await client.host.list_sessions(before, LISTED_AT_ONCE)
        listed = (decode_json(row.summary) for row in rows)
        found += [summary for summary in listed if not is_task_summary(summary)]
        if len(rows) < LISTED_AT_ONCE:
            return found
        before = rows[-1].number


def _place(summary: Any) -> Place:
    return (summary["modifiedAt"], summary["resource"])


def _encode_cursor(place: Place) -> str:
    return urlsafe_b64encode(encode_json(list(place))).decode()


def _decode_cursor(cursor: str) -> Place:
    try:
        modified_at, uri = decode_json(urlsafe_b64decode(cursor.encode()))
        return str(modified_at), str(uri)
    except (ValueError, TypeError, NotJson):
        raise InvalidValue("$.cursor", "a cursor of this list", quote(cursor)) from None


async def _search_sessions(client: ClientContext, sought: Any) -> Json:
    if type(sought) is not dict or type(sought.get("text")) is not str:
        raise InvalidValue("$.filter.agenthost", "an object with a text", describe(sought))
    found = await client.host.search_sessions(sought["text"], "$.filter.agenthost.text")
    summaries = {match.row.uri: decode_json(match.row.summary) for match in found.matches}
    listed = {uri: summary for uri, summary in summaries.items() if not is_task_summary(summary)}
    excerpts = {match.row.uri: match.excerpt for match in found.matches if match.row.uri in listed}
    return {
        "items": [client.to_summary(summary) for summary in listed.values()],
        "_meta": {"agenthost": {"excerpts": excerpts, "isComplete": found.is_complete}},
    }


REQUESTS: dict[str, Callable[[ClientContext, Any], Awaitable[Json]]] = {"listSessions": list_sessions}
