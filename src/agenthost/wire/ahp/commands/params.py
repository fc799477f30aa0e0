"""Params: what those of many methods have in common."""

from typing import Literal, NotRequired, TypedDict

from agenthost.wire.ahp.common import URI, Meta


class BaseParams(TypedDict):
    """The params of a method on a channel."""

    channel: URI
    _meta: NotRequired[Meta]


class RootParams(TypedDict):
    """The params of a method that concerns the host or the connection."""

    # AHP requires it, but some clients leave it out, and it says nothing that the method does not (I4).
    channel: NotRequired[Literal["ahp-root://"]]
    _meta: NotRequired[Meta]


class PaginatedParams(TypedDict):
    """Which page of a list is wanted."""

    limit: NotRequired[int]  # the host may return fewer
    cursor: NotRequired[str]  # absent: the first page


class PaginatedResult(TypedDict):
    """Where the next page of a list begins."""

    nextCursor: NotRequired[str]  # absent: this is the last page
