"""The private data of a session, which no client sees. Stored with its row."""

from typing import Any, TypeAlias, TypedDict, cast

from agenthost.wire.json import Json, JsonObject

__all__ = ["Pin", "Private", "with_values"]

Pin: TypeAlias = dict[str, str]
"""The definition of a tool that an approval belongs to, as text by its parts; see `tool_pins`."""


class Private(TypedDict, total=False):
    """Data of a session that no client sees.

    Attributes:
        tools: the tools that are on, and whether each is trusted. Without it all exposed ones are on, and
            trusted as they say themselves.
        trusted: the tools that were approved for the whole session.
        given: the tools that are trusted because the session was made for a call that trusts them.
        scopes: what was approved of other tools (see `approvals`).
        pins: the definitions that those approvals are good for.
        shown: the definitions that open calls were shown with (see `tool_pins`).
        children: the sessions that were made for its calls, by turn and call (see `delegation`).
        parent: the call that it was made for itself.
        secrets: the values of secret options, sealed.
        stops: the turns that ended with a reason that the state cannot express.
        asked: the answers that the running turn got.
        held: large results that wait for approval, as the model will read them.
        config: the settings of the state, so that a list can show them without it.
        app: the id of a client that is never connected but keeps its role.
        app_tools: the tools that this client brought, in its own form.
        deferred: the actions that wait for the end of the turn or for the session to be ready, with their
            origins and what their receipts are kept of.
        guests: the ids of clients without an owner, in the session of one.
        taken: the pending messages that were used up recently, by kind and id.
        kept: what its agent keeps with it.
        crashes: how often the host ended while the running turn ran (see `crashes`).
        tasks: the tasks that were given in the turn and below it (see `task_limits`).
    """

    tools: dict[str, bool]
    trusted: list[str]
    given: list[str]
    scopes: dict[str, list[str]]
    pins: dict[str, Pin]
    shown: dict[str, Pin]
    children: dict[str, str]
    parent: JsonObject
    secrets: dict[str, str]
    stops: dict[str, str]
    asked: dict[str, JsonObject]
    held: dict[str, Json]
    config: dict[str, str]
    app: str
    app_tools: list[JsonObject]
    deferred: list[list[Any]]
    guests: list[str]
    taken: list[str]
    kept: JsonObject
    crashes: JsonObject
    tasks: JsonObject


def with_values(private: Private, **values: Json) -> Private | None:
    """Return the private data with these values, where `None` removes; `None` if nothing changes."""
    kept = cast("dict[str, Any]", private)
    # Often nothing changes; then nothing is copied, and the caller need not write.
    for key, value in values.items():
        if kept.get(key) != value:
            return cast("Private", {key: one for key, one in {**kept, **values}.items() if one is not None})
    return None
